"""Workers and schedulers that are killed during a run: no result is lost, none is counted twice, none is wrong."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from clusters import GEMMVIZ, alive, cluster, descendants, need_distributed

need_distributed()
SIZES = [8, 10, 12, 14, 16, 18, 20, 22]
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
    """Return the workers of a cluster, of which each has a nanny that starts it again: not its engines."""
    found = [child for child in descendants(pid) if os.getpgid(child) == os.getpgid(pid)]
    return [child for child in found if "spawn_main" in command_line(child)]


def command_line(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_cost_no_result(seed, tmp_path):
    chance, killed = random.Random(seed), 0
    with cluster(2) as (address, process):
        running = start(address, tmp_path / "r.json")
        for _ in range(2):
            time.sleep(chance.uniform(5, 20))
            chosen = workers(process.pid)
            if chosen and running.poll() is None:
                os.kill(chance.choice(chosen), signal.SIGKILL)
                killed += 1
        said = running.communicate(timeout=300)[1]
        assert running.returncode == 0, said
    assert killed and all(row["status"] == "ok" for row in rows(tmp_path / "r.json"))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_scheduler_costs_only_what_was_not_measured(seed, tmp_path):
    with cluster(2) as (address, process):
        running = start(address, tmp_path / "r.json")
        time.sleep(random.Random(seed).uniform(15, 40))
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        said = running.communicate(timeout=300)[1]
        end = time.monotonic() + 60
        while alive(below) and time.monotonic() < end:
            time.sleep(0.2)
        assert not alive(below)  # neither workers nor their engines stay behind
    found = rows(tmp_path / "r.json")
    missing = [row for row in found if row["status"] != "ok"]
    if running.returncode != 0:
        assert missing and "is not complete: the connection to the cluster was lost" in said
    assert all(row["message"] == "the connection to the cluster was lost" for row in missing)
