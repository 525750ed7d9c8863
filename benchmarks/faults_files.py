"""Faults of files and of words on the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from faults_ground import HOUSE, Fault, Ground, c_kernel, make_irregular, need

_DIGITS = "1" * 5000
_DEEP = "[" * 100_000


def sizes(ground: Ground) -> str:
    """Sizes that are none, and sizes that are unusual: refused, or recorded."""
    bad = ("0", "-1", "1000000000", "many")
    lines = [ground.output_of("record", "gputiled", "--size", size, ends=None).splitlines()[-1] for size in bad]
    for good in (["--size", "1"], ["--size", "13"], ["--m", "3", "--n", "7", "--k", "5"]):
        done = ground.command("record", "hostmult0", *good)
        need(done.returncode == 0, f"{good}: {done.stderr}")
    return lines[0]


def no_display(ground: Ground) -> str:
    """No display: the window shows a message, and the command line works."""
    bare = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "QT_QPA_PLATFORM": None}
    for words in (["--help"], ["list"]):
        need(ground.command(*words, environment=bare).returncode == 0, " ".join(words))
    return ground.output_of("window", environment=bare)


def interrupted(ground: Ground) -> str:
    """Ctrl-C in the middle of a run, beside another run: its processes are gone within two seconds."""
    environment = {**os.environ, "PYTHONPATH": str(HOUSE)}
    start = [sys.executable, "-m", "gemmviz", "bench", "hostmult0", "--size", "700"]
    other = subprocess.Popen(start, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    program = subprocess.Popen(
        start, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        time.sleep(6)
        below = _descendants(program.pid)
        need(bool(below), "it has no engine yet")
        os.killpg(program.pid, signal.SIGINT)
        begun = time.monotonic()
        _, output = program.communicate(timeout=60)
        took = time.monotonic() - begun
        while [pid for pid in below if _alive(pid)] and time.monotonic() < begun + 2:
            time.sleep(0.05)
        need(not [pid for pid in below if _alive(pid)], "a process is left")
        need(took < 2, f"it took {took:.1f} s")
        other.communicate(timeout=240)
        need(other.returncode == 0, "the other run")
    finally:
        program.kill()
        other.kill()
    need("Traceback" not in output, output)
    return f"(ends {took:.1f} s after Ctrl-C) {output.strip()}".strip()


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in map(int, children) for found in (child, *_descendants(child))]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def front_matter(ground: Ground) -> str:
    """Front matter that is no TOML, names an unknown argument, divides by zero, asks for an impossible grid."""
    lines = []
    cuda = '// block = [{block}]\n// grid = ["{grid}"]\n'
    changes = {
        "x.c": re.sub("args +=", "args = =", c_kernel()),
        "y.c": c_kernel().replace('"K"]', '"Q"]'),
        "zero.cu": _device(cuda.format(block="16", grid="N / (M - M)")),
        "none.cu": _device(cuda.format(block="16", grid="N - N")),
        "many.cu": _device(cuda.format(block="16", grid="N * 1000000000000")),
        "negative.cu": _device(cuda.format(block="16", grid="1") + "// shared = -1\n"),
        "huge.cu": _device(cuda.format(block="16", grid="1") + f"// shared = {10**12}\n"),
        "digits.cu": _device(cuda.format(block=_DIGITS, grid="1")),
        "deep.cu": _device(cuda.format(block=_DEEP, grid="1")),
    }
    for name, text in changes.items():
        path = ground.folder() / name
        path.write_text(text)
        output = ground.output_of("record", str(path), "--size", "4", ends=None)
        need(path.stem in output, f"{name}: {output}")
        lines.append(output.splitlines()[-1])
    return lines[0]


def _device(head: str) -> str:
    return c_kernel(head=head).replace("void mine", "__global__ void mine")


def result_files(ground: Ground) -> str:
    """Try a result file that is truncated, of another version, not ours, or holds absurd numbers."""
    row = {"M": 0}
    texts = {
        "cut.json": '{"schema_version": 2, "results": [',
        "later.json": '{"schema_version": 99, "results": []}',
        "other.json": '{"hello": "world"}',
        "digits.json": f'{{"schema_version": 2, "device": null, "env": null, "results": [{{"M": {_DIGITS}}}]}}',
        "deep.json": _DEEP,
        "row.json": json.dumps({"schema_version": 2, "device": None, "env": None, "results": [row]}),
    }
    lines = []
    for name, text in texts.items():
        path = ground.folder() / name
        path.write_text(text)
        output = ground.output_of("compare", str(path), str(path))
        need(name in output, output)
        lines.append(output.splitlines()[-1])
    return lines[1]


def no_regular_file(ground: Ground) -> str:
    """Try a pipe, a device and a file of 3 GB in a kernel's place."""
    first = ""
    for kind in ("pipe", "device", "huge"):
        path = ground.folder() / f"{kind}.cu"
        make_irregular(path, kind)
        output = ground.output_of("record", str(path), ends=None)
        need(path.name in output, output)
        first = first or output
    return first


def bad_file_in_the_ladder(ground: Ground) -> str:
    """List the ladder where one of its files is no kernel."""
    folder = ground.folder()
    code = (
        "import shutil\nfrom pathlib import Path\nfrom gemmviz import data\nshipped = data.root\n"
        f"place = Path({str(folder)!r})\n"
        'shutil.copy(shipped("kernels") / "cuda" / "30_gputiled.cu", place)\n'
        '(place / "31_bad.cu").write_text("no kernel")\n'
        'data.root = lambda name: place if name == "kernels" else shipped(name)'
    )
    done = ground.command("list", code=code)
    need("gputiled" in done.stdout, "the other kernel is not listed")
    return done.stderr.strip()


def missing_package(ground: Ground) -> str:
    """Start where a package is not installed."""
    output = ""
    for module in ("psygnal", "pyqtgraph"):
        output = ground.output_of("window", code=f"import sys; sys.modules[{module!r}] = None")
        need("pip install" in output and module in output and len(output.splitlines()) == 1, output)
    return output


def full_disk(ground: Ground) -> str:
    """Write a recording to a full disk."""
    return ground.output_of("record", "hostmult0", "--size", "2", "--json", "/dev/full", ends=1)


FAULTS = [
    Fault("28", "Sizes 0, -1, 10^9, text; and 1, a prime, M, N, K that differ", sizes),
    Fault("29", "No display", no_display),
    Fault("30a", "Ctrl-C during a run, while another one goes on", interrupted),
    Fault(
        "31",
        "Front matter: no TOML, unknown argument, division by zero, a grid of 0 or 10^12, shared -1 or 10^12",
        front_matter,
    ),
    Fault("32", "Result files: cut, of another version, not ours, huge numbers, deep nesting", result_files),
    Fault("38", "A pipe, a device, a file of 3 GB in a kernel's place", no_regular_file),
    Fault("39", "A bad file among the ladder's kernels", bad_file_in_the_ladder),
    Fault("40", "A Python package is missing", missing_package),
    Fault("41", "The disk is full when a recording is written", full_disk),
]
