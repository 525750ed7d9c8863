"""Finds the fastest code path of OpenBLAS on this machine: trials in turns, and the choice kept on disk."""

import hashlib
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

import msgspec

from gemmviz import data

VARIABLE = "OPENBLAS_CORETYPE"
"""The environment variable that names the code path when OpenBLAS is loaded."""
# Code paths of OpenBLAS for x86-64 (TargetList.txt), each with the flags of /proc/cpuinfo that it needs.
_PATHS = {
    "SapphireRapids": {"avx512bw", "avx512vl", "avx512_bf16", "amx_tile"},
    "Cooperlake": {"avx512bw", "avx512vl", "avx512_bf16"},
    "SkylakeX": {"avx512bw", "avx512vl", "avx512dq"},
    "Zen": {"avx2", "fma"},
    "Haswell": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4_2"},
}
_CPUINFO = Path("/proc/cpuinfo")
_SIZE, _TURNS = 768, 6
_ANSWER_LIMIT_S = 30.0
# Its threads spin for some 30 ms after a product, on cores that the next trial needs.
_PAUSE_S = 0.05
# A choice is kept if half of its turns are within this share of the fastest one: else the machine was busy.
_STEADY = 1.1
# Each line of the input requests a turn: three products; the fastest counts.
_TRIAL = """
import ctypes, sys, time
path, entry, wide, n = sys.argv[1], sys.argv[2], sys.argv[3] == "1", int(sys.argv[4])
gemm, whole = getattr(ctypes.CDLL(path), entry), ctypes.c_int64 if wide else ctypes.c_int
one, size = ctypes.c_float(1), whole(n)
a, b, c = ((ctypes.c_float * (n * n))(*[0.5] * (n * n)) for _ in range(3))
for line in sys.stdin:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        gemm(101, 111, 111, size, size, size, one, a, size, b, size, ctypes.c_float(0), c, size)
        best = min(best, time.perf_counter() - start)
    print(best, flush=True)
"""


class Choice(msgspec.Struct, frozen=True):
    """A kept choice.

    Attributes
    ----------
    machine
        Digest of the library's file and of the CPU.
    core
        The fastest core type; empty: OpenBLAS's own choice.
    seconds
        The fastest product of each core type that was tried.
    """

    machine: str
    core: str
    seconds: dict[str, float]


def fastest_core(original: Path, spelling: tuple[str, str]) -> str | None:
    """Return the core type that multiplies the fastest here; None: none of them works.

    The trials are run in turns, so that other load slows all of them, and the fastest turn of each counts. The result
    is kept for the machine, unless it was too busy.

    Parameters
    ----------
    original
        The library's file.
    spelling
        Prefix and suffix of the names of its functions.
    """
    file = data.cache_folder("openblas")[0] / "fastest.json"
    machine = _machine(original)
    known = _kept(file)
    cores = _candidates()
    if known is not None and known.machine == machine and known.core in cores:
        return known.core
    turns = take_turns([_Trial(original, spelling, core) for core in cores])
    if not turns:
        return None
    seconds = {core: min(found) for core, found in turns.items()}
    core = min(seconds, key=seconds.__getitem__)
    if median(turns[core]) <= _STEADY * seconds[core]:
        with suppress(OSError):
            file.write_bytes(msgspec.json.encode(Choice(machine, core, seconds)))
    return core


class _Trial:
    """A process that multiplies with one core type on request."""

    def __init__(self, original: Path, spelling: tuple[str, str], core: str) -> None:
        prefix, suffix = spelling
        entry = f"{prefix}cblas_sgemm{suffix}"
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        self.core = core
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TRIAL, str(original), entry, str(int(suffix == "64_")), str(_SIZE)],
            env=environment | ({VARIABLE: core} if core else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

    def turn(self) -> float | None:
        """Return the seconds of a product; None: the process ended or hangs."""
        assert self._process.stdin is not None and self._process.stdout is not None
        killer = threading.Timer(_ANSWER_LIMIT_S, self._process.kill)
        killer.start()
        try:
            self._process.stdin.write("\n")
            return float(self._process.stdout.readline())
        except (OSError, ValueError):
            return None
        finally:
            killer.cancel()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


def take_turns(trials: Sequence[_Trial]) -> dict[str, list[float]]:
    """Return the seconds of each turn by core type; core types that fail are left out.

    The first turn of each is for warming up and does not count.
    """
    found: dict[str, list[float]] = {trial.core: [] for trial in trials}
    try:
        for turn in range(_TURNS + 1):
            for trial in [trial for trial in trials if trial.core in found]:
                time.sleep(_PAUSE_S)
                seconds = trial.turn()
                if seconds is None:
                    del found[trial.core]
                elif turn:
                    found[trial.core].append(seconds)
    finally:
        for trial in trials:
            trial.close()
    return found


def _candidates() -> list[str]:
    """Return the core types to try; the empty one is OpenBLAS's own choice."""
    flags = set(_cpu_line("flags").split())
    able = [core for core, needs in _PATHS.items() if needs <= flags]
    # Older paths are for older processors: if a newer path runs, they are not faster.
    return ["", *able[:4]]


def _cpu_line(name: str) -> str:
    """Return a line about the first processor; empty if there is none, or if it is not an x86 processor."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(name)), "")


def _machine(original: Path) -> str:
    """Return a digest of the library and the processor, with the number of cores that this process may use."""
    stat, cores = original.stat(), len(os.sched_getaffinity(0))
    identity = (
        original.name,
        stat.st_size,
        stat.st_mtime_ns,
        _cpu_line("model name"),
        _cpu_line("flags"),
        cores,
        _TRIAL,
    )
    return hashlib.sha256(repr(identity).encode()).hexdigest()


def _kept(file: Path) -> Choice | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Choice)
    except (OSError, msgspec.MsgspecError):
        return None
