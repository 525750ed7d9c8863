"""Workers and schedulers that are killed during a run: no result is lost, none is counted twice, none is wrong."""

import json
import os
import random
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from clusters import GEMMVIZ, alive, cluster, descendants, need_distributed

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.cluster.piece import Scheduler
from gemmviz.cluster.remote_engine import RemoteEngine, look
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import BenchDone, BenchRequest, Result

need_distributed()
SIZES = [8, 10, 12, 14, 16]  # each starts an engine, which takes a second of processor time
KERNELS = ("hostmult1", "hostmult0", "numpy")


def start(address, target):
    sizes = list(map(str, SIZES))
    command = [*GEMMVIZ, "bench", *KERNELS, "--size", *sizes, "--timeout", "1", "--json", str(target)]
    return subprocess.Popen([*command, "--cluster", address], stderr=subprocess.PIPE, text=True)


def rows(target):
    """Return the rows after checking that each is there once, in order, and that those with figures are right."""
    found = json.loads(target.read_text())["results"]
    assert [(row["M"], row["kernel"]) for row in found] == [(size, name) for size in SIZES for name in KERNELS]
    for row in found:
        if row["status"] == "ok":
            assert row["verify"]["before"] == row["verify"]["after"] == "ok" and row["samples_s"] and row["measured_on"]
        else:
            assert row["status"] == "cancelled" and row["message"]
    return found


def workers(pid):
    """Return the workers of a cluster, not its engines. A nanny starts each worker again."""
    found, own = [], os.getpgid(pid)
    for child in descendants(pid):
        with suppress(OSError):  # some of them end just now
            if os.getpgid(child) == own and "spawn_main" in command_line(child):
                found.append(child)
    return found


def wait_for_a_piece(pid, running):
    """Wait until a worker of a cluster measures, which its engine does; or until the client has ended."""
    while running.poll() is None and not any(descendants(worker) for worker in workers(pid)):
        time.sleep(0.1)


def command_line(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_cost_no_result(seed, tmp_path):
    chance, killed = random.Random(seed), 0
    with cluster(2) as (address, process):
        running = start(address, tmp_path / "r.json")
        for _ in range(2):
            wait_for_a_piece(process.pid, running)
            time.sleep(chance.uniform(0, 4))
            chosen = workers(process.pid)
            if chosen and running.poll() is None:
                os.kill(chance.choice(chosen), signal.SIGKILL)
                killed += 1
        text = running.communicate(timeout=300)[1]
        assert running.returncode == 0, text
    assert killed and all(row["status"] == "ok" for row in rows(tmp_path / "r.json"))


@pytest.mark.thorough
def test_pieces_for_one_worker_only_go_to_those_that_were_started_again(tmp_path):
    with cluster(2) as (address, process):
        stopped, other = workers(process.pid)
        os.kill(stopped, signal.SIGSTOP)  # it does not answer, so the pieces are for the other one only
        running = start(address, tmp_path / "r.json")
        text = ""
        while "is not used: it does not answer" not in text:  # until then it asks both, for which they have processes
            said = running.stderr.readline()
            assert said, text
            text += said
        end = time.monotonic() + 240
        while not descendants(other) and time.monotonic() < end:
            time.sleep(0.1)
        for pid in (stopped, other):
            os.kill(pid, signal.SIGKILL)
        text += running.communicate(timeout=300)[1]
        assert running.returncode == 0, text
    assert all(row["status"] == "ok" for row in rows(tmp_path / "r.json"))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_scheduler_costs_only_what_was_not_measured(seed, tmp_path):
    with cluster(2) as (address, process):
        running = start(address, tmp_path / "r.json")
        chance = random.Random(seed)
        if seed:
            wait_for_a_piece(process.pid, running)
        time.sleep(chance.uniform(0, 8))  # in the first case nothing may have begun
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        text = running.communicate(timeout=300)[1]
        end = time.monotonic() + 60
        while alive(below) and time.monotonic() < end:
            time.sleep(0.2)
        assert not alive(below)  # neither workers nor their engines stay behind
    if running.returncode == 2:  # killed before the client had asked its workers: nothing was begun
        assert text.startswith("gemmviz: ") and text.count("\n") == 1 and not (tmp_path / "r.json").exists()
        return
    found = rows(tmp_path / "r.json")
    missing = [row for row in found if row["status"] != "ok"]
    if running.returncode != 0:
        assert missing and "is not complete: the connection to the cluster was lost" in text
    assert all(row["message"] == "the connection to the cluster was lost" for row in missing)


@pytest.mark.thorough
@pytest.mark.parametrize("lost", ["the worker", "the scheduler"])
def test_a_chosen_device_that_is_lost_ends_the_run_with_one_sentence(lost):
    kernel = find("hostmult1", ladder())
    entry = {"path": str(kernel.path), "text": kernel.text, "params": {}}
    with cluster(1) as (address, process):
        (seat,) = look(Scheduler(address))
        all_of_it = descendants(process.pid)
        engine = RemoteEngine(Named([kernel]), Scheduler(address), seat)
        last = None
        try:
            for last in engine.run(BenchRequest(1, [entry], [(64, 64, 64), (512, 512, 512)], {}), threading.Event()):
                if isinstance(last, Result) and last.final and last.row["M"] == 64:
                    for pid in workers(process.pid) if lost == "the worker" else [process.pid]:
                        os.kill(pid, signal.SIGKILL)
        finally:
            engine.close()
            # Without a scheduler, workers wait for it to come back; with one, the cluster ends by itself.
            for pid in alive(all_of_it) if lost == "the scheduler" else ():
                os.kill(pid, signal.SIGKILL)
        assert isinstance(last, BenchDone)
        first, second = last.document["results"]
        assert first["status"] == "ok" and first["measured_on"]
        assert second["status"] == "cancelled"
        why = "this worker has left the cluster" if lost == "the worker" else "the connection to the cluster was lost"
        assert second["message"].startswith(why)
