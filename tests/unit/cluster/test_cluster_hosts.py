"""``gemmviz cluster ssh`` and ``worker``: workers that other hosts start."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest
from clusters import GEMMVIZ, alive, cluster, descendants

from gemmviz.bench import results
from gemmviz.cli import run
from gemmviz.cluster import serving
from gemmviz.cluster.connection import connected

SSH = """#!/bin/sh
# Takes the place of ssh: runs the command here, as another host would, with a shell.
while [ "$1" != there ]; do shift; done
shift
exec sh -c "$*"
"""


def test_each_host_gets_a_command_with_the_same_certificates(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(serving, "serve", lambda *arguments: started.append(arguments))
    monkeypatch.chdir(tmp_path)
    certificates = ["--ca", "ca.pem", "--certificate", "my own.pem", "--key", "/keys/own.key"]
    assert run(["cluster", "ssh", "a", "me@b", "--host", "desk", "--port", "9", "--workers", "2", *certificates]) == 0
    ((place, tls, here, elsewhere),) = started
    assert [one.host for one in elsewhere] == ["a", "me@b"]
    commands = [one.command for one in elsewhere]
    assert (place, here) == (serving.Place("desk", 9), [])
    assert [command[:5] for command in commands] == [
        ["ssh", "-tt", "-o", "BatchMode=yes", host] for host in ("a", "me@b")
    ]
    files = f"--ca {tmp_path}/ca.pem --certificate '{tmp_path}/my own.pem' --key /keys/own.key"
    assert {" ".join(command[5:]) for command in commands} == {f"gemmviz cluster worker --workers 2 {files}"}
    assert str(tls.ca) == "ca.pem"


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        (["worker", "127.0.0.1", "--workers", "0"], "from 1 to 1024"),
        (["ssh", "there", "--workers", "5000"], "from 1 to 1024"),
        (["local", "--workers", "-1"], "from 0 to 1024"),
    ],
)
def test_the_number_of_workers_has_limits(words, limits, monkeypatch, capsys):
    monkeypatch.setattr(serving, "serve", lambda *arguments: None)
    assert run(["cluster", *words]) == 2
    assert limits in capsys.readouterr().err


def test_a_machine_may_have_the_scheduler_only(monkeypatch):
    started = []
    monkeypatch.setattr(serving, "serve", lambda *arguments: started.append(arguments))
    assert run(["cluster", "local", "--workers", "0"]) == 0
    assert started == [(serving.Place("127.0.0.1", 8786), None, [])]


class Nanny:
    """Takes the place of Dask's: it waits for its worker, which ends by itself or measures on."""

    def __init__(self, *worker):
        self._worker, self._asked, self.pid = worker, asyncio.Event(), None

    async def start(self):
        self._process = await asyncio.create_subprocess_exec(*self._worker)
        self.pid = self._process.pid

    async def asked(self):
        await self._asked.wait()

    async def close(self):
        self._asked.set()
        self.code, self.pid = await self._process.wait(), None


def test_workers_that_measure_are_ended_at_the_same_time_and_not_waited_for():
    async def ended():
        nannies = [Nanny("sleep", "600"), Nanny("true"), Nanny("sleep", "600")]
        for nanny in nannies:
            await nanny.start()
        await nannies[1]._process.wait()
        end = asyncio.create_task(serving._end(nannies))
        await asyncio.gather(*(nanny.asked() for nanny in nannies))
        first_code = nannies[0]._process.returncode  # the last one was asked before the first one was killed
        await end
        return first_code, [nanny.code for nanny in nannies]

    assert asyncio.run(ended()) == (None, [-signal.SIGKILL, 0, -signal.SIGKILL])


@pytest.mark.thorough
def test_a_host_that_ssh_does_not_reach_is_named_and_the_others_stay(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "ssh").write_text('#!/bin/sh\ncase "$*" in *" away "*) exit 255;; esac\nexec sleep 600\n')
    (tmp_path / "ssh").chmod(0o755)
    command = [*GEMMVIZ, "cluster", "ssh", "there", "away", "--host", "127.0.0.1", "--port", "0"]
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert "2 hosts" in process.stdout.readline()
        assert process.stdout.readline() == "away has no workers: ssh ended with code 255\n"
        assert process.poll() is None
    finally:
        process.terminate()
        left, _ = process.communicate(timeout=60)
    assert left == ""  # nothing is said about the host whose ssh was ended with the scheduler


@pytest.mark.thorough
def test_workers_that_ssh_started_measure_and_end_with_the_scheduler(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "ssh").write_text(SSH)
    (tmp_path / "ssh").chmod(0o755)
    command = [*GEMMVIZ, "cluster", "ssh", "there", "--host", "127.0.0.1", "--port", "0"]
    command += ["--command", f"{sys.executable} -m gemmviz"]
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = process.stdout.readline().split(";")[0].split()[-1]
        arguments = ["bench", "numpy", "--size", "8", "--quick", "--json", str(tmp_path / "r.json")]
        end = time.monotonic() + 120
        while run([*arguments, "--cluster", address]) == 2 and time.monotonic() < end:
            time.sleep(1)  # the worker is not there yet
        (row,) = results.read_results(tmp_path / "r.json")["results"]
        assert row["status"] == "ok" and row["measured_on"]["host"] == os.uname().nodename
        below = descendants(process.pid)
        assert below
    finally:
        process.terminate()
        process.communicate(timeout=60)
    end = time.monotonic() + 60
    while alive(below) and time.monotonic() < end:
        time.sleep(0.2)
    assert not alive(below)


@pytest.mark.thorough
def test_a_worker_has_imported_what_serves_pieces_before_the_first_command():
    pytest.importorskip("distributed")
    with cluster(1) as (at, _), connected(at, None) as client:
        (imported,) = client.run(eval, "'gemmviz.cluster.work' in __import__('sys').modules").values()
    assert imported
