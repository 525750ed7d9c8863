"""Starts clusters of real workers, each in a process of its own, and makes certificates for them."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from gemmviz.sandbox import processes

_MARK = "GEMMVIZ_TEST_CLUSTER"
GEMMVIZ = [sys.executable, "-m", "gemmviz"]
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
_CA = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
_LEAF = ("-addext", "basicConstraints=critical,CA:FALSE")
_NO_CONFIG = "[req]\ndistinguished_name = d\n[d]\n"


def need_distributed() -> None:
    """Skip the file that calls this where Dask's workers are not installed; to import them takes half a second."""
    if find_spec("distributed") is None:
        pytest.skip("distributed is not installed: python -m pip install 'gemmviz[cluster]'", allow_module_level=True)


def certificates(folder: Path, name: str) -> list[str]:
    """Make an authority and one certificate; return the options that name them."""
    folder.mkdir(exist_ok=True)
    (folder / "empty.cnf").write_text(_NO_CONFIG)
    made = [folder / f"{name}-{part}" for part in ("ca.pem", "ca.key", "own.pem", "own.key")]
    ca, ca_key, own, own_key = map(str, made)
    ask = ["openssl", "req", "-config", str(folder / "empty.cnf"), "-x509", *_KEY]
    for command in (
        [*ask, *_CA, "-subj", f"/CN={name}", "-keyout", ca_key, "-out", ca],
        [*ask, *_LEAF, "-subj", "/CN=own", "-keyout", own_key, "-out", own, "-CA", ca, "-CAkey", ca_key],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return ["--ca", ca, "--certificate", own, "--key", own_key]


@contextmanager
def cluster(workers: int, *options: str, within: tuple[str, ...] = ()) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run ``gemmviz cluster local``, within another command; provide its address and its process."""
    command = [*within, *GEMMVIZ, "cluster", "local", "--port", "0", "--workers", str(workers), *options]
    mark = uuid4().hex
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {_MARK: mark}
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield line.split(";")[0].split()[-1], process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            # Processes whose parent was killed hold the pipes, too: they are found by their environment.
            process.kill()
            for pid in _marked(mark):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.communicate(timeout=30)


def _marked(mark: str) -> list[int]:
    """Return the processes that a cluster has started, by its mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if f"{_MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return the processes below one."""
    return [process.listed for process in processes.descendants(pid)]


def alive(pids: list[int]) -> list[int]:
    """Return the processes that still run."""
    found = []
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(pid)
    return found


class Line:
    """A network line to an address of this machine, which can be cut, or be slow.

    Parameters
    ----------
    address
        ``SCHEME://127.0.0.1:PORT``.
    delay_s
        How late each piece of data arrives.
    """

    def __init__(self, address: str, delay_s: float = 0.0) -> None:
        self._delay_s = delay_s
        scheme, _, place = address.partition("://")
        self._port = int(place.rpartition(":")[2])
        self._server = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.address = f"{scheme}://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and take no new ones."""
        # Closing alone would not end the threads that wait for data.
        for end in [self._server, *self._ends]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(self._delay_s)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
