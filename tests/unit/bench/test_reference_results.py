"""Results measured elsewhere, read from files."""

import importlib.util
import json
from pathlib import Path

import pytest

from gemmviz import data
from gemmviz.bench import claims as judging
from gemmviz.bench import reference_results, results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem


def write_reference(folder, date="2026-11-21"):
    """Write a result file with a CPU and a CUDA row, as a machine with an H200 would."""
    env = {"cpu": {"model": "Xeon 8558", "cores": 96}}
    document = results.document(env, {"name": "NVIDIA H200", "cc": "9.0", "sms": 132}, Protocol())
    document["started_utc"] = f"{date}T10:00:00+00:00"
    for name, gflops in (("hostmult0", 1.5), ("gputiled", 5000.0)):
        row = results.new_row(find(name, ladder()), Problem.cube(1024), {})
        flops = Problem.cube(1024).flops
        seconds = [flops / gflops / 1e9] * 3
        results.describe_samples(row, seconds, summarise(seconds), "steady", flops)
        document["results"].append(row)
    results.write_results(document, folder / "h200.json")


def test_every_figure_names_its_device_and_date(tmp_path):
    write_reference(tmp_path)
    (reference,), faults = reference_results.load(tmp_path)
    assert not faults
    values = {row["kernel"]: reference.origin(row) for row in reference.figures}
    assert values == {
        "hostmult0": "reference: Xeon 8558 (96 cores), 2026-11-21",
        "gputiled": "reference: NVIDIA H200, 2026-11-21",
    }


def test_a_broken_file_is_reported_and_the_others_are_read(tmp_path):
    write_reference(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    found, faults = reference_results.load(tmp_path)
    assert len(found) == 1 and "broken.json" in faults[0]


def test_a_copy_without_references_has_none(tmp_path):
    assert reference_results.load(tmp_path / "nothing") == ([], [])


def test_the_references_that_are_shipped_can_be_read():
    _, faults = reference_results.load()
    assert not faults


def test_the_references_that_are_shipped_have_one_row_per_line():
    paths = sorted((data.root("resources") / "reference").glob("*.json"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert texts and all(text == results.to_json(json.loads(text)) for text in texts)


REFERENCE_SCRIPT = Path(__file__).parents[3] / "benchmarks" / "reference.py"


def reference_script():
    spec = importlib.util.spec_from_file_location("reference", REFERENCE_SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not REFERENCE_SCRIPT.exists(), reason="runs from a wheel, where there are no benchmarks")
def test_a_reference_keeps_the_latest_profile_of_the_present_text_and_the_recordings_that_claims_ask_for():
    script = reference_script()

    def profile(kernel, share, sha="now", fault=None):
        size = {"kernel": kernel, "M": 64, "N": 64, "K": 64, "params": {"BLOCK": 16}}
        return size | {"source_sha256": sha, "figures": {"compute": share}, "fault": fault}

    files = [
        {"profiles": [profile("CC", 70), profile("RR", 30, sha="before")]},
        {"profiles": [profile("CC", 75), profile("CR", 0, fault={"kind": "launch", "message": "no"})]},
    ]
    kept = script.profiles(files, {"CC": "now", "RR": "now", "CR": "now"})
    assert [(one["kernel"], one["figures"]) for one in kept] == [("CC", {"compute": 75})]

    case = judging.plan(judging.load()).record[0].case
    m, n, k = case.size
    asked = {"kernel": case.kernel, "M": m, "N": n, "K": k, "params": dict(case.params), "fault": None}
    asked["as_written"] = case.as_written
    files = [{"recordings": [asked | {"figures": {"reads": reads}}]} for reads in (1, 2)]
    files.append({"recordings": [asked | {"M": 3, "figures": {}}]})
    assert script.recordings(files) == [asked | {"figures": {"reads": 2}}]
