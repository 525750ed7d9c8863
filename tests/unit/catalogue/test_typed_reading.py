"""A value that is not of its type is named by its place, as the file has it."""

import re
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

import gemmviz
from gemmviz.catalogue.typed_reading import FromOne, Misfit, Quantity, fits, read_as, read_parts


class Inner(TypedDict):
    n: FromOne
    by_name: NotRequired[dict[str, dict[str, int]]]


class Outer(TypedDict):
    inner: list[Inner]
    seconds: NotRequired[Quantity]


class Parts(TypedDict, total=False):
    inner: list[Inner]
    seconds: Quantity


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"inner": [{"n": 1}, {"n": 0}]}, "has a inner[1].n that cannot be: 0"),
        ({"inner": [{"n": 1}, {}]}, "lacks inner[1].n"),
        ({}, "lacks inner"),
        ([3], "cannot be [3]"),
        ({"inner": [{"n": 1, "by_name": {"a": {"x": 1}, "b": {"y": 2, "z": "3"}}}]}, "inner[0].by_name.b.z that"),
        ({"inner": [], "seconds": float("nan")}, "has a seconds that cannot be: NaN"),
        ({"inner": [], "seconds": float("inf")}, "has a seconds that cannot be: Infinity"),
        ({"inner": [], "seconds": True}, "has a seconds that cannot be: true"),
    ],
)
def test_the_place_and_the_value_are_said(content: object, text: str) -> None:
    assert not fits(content, Outer)
    with pytest.raises(Misfit, match=re.escape(text)):
        read_as(content, Outer)


def test_parts_are_judged_one_by_one() -> None:
    good, bad = read_parts({"inner": [{"n": 0}], "seconds": 2, "later": 1}, Parts)
    assert (good, bad) == ({"seconds": 2.0}, ["inner"])


def test_no_type_has_a_pattern_with_which_msgspec_can_end_the_process() -> None:
    sources = Path(gemmviz.__file__).parent.rglob("*.py")
    assert [str(path) for path in sources if re.search(r"Meta\([^)]*\bpattern=", path.read_text("utf-8"))] == [
        str(path) for path in Path(gemmviz.__file__).parent.rglob("typed_reading.py")
    ]
