"""The sample of rungs stands for all kinds of rungs: a new chapter or lens needs one of its rungs there."""

from types import SimpleNamespace

import pytest
from recordings import RUNGS
from sampled import SAMPLE, by_rung, in_the_sample, mark_the_rest

from gemmviz.catalogue.chapters import by_chapter
from gemmviz.catalogue.ladder import find, ladder


def test_each_chapter_and_each_lens_has_a_rung_in_the_sample() -> None:
    assert set(SAMPLE) <= set(RUNGS) and len(SAMPLE) == len(set(SAMPLE))
    kernels = [kernel for kernel in ladder() if kernel.name in RUNGS]
    for _, members in by_chapter(kernels):
        assert {kernel.name for kernel in members} & set(SAMPLE), members
    lenses = {kernel.demo.lens for kernel in kernels if kernel.demo is not None}
    found = {demo.lens for name in SAMPLE if (demo := find(name, ladder()).demo) is not None}
    assert found == lenses


def test_what_is_not_in_the_sample_is_thorough() -> None:
    cases = {name: SimpleNamespace(params={"name": name}) for name in RUNGS}
    assert {name for name, case in cases.items() if not in_the_sample(case, ())} == set(RUNGS) - set(SAMPLE)


@pytest.mark.sweep("one", "other-*")
@pytest.mark.parametrize("case", ["one", "other-1", "further"])
def test_a_case_that_the_mark_does_not_name_is_thorough(case: str, request: pytest.FixtureRequest) -> None:
    assert (request.node.get_closest_marker("thorough") is not None) == (case == "further")


def test_a_rung_is_found_in_its_name_its_kernel_and_its_lesson() -> None:
    def stays(value: object) -> bool:
        return in_the_sample(SimpleNamespace(params={"theme": "dark", "what": value}), ())

    gputiled = find("gputiled", ladder())
    assert stays("gputiled") and stays(gputiled) and stays(SimpleNamespace(kernel="gputiled"))
    assert not stays("Basic") and not stays(SimpleNamespace(kernel="Basic", name="gputiled")) and not stays(8)


@pytest.mark.parametrize("patterns", [("one", "none"), ()])
def test_a_sweep_without_its_sample_is_refused_where_whole_files_are_tried(patterns: tuple[str, ...]) -> None:
    mark = SimpleNamespace(args=patterns)
    item = SimpleNamespace(
        nodeid="test_it.py::test[one]",
        callspec=SimpleNamespace(id="one", params={"what": 1}),
        get_closest_marker=lambda name: mark,
        add_marker=lambda mark: None,
    )
    with pytest.raises(pytest.UsageError, match="no case of this sweep is"):
        mark_the_rest([item], whole=True)
    mark_the_rest([item], whole=False)


def test_cases_about_the_same_rung_are_tried_together_and_other_tests_stay_where_they_are() -> None:
    def item(nodeid: str, **params: object) -> SimpleNamespace:
        marker = SimpleNamespace(args=()) if params else None
        return SimpleNamespace(
            nodeid=nodeid, callspec=SimpleNamespace(params=params), get_closest_marker=lambda name: marker
        )

    items = [
        item("a.py::one[gputiled]", name="gputiled"),
        item("a.py::one[CC]", name="CC"),
        item("a.py::alone"),
        item("a.py::two[dark-gputiled]", theme="dark", name="gputiled"),
        item("a.py::two[dark-CC]", theme="dark", name="CC"),
        item("a.py::sizes[8]", size=8),
        item("b.py::one[CC]", name=find("CC", ladder())),
    ]
    by_rung(items)
    assert [one.nodeid for one in items] == [
        "a.py::one[gputiled]",
        "a.py::two[dark-gputiled]",
        "a.py::alone",
        "a.py::one[CC]",
        "a.py::two[dark-CC]",
        "a.py::sizes[8]",
        "b.py::one[CC]",
    ]
