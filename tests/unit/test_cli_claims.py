"""``gemmviz claims`` as somebody at a terminal uses it."""

import json

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


def test_a_claim_is_run_judged_and_judged_again_from_what_was_kept(capsys, monkeypatch, tmp_path):
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
    assert results.read(store.find("last")) == results.read(target)

    assert run(["claims", "s1-bounds", "--quick"]) == 0
    assert "not run" not in capsys.readouterr().out
    for sources in ([str(target)], ["last~1"], ["last", "--from", str(target)]):
        assert run(["claims", *chosen, "--from", *sources]) == 0
        out = capsys.readouterr().out
        assert "A[0:4,4:8] x B[4:8,0:4]" in out and "not run" not in out


def test_claims_that_need_no_run_are_judged_at_once(capsys):
    assert run(["claims", "s4-throughput", "s4-occupancy"]) == 0
    out = capsys.readouterr().out
    assert "hardware counters" in out
    assert "66.67 / 66.7" in out and "ours: modelled" in out


def test_tables_say_whose_figures_they_hold(capsys, tmp_path):
    empty = results.document({"cpu": {"model": "abacus"}}, None, Protocol())
    results.write(empty, tmp_path / "none.json")
    assert run(["claims", "s3-ladder", "s0-shared", "--from", str(tmp_path / "none.json")]) == 0
    out = capsys.readouterr().out
    assert "- / 6,688" in out
    assert "ours: " not in out and "gputiled1 (unrolled)" not in out
    assert (
        run(["claims", "s3-ladder", "s0-shared", "--from", str(data.root("resources") / "reference/nvidia-h200.json")])
        == 0
    )
    out = " ".join(capsys.readouterr().out.split())
    assert "s0-shared: The tiled kernels at 2048, GFLOPS: ours " in out
    assert "ours: reference: NVIDIA H200" in out


def test_what_takes_many_minutes_is_run_by_name_only(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("gemmviz.cli.gathering.Gathering.run", lambda self, plan: asked.append(plan))
    assert run(["claims"]) == 0
    assert "Not run, because it takes many minutes: s4-cpu-times" in capsys.readouterr().out
    assert run(["claims", "s4-cpu-times"]) == 0
    sizes = [
        {case.size[0] for job in plan.bench for case in job.cases if case.kernel == "hostmult_threads"}
        for plan in asked
    ]
    assert sizes == [{1024}, {2048, 4096}]
