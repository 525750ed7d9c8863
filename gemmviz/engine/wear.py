"""When an engine's process has had its time: what its libraries keep it cannot give back."""

from pathlib import Path

MOST_RESIDENT_BYTES = 3 << 30
"""Memory that a process may hold while it has nothing to do."""


def worn(process: int) -> bool:
    """Say whether a process should be replaced before its next request; False where nothing can be told of it.

    Kernels of the CPU run in processes of their own and leave nothing behind. What CUDA and modules compiled for it
    take stays.

    Parameters
    ----------
    process
        Its number.
    """
    try:
        return _resident_bytes(Path("/proc") / str(process)) > MOST_RESIDENT_BYTES
    except (OSError, ValueError, KeyError):
        return False


def _resident_bytes(place: Path) -> int:
    lines = (place / "status").read_text(errors="replace").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["VmRSS"].split()[0]) << 10
