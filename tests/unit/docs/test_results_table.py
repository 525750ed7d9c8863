"""The page of results has the figures of the reference, and say where there are none."""

import importlib
import json
import re
import runpy
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import significant, summarise
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

KERNELS = ladder()
FIRST, SECOND = "2026-11-21T10:00:00+00:00", "2026-11-22T11:00:00+00:00"
DEVICE = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}


@pytest.fixture
def tools(monkeypatch):
    """What makes the section, as the command `python docs/results.py` sees it."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("results")
    for name in ("results", "results_data", "results_chart"):
        sys.modules.pop(name, None)


def a_run(started, gflops, rounds=3, size=4096):
    """Return a result file with a row per kernel of a dictionary, as one run would leave it."""
    env = {"os": "Linux 6", "driver": "580.1", "nvrtc": "13.0", "cpu": {"model": "Xeon", "cores": 16}}
    document = results.document(env, DEVICE, Protocol(rounds=rounds)) | {"started_utc": started}
    for name, figure in gflops.items():
        row = results.new_row(find(name, KERNELS), Problem.cube(size), {})
        seconds = [Problem.cube(size).flops / figure / 1e9] * 3
        results.describe_samples(row, seconds, summarise(seconds), "steady", Problem.cube(size).flops)
        row["rounds"] = [{"round": n + 1, "n": 1, "median_s": seconds[0], "gflops": figure} for n in range(rounds)]
        document["results"].append(row)
    return document


def merged(folder, monkeypatch, *documents, earlier=()):
    """Return the reference that `benchmarks/reference.py` makes of some runs."""
    paths = [folder / f"{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        results.write_results(document, path)
    target = folder / "reference.json"
    options = ["--earlier", *earlier] if earlier else []
    monkeypatch.setattr(sys, "argv", ["reference.py", *map(str, paths), *options, "-o", str(target)])
    runpy.run_path(str(ROOT / "benchmarks" / "reference.py"), run_name="__main__")
    return results.read_results(target)


def lines(table):
    """Return the cells of a table by the name that their line begins with."""
    cells = [re.split(r" \| ", line.strip("|\n ")) for line in table.splitlines()[2:]]
    return {re.sub(r"\[`([^`]+)`\].*", r"\1", row[0]): row[1:] for row in cells}


def test_page_and_charts_are_what_the_command_makes(tools):
    stale = [path.name for path, text in tools.made().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `python docs/results.py`"


def test_every_figure_of_the_page_stands_in_the_reference(tools):
    rows = results.read_results(tools.REFERENCE)["results"]
    measured = {
        (row["alias"], row["N"], significant(row["gflops"], row["stats"]["iqr_rel"]))
        for row in rows
        if row["gflops"] and row["M"] == row["N"] == row["K"]
    }
    section = tools.PAGE.read_text(encoding="utf-8").split(tools.BEGIN)[1].split(tools.END)[0]
    shown = re.findall(
        r"^\| \[`([^`]+)`\]\(\.\./kernels/(?:cuda|reference)/[^)]+\)[^|]*\| ([\d.]+)", section, re.MULTILINE
    )
    gpu = {k.alias for k in KERNELS if k.backend in ("cuda", "cublas")}
    assert {name for name, _ in shown} >= {"gputiled", "matmul_tc", "cublas"}
    assert {(name, 4096, figure) for name, figure in shown if name in gpu} <= measured


def test_every_rung_has_a_line_that_leads_to_its_source(tools):
    section = tools.PAGE.read_text(encoding="utf-8").split(tools.BEGIN)[1].split(tools.END)[0]
    led = re.findall(r"^\| \[`[^`]+`\]\(([^)]+)\)", section, re.MULTILINE)
    wanted = [f"../{k.path.relative_to(ROOT).as_posix()}" for k in KERNELS if not k.exhibit and k.backend != "numpy"]
    assert sorted(set(led)) == sorted(wanted)


def test_a_step_names_what_is_slower_and_what_nobody_measured(tools, tmp_path, monkeypatch):
    figures = {
        "gpumult1": 6000.0,
        "matrixMulNaive": 5000.0,
        "gputiled": 8000.0,
        "gputiled1": 16000.0,
        "cublas": 50000.0,
    }
    reference = merged(tmp_path, monkeypatch, a_run(FIRST, figures))
    found = lines(tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",))))
    assert found["gpumult1"][:3] == ["6000", "12.0%", "–"]
    assert found["matrixMulNaive"][:3] == ["5000", "10.0%", "0.83x, slower"]
    assert found["matmul_kernel_block_tiling"][:3] == ["not measured", "–", "–"]
    assert found["gputiled"][:3] == ["8000", "16.0%", "–"]
    assert found["gputiled1"][:3] == ["16000", "32.0%", "2.00x"]
    assert found["cublas"][:3] == ["50000", "100.0%", "–"]


def test_a_step_that_the_samples_do_not_support_says_so(tools, tmp_path, monkeypatch):
    run = a_run(FIRST, {"gputiled": 8000.0, "gputiled1": 8100.0, "matrixMulTiled": 8400.0})
    for row in run["results"]:
        row["stats"] |= {"q1": row["stats"]["median"] * 0.99, "q3": row["stats"]["median"] * 1.01, "iqr_rel": 0.02}
    found = lines(tools.ladder_table(tools.rungs(merged(tmp_path, monkeypatch, run), KERNELS, ("float32",))))
    assert found["gputiled1"][2] == "1.01x, within the spread"
    assert found["matrixMulTiled"][2] == "1.04x"


def test_a_failed_rung_has_no_figure_and_says_why(tools, tmp_path, monkeypatch):
    run = a_run(FIRST, {"gputiled": 8000.0, "cublas": 50000.0})
    results.fail(run["results"][0], "wrong", "C[0,0] is off")
    reference = merged(tmp_path, monkeypatch, run)
    found = lines(tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",))))
    assert found["gputiled"][:3] == ["no figure: wrong", "–", "–"]


def test_a_share_never_mixes_two_runs(tools, tmp_path, monkeypatch):
    first = a_run(FIRST, {"gputiled": 8000.0, "gputiled1": 8000.0, "cublas": 40000.0})
    second = a_run(SECOND, {"gputiled": 8000.0, "cublas": 50000.0})
    reference = merged(tmp_path, monkeypatch, first, second)
    found = lines(tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",))))
    assert (found["gputiled"][1], found["gputiled1"][1]) == ("16.0%", "20.0%")
    text = tools.section(reference, None, KERNELS)
    when = "2 runs, 21 November 2026, 10:00 UTC to 22 November 2026, 11:00 UTC (3 of the figures)"
    assert f"* {when}:\n  driver 580.1, NVRTC 13.0; 3 " in text


def test_runs_of_another_protocol_stand_apart(tools, tmp_path, monkeypatch):
    runs = a_run(FIRST, {"gputiled": 8000.0}), a_run(SECOND, {"gputiled1": 9000.0}, rounds=1)
    text = tools.section(merged(tmp_path, monkeypatch, *runs), None, KERNELS)
    assert re.findall(r"^\* (\d+ November).*\n.*; (\d) interleaved", text, re.MULTILINE) == [
        ("21 November", "3"),
        ("22 November", "1"),
    ]


def test_what_a_run_did_not_finish_is_left_out(tools, tmp_path, monkeypatch):
    run = a_run(FIRST, {"gputiled": 8000.0, "gputiled1": 8000.0}, rounds=2)
    run["results"][0]["flags"] = ["noisy", "cancelled after round 2 of 3"]
    reference = merged(tmp_path, monkeypatch, run)
    assert [row["kernel"] for row in reference["results"]] == ["gputiled1"]


def test_making_a_reference_of_itself_changes_nothing(tmp_path, monkeypatch):
    first = merged(tmp_path, monkeypatch, a_run(FIRST, {"gputiled": 8000.0}), a_run(SECOND, {"cublas": 50000.0}))
    assert merged(tmp_path, monkeypatch, first) == first


def test_a_quick_run_does_not_take_the_place_of_a_whole_one(tools, tmp_path, monkeypatch):
    whole, quick = (
        a_run(FIRST, {"gputiled": 8000.0}),
        a_run(SECOND, {"gputiled": 9000.0, "gputiled1": 9000.0}, rounds=1),
    )
    reference = merged(tmp_path, monkeypatch, whole, quick)
    found = lines(tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",))))
    assert (found["gputiled"][0], found["gputiled1"][0]) == ("8000", "9000")


def test_a_figure_of_an_earlier_text_is_kept_where_it_is_asked_for_and_there_is_no_other(tmp_path, monkeypatch):
    old = a_run(FIRST, {"gputiled": 8000.0, "gputiled1": 8000.0, "CC": 4000.0})
    for row in old["results"]:
        row["source_sha256"] = "0" * 64
    now = a_run(SECOND, {"gputiled": 8100.0})
    for documents in ((old, now), (now, old)):
        reference = merged(tmp_path, monkeypatch, *documents, earlier=["gputiled", "gputiled1"])
        found = {row["kernel"]: (round(row["gflops"]), "earlier-text" in row["flags"]) for row in reference["results"]}
        assert found == {"gputiled": (8100, False), "gputiled1": (8000, True)}


def test_a_figure_of_an_earlier_text_is_marked(tools, tmp_path, monkeypatch):
    reference = merged(tmp_path, monkeypatch, a_run(FIRST, {"gputiled": 8000.0}))
    reference["results"][0]["source_sha256"] = "0" * 64
    found = lines(tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",))))
    assert found["gputiled"][0] == "8000 <sup>e</sup>"
    assert "*e*: measured with an earlier text" in tools.section(reference, None, KERNELS)


def test_other_parameters_are_named(tools, tmp_path, monkeypatch):
    run = a_run(FIRST, {"gputiled": 8000.0})
    run["results"][0]["params"] = {"TS": 32}
    reference = merged(tmp_path, monkeypatch, run)
    table = tools.ladder_table(tools.rungs(reference, KERNELS, ("float32",)))
    assert re.search(r"gputiled.cu\) TS=32 \| 8000 <sup>p</sup> \|", table)


def test_the_last_rungs_stand_over_n(tools, tmp_path, monkeypatch):
    assert all(k.division is None for k in tools.last_rungs(KERNELS))
    last = {k.dtype: k.name for k in tools.last_rungs(KERNELS)}
    run = a_run(FIRST, {last["float32"]: 30000.0, "cublas": 24000.0, last["bfloat16"]: 500000.0}, size=1536)
    found = lines(tools.sweep_table(merged(tmp_path, monkeypatch, run), KERNELS))
    assert list(found) == [str(n) for n in range(1024, 8193, 512)]
    faster = a_run(SECOND, {last["float32"]: 36000.0, "cublas": 24000.0}, size=1536)
    faster["results"][0]["params"] |= {"BLOCKS": 1}
    both = lines(tools.sweep_table(merged(tmp_path, monkeypatch, run, faster), KERNELS))
    assert both["1536"][:2] == ["36000 <sup>p</sup>", "150.0%"]
    assert found["1536"] == ["30000", "125.0%", "not measured", "–", "500000", "–"]
    assert found["8192"] == ["not measured", "–"] * 3


def test_the_cpu_stands_beside_the_library_with_as_many_threads(tools):
    rows = [
        {"threads": 1, "N": 1024, "kernel": "packed", "gflops": 100.0, "of_openblas": 0.8},
        {"threads": 1, "N": 1024, "kernel": "simd", "gflops": 120.0, "of_openblas": 0.96},
        {"threads": 2, "N": 2048, "kernel": "simd_threads", "gflops": 240.0, "of_openblas": 0.9},
        {"threads": 1, "N": 1024, "kernel": "openblas", "gflops": 125.0, "of_openblas": 1.0},
        {"threads": 2, "N": 2048, "kernel": "openblas", "gflops": 267.0, "of_openblas": 1.0},
    ]
    table = tools.cpu_table({"rows": rows}, KERNELS)
    found = lines(table)
    assert found["simd"][:7] == ["1", "120", "96.0%", "1.20x", "not measured", "–", "–"]
    assert found["simd_threads"][:7] == ["2", "not measured", "–", "–", "240", "90.0%", "–"]
    assert found["hostmult0"][:4] == ["–", "not measured", "–", "–"]
    assert table.count("[`openblas`]") == 2


def test_the_charts_show_every_rung(tools, tmp_path, monkeypatch):
    reference = merged(tmp_path, monkeypatch, a_run(FIRST, {"gputiled": 8000.0, "cublas": 50000.0}))
    drawings = tools.results_chart.drawings(reference, KERNELS)
    assert {f"images/{name}" for name in drawings} <= set(
        re.findall(r'(?:src|srcset)="([^"]+)"', tools.PAGE.read_text(encoding="utf-8"))
    )
    for drawing in drawings.values():
        texts = [e.text for e in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
        data = sys.modules["results_data"]
        drawn = [k for k in KERNELS if data.kind(k) in data.TYPES and not k.exhibit]
        assert {k.alias for k in drawn if k.backend == "cuda"} <= set(texts)
        assert "8.00 (16%)" in texts and "not measured" in texts


def test_the_reference_fits_the_published_schema():
    schema = json.loads((ROOT / "resources" / "schema" / "result-2.json").read_text(encoding="utf-8"))
    content = json.loads((ROOT / "resources" / "reference" / "nvidia-h200.json").read_text(encoding="utf-8"))
    faults = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(content)]
    assert not faults
