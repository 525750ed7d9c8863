"""Confines the engine before it imports modules that start threads, as Landlock applies per thread."""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gemmviz.sandbox import landlock, libc, limits, rules, seccomp

_MODPROBE_S = 20


@dataclass
class Applied:
    """The confinement of this process: rules for files, and a filter of system calls."""

    files: bool = False
    calls: bool = False


applied = Applied()


def confine(scratch: Path, caches: Sequence[Path], programs: Sequence[Path]) -> None:
    """Confine this process, which has one thread so far, by all mechanisms that Linux offers.

    Parameters
    ----------
    scratch, caches, programs
        See `gemmviz.sandbox.rules.engine`.
    """
    if not libc.LINUX:
        return
    _make_gpu_devices()
    limits.no_core()
    try:
        limits.no_new_privs()
    except OSError:  # the other mechanisms need no_new_privs
        return
    with suppress(OSError):
        limits.drop_capabilities()
    if landlock.version():
        with suppress(OSError):
            landlock.restrict(rules.engine(scratch, caches, programs))
            applied.files = True
    if seccomp.offered():
        with suppress(OSError):
            seccomp.restrict(seccomp.Filter.ENGINE)
            applied.calls = True


def _make_gpu_devices() -> None:
    """Create the driver's device files with its own helper, which runs as root: impossible after ``no_new_privs``."""
    if not Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia-uvm").exists():
        return
    helper = shutil.which("nvidia-modprobe")
    if helper is not None:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([helper, "-c0", "-u"], capture_output=True, timeout=_MODPROBE_S, check=False)
