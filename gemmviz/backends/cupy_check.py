"""Finds out, without importing CuPy, whether it can be used here; if not, the reason and the remedy."""

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PathDistribution
from pathlib import Path

from gemmviz.backends.driver import CudaDriver, driver

_NAME = re.compile(r"^cupy(-cuda(?P<major>\d+)x|-.*)?$")
_OLDEST, _NEWEST = 12, 13
Package = tuple[str, str]


@dataclass(frozen=True)
class CudaSupport:
    """Whether CUDA kernels can run here.

    Attributes
    ----------
    usable
        Whether they can.
    reason
        The reason if they cannot, as a short phrase; else empty.
    remedy
        The remedy; empty if there is none.
    """

    usable: bool
    reason: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        return self.reason + (f" ({self.remedy})" if self.remedy else "")


@cache
def cuda_verdict() -> CudaSupport:
    """Return whether CUDA kernels can run in this process."""
    return judge(cupy_packages(), driver())


def cupy_packages() -> list[Package]:
    """Return name and version of every CuPy that is installed, each once."""
    found = {}
    for distribution in _called_cupy():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if _NAME.match(name):
            found[name] = distribution.version
    return sorted(found.items())


def cupy_major() -> int | None:
    """Return the CUDA version of the installed CuPy, 13 for ``cupy-cuda13x``; None if there is none."""
    names = (_NAME.match(name) for name, _ in cupy_packages())
    return next((int(name["major"]) for name in names if name and name["major"]), None)


def _called_cupy() -> Iterator[PathDistribution]:
    """Yield the packages in folders named after CuPy: reading the names of all packages takes 25 ms."""
    for folder in map(Path, sys.path):
        with suppress(OSError):  # not a folder, or an archive
            for place in folder.iterdir():
                if place.name.lower().startswith("cupy") and place.suffix in (".dist-info", ".egg-info"):
                    yield PathDistribution(place)


def judge(packages: list[Package], found: CudaDriver) -> CudaSupport:
    """Compare the CuPy packages with the driver.

    Parameters
    ----------
    packages
        Name and version of each CuPy that is installed.
    found
        The driver's facts.
    """
    if found.device is None:
        if found.installed:
            remedy = "look at what nvidia-smi says" if found.cuda else "install the NVIDIA driver"
        else:
            remedy = "the CPU kernels and all recordings work without one"
        return CudaSupport(False, f"no CUDA device: {found.problem}", remedy)
    if not packages:
        return CudaSupport(False, "CuPy is not installed", install_line(found))
    if len(packages) > 1:
        names = " ".join(name for name, _ in packages)
        listed = " and ".join(name for name, _ in packages)
        return CudaSupport(
            False,
            f"{len(packages)} CuPy packages are installed: {listed}",
            f"pip uninstall {names}, then {install_line(found)}",
        )
    name, version = packages[0]
    major = _NAME.match(name)
    wanted = int(major["major"]) if major and major["major"] else None
    have = found.cuda or (0, 0)
    if wanted is not None and have[0] < wanted:
        ours = f"the driver{' ' + found.version if found.version else ''} supports CUDA {have[0]}.{have[1]}"
        remedy = f"update the NVIDIA driver, or pip uninstall {name}, then {install_line(found)}"
        if have[0] < _OLDEST:
            remedy = "update the NVIDIA driver"
        return CudaSupport(False, f"driver too old: {ours}, {name} {version} needs CUDA {wanted}.0 or newer", remedy)
    return CudaSupport(True)


def install_line(found: CudaDriver) -> str:
    """Return the command that installs a CuPy for a driver, with NVRTC and its headers."""
    major = found.cuda[0] if found.cuda else _NEWEST
    return f"pip install 'gemmviz[cuda{min(max(major, _OLDEST), _NEWEST)}]'"
