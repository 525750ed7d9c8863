"""``gemmviz claims`` in a terminal."""

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

from gemmviz import data
from gemmviz.bench import results, store
from gemmviz.bench.protocol import Protocol
from gemmviz.cli import run


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "store"))


def test_the_claims_are_listed_without_running_anything(capsys):
    assert run(["claims", "--list", "s2", "s4-sweep"]) == 0
    out = capsys.readouterr().out
    assert "s2-walkthrough" in out and "s4-sweep" in out and "s0-unroll" not in out
    assert run(["claims", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {claim["source"] for claim in listed} == {"S0", "S1", "S2", "S3", "S4"}


def test_an_unknown_claim_is_wrong_usage(capsys):
    assert run(["claims", "s9"]) == 2
    assert "no claim 's9'" in capsys.readouterr().err


def test_a_claim_is_run_judged_and_judged_again_from_kept_results(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    target = tmp_path / "found.json"
    chosen = ["s2-walkthrough", "s1-columns", "s1-comma"]
    assert run(["claims", *chosen, "--quick", "--json", "--save", str(target)]) == 0
    judged = {claim["id"]: claim["verdict"] for claim in json.loads(capsys.readouterr().out)}
    assert {name: verdict["state"] for name, verdict in judged.items()} == {
        "s2-walkthrough": "holds",
        "s1-columns": "does not hold",
        "s1-comma": "holds",
    }
    states = [finding["state"] for finding in judged["s1-columns"]["findings"]]
    assert states == ["does not hold", "cannot be judged here"]
    assert [finding["origin"] for finding in judged["s2-walkthrough"]["findings"]] == ["recorded"] * 3

    published = json.loads((data.root("resources") / "schema" / "result-2.json").read_text())
    jsonschema.validate(json.loads(target.read_text()), published)
    assert results.read_results(store.find("last")) == results.read_results(target)

    assert run(["claims", "s1-bounds", "--quick"]) == 0
    assert "not run" not in capsys.readouterr().out
    for sources in ([str(target)], ["last~1"], ["last", "--from", str(target)]):
        assert run(["claims", *chosen, "--from", *sources]) == 0
        out = capsys.readouterr().out
        assert "A[0:4,4:8] x B[4:8,0:4]" in out and "not run" not in out


def test_claims_that_need_no_run_are_judged_at_once(capsys):
    assert run(["claims", "s4-occupancy", "s4-block-limits"]) == 0
    out = capsys.readouterr().out
    assert "66.67 / 66.7" in out and "ours: modelled" in out
    assert "blocks: ours (theirs: not stated)" in " ".join(out.split())


# A fake Nsight Compute: it does not start the program, and prints a fixed report.
_NCU = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
if "--import" in arguments:
    print("==PROF== a line that is no table")
    jobs = json.loads(pathlib.Path(arguments[arguments.index("--import") + 1]).read_text())
    print('"ID","Kernel Name","gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",'
          '"sm__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active"')
    print('"","","%","%","%"')
    for number, job in enumerate(jobs):
        print(f'"{{number}}","{{job["path"]}}","{{50 + number}}.5","{{job["params"]["BLOCK"] % 32 + 40}}.25","97"')
else:
    jobs, answers = map(pathlib.Path, arguments[-2:])
    pathlib.Path(arguments[arguments.index("--export") + 1]).write_text(jobs.read_text())
    row = {{"error": None, "wrong": {wrong}, "nvrtc": "13.0"}}
    answers.write_text(json.dumps([row | {{"launch": i}} for i, _ in enumerate(json.loads(jobs.read_text()))]))
"""


def fake_ncu(folder, monkeypatch, wrong=0):
    tool = folder / "bin" / "ncu"
    tool.parent.mkdir()
    tool.write_text(_NCU.format(python=sys.executable, wrong=wrong))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")


def test_shares_of_the_peak_are_read_by_nsight_compute_and_kept(capsys, monkeypatch, tmp_path):
    fake_ncu(tmp_path, monkeypatch)
    target = tmp_path / "found.json"
    assert run(["claims", "s4-throughput", "--json", "--save", str(target)]) == 0
    (claim,) = json.loads(capsys.readouterr().out)
    assert claim["verdict"]["state"] == "holds"
    assert claim["verdict"]["table"]["ours"] == [
        [44.25, 51.5, 97],
        [48.25, 52.5, 97],
        [56.25, 50.5, 97],
        [40.25, 53.5, 97],
    ]
    (finding,) = claim["verdict"]["findings"]
    assert finding["origin"].startswith("measured by Nsight Compute: ")
    assert finding["sentence"].startswith("stated 1.231x") and finding["sentence"].endswith(": holds")
    written = json.loads(target.read_text())
    published = json.loads((data.root("resources") / "schema" / "result-2.json").read_text())
    jsonschema.validate(written, published)
    assert all(len(profile["source_sha256"]) == 64 and profile["M"] == 4096 for profile in written["profiles"])
    assert run(["claims", "s4-throughput", "--from", str(target)]) == 0
    assert "56.25 / 75.1" in capsys.readouterr().out


def test_a_kernel_that_is_wrong_under_the_profiler_gives_no_share(capsys, monkeypatch, tmp_path):
    fake_ncu(tmp_path, monkeypatch, wrong=12)
    assert run(["claims", "s4-throughput", "--json"]) == 0
    (claim,) = json.loads(capsys.readouterr().out)
    assert claim["verdict"]["state"] == "cannot be judged here"
    assert claim["verdict"]["sentence"] == "12 elements of C are wrong"


def test_without_nsight_compute_nothing_is_judged_by_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.delenv("CUDA_PATH", raising=False)
    if Path("/usr/local/cuda/bin/ncu").exists():
        pytest.skip("Nsight Compute is installed where it is always found")
    target = tmp_path / "found.json"
    assert run(["claims", "s4-throughput", "--json", "--save", str(target)]) == 0
    (claim,) = json.loads(capsys.readouterr().out)
    assert claim["verdict"]["state"] == "cannot be judged here"
    assert "Nsight Compute (ncu) is not on the PATH" in claim["verdict"]["sentence"]
    published = json.loads((data.root("resources") / "schema" / "result-2.json").read_text())
    jsonschema.validate(json.loads(target.read_text()), published)


def test_tables_say_whose_figures_they_hold(capsys, tmp_path):
    empty = results.document({"cpu": {"model": "abacus"}}, None, Protocol())
    results.write_results(empty, tmp_path / "none.json")
    assert run(["claims", "s3-ladder", "s0-shared", "--from", str(tmp_path / "none.json")]) == 0
    out = capsys.readouterr().out
    assert "- / 6\u202f688" in out
    assert "ours: " not in out and "gputiled1 (unrolled)" not in out
    assert (
        run(["claims", "s3-ladder", "s0-shared", "--from", str(data.root("resources") / "reference/nvidia-h200.json")])
        == 0
    )
    out = " ".join(capsys.readouterr().out.split())
    assert "s0-shared: The tiled kernels at 2048, GFLOPS: ours " in out
    assert "ours: reference: NVIDIA H200" in out


def test_a_long_claim_is_run_by_name_only(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("gemmviz.cli.gathering.Gathering.run", lambda self, plan: asked.append(plan))
    assert run(["claims"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Not run, because it takes many minutes: s4-final-serial, s4-final-openmp, s4-cpu-times" in out
    assert run(["claims", "s4-cpu-times"]) == 0
    sizes = [
        {case.size[0] for job in plan.bench for case in job.cases if case.kernel == "hostmult_threads"}
        for plan in asked
    ]
    assert sizes == [{1024}, {2048, 4096}]
