"""When an engine's process has had its time: what it loads of kernels it cannot get rid of."""

from pathlib import Path

MOST_BUILDS = 16
"""Builds of kernels that a process may have loaded; each takes hundreds of megabytes of address space."""
MOST_RESIDENT_BYTES = 3 << 30
"""Memory that a process may hold while it has nothing to do."""
_BUILD_FOLDERS = ("recorders", "native")


def worn(process: int) -> bool:
    """Say whether a process should be replaced before its next request; False where nothing can be told of it.

    Parameters
    ----------
    process
        Its number.
    """
    place = Path("/proc") / str(process)
    try:
        return loaded_builds(place) >= MOST_BUILDS or _resident_bytes(place) > MOST_RESIDENT_BYTES
    except (OSError, ValueError):
        return False


def loaded_builds(place: Path) -> int:
    """Return how many builds of kernels a process has loaded.

    Parameters
    ----------
    place
        Its folder under ``/proc``.

    Raises
    ------
    OSError
        When it is gone.
    """
    # An entry: address, permissions, offset, device, inode and, of a file, its path.
    lines = (line.split(maxsplit=5) for line in (place / "maps").read_text(errors="replace").splitlines())
    paths = {Path(line[5]) for line in lines if len(line) == 6 and ".so" in line[5]}
    # In the cache, or in its substitute: see `gemmviz.data.cache_folder`.
    return sum(any(name in path.parent.name for name in _BUILD_FOLDERS) for path in paths)


def _resident_bytes(place: Path) -> int:
    lines = (place / "status").read_text(errors="replace").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["VmRSS"].split()[0]) << 10
