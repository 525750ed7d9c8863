"""A cluster behind a network of its own: a namespace with another address, whose line can be cut or be slow."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import hostile
import pytest
from clusters import GEMMVIZ, Line, certificates, cluster, need_distributed

from gemmviz.cli import run

need_distributed()
NAME = f"gv{os.getpid() % 100000}"
HERE, THERE = "10.203.7.1", "10.203.7.2"


pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates"),
]


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def line():
    """Make a namespace, and a line to it; provide the line's name on this side."""
    near, far = f"{NAME}a", f"{NAME}b"
    try:
        ip("netns", "add", NAME)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("network namespaces need root and the program ip")
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", NAME)
        ip("addr", "add", f"{HERE}/30", "dev", near)
        ip("link", "set", near, "up")
        for command in (
            ("addr", "add", f"{THERE}/30", "dev", far),
            ("link", "set", far, "up"),
            ("link", "set", "lo", "up"),
        ):
            ip("-n", NAME, *command)
        yield near
    finally:
        for command in (("link", "del", near), ("netns", "del", NAME)):
            with suppress(subprocess.CalledProcessError):
                ip(*command)


@pytest.fixture
def tls(tmp_path):
    return certificates(tmp_path / "certificates", "lab")


def test_another_network_is_measured_and_a_line_that_is_cut_loses_nothing(line, tls, tmp_path):
    files = [tmp_path / f"{name}.c" for name in ("right", "endless")]
    for file, text in zip(files, (hostile.RIGHT, hostile.SLEEPS), strict=True):
        file.write_text(text)
    target = tmp_path / "r.json"
    with cluster(1, "--host", THERE, *tls, within=("ip", "netns", "exec", NAME)) as (address, _):
        assert address.startswith(f"tls://{THERE}:")
        there = ["--cluster", address, *tls]
        assert run(["bench", str(files[0]), "--size", "8", "--quick", "--json", str(target), *there]) == 0
        (row,) = json.loads(target.read_text())["results"]
        assert row["status"] == "ok" and row["measured_on"]
        # The line is cut while the endless kernel runs: Ctrl-C still ends the command, and the first row is kept.
        command = [*GEMMVIZ, "bench", *map(str, files), "--size", "8", "--quick", "--json", str(target), *there]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while not sleeping() and time.monotonic() < end:
            time.sleep(0.2)
        ip("link", "set", line, "down")
        process.send_signal(signal.SIGINT)
        assert process.wait(240) == 130
        ip("link", "set", line, "up")
        rows = json.loads(target.read_text())["results"]
        assert [(one["kernel"], one["status"]) for one in rows] == [("right", "ok"), ("endless", "cancelled")]


def sleeping():
    """Return whether the endless kernel runs in the namespace: it is the only process there that names its file."""
    found = subprocess.run(["ip", "netns", "pids", NAME], capture_output=True, text=True, check=True).stdout.split()
    for pid in found:
        with suppress(OSError):
            if "nanosleep" in Path(f"/proc/{pid}/wchan").read_text():
                return True
    return False


def test_a_slow_line_changes_no_result(tls, tmp_path):
    target = tmp_path / "r.json"
    with cluster(1, *tls) as (address, _):
        slow = Line(address, delay_s=0.15)
        sizes = ["--size", "8", "12"]
        there = ["--cluster", slow.address, *tls]
        assert run(["bench", "hostmult1", "hostmult0", *sizes, "--quick", "--json", str(target), *there]) == 0
        rows = json.loads(target.read_text())["results"]
        assert [(row["M"], row["kernel"], row["status"]) for row in rows] == [
            (size, name, "ok") for size in (8, 12) for name in ("hostmult1", "hostmult0")
        ]
        slow.cut()
