"""The engine survives every kernel; a bad one costs its own row and nothing else."""

import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import hostile
import pytest
from benching import FAST, bench, entry, is_alive, rows
from consenting import AllowsAll

from gemmviz.backends.cupy_check import cuda_verdict
from gemmviz.engine import wear
from gemmviz.engine.messages import (
    FINAL,
    BenchRequest,
    CheckRequest,
    Failed,
    Probed,
    ProbeRequest,
    Progress,
    Recorded,
    RecordRequest,
    Result,
    Sample,
)
from gemmviz.engine.supervisor import Engine
from gemmviz.sandbox import owned_folders, processes


def test_a_prepared_process_answers_the_first_request(engine):
    engine.prepare()
    pid = engine.pid
    assert is_alive(pid)
    *_, last = engine.run(RecordRequest(1, "/nowhere/mine.c", hostile.RIGHT, 6, 5, 4, {}), threading.Event())
    assert isinstance(last, Recorded)
    assert engine.pid == pid


def test_a_right_kernel_is_measured(engine):
    replies = bench(engine, hostile.RIGHT)
    (row,) = rows(replies)
    assert row["status"] == "ok"
    assert row["gflops"] > 0
    results = [r for r in replies if isinstance(r, Result)]
    assert [len(r.row["rounds"]) for r in results] == [1, 2, 3]
    assert [r.final for r in results] == [False, False, True]
    assert results[-1].row == row
    assert any(isinstance(r, Sample) for r in replies)
    shares = [r.share for r in replies if isinstance(r, Progress)]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1


def test_the_document_says_how_it_was_taken(engine):
    document = bench(engine, hostile.RIGHT)[-1].document
    assert document["schema_version"] == 2
    assert document["env"]["cpu"]["cores"] >= 1
    assert document["env"]["compiler"]["version"]
    assert document["protocol"]["seed"] == 2026


@pytest.mark.sweep("text0-*", "text1-*", "text4-*", "text7-*")
@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        (hostile.WRONG, "wrong", "elements of C are wrong"),
        (hostile.SEGFAULT, "crash", "segmentation fault (SIGSEGV)"),
        (hostile.ABORT, "crash", "abort (SIGABRT)"),
        (hostile.DIVIDES_BY_ZERO, "crash", "division by zero, or of the smallest integer by -1 (SIGFPE)"),
        (hostile.OVERFLOWS_THE_STACK, "crash", "the stack is full ("),
        (hostile.TOO_LARGE_AN_ARRAY, "crash", "the stack is full ("),
        (hostile.EXITS, "crash", "exit code 3"),
        (hostile.SYNTAX, "compile", "mine1.c:8: "),
        (hostile.NO_FRONT_MATTER, "compile", "no front matter"),
    ],
)
def test_a_bad_kernel_costs_its_own_row_and_the_next_one_runs(engine, text, status, says):
    first, bad, last = rows(bench(engine, hostile.RIGHT, text, hostile.RIGHT))
    assert (first["status"], bad["status"], last["status"]) == ("ok", status, "ok")
    assert says in bad["message"]
    assert bad["gflops"] is None


def recorded_edits(engine, count):
    """Record as many edits of one kernel; return the engine's process after each."""
    pids = []
    for number in range(count):
        loops = hostile.LOOPS.replace("float sum = 0", f"float sum = {number} - {number}")
        request = RecordRequest(number, "/nowhere/mine.c", hostile.source(loops=loops), 2, 2, 2, {})
        *_, last = engine.run(request, threading.Event())
        assert isinstance(last, Recorded), last
        assert is_alive(engine.pid)  # also where another one has taken its place
        pids.append(engine.pid)
    return pids


def test_a_process_that_holds_much_memory_is_replaced_unnoticed(engine, monkeypatch):
    monkeypatch.setattr(wear, "MOST_RESIDENT_BYTES", 1)
    pids = recorded_edits(engine, 3)
    assert len(set(pids)) == 3
    assert [pid for pid in pids if is_alive(pid)] == [engine.pid]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_an_engine_that_is_ended_cannot_blame_its_sandbox_which_goes_first(monkeypatch):
    is_over, states = processes._is_over, []

    def look(below):
        # An engine that runs would say now that its sandbox has ended. One that is told to stop may take a moment.
        until = time.monotonic() + 5
        while (state := Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]) != "T":
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        states.append(state)
        return is_over(below)

    engine = Engine(AllowsAll())
    assert list(engine.run(ProbeRequest(1), threading.Event()))
    pid = engine.pid
    monkeypatch.setattr(processes, "_is_over", look)
    engine.close()
    assert states and set(states) == {"T"}


def test_an_engine_keeps_nothing_of_processes_that_are_gone():
    engine = Engine(AllowsAll())
    for _ in range(3):
        assert list(engine.run(ProbeRequest(1), threading.Event()))
        engine.close()
    kept = [one for one in gc.get_objects() if type(one) is weakref.finalize and one.alive]
    assert not [one for one in kept if one.peek()[0] is engine]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux runs kernels in processes of their own")
