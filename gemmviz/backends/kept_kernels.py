"""Machine code of CUDA kernels, kept in the user's cache: NVRTC takes seconds for one kernel."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gemmviz import data
from gemmviz.backends.header_files import header_files
from gemmviz.sandbox import kept
from gemmviz.sandbox.turns import turn

FOLDER = "nvrtc"
"""The folder in the cache."""
MOST_BYTES = 128 << 20
"""The size of the folder's files, about. One kernel has 10 to 100 kB."""
# To look through the folder takes as long as to read a kernel: it is done after one new kernel of so many.
_LOOK_EVERY = 32
_ENTRY = "-entry"
# Another process that compiles the same kernel is waited for so long.
_TURN_S = 120.0
_ANY_FOLDER = "any folder"
# They decide what CuPy asks NVRTC for.
_VARIABLES = ("CUPY_COMPILE_WITH_PTX", "CUPY_NVRTC_USE_PCH")


@dataclass(frozen=True)
class MachineCode:
    """A compiled kernel.

    Attributes
    ----------
    file
        The file with its machine code.
    entry
        Its name in there.
    is_new
        Whether it was compiled just now.
    """

    file: Path
    entry: str
    is_new: bool


def machine_code(cp: Any, text: str, flags: Sequence[str], name: str, own: Path) -> MachineCode | None:
    """Return the machine code of a kernel for the current GPU: as it is kept, or compiled.

    Parameters
    ----------
    cp
        The module ``cupy``.
    text
        The program.
    flags
        NVRTC's flags.
    name
        The kernel's name in C++.
    own
        The folder with the kernel's own headers; its path does not matter if the kernel reads none.

    Returns
    -------
    MachineCode or None
        None if it cannot be kept: headers are included in a way that only a compiler understands, the disk is full, or
        this CuPy does not say its options.
    """
    try:
        # Adds the folders of CuPy's own headers. It is private: another CuPy may not have it.
        all_flags = getattr(cp._core.core, "assemble_cupy_compiler_options", None)
        if all_flags is None:
            return None
        every = all_flags(tuple(flags))
        key = _key(cp, text, every, name, own)
        folder = data.cache_folder(FOLDER)[0]
        if key is None:
            return None
        if known := _find(folder, key):
            return known
        with turn(folder / f".{key}.lock", _TURN_S):
            return _find(folder, key) or _compiled(cp, text, every, name, folder, key)
    except OSError:
        return None


def _find(folder: Path, key: str) -> MachineCode | None:
    file, entry = kept.find(folder, key), kept.find(folder, key + _ENTRY)
    if file is None or entry is None:
        return None
    name = entry.read_text(encoding="utf-8")
    for one in (file, entry):
        with suppress(OSError):
            os.utime(one)  # the files that were not used for the longest time are removed first
    return MachineCode(file, name, is_new=False)


def _compiled(cp: Any, text: str, flags: tuple[str, ...], name: str, folder: Path, key: str) -> MachineCode:
    binary, names = cp.cuda.compiler.compile_using_nvrtc(text, flags, None, "", (name,), cache_in_memory=True)
    with tempfile.TemporaryDirectory() as work:
        made, entry = Path(work) / "kernel.cubin", Path(work) / "kernel.txt"
        made.write_bytes(binary)
        entry.write_text(names[name], encoding="utf-8")
        kept.keep(entry, folder, key + _ENTRY)
        file = kept.keep(made, folder, key)
    if int(key[:8], 16) % _LOOK_EVERY == 0:
        kept.limit(folder, MOST_BYTES)
    return MachineCode(file, names[name], is_new=True)


def _key(cp: Any, text: str, flags: tuple[str, ...], name: str, own: Path) -> str | None:
    """Return the hash of all that decides the machine code; None if that is not known."""
    folders = [Path(flag[2:].strip()) for flag in flags if flag.startswith("-I")]
    headers = header_files(text, folders)
    if headers is None:
        return None
    # The folder of their copies differs between processes, but does not change the result.
    copies = str(own.resolve())
    shown = "own" if any(path.startswith(copies + os.sep) for path in headers) else _ANY_FOLDER
    files = (f"{path} {digest}" for path, digest in sorted(headers.items()))
    neutral = (part.replace(copies, shown) for part in (*flags, *files))
    device = cp.cuda.Device().compute_capability
    variables = (os.environ.get(variable, "") for variable in _VARIABLES)
    parts = [text, name, *neutral, str(device), cp.__version__, _compiler(cp), *variables]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _compiler(cp: Any) -> str:
    """Return the exact version of NVRTC, as it writes it into PTX."""
    nvrtc = cp.cuda.nvrtc
    program = nvrtc.createProgram("", "", (), ())
    try:
        nvrtc.compileProgram(program, ())
        ptx = nvrtc.getPTX(program).decode()
    finally:
        nvrtc.destroyProgram(program)
    lines = (line for line in ptx.splitlines() if line.startswith("//"))
    return "\n".join([*map(str, nvrtc.getVersion()), *lines])
