"""The two passes of a kernel with inline PTX: the preprocessor expands its macros, then the compiler reads the rest.

The preprocessor does not use a precompiled prelude: it would read the prelude's text again. It gets a file with the
macros of the prelude, and after it the prelude itself, for its `#pragma once`: with the macros known, the headers of
the system are empty. Both are read with ``-imacros``, so that none of their text is in the result.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gemmviz.backends.toolchain import preprocess
from gemmviz.catalogue.errors import CompileStopped
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.simt.inline_ptx.columns import aligned
from gemmviz.simt.inline_ptx.rewriting import rewritten

# This process reads the source after macro expansion, and macros may produce any amount of text.
_MOST_EXPANDED = 32 << 20
_MACRO = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.MULTILINE)
_FOR_MACROS = ("-D", "-iquote", "-idirafter")


@dataclass(frozen=True)
class Headers:
    """The files that a kernel includes.

    Attributes
    ----------
    texts
        The texts of the kernel and of its headers.
    folder, ours
        As for `rewritten`.
    macros
        The file with the macros of the precompiled prelude. None if the prelude is not precompiled.
    """

    texts: Collection[str]
    folder: Path | None
    ours: Collection[Path]
    macros: Path | None


def without_asm(wrapper: Path, flags: Sequence[str], kernel: Kernel, headers: Headers) -> tuple[Path, list[str]]:
    """Return a preprocessed source in which C++ replaces the asm statements, and the flags to compile it.

    Parameters
    ----------
    wrapper
        The source; the new files are written beside it.
    flags
        The flags of the compiler; those after ``-include`` name the prelude.
    kernel
        The kernel in this source.
    headers
        The files that the source includes. If they have macros, the result is compiled after the precompiled prelude.

    Raises
    ------
    BuildError
        When the preprocessor refuses the source.
    CompileStopped
        When the macros produce too much text.
    """
    macros, expanded, name = headers.macros, wrapper.with_suffix(".ii"), kernel.path.name
    preprocess(wrapper, expanded, _with_macros(flags, macros) if macros else flags, kernel.path)
    if expanded.stat().st_size > _MOST_EXPANDED:
        reason = tr("with its macros filled in it has more than {size} MB", size=_MOST_EXPANDED >> 20)
        raise CompileStopped(f"{name}: {reason}")
    text = aligned(expanded.read_text(encoding="utf-8"), name, kernel.text)
    lines = [rewritten(text, name, headers.folder, headers.ours)]
    if macros:
        lines = [*(f"#undef {macro}" for macro in sorted(_own_macros(headers.texts, flags))), *lines]
    translated = wrapper.with_name("translated.cpp")
    translated.write_text("\n".join(lines), encoding="utf-8")
    return translated, _after_prelude(flags) if macros else _alone(flags)


def _with_macros(flags: Sequence[str], macros: Path) -> list[str]:
    return ["-imacros", str(macros), *("-imacros" if flag == "-include" else flag for flag in flags)]


def _after_prelude(flags: Sequence[str]) -> list[str]:
    """Return the flags for a preprocessed source that follows the precompiled prelude."""
    return [flag for flag in flags if not flag.startswith(_FOR_MACROS)]


def _alone(flags: Sequence[str]) -> list[str]:
    """Return the flags for a preprocessed source that contains the prelude."""
    kept, skip = [], False
    for flag in _after_prelude(flags):
        if not skip and flag != "-include" and not flag.startswith(("-I", "-U")):
            kept.append(flag)
        skip = flag == "-include"
    return kept


def _own_macros(texts: Iterable[str], flags: Sequence[str]) -> set[str]:
    """Return the macros that a kernel, its headers or its flags define or undefine.

    They are expanded already. If the prelude has a macro of the same name, it has another meaning.
    """
    of_flags = {flag[2:].partition("=")[0] for flag in flags if flag.startswith("-D")}
    return of_flags.union(*map(_MACRO.findall, texts))
