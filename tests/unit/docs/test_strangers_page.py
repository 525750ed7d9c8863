"""The page of strangers' kernels: its tables are those of its data, and its data have names and figures only."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

LINE = ["someone/gemm", "src/a.cu", "sgemm", "development", "0" * 40]
ROW = {
    **{"repository": LINE[0], "file": LINE[1], "kernel": LINE[2], "described": True, "recorded": True, "right": True},
    **{"asm": False, "measured": "ok", "size": [64, 64, 64], "gflops": 12.34, "seconds": 1.23, "why": "it was found"},
    **{"findings": ["sgemm at 8 x 8 x 8: line 3: race: a text", "sgemm at 16 x 8 x 8: line 3: race: a text"]},
    "matter": "// front matter",
}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("strangers")
    sys.modules.pop("strangers", None)


def test_the_page_has_the_tables_of_its_data(page):
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, page.section(page.read())) == text


def test_every_row_is_of_the_list_with_its_commit(page):
    lines = [line.split("\t") for line in page.LIST.read_text(encoding="utf-8").splitlines()]
    rows = page.read()
    named = {tuple(line[:3]): line[3:] for line in lines}
    assert rows and all(named[page._name(row)] == [row["part"], row["commit"]] for row in rows)


def test_names_and_figures_are_taken_over_and_no_source(page):
    (row,) = page.taken_over([ROW], [LINE], [])
    assert (row["gflops"], row["findings"], row["why"], row["commit"]) == (12.3, ["race"], "", "0" * 40)
    assert "matter" not in row


def test_a_kernel_that_was_not_tried_again_keeps_its_row(page):
    (before,) = page.taken_over([ROW], [LINE], [])
    assert page.taken_over([], [LINE, ["someone/gemm", "b.cu", "other", "development", "0" * 40]], [before]) == [before]


def test_figures_of_a_gpu_change_nothing_else_of_a_count(page):
    (before,) = page.taken_over([ROW | {"measured": "", "gflops": 0.0}], [LINE], [])
    table = [ROW | {"right": False, "findings": [], "why": "another engine"}]
    assert page.with_figures(table, [before]) == [before | {"measured": "ok", "gflops": 12.3}]
    assert page.with_figures([ROW | {"measured": ""}], [before]) == [before]
    assert page.with_figures(table, [before | {"described": False}]) == [before | {"described": False}]


def test_the_sums_count_the_rows(page):
    lines = [LINE, [LINE[0], "b.cu", *LINE[2:]]]
    failed = ROW | {"file": "b.cu", "described": False, "right": False, "findings": [], "measured": "", "why": "no *C*"}
    text = page.section(page.taken_over([ROW, failed], lines, []))
    assert "| **all** | 2 | **1** (50%) | **1** (50%) | **1** (50%) | **1** (50%) |" in text
    assert "| b.cu: `sgemm` | no | – | – | – | no \\*C\\* |" in text
    assert "| src/a.cu: `sgemm` | yes | right | race | 12 at 64 |  |" in text
