"""Finds a local variable without a value: each is set to zero, to see whether C changes.

The recorder starts local variables as NaN, or as an improbable number, so that C is wrong if one is read too early.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

_SCALAR = (
    r"(?:(?:unsigned\s+|signed\s+)?(?:float|double|int|long(?:\s+long)?|short|char)|unsigned|bool|size_t|u?int\d+_t|uint|"
    r"half2?|__half2?|__nv_bfloat162?|nv_bfloat162?|(?:float|double|u?(?:char|short|int|long))[1-4])"
)
_FRAGMENT = r"(?:nvcuda::)?(?:wmma::)?fragment<[^;]*>"
# One statement, over any number of lines.
_DECLARATION = re.compile(rf"(?<=[;{{}}])\s*(?:{_SCALAR}|{_FRAGMENT})\s+(?P<names>[A-Za-z_][^;]*);")
# One declarator, up to the comma after it: with an initial value, which may contain commas, or without.
_DECLARATOR = re.compile(
    r"\s*(?P<bare>(?P<name>[A-Za-z_]\w*)(?:\s*\[[^\]]*\])*)\s*(?P<value>=(?:[^,({\[]|\([^)]*\)|{[^}]*}|\[[^\]]*\])*)?(?:,|$)"
)
_MOST = 12  # each variable needs a build


@dataclass(frozen=True)
class _Variable:
    """A local variable that is declared without a value, on a line from 1; its declarator ends at offset `end`."""

    name: str
    line: int
    end: int


def unset_variable(job: Launch, recording: Recording, again: Callable[[Launch], Recording]) -> Finding | None:
    """Return the local variable that is used before it is set and changes C, or None.

    Parameters
    ----------
    job, recording
        A launch, and the wrong C that it computed.
    again
        Records another launch.
    """
    text = job.kernel.text
    code = plain_code(text if job.kernel.backend == "c" else device_code(text), directives=False)
    candidates = list(islice(_variables(code), _MOST))
    if not candidates or not _changes(job, recording, again, candidates):
        return None
    for variable in candidates:
        if len(candidates) == 1 or _changes(job, recording, again, [variable]):
            return _finding(recording, code.split("\n"), variable)
    return None


def _variables(code: str) -> Iterator[_Variable]:
    for declaration in _DECLARATION.finditer(code):
        at = declaration.start("names")
        # A line without indentation is not in a function.
        if not code[code.rfind("\n", 0, at) + 1].isspace():
            continue
        while found := _DECLARATOR.match(code, at, declaration.end("names")):
            if not found["value"]:
                yield _Variable(found["name"], code.count("\n", 0, found.start("name")) + 1, found.end("bare"))
            if (at := found.end()) == declaration.end("names"):
                break


def _changes(job: Launch, recording: Recording, again: Callable[[Launch], Recording], chosen: list[_Variable]) -> bool:
    """Return whether C changes if some variables start as zero."""
    text = job.kernel.text
    zero = "{0}" if job.kernel.backend == "c" else "{}"  # in C, a number cannot have an empty initialiser
    for variable in sorted(chosen, key=lambda v: -v.end):
        text = f"{text[: variable.end]} = {zero}{text[variable.end :]}"
    try:
        other = again(replace(job, kernel=replace(job.kernel, text=text)))
    except BuildError:  # for example a member of a structure
        return False
    return not np.array_equal(other.c, recording.c, equal_nan=True)


def _finding(recording: Recording, lines: list[str], variable: _Variable) -> Finding:
    word = re.compile(rf"\b{variable.name}\b")
    use = next((i + 1 for i in range(variable.line, len(lines)) if word.search(lines[i])), 0)
    values = {"variable": variable.name, "count": thousands(recording.wrong)}
    if use:
        text = trn(
            "the local variable {variable} is not set before line {line} uses it; {count} element of C depends on it",
            "the local variable {variable} is not set before line {line} uses it; {count} elements of C depend on it",
            recording.wrong,
            line=use,
            **values,
        )
    else:
        text = trn(
            "the local variable {variable} is not set; {count} element of C depends on it",
            "the local variable {variable} is not set; {count} elements of C depend on it",
            recording.wrong,
            **values,
        )
    return Finding("read of memory nobody wrote", variable.line, text, recording.wrong, use, variable.name)
