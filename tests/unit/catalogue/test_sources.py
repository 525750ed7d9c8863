"""Every name that the five documents use is in the ladder, with the parameters that they show."""

import json
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from typing import Any

import pytest

from gemmviz.catalogue.documents import documents
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run

# The documents' own tables of kernels, with the values that they show; {} where they leave them open.
BLOCKS, ONE_BLOCK = {"BLOCK": [4, 8, 16, 32]}, {"BLOCK": [16]}
TABLE: dict[str, dict[str, dict[str, list[int]]]] = {
    "S0": {
        "hostmult0": {},
        "hostmult1": {},
        "hostmult1_opt": {},
        "gpumult0": {},
        "gpumult1": {},
        "gputiled<TS>": {"TS": [8, 16, 32]},
        "gputiled1<TS>": {"TS": [8, 16, 32]},
        "gputiled_more_work<TS,WPT,RTS>": {"TS": [16, 32], "WPT": [8]},
    },
    "S1": {
        **{name: {} for name in ("mm", "mm + bounds", "mm_optimizado")},
        **{f"{name} (as printed)": {} for name in ("mm", "mm + bounds", "mm_optimizado")},
    },
    "S2": {"matrixMulNaive": {"BX": [16], "BY": [16]}, "matrixMulTiled": {"TILE": [4, 16]}},
    "S3": {
        "matmul_kernel_naive": {"BX": [32], "BY": [32]},
        "matmul_kernel_block_tiling": {"BLOCK": [16]},
        "matmul_kernel_thread_tiling": {"BLOCK": [4, 32], "TT": [2, 8]},
        "matmul_kernel_2d_thread_tiling": {"BLOCK": [4, 64], "TT": [2, 8]},
        "matmul_tc": {},
        "matmul_tc_2d_warp_tiling<4,4>": {"WM": [4], "WN": [4]},
    },
    "S4": {
        "serial CPU": {},
        "OpenMP CPU": {},
        **dict.fromkeys(("Basic", "RR", "RC", "CR", "CC", "CC_V_FINAL"), BLOCKS),
        **dict.fromkeys(("CC_V_STATIC_BLOCK", "index hoisting", "short-circuit test"), ONE_BLOCK),
        **{f"__fmul_r{mode}": {"BLOCK": [16], "ROUND": [number]} for number, mode in enumerate("nduz")},
    },
}


@pytest.fixture(scope="module")
def listed() -> list[dict[str, Any]]:
    with redirect_stdout(StringIO()) as written:
        assert run(["list", "--json"]) == 0
    kernels: list[dict[str, Any]] = json.loads(written.getvalue())
    return kernels


@pytest.mark.parametrize(("source", "name"), [(source, name) for source, names in TABLE.items() for name in names])
def test_the_list_names_each_kernel_of_a_document(listed: list[dict[str, Any]], source: str, name: str) -> None:
    (kernel,) = (k for k in listed for s in k["stands_for"] if (s["source"], s["name"]) == (source, name))
    for param, values in TABLE[source][name].items():
        assert set(values) <= set(kernel["params"][param])
    assert kernel["source"] == source or name == "serial CPU"


def test_the_list_names_the_listing_of_a_kernel_and_its_repairs(listed: list[dict[str, Any]]) -> None:
    names = {s["name"]: s for kernel in listed for s in kernel["stands_for"]}
    assert all(name["listing"] for name in names.values())
    assert {name["text"] for name in names.values()} == {"printed", "repaired", "described", "reconstructed"}
    assert all(name["repaired"] for name in names.values() if name["text"] == "repaired")
    assert (names["matmul_tc"]["listing"], names["matmul_tc"]["text"]) == ("kernel 4", "repaired")
    assert "swapped" in names["matmul_tc"]["repaired"]
    assert "the report does not say" in names["CC_V_FINAL"]["repaired"]


def test_each_kernel_that_names_a_document_stands_for_something_in_it(listed: list[dict[str, Any]]) -> None:
    for kernel in listed:
        assert (kernel["source"] != "") == bool(kernel["stands_for"])
        assert kernel["source"] in {"", *(s["source"] for s in kernel["stands_for"])}


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.id)
def test_the_launches_of_the_documents_are_possible(document) -> None:
    rungs = ladder()
    for name in document.names:
        kernel = find(name.kernel, rungs)
        shown = [dict(zip(name.params, values, strict=True)) for values in product(*name.params.values())]
        sizes = [nearest_size(kernel, Problem.cube(64), kernel.defaults | params) for params in shown]
        assert any(sizes), name.name


def test_exhibits_are_listed_with_their_reason(
    listed: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    exhibits = {k["name"]: k["exhibit"] for k in listed if k["exhibit"]}
    assert "C is read before anything wrote it" in exhibits["mm_printed"]
    assert all(k["source"] for k in listed if k["exhibit"])
    assert run(["list"]) == 0
    assert capsys.readouterr().out.count("Exhibit:") == len(exhibits)
