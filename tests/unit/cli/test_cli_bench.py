"""``gemmviz bench``, ``list`` and ``doctor`` in a terminal."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import hostile
import pytest

from gemmviz.bench import results, store
from gemmviz.cli import run
from gemmviz.cli.doctor import trust_fact, window_facts
from gemmviz.session.trust.trust import Trust

ROOT = Path(__file__).parents[3]


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return str(path)


def test_bench_measures_a_rung_and_writes_a_result_file(capsys, tmp_path):
    target = tmp_path / "r.json"
    assert run(["bench", "hostmult1", "numpy", "--size", "24", "40", "--quick", "--json", str(target)]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines() if line.startswith("│ hostmult1")]
    assert [line[3] for line in lines] == ["24", "40"]
    rows = results.read_results(target)["results"]
    assert [(r["kernel"], r["M"], r["status"]) for r in rows] == [
        ("hostmult1", 24, "ok"),
        ("numpy", 24, "ok"),
        ("hostmult1", 40, "ok"),
        ("numpy", 40, "ok"),
    ]


def test_bench_stops_sampling_on_request(capsys):
    assert run(["bench", "hostmult1", "--size", "8", "--timeout", "0.25", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["protocol"]["timeout_s"] == 0.25
    # Before the half second that is sampled at least otherwise.
    assert document["results"][0]["stop_reason"] == "timeout"


def test_bench_can_write_json_to_a_pipe_and_nothing_else(capsys):
    assert run(["bench", "hostmult1", "--m", "3", "--n", "5", "--k", "7", "--quick", "--json", "-"]) == 0
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)["results"]
    assert (row["M"], row["N"], row["K"]) == (3, 5, 7)
    assert captured.err == ""


def test_bench_writes_csv_and_keeps_the_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "store"))
    target = tmp_path / "r.csv"
    assert run(["bench", "hostmult1", "--size", "24", "--quick", "--csv", str(target)]) == 0
    header, line = target.read_text().splitlines()
    assert dict(zip(header.split(","), line.split(","), strict=True))["kernel"] == "hostmult1"
    assert [row["kernel"] for row in results.read_results(store.find("last"))["results"]] == ["hostmult1"]
    assert run(["bench", "hostmult1", "--json", "-", "--csv", "-"]) == 2


def test_a_store_that_cannot_be_written_costs_a_message_and_no_figure(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("in the way")
    assert run(["bench", "hostmult1", "--size", "24", "--quick"]) == 0
    output = capsys.readouterr()
    assert "cannot keep this run" in output.err
    assert "hostmult1" in output.out


def test_a_wrong_kernel_is_named_gets_no_figure_and_fails_the_command(capsys, tmp_path):
    path = write(tmp_path, "mine.c", hostile.WRONG)
    assert run(["bench", path, "--size", "16", "--quick"]) == 1
    out = capsys.readouterr().out
    assert "wrong" in out and "the worst is C[" in out
    line = next(line for line in out.splitlines() if line.startswith("│ mine"))
    assert [cell.strip() for cell in line.split("│")[4:8]] == ["-", "-", "-", "-"]


def test_a_crash_does_not_take_the_command_line_with_it(capsys, tmp_path):
    bad, good = write(tmp_path, "bad.c", hostile.SEGFAULT), write(tmp_path, "good.c", hostile.RIGHT)
    assert run(["bench", bad, good, "--size", "16", "--quick"]) == 1
    out = capsys.readouterr().out
    assert "segmentation fault (SIGSEGV)" in out
    assert "ok" in next(line for line in out.splitlines() if line.startswith("│ mine") and "ok" in line)


def test_cuda_rungs_are_skipped_with_a_reason_where_there_is_no_device(capsys, monkeypatch):
    # Hides the GPU of a machine that has one, and is seen by the engine's process too.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert run(["bench", "gputiled", "cublas", "--size", "16"]) == 0
    out = capsys.readouterr().out
    assert out.count("skipped: no CUDA device") == 3


def test_settings_go_to_the_kernels_that_have_them(capsys):
    assert run(["bench", "hostmult1", "gputiled", "--set", "TS=4", "--size", "8", "--quick", "--json", "-"]) == 0
    first, second = json.loads(capsys.readouterr().out)["results"]
    assert first["params"] == {}
    assert second["params"] == {"TS": 4}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["bench", "no-such-kernel"], 2, "no kernel 'no-such-kernel'"),
        (["bench", "missing.cu"], 2, "no file missing.cu"),
        (["bench", "hostmult1", "--set", "TS=4"], 2, "parameter 'TS'"),
        (["bench", "hostmult1", "--size", "0"], 2, "choose a size from 1"),
        (["bench", "hostmult1", "--size", "1000000000"], 2, "choose a size from 1"),
    ],
)
def test_an_impossible_request_has_a_message_of_one_line(capsys, arguments, code, says):
    assert run(arguments) == code
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err


def test_a_size_that_is_a_text_is_wrong_usage(capsys):
    with pytest.raises(SystemExit) as caught:
        run(["bench", "hostmult1", "--size", "big"])
    assert caught.value.code == 2
    assert "'big' is not a whole number" in capsys.readouterr().err


def process_names():
    found = set()
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            found.add(comm.read_text().strip())
    return found


def test_ctrl_c_keeps_finished_work(tmp_path):
    good, endless = write(tmp_path, "good.c", hostile.RIGHT), write(tmp_path, "endless.c", hostile.SLEEPS)
    # It writes no file, but may give its process another name.
    text = hostile.SLEEPS.replace("for (;;)", 'prctl(PR_SET_NAME, "gv-endless"); for (;;)')
    Path(endless).write_text(text.replace("\nvoid mine", "\n#include <sys/prctl.h>\nvoid mine"))
    target = tmp_path / "r.json"
    command = [
        sys.executable,
        "-m",
        "gemmviz",
        "bench",
        good,
        endless,
        "--size",
        "8",
        "--quick",
        "--timeout",
        "0.1",
        "--json",
        str(target),
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while "gv-endless" not in process_names():
            assert process.poll() is None
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert [r["status"] for r in results.read_results(target)["results"]] == ["ok", "cancelled"]


def test_list_names_every_rung(capsys):
    assert run(["list", "--json"]) == 0
    kernels = {k["name"]: k for k in json.loads(capsys.readouterr().out)}
    assert {"hostmult0", "gputiled", "numpy", "cublas"} <= kernels.keys()
    assert kernels["gputiled"]["params"]["TS"]
    assert run(["list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in kernels)


def test_doctor_gives_a_remedy_for_everything_missing(capsys):
    code = run(["doctor", "--json"])
    facts = json.loads(capsys.readouterr().out)["facts"]
    names = {fact["name"] for fact in facts}
    assert {"CPU", "C compiler", "GPU", "CuPy", "PySide6", "Display", "Fonts", "Cache folder", "Trust"} <= names
    missing = [fact for fact in facts if fact["state"] == "missing"]
    assert code == (1 if missing else 0)
    assert all(fact["remedy"] for fact in missing)


def test_doctor_counts_permissions_and_names_the_command_that_takes_them_back(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert trust_fact().value.startswith("0 texts and 0 folders")
    trust = Trust()
    trust.allow(tmp_path / "mine.c", "void mine(void) {}")
    trust.allow_folder(tmp_path)
    fact = trust_fact()
    assert fact.value.startswith("1 text and 1 folder ")
    assert "`gemmviz trust`" in fact.remedy and "--forget" in fact.remedy
    trust.store.path.write_text("nonsense")
    assert trust_fact().state == "absent" and str(trust.store.path) in trust_fact().remedy


def test_doctor_never_imports_qt():
    script = "import sys; from gemmviz.cli import run; run(['doctor']); sys.exit('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("environment", "value"),
    [({"DISPLAY": ":0"}, "DISPLAY=:0"), ({"QT_QPA_PLATFORM": "offscreen"}, "QT_QPA_PLATFORM=offscreen"), ({}, "none")],
)
def test_doctor_names_the_display(environment, value):
    (display,) = (fact for fact in window_facts(environment) if fact.name == "Display")
    assert display.value == value
    assert bool(display.remedy) == (value == "none")


@pytest.mark.parametrize("command", ["record", "bench"])
@pytest.mark.parametrize("target", ["nowhere/r.json", "."])
def test_a_file_that_cannot_be_written_is_reported_before_the_work(command, target, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        run([command, "hostmult1", "--json", target])
    assert left.value.code == 2
    assert "folder" in capsys.readouterr().err


@pytest.mark.parametrize("deadline", ["0", "-1", "nan", "inf", "soon"])
def test_a_deadline_that_is_none_is_refused(deadline, capsys):
    with pytest.raises(SystemExit) as left:
        run(["record", "hostmult1", "--deadline", deadline])
    assert left.value.code == 2
    assert "seconds" in capsys.readouterr().err
