"""The tables of 40 sizes have the kept rows of each card, and say what is wrong or out of date."""

import importlib
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)


@pytest.fixture
def shapes(monkeypatch):
    """What makes the tables, as the command `python docs/shapes.py` sees it."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("shapes")
    sys.modules.pop("shapes", None)


def row(over, uuid="GPU-1", day=1, size=(4096, 4096, 4096), lt=None, **more):
    """Return a row of `benchmarks/shapes.py` for FP32; `over` is a ratio, and half of the interval is 0.01."""
    kernel = find("every_shape_fp32", ladder())
    known = {
        **{"type": "fp32", "size": list(size), "sha256": kernel.sha256, "uuid": uuid},
        "params": usual(kernel, Problem(*size)),
        **{
            "device": "Stub",
            "driver": "1",
            "utc": f"2026-11-0{day}T10:00:00Z",
            "error_before": 0.1,
            "error_after": 0.1,
        },
        "over_cublas": [over, over - 0.01, over + 0.01],
    }
    return known | ({"over_lt": [lt, lt, lt]} if lt else {}) | more


def test_pages_are_what_the_command_makes(shapes):
    stale = [path.name for path, text in shapes.made().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `python docs/shapes.py`"


def test_each_type_has_all_of_its_sizes_on_a_card(shapes):
    count = Counter((one["type"], one["uuid"]) for one in shapes.kept([shapes.DATA]))
    most = {kind: max(n for (its, _), n in count.items() if its == kind) for kind in shapes.TYPES}
    # TF32 and FP8 do not take odd sizes.
    few = {"tf32": 36, "tf32-by-rows": 36, "fp8-in-turns": 35}
    assert most == dict.fromkeys(shapes.TYPES, 40) | few


def test_rows_of_an_earlier_text_are_left_out_once_there_are_present_ones(shapes, tmp_path):
    other = row(1.0)["params"] | {"GROUP": 999}
    (tmp_path / "card.json").write_text(json.dumps({"rows": [row(1.0, sha256="0"), row(1.2, params=other), row(1.5)]}))
    assert [one["over_cublas"][0] for one in shapes.kept([tmp_path / "card.json"])] == [1.5]


def test_cards_stand_side_by_side_in_the_order_of_their_runs(shapes):
    rows = [row(1.2, "GPU-late", day=2), row(0.9, "GPU-early"), row(1.1, "GPU-early", size=(8, 16, 32))]
    head, _, *lines = shapes.table(rows, ["fp32"]).splitlines()
    assert head == "| M x N x K | FP32 (1) | FP32 (2) |"
    assert lines == [
        "| 4096 x 4096 x 4096 | 0.900 (0.890-0.910) | 1.200 (1.190-1.210) |",
        "| 8 x 16 x 32 | 1.100 (1.090-1.110) | – |",
    ]


def test_the_summary_has_mean_least_and_sizes_that_reach_the_aim(shapes):
    # The geometric mean of 2 and 0.98 is 1.4; the interval of 0.98 ends below 1.
    rows = [row(2.0, lt=1.0), *(row(1.4, size=(n,) * 3) for n in (1024, 8192)), row(0.98, size=(8, 16, 32), lt=1.5)]
    cells = shapes.summary(rows).splitlines()[2].split(" | ")
    assert cells[1:] == ["**1.400**", "0.980", "1.177", "1.400", "2.000", "1.400", "3 of 4 (1.00) |"]


def test_a_size_counts_once_in_readme(shapes):
    # 4096 was measured on two cards: its mean is 1.0. With 4.0 at the other size the mean of both is 2.0.
    rows = [row(0.5), row(2.0, "GPU-2"), row(4.0, size=(8, 16, 32))]
    assert shapes.short(rows).splitlines()[2:] == ["| mean | 2.00 |", "| least | 0.50 |"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "C was right in all 1 races, before and after."),
        ({"error_after": 1.5}, "C was wrong in 1 of 1 races"),
        ({"sha256": "0"}, "an earlier text of the kernel: `every_shape_fp32`."),
    ],
)
def test_a_wrong_c_and_an_earlier_text_are_said(shapes, changed, said):
    assert said in shapes.measured([row(1.0, **changed)])


def test_a_file_of_the_benchmark_becomes_the_data(shapes, monkeypatch, tmp_path):
    page = f"# A page\n\n{shapes.BEGIN}old\n{shapes.END}\nThe rest.\n"
    for name in ("DATA", "PAGE", "README"):
        monkeypatch.setattr(shapes, name, tmp_path / name)
        (tmp_path / name).write_text(page, encoding="utf-8")
    measured = [row(1.0 + n / 1e8, size=(n,) * 3, algorithms=8) for n in (1024, 4096, 8192)]
    (tmp_path / "card.json").write_text(json.dumps({"rows": measured}))
    monkeypatch.setattr(sys, "argv", ["shapes.py", str(tmp_path / "card.json")])
    assert shapes.main() == 0
    kept = json.loads((tmp_path / "DATA").read_text())["rows"]
    assert [one["size"][0] for one in kept] == [1024, 4096, 8192] and "algorithms" not in kept[0]
    for name in ("PAGE", "README"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith("# A page") and "1.00" in text and "old" not in text and text.endswith("The rest.\n")
