"""The prelude of CUDA kernels, precompiled: to read its headers takes Clang longer than to read most kernels."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gemmviz.backends.compiler import Compiler
from gemmviz.backends.toolchain import build_folder, precompile, precompiling, preprocess
from gemmviz.sandbox import kept

# These concern the kernel, and not the prelude.
_OF_THE_KERNEL = ("-D", "-iquote", "-idirafter")


def prelude(tool: Compiler, flags: Sequence[str], texts: Sequence[str], folder: Path) -> Path | None:
    """Return the precompiled prelude for the flags of a kernel; it is made if there is none yet.

    Parameters
    ----------
    tool
        The compiler.
    flags
        The kernel's flags; those after ``-include`` name the prelude.
    texts
        The texts of the prelude and of the files that it includes: a change of one makes a new prelude necessary.
    folder
        From `gemmviz.data.cache_folder`.

    Returns
    -------
    Path or None
        None if the compiler cannot precompile, or if the kernel has a macro that the prelude reads.
    """
    asked = _asked(tool, flags, texts)
    if asked is None:
        return None

    def make(made: Path) -> bool:
        return precompile(asked.header, made, asked.flags)

    return _kept(folder, f"prelude-{asked.key}", "prelude.pch", make)


def macros(tool: Compiler, flags: Sequence[str], texts: Sequence[str], folder: Path) -> Path | None:
    """Return a file with all macros that are defined after the prelude; the parameters are those of `prelude`."""
    asked = _asked(tool, flags, texts)
    if asked is None:
        return None

    def make(made: Path) -> bool:
        preprocess(asked.header, made, [*asked.flags, "-dM"], asked.header)
        return True

    return _kept(folder, f"macros-{asked.key}", "macros.h", make)


@dataclass(frozen=True)
class _Asked:
    """A prelude, the flags that concern it, and the key of its compiled form."""

    header: Path
    flags: list[str]
    key: str


def _asked(tool: Compiler, flags: Sequence[str], texts: Sequence[str]) -> _Asked | None:
    if "-include" not in flags or _macros(flags) & _words(tuple(texts)):
        return None
    at = flags.index("-include")
    header = Path(flags[at + 1])
    own = [flag for flag in (*flags[:at], *flags[at + 2 :]) if not flag.startswith(_OF_THE_KERNEL)]
    command = precompiling(header, Path("output"), own)
    if command is None:
        return None
    return _Asked(header, own, hashlib.sha256("\0".join([*command, tool.version, *texts]).encode()).hexdigest()[:24])


def _kept(folder: Path, name: str, file: str, make: Callable[[Path], bool]) -> Path | None:
    if known := kept.find(folder, name):
        return known
    with build_folder() as work:
        made = Path(work) / file
        return kept.keep(made, folder, name) if make(made) else None


def _macros(flags: Sequence[str]) -> set[str]:
    return {flag[2:].partition("=")[0] for flag in flags if flag.startswith("-D")}


@cache
def _words(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))
