"""Confines the engine, and says which mechanisms are in force."""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gemmviz.language import tr
from gemmviz.sandbox import confined, landlock, libc, limits, rules, seccomp

_MODPROBE_S = 20


@dataclass
class _Applied:
    files: bool = False
    calls: bool = False


_applied = _Applied()


@dataclass(frozen=True)
class Mechanism:
    """One thing that keeps a stranger's kernel in.

    Attributes
    ----------
    name
        What it is called.
    on
        Whether it is in force.
    says
        What it does, or what is open without it, in words for people.
    """

    name: str
    on: bool
    says: str


def confine_engine(scratch: Path, caches: Sequence[Path], programs: Sequence[Path]) -> None:
    """Confine this process, which has one thread as yet, as far as the kernel lets it.

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
    except OSError:  # nothing else can be put on without it
        return
    with suppress(OSError):
        limits.drop_capabilities()
    if landlock.version():
        with suppress(OSError):
            landlock.restrict(rules.engine(scratch, caches, programs))
            _applied.files = True
    if seccomp.offered():
        with suppress(OSError):
            seccomp.restrict(seccomp.Filter.ENGINE)
            _applied.calls = True


def report() -> list[Mechanism]:
    """Return what is in force in this process and in those that compile and run kernels for it."""
    if not confined.active():
        said = tr("nothing: a kernel runs with all rights of this user; open files of people you trust only")
        return [Mechanism(tr("Sandbox"), False, said)]
    keeps = landlock.keeps()
    files = Mechanism(
        tr("Sandbox, files"),
        _applied.files,
        tr(
            "Landlock {version}: a kernel changes no file and reads only its own library and the system's",
            version=landlock.version(),
        )
        if _applied.files
        else tr("this Linux offers no Landlock: a kernel can read and change what this user can"),
    )
    calls = Mechanism(
        tr("Sandbox, system calls"),
        _applied.calls,
        tr("seccomp: no sockets, no other programs, no changes to other processes")
        if _applied.calls
        else tr("this Linux takes no filters: a kernel can start programs"),
    )
    namespace = confined.has_namespace()
    sockets = _applied.calls or namespace
    if not sockets and keeps["tcp"] and _applied.files:
        said = tr("Landlock refuses TCP; other sockets are open")
    elif sockets:
        said = tr("refused")
    else:
        said = tr("a kernel can open connections")
    network = Mechanism(tr("Sandbox, network"), sockets, said)
    ends = Mechanism(
        tr("Sandbox, processes"),
        True,
        tr("a namespace of their own: what a kernel starts ends with its run")
        if namespace
        else tr("what a kernel starts is looked for and ended with its run (this Linux gives no namespace)"),
    )
    signals = Mechanism(
        tr("Sandbox, signals"),
        namespace or (keeps["signals"] and _applied.files),
        tr("a kernel reaches no process but its own")
        if namespace or (keeps["signals"] and _applied.files)
        else tr("a kernel can end other programs of this user"),
    )
    said = tr("memory, processes, processor time and file size are limited")
    memory = Mechanism(tr("Sandbox, memory and time"), True, said)
    return [files, calls, network, ends, signals, memory]


def _make_gpu_devices() -> None:
    """Let the driver's own helper make its device files: it runs as root, which is over after ``no_new_privs``."""
    if not Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia-uvm").exists():
        return
    helper = shutil.which("nvidia-modprobe")
    if helper is not None:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([helper, "-c0", "-u"], capture_output=True, timeout=_MODPROBE_S, check=False)
