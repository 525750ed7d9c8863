"""``gemmviz cluster ssh`` with the real programs: an sshd of its own, with keys of its own, on this machine."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clusters import GEMMVIZ, alive, certificates, descendants, need_distributed

from gemmviz.bench import results
from gemmviz.cli import run

need_distributed()
SSH, KEYGEN, OPENSSL = (shutil.which(name) for name in ("ssh", "ssh-keygen", "openssl"))
SSHD = shutil.which("sshd", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"]))
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(None in (SSH, SSHD, KEYGEN), reason="needs OpenSSH's programs ssh, sshd and ssh-keygen"),
    pytest.mark.skipif(OPENSSL is None, reason="openssl makes the certificates"),
]


@pytest.fixture
def sshd(tmp_path):
    """Run an sshd that lets this user in, and an `ssh` that knows it as the host ``there``; provide both."""
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "own"):
        subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/own.pub\nPidFile none\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
    )
    (folder / "config").write_text(
        f"Host there\nHostName 127.0.0.1\nPort {port}\nIdentityFile {folder}/own\nIdentitiesOnly yes\n"
        f"UserKnownHostsFile {folder}/known\nStrictHostKeyChecking no\nLogLevel ERROR\n"
    )
    # The program has no option for another configuration of ssh: users have theirs in ~/.ssh.
    (folder / "ssh").write_text(f'#!/bin/sh\nexec {SSH} -F {folder}/config "$@"\n')
    (folder / "ssh").chmod(0o755)
    log = folder / "log"
    with log.open("w") as errors:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=errors)
    try:
        end = time.monotonic() + 20
        while not listens(port) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        if process.poll() is not None:
            pytest.skip(f"sshd does not start: {log.read_text().strip()}")
        yield process, folder
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def test_workers_behind_a_real_sshd_measure_with_certificates_and_end_with_the_scheduler(sshd, tmp_path):
    daemon, programs = sshd
    tls = certificates(tmp_path / "my certificates", "lab")
    command = [*GEMMVIZ, "cluster", "ssh", "there", "--host", "127.0.0.1", "--port", "0", *tls]
    command += ["--command", f"{sys.executable} -m gemmviz", "--workers", "2"]
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(command, cwd=Path.home(), stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = process.stdout.readline().split(";")[0].split()[-1]
        assert address.startswith("tls://127.0.0.1:")
        target = tmp_path / "r.json"
        arguments = [
            "bench",
            "numpy",
            "--size",
            "8",
            "12",
            "--quick",
            "--json",
            str(target),
            "--cluster",
            address,
            *tls,
        ]
        end = time.monotonic() + 120
        while (code := run(arguments)) == 2 and time.monotonic() < end:
            time.sleep(1)  # the workers are not there yet
        assert code == 0
        rows = results.read_results(target)["results"]
        assert [row["status"] for row in rows] == ["ok", "ok"]
        assert {row["measured_on"]["host"] for row in rows} == {os.uname().nodename}
        # The workers are below sshd, not below this command.
        there = descendants(daemon.pid)
        assert sum("spawn_main" in words(pid) or "gemmviz" in words(pid) for pid in there) >= 3
    finally:
        process.terminate()
        process.communicate(timeout=60)
    end = time.monotonic() + 60
    while (left := alive(there)) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left


def words(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
