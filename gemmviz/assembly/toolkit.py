"""Finds NVRTC and nvdisasm: in NVIDIA's wheels, in a CUDA toolkit, on the PATH."""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gemmviz.backends.cupy_check import cupy_major
from gemmviz.catalogue.errors import Unavailable
from gemmviz.language import tr

INSTALL = "pip install 'gemmviz[assembly]'"
"""The command that installs missing tools."""
_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
_USUAL = Path("/usr/local/cuda")
_MAJOR = re.compile(r"\.so\.(\d+)")


@dataclass(frozen=True)
class Toolkit:
    """The two tools.

    Attributes
    ----------
    nvrtc
        The library of the compiler.
    nvdisasm
        The disassembler.
    """

    nvrtc: Path
    nvdisasm: Path


def toolkit() -> Toolkit:
    """Return the tools of this machine. If there are several NVRTCs, it is the one that CuPy uses, else the newest.

    Raises
    ------
    Unavailable
        When one is missing; the message has the command that installs both.
    """
    library = next(iter(sorted(_libraries(), key=_rank)), None)
    program = next(_programs(), None)
    if library is None or program is None:
        missing = " and ".join(name for name, found in (("NVRTC", library), ("nvdisasm", program)) if found is None)
        raise Unavailable(tr("Machine code needs {missing}: {line}", missing=missing, line=INSTALL))
    return Toolkit(library, program)


def _libraries() -> Iterator[Path]:
    for folder in _folders("lib", "lib64"):
        # libnvrtc.so.12 and libnvrtc.so.12.4.127 are the same library.
        yield from sorted(p for p in folder.glob("libnvrtc.so.*") if _MAJOR.search(p.name) and "alt" not in p.name)


def _rank(library: Path) -> tuple[bool, int]:
    found = _MAJOR.search(library.name)
    major = int(found[1]) if found else 0
    return major != cupy_major(), -major


def _programs() -> Iterator[Path]:
    for folder in _folders("bin"):
        if found := shutil.which("nvdisasm", path=str(folder)):
            yield Path(found)
    if found := shutil.which("nvdisasm"):
        yield Path(found)


def _folders(*names: str) -> Iterator[Path]:
    """Yield the folders of these names in NVIDIA's wheels, then in CUDA toolkits."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for name in names:
            # The newest first: cu13 goes before cu12.
            yield from sorted(Path(place).glob(f"*/{name}"), reverse=True)
    homes = [Path(value) for variable in _VARIABLES if (value := os.environ.get(variable))]
    for home in (*homes, _USUAL):
        for name in names:
            if (home / name).is_dir():
                yield home / name
