"""Tuned parameters are kept, found again for the nearest size, and never taken for another text or device."""

import json
from dataclasses import replace

import pytest
from tuning_kernels import CUDA, c_source, cuda

from gemmviz.bench.tuning import kept
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run
from gemmviz.cli.tuned_entries import this_machine, tuned_entries
from gemmviz.engine.messages import Probed, ProbeRequest

DEVICE = "NVIDIA H200"


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def document(size=64, params=(64, 64), device=DEVICE, kernel=None, **more):
    kernel = kernel or cuda()
    return {
        "kernel": kernel.name,
        "source_sha256": kernel.sha256,
        "tuned_on": device,
        "date_utc": "2026-11-21T20:00:00+00:00",
        **dict.fromkeys("MNK", size),
        "params": dict(zip(("BM", "BN"), params, strict=True)),
        "gflops": 1234.5,
        "gain": 1.25,
        "rounds": 5,
        **more,
    }


def nearest(*sizes, kernel=None, device=DEVICE):
    found = kept.nearest(kept.kept()[0], kernel or cuda(), device, [Problem.cube(n) for n in sizes])
    return None if found is None else tuple(found.params.values())


def test_the_nearest_size_of_this_device_is_found():
    kept.keep(document(64, (32, 64)))
    kept.keep(document(4096, (128, 64)))
    kept.keep(document(64, (64, 32), device="another GPU"))
    assert [nearest(n) for n in (16, 256, 1024, 8192)] == [(32, 64), (32, 64), (128, 64), (128, 64)]
    assert nearest(64, device="another GPU") == (64, 32)
    assert nearest(64, device="a third") is None


def test_a_newer_search_takes_the_place_of_an_older_one():
    paths = {kept.keep(document(params=(32, 32))), kept.keep(document(params=(64, 32)))}
    assert len(paths) == 1 and nearest(64) == (64, 32)


def test_parameters_of_another_text_are_outdated_and_not_taken():
    kept.keep(document())
    changed = cuda(CUDA.replace("{\n}", "{ c[0] = 1; }"))
    assert nearest(64, kernel=changed) is None
    assert kept.outdated(kept.kept()[0], changed, DEVICE)
    assert not kept.outdated(kept.kept()[0], cuda(), DEVICE)


def test_parameters_that_cannot_run_at_a_size_are_passed_over():
    picky = cuda(CUDA.replace("BM + BN <= 192", "M % BM == 0"))
    kept.keep(document(256, (128, 64), kernel=picky))
    kept.keep(document(4096, (32, 64), kernel=picky))
    assert nearest(256, kernel=picky) == (128, 64)
    assert nearest(288, kernel=picky) == (32, 64)
    assert nearest(288, 256, kernel=picky) == (32, 64)
    assert nearest(100, kernel=picky) is None


def test_a_search_without_a_winner_keeps_nothing():
    assert kept.keep(document() | {"params": None}) is None
    assert kept.kept() == ([], [])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"params": {"BM": "64"}}, "params"),
        ({"gflops": "fast"}, "gflops"),
        ({"M": 0}, "a M that cannot be: 0"),
        ({"schema_version": 99}, "version"),
        ({"kernel": None}, "kernel"),
    ],
)
def test_a_damaged_file_is_named_passed_over_and_left_alone(change, says):
    path = kept.keep(document())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    found, faults = kept.kept()
    assert found == [] and str(path) in faults[0] and says in faults[0]
    assert kept.forget("mine") == 0 and path.exists()


def test_a_truncated_file_and_a_folder_that_cannot_be_written_are_reported(tmp_path):
    kept.keep(document()).write_text('{"kernel": ')
    assert "truncated" in kept.kept()[1][0]
    (tmp_path / "data" / "gemmviz").rename(tmp_path / "elsewhere")
    (tmp_path / "data" / "gemmviz").write_text("in the way")
    with pytest.raises(GemmvizError, match="cannot keep tuned parameters"):
        kept.keep(document())


# In a terminal