def test_edits_leave_no_code_in_the_process(engine):
    assert len(set(recorded_edits(engine, 3))) == 1
    maps = Path(f"/proc/{engine.pid}/maps").read_text()
    assert "/recorders/" not in maps and "/native/" not in maps


def test_an_endless_kernel_is_given_up_and_the_next_one_runs(engine):
    endless, last = rows(bench(engine, hostile.ENDLESS, hostile.RIGHT, deadline_s=0.5))
    assert endless["status"] == "timeout"
    # On a busy machine half a second of processor time takes longer.
    assert re.search(r"still running after (0\.5|[1-5](\.5)?) s", endless["message"])
    assert last["status"] == "ok"


def test_a_crash_at_one_size_leaves_the_other_sizes_alone(engine):
    text = hostile.source("    if (m == 5) *(volatile int *)8 = 1;")
    found = rows(bench(engine, text, hostile.RIGHT, sizes=[(5, 5, 5), (6, 6, 6)]))
    assert [(r["M"], r["status"]) for r in found] == [(5, "crash"), (5, "ok"), (6, "ok"), (6, "ok")]


def test_the_last_kernel_may_crash_and_the_document_is_whole(engine):
    replies = bench(engine, hostile.RIGHT, hostile.SEGFAULT)
    assert [r["status"] for r in rows(replies)] == ["ok", "crash"]
    assert replies[-1].document["env"]["cpu"]["cores"] >= 1


def test_a_kernel_that_crashes_in_a_later_round_spoils_no_other_figure(engine, tmp_path):
    signal_file = tmp_path / "crash now"
    crash = f'    if (access("{signal_file}", F_OK) == 0) *(volatile int *)8 = 1;'
    texts = [hostile.RIGHT, hostile.source(crash, top="#include <unistd.h>"), hostile.RIGHT]
    kernels = [entry(text, f"mine{i}.c") for i, text in enumerate(texts)]
    replies = []
    for reply in engine.run(BenchRequest(1, kernels, [(6, 5, 4)], FAST), threading.Event()):
        replies.append(reply)
        if isinstance(reply, Result) and reply.job == 1:
            signal_file.touch()
    first, bad, last = rows(replies)
    assert (first["status"], bad["status"], last["status"]) == ("ok", "crash", "ok")
    assert bad["gflops"] is None
    for job, row in ((0, first), (2, last)):
        sent = [r.row for r in replies if isinstance(r, Result) and r.job == job]
        assert [len(r["rounds"]) for r in sent] == [1, 2, 3]
        assert row["rounds"][:1] == sent[0]["rounds"]
    shares = [r.share for r in replies if isinstance(r, Progress)]
    assert shares == sorted(shares)


def test_progress_and_results_name_the_entry_of_the_request_that_they_are_about(engine):
    replies = bench(engine, hostile.SEGFAULT, hostile.RIGHT, sizes=[(5, 5, 5), (6, 6, 6)])
    found = [(r.job, r.row["kernel"], r.row["M"]) for r in replies if isinstance(r, Result) and r.final]
    assert found == [(0, "mine0", 5), (1, "mine1", 5), (0, "mine0", 6), (1, "mine1", 6)]
    assert {r.job for r in replies if isinstance(r, Progress) and "timing" in r.text} == {1}


@pytest.mark.parametrize(
    ("size", "requires", "status"), [((5, 5, 5), '"M % 2 == 0"', "unsupported"), ((60_000,) * 3, "", "oom")]
)
def test_a_size_that_cannot_be_measured_is_a_row_with_the_reason(engine, size, requires, status):
    text = hostile.RIGHT.replace("// ---\n", f"// requires = [{requires}]\n// ---\n")
    (row,) = rows(bench(engine, text, sizes=[size]))
    assert row["status"] == status
    assert row["message"]


def test_cuda_kernels_are_skipped_without_a_gpu_and_so_is_the_way_to_it(engine):
    if cuda_verdict().usable:
        pytest.skip("this machine has a GPU")
    text = hostile.HEAD.replace("// ---\n", '// block = ["1"]\n// grid = ["1"]\n// ---\n') + "void mine() {}\n"
    kernels = [entry(text, "mine.cu")]
    (row,) = rows(list(engine.run(BenchRequest(1, kernels, [(6, 5, 4)], FAST), threading.Event())))
    assert row["status"] == "skipped"
    assert "no CUDA device" in row["message"]


def test_a_recording_comes_back_and_a_bad_one_does_not_stop_the_next(engine):
    def record(text):
        return list(engine.run(RecordRequest(3, "/nowhere/mine.c", text, 4, 4, 4, {}), threading.Event()))[-1]

    good = record(hostile.RIGHT)
    assert isinstance(good, Recorded)
    assert good.recording.wrong == 0
    bad = record(hostile.SYNTAX)
    assert isinstance(bad, Failed)
    assert (bad.kind, bad.line) == ("compile", 8)
    crash = record(hostile.SEGFAULT)
    assert isinstance(crash, Failed)
    assert crash.kind == "crash"
    assert isinstance(record(hostile.RIGHT), Recorded)


