"""Decides when to replace an engine's process: its libraries do not release all their memory."""

from pathlib import Path

MOST_RESIDENT_BYTES = 3 << 30
"""Memory, in bytes, that an idle process may hold."""


def worn(process: int) -> bool:
    """Return whether a process should be replaced before its next request; False if its memory is unknown.

    Kernels of the CPU run in separate processes and leave no memory behind. The memory of CUDA, and of modules that
    were compiled for it, is not released.

    Parameters
    ----------
    process
        Its process id.
    """
    try:
        return _resident_bytes(Path("/proc") / str(process)) > MOST_RESIDENT_BYTES
    except (OSError, ValueError, KeyError):
        return False


def _resident_bytes(place: Path) -> int:
    lines = (place / "status").read_text(errors="replace").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["VmRSS"].split()[0]) << 10