def test_tune_finds_keeps_lists_uses_and_forgets(capsys, tmp_path):
    mine, target = tmp_path / "mine.c", tmp_path / "t.json"
    slow = "    if (P == 1) for (volatile int i = 0; i < 50000; i++) ;"
    mine.write_text(c_source(slow).replace("[1, 2, 3, 4]", "[1, 3]"))
    # Time enough on any machine: the search ends by itself when all is clear.
    assert run(["tune", str(mine), "--size", "16", "--seconds", "600", "--json", str(target)]) == 0
    out = capsys.readouterr().out
    assert "Default: P=1" in out and "Best: P=3" in out and "times as fast" in out
    assert "2 of 2 combinations tried" in out
    rows = [line.replace("│", " ").split() for line in out.splitlines() if "│" in line]
    marks = {row[1]: row[0] for row in rows if row[1].startswith("P=")}
    assert marks["P=3"] == "best" and marks["P=1"] == "default"
    content = json.loads(target.read_text())
    assert content["params"] == {"P": 3} and content["gain"] > 1 and len(content["candidates"]) == 2
    assert content["env"]["cpu"]["model"] in content["tuned_on"]

    assert run(["tune", "--list"]) == 0
    out = capsys.readouterr().out
    assert "mine" in out and "P=3" in out

    assert run(["bench", str(mine), "--size", "8", "12", "--tuned", "--quick", "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert [(r["N"], r["params"]) for r in json.loads(captured.out)["results"]] == [(8, {"P": 3}), (12, {"P": 3})]
    assert "mine at 12 x 12 x 12: P=3, tuned at 16 x 16 x 16" in captured.err

    assert run(["tune", "--forget", "mine"]) == 0
    capsys.readouterr()
    assert run(["tune", "--list"]) == 0
    assert "No tuned parameters are kept yet" in capsys.readouterr().out
    assert run(["tune", "--forget", "mine"]) == 2


class Asked:
    """A fake engine that returns the facts of this machine."""

    def run(self, request):
        assert isinstance(request, ProbeRequest)
        return Probed(1, {"facts": [], "device": {"name": DEVICE}, "env": {"cpu": {"model": "abacus", "cores": 2}}})


def test_values_set_by_hand_go_before_tuned_ones_and_a_message_names_the_others(capsys):
    kept.keep(document(64, (32, 128)))
    kernels = [cuda(), replace(cuda(), name="other")]
    entries = [{"path": "", "text": "", "params": {"BN": 64}}, {"path": "", "text": "", "params": {}}]
    ((chosen, at),) = tuned_entries(this_machine(Asked()), kernels, entries, [Problem.cube(32)])
    assert [entry["params"] for entry in chosen] == [{"BM": 32, "BN": 64}, {}]
    assert at == [Problem.cube(32)]
    output = capsys.readouterr().err
    assert "mine at 32 x 32 x 32: BM=32 BN=128, tuned at 64 x 64 x 64 on NVIDIA H200" in output
    assert "not tuned on this device for such a size, so measured with the defaults: other\n" in output


def test_a_changed_text_is_measured_with_its_defaults_and_a_message_says_so(capsys):
    kept.keep(document())
    changed = cuda(CUDA.replace("{\n}", "{ c[0] = 1; }"))
    entry = {"path": "", "text": "", "params": {}}
    (job,) = tuned_entries(this_machine(Asked()), [changed], [entry], [Problem.cube(64)])
    assert job == ([entry], [Problem.cube(64)])
    assert "its text changed after tuning" in capsys.readouterr().err


def test_the_list_says_which_are_of_another_text_of_a_rung(capsys):
    kept.keep(document() | {"kernel": "gputiled"})
    assert run(["tune", "--list"]) == 0
    assert "changed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tune"], "takes one of"),
        (["tune", "gputiled", "--list"], "takes one of"),
        (["tune", "no-such-kernel"], "no kernel 'no-such-kernel'"),
        (["tune", "gputiled", "--size", "0"], "choose a size from 1"),
        (["tune", "gputiled", "--size", "16", "--set", "NONE=1"], "NONE"),
    ],
)
def test_an_impossible_request_has_a_message_of_one_line(capsys, arguments, says):
    assert run(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_cuda_kernel_without_a_gpu_says_why_it_is_not_tuned(capsys, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert run(["tune", "gputiled", "--size", "16"]) == 2
    captured = capsys.readouterr()
    assert "no CUDA device" in captured.err and captured.out == ""
    assert kept.kept() == ([], [])