def test_the_engine_reports_an_undefined_function_like_the_compiler(engine):
    text = hostile.source("    elsewhere();", top="void elsewhere(void);")
    *_, last = engine.run(RecordRequest(1, "/nowhere/mine.c", text, 2, 2, 2, {}), threading.Event())
    assert last.message == "mine.c:8: elsewhere is used and defined nowhere: define it in this file"


def test_every_reply_has_the_name_with_folders_also_after_a_crash(engine):
    of = {"new": hostile.SEGFAULT, "a/b": hostile.RIGHT}
    kernels = [entry(text) | {"folders": folders} for folders, text in of.items()]
    replies = list(engine.run(BenchRequest(7, kernels, [(6, 5, 4)], FAST), threading.Event()))
    assert [(row["kernel"], row["status"]) for row in rows(replies)] == [("mine (new)", "crash"), ("mine (a-b)", "ok")]
    assert {reply.kernel for reply in replies if isinstance(reply, Sample)} == {"mine (a-b)"}
    file = {"path": "/nowhere/mine.c", "text": hostile.RIGHT, "folders": "new"}
    *_, last = engine.run(RecordRequest(8, **file, m=6, n=5, k=4), threading.Event())
    assert last.recording.kernel == "mine (new)"
    check = CheckRequest(9, **file, launches=[{"m": 6, "n": 5, "k": 4, "params": {}}])
    texts = [reply.text for reply in engine.run(check, threading.Event()) if isinstance(reply, Progress)]
    assert texts[0] == "Preparing mine (new) at 6 x 5 x 4"


def test_a_size_that_cannot_be_is_refused(engine):
    (*_, failed) = bench(engine, hostile.RIGHT, sizes=[(0, 4, 4)])
    assert isinstance(failed, Failed)
    assert failed.kind == "refused"
    assert "M = 0" in failed.message


def test_the_probe_lists_the_machine_s_parts(engine):
    (probed,) = (r for r in engine.run(ProbeRequest(9), threading.Event()) if isinstance(r, FINAL))
    assert isinstance(probed, Probed)
    names = [fact["name"] for fact in probed.facts["facts"]]
    assert {"Python", "CPU", "C compiler", "NumPy", "GPU", "CuPy"} <= set(names)


def test_a_process_that_was_killed_from_outside_is_replaced(engine):
    bench(engine, hostile.RIGHT)
    os.kill(engine.pid, signal.SIGKILL)
    assert [r["status"] for r in rows(bench(engine, hostile.RIGHT))] == ["ok"]


def test_a_kernel_s_output_stays_out_of_the_standard_output(tmp_path):
    script = parent_script(tmp_path, "PRINTS")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "hello from a kernel" not in done.stdout
    assert "finished" in done.stdout


def test_the_process_dies_with_its_parent_even_inside_an_endless_kernel(tmp_path, monkeypatch):
    script = parent_script(tmp_path, "SLEEPS")
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        try:
            pid = int(parent.stdout.readline())
            assert is_alive(pid)
            (folder,) = place.iterdir()
            assert opened(pid, folder)  # the lock
        finally:
            parent.kill()
        parent.wait()
        for _ in range(100):
            owned_folders.remove_abandoned.cache_clear()
            owned_folders.remove_abandoned(place)
            if not is_alive(pid) and not folder.exists():
                break
            time.sleep(0.1)
        assert not is_alive(pid) and not folder.exists()


def opened(pid, folder):
    """Return whether a process has opened a folder."""
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if descriptor.readlink() == folder:
                return True
    return False


def parent_script(folder, text):
    """A program that measures one kernel in its own engine, and prints the engine's process."""
    here = Path(__file__).parents[1]
    script = folder / "run.py"
    script.write_text(PARENT.format(tests=str(here), root=str(here.parents[1]), text=text))
    return script


PARENT = """
import sys, threading
sys.path[:0] = [{root!r}, {tests!r}]
import hostile
from consenting import AllowsAll
from gemmviz.engine.messages import BenchRequest, Progress
from gemmviz.engine.supervisor import Engine

if __name__ == "__main__":
    engine = Engine(AllowsAll())
    kernel = {{"path": "/nowhere/mine.c", "text": hostile.{text}, "params": {{}}}}
    protocol = {{"warmup_s": 0, "min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 1}}
    for reply in engine.run(BenchRequest(1, [kernel], [(6, 5, 4)], protocol), threading.Event()):
        if isinstance(reply, Progress) and "for the first time" in reply.text:
            print(engine.pid, flush=True)
    engine.close()
    print("finished")
"""
