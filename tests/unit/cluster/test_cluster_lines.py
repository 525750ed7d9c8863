"""A scheduler, two workers and their user on hosts of their own, whose lines are slow, lose packets, or are down."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import hostile
import pytest
from clusters import GEMMVIZ, certificates, need_distributed
from networks import CannotBeMade, Host, network

need_distributed()
pytestmark = pytest.mark.thorough
SLOW = hostile.source("    nanosleep(&(struct timespec){0, 300000000}, 0);", top="#include <time.h>")
SIZES = (8, 12, 16, 20)


class Lab:
    """A scheduler and a worker on each of two hosts, and a fourth host for the user."""

    def __init__(self, hosts: list[Host], folder: Path, stack: ExitStack) -> None:
        self.scheduler, self.first, self.second, self.user = hosts
        self.hosts, self._folder, self._stack = hosts, folder, stack
        self._tls = certificates(folder / "certificates", "lab")
        self.address = f"tls://{self.scheduler.address}:8786"
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.start_scheduler()
        for host in (self.first, self.second):
            self.processes[host.address] = self.run(host, "cluster", "worker", self.address)
        for host in (self.first, self.second):
            assert self.address in self.line_of(host)

    def start_scheduler(self) -> None:
        """Start a scheduler without workers, and wait until it listens."""
        at = self.scheduler.address
        self.processes[at] = self.run(self.scheduler, "cluster", "local", "--workers", "0", "--host", at)
        assert self.address in self.line_of(self.scheduler)

    def run(self, host: Host, *words: str) -> subprocess.Popen[str]:
        """Start a command on a host."""
        command = [*host.within, *GEMMVIZ, *words, *self._tls]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._stack.callback(end, started)
        return started

    def bench(self, **kernels: str) -> subprocess.Popen[str]:
        """Start a benchmark of C kernels, with one piece for each size."""
        paths = []
        for name, text in kernels.items():
            (self._folder / f"{name}.c").write_text(text)
            paths.append(str(self._folder / f"{name}.c"))
        sizes, target = map(str, SIZES), str(self._folder / "r.json")
        words = ["bench", *paths, "--size", *sizes, "--quick", "--json", target, "--cluster", self.address]
        return self.run(self.user, *words)

    def rows(self, *kernels: str) -> list[dict]:
        """Return the rows of the benchmark: each is there once, and those with figures are right."""
        found = json.loads((self._folder / "r.json").read_text())["results"]
        assert [(row["M"], row["kernel"]) for row in found] == [(size, name) for size in SIZES for name in kernels]
        for row in found:
            if row["status"] == "ok":
                assert row["verify"]["before"] == row["verify"]["after"] == "ok" and row["measured_on"]
            else:
                assert row["status"] == "cancelled"
        return found

    def line_of(self, host: Host) -> str:
        """Wait for the next line that the scheduler or the worker of a host prints."""
        stdout = self.processes[host.address].stdout
        assert stdout is not None
        return stdout.readline()

    def joins_again(self, host: Host) -> None:
        """Wait until a worker that has lost its scheduler joins it again."""
        lost = f"The connection to {self.address} was lost: for two minutes the workers try to join it again.\n"
        assert self.line_of(host) == lost
        while (line := self.line_of(host)) and "waiting for it" in line:
            pass
        assert line == f"The scheduler is {self.address}; workers: 1 here, 0 hosts.\n"


def end(process: subprocess.Popen[str]) -> None:
    """End a command. What it has said and no test has read is shown if the test fails."""
    process.terminate()
    try:
        print(process.args, process.communicate(timeout=20)[0])
    except subprocess.TimeoutExpired:  # its scheduler is gone: the namespace ends its children
        process.kill()


@pytest.fixture
def lab(tmp_path):
    with ExitStack() as stack:
        try:
            hosts = stack.enter_context(network(["s", "a", "b", "u"]))
        except CannotBeMade as why:
            pytest.skip(str(why))
        yield Lab(hosts, tmp_path, stack)


def sleeps(host: Host) -> bool:
    """Return whether a kernel that sleeps runs on a host."""
    for pid in host.processes():
        with suppress(OSError):
            if "nanosleep" in Path(f"/proc/{pid}/wchan").read_text():
                return True
    return False


def wait_for(what: Callable[[], bool], seconds: float = 240.0) -> None:
    limit = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < limit, "this did not happen"
        time.sleep(0.1)


def test_slow_lines_that_lose_packets_and_an_outage_cost_nothing_and_a_cancellation_arrives(lab):
    for host in lab.hosts:
        host.delay_s, host.jitter_s, host.loss = 0.05, 0.02, 0.02
    running = lab.bench(right=hostile.RIGHT, slow=SLOW)
    wait_for(lambda: sleeps(lab.first) and sleeps(lab.second))
    lab.scheduler.is_up = False
    time.sleep(10)
    lab.scheduler.is_up = True
    text = running.communicate(timeout=300)[0]
    assert running.returncode == 0, text
    found = lab.rows("right", "slow")
    assert {row["status"] for row in found} == {"ok"}
    assert "is not complete" not in text and "Traceback" not in text

    running = lab.bench(right=hostile.RIGHT, endless=hostile.SLEEPS)
    wait_for(lambda: sleeps(lab.first) and sleeps(lab.second))
    running.send_signal(signal.SIGINT)
    wait_for(lambda: not sleeps(lab.first) and not sleeps(lab.second))
    assert running.wait(60) == 130
    statuses = {row["kernel"]: row["status"] for row in lab.rows("right", "endless") if "measured_on" in row}
    assert statuses == {"right": "ok", "endless": "cancelled"}


def test_the_piece_of_a_worker_without_network_goes_to_another_one_and_the_worker_joins_again(lab):
    running = lab.bench(slow=SLOW)
    wait_for(lambda: sleeps(lab.first))
    lab.first.is_up = False
    text = running.communicate(timeout=300)[0]
    assert running.returncode == 0, text
    assert {row["status"] for row in lab.rows("slow")} == {"ok"}
    wait_for(lambda: not sleeps(lab.first))
    lab.first.is_up = True
    lab.joins_again(lab.first)
    running = lab.bench(slow=SLOW)
    wait_for(lambda: sleeps(lab.first))
    assert running.communicate(timeout=300)[1] is None and running.returncode == 0


def test_workers_do_not_go_on_for_a_user_who_is_gone(lab):
    for gone in ("killed", "without network"):
        running = lab.bench(endless=hostile.SLEEPS)
        wait_for(lambda: sleeps(lab.first) and sleeps(lab.second))
        if gone == "killed":
            running.kill()
        else:
            lab.user.is_up = False
        wait_for(lambda: not sleeps(lab.first) and not sleeps(lab.second))
    assert running.wait(240) == 1
    assert {row["message"] for row in lab.rows("endless")} == {"the connection to the cluster was lost"}


def test_a_scheduler_that_is_killed_costs_only_what_was_not_measured_and_workers_join_the_next_one(lab):
    for host in lab.hosts:
        host.delay_s, host.loss = 0.05, 0.02
    running = lab.bench(right=hostile.RIGHT, endless=hostile.SLEEPS)
    wait_for(lambda: sleeps(lab.first) and sleeps(lab.second))
    time.sleep(3)  # what was measured before arrives, also if its packets are lost once
    lab.processes[lab.scheduler.address].kill()
    text = running.communicate(timeout=300)[0]
    assert running.returncode == 1
    assert "is not complete: the connection to the cluster was lost" in text and "Traceback" not in text
    found = lab.rows("right", "endless")
    assert {row["status"] for row in found if row["kernel"] == "endless"} == {"cancelled"}
    assert "ok" in {row["status"] for row in found if row["kernel"] == "right"}
    wait_for(lambda: not sleeps(lab.first) and not sleeps(lab.second))

    lab.start_scheduler()
    for host in (lab.first, lab.second):
        lab.joins_again(host)
    running = lab.bench(right=hostile.RIGHT)
    text = running.communicate(timeout=300)[0]
    assert running.returncode == 0, text
    assert {row["status"] for row in lab.rows("right")} == {"ok"}
    # At its end, a scheduler ends its workers, and they join no other one. A job in the background ignores SIGINT.
    lab.processes[lab.scheduler.address].terminate()
    for host in (lab.first, lab.second):
        said = lab.processes[host.address].communicate(timeout=60)[0]
        assert said == f"The workers have ended with their scheduler, {lab.address}.\n"
