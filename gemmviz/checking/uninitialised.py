"""Which local variable was never set: found by setting each to zero and looking whether C changes.

The recorder starts locals as NaN, or as a number that nobody means, so that one which is read too early spoils C.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

_SCALAR = (
    r"(?:unsigned\s+)?(?:float|double|int|long|short|char|half|__half2?|__nv_bfloat162?|nv_bfloat16|bool|size_t|unsigned|"
    r"u?int\d+_t|(?:float|int|double)[234])"
)
_FRAGMENT = r"(?:nvcuda::)?(?:wmma::)?fragment<[^;]*>"
_DECLARATION = re.compile(rf"^\s*(?:{_SCALAR}|{_FRAGMENT})\s+(?P<names>[A-Za-z_][^;]*);")
# One declarator, up to the comma behind it: with an initial value, which may have commas of its own, or without.
_DECLARATOR = re.compile(
    r"\s*(?P<bare>(?P<name>[A-Za-z_]\w*)(?:\s*\[[^\]]*\])*)\s*(?P<value>=(?:[^,({\[]|\([^)]*\)|{[^}]*}|\[[^\]]*\])*)?(?:,|$)"
)
_MOST = 12  # each variable tried costs a build


@dataclass(frozen=True)
class _Variable:
    """A local that is declared without a value: `end` is where its declarator ends in the line with that index."""

    name: str
    index: int
    end: int


def unset_variable(job: Launch, recording: Recording, again: Callable[[Launch], Recording]) -> Finding | None:
    """Return the local variable whose value before it is set reaches C, or None.

    Parameters
    ----------
    job, recording
        A launch, and the wrong C that it computed.
    again
        Records another launch.
    """
    lines = job.kernel.text.split("\n")
    candidates = list(_variables(lines))[:_MOST]
    if not candidates or not _changes(job, recording, again, lines, candidates):
        return None
    for variable in candidates:
        if len(candidates) == 1 or _changes(job, recording, again, lines, [variable]):
            return _finding(recording, lines, variable)
    return None


def _variables(lines: list[str]) -> Iterator[_Variable]:
    for index, line in enumerate(lines):
        declaration = _DECLARATION.match(line.split("//")[0])
        if declaration is None or not line[0].isspace():
            continue
        start = declaration.start("names")
        for found in _DECLARATOR.finditer(declaration["names"]):
            if not found["value"]:
                yield _Variable(found["name"], index, start + found.end("bare"))


def _changes(
    job: Launch, recording: Recording, again: Callable[[Launch], Recording], lines: list[str], chosen: list[_Variable]
) -> bool:
    """Tell whether C is another when some variables start as zero."""
    edited = list(lines)
    zero = "{0}" if job.kernel.backend == "c" else "{}"  # C has no empty one for a number
    for variable in sorted(chosen, key=lambda v: (v.index, -v.end)):
        line = edited[variable.index]
        edited[variable.index] = f"{line[: variable.end]} = {zero}{line[variable.end :]}"
    try:
        other = again(replace(job, kernel=replace(job.kernel, text="\n".join(edited))))
    except BuildError:  # a member of a structure, say
        return False
    return not np.array_equal(other.c, recording.c, equal_nan=True)


def _finding(recording: Recording, lines: list[str], variable: _Variable) -> Finding:
    word = re.compile(rf"\b{variable.name}\b")
    later = (i for i in range(variable.index + 1, len(lines)) if word.search(lines[i].split("//")[0]))
    use = next(later, -1) + 1
    said = {"variable": variable.name, "count": f"{recording.wrong:,}"}
    if use:
        text = tr(
            "the local variable {variable} is not set before line {line} uses it; {count} elements of C depend on it",
            line=use,
            **said,
        )
    else:
        text = tr("the local variable {variable} is not set; {count} elements of C depend on it", **said)
    return Finding("read of memory nobody wrote", variable.index + 1, text, recording.wrong, use, variable.name)
