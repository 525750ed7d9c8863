"""Finds a local variable without a value: each is set to a value, to see whether something changes.

The recorder starts local variables as NaN, or as an improbable number, so that C is wrong, an access misses its array
or the kernel ends early if one is read too early. With zero instead, C is another one, or the kernel does not end
early. That number is even: it may be right by chance, as a parity. So in a kernel without another defect, integers
start as -1, too. A member of a structure counts as a variable.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.errors import BuildError, ConstraintError, KernelFault
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

_INTEGER = r"(?:(?:unsigned\s+|signed\s+)?(?:int|long(?:\s+long)?|short|char)|unsigned|bool|size_t|u?int\d+_t|uint)"
_SCALAR = (
    rf"(?:(?P<integer>{_INTEGER})|float|double|half2?|__half2?|__nv_bfloat162?|nv_bfloat162?|"
    r"(?:float|double|u?(?:char|short|int|long))[1-4])"
)
_FRAGMENT = r"(?:nvcuda::)?(?:wmma::)?fragment<[^;]*>"
# One statement, over any number of lines.
_DECLARATION = re.compile(rf"(?<=[;{{}}])\s*(?:{_SCALAR}|{_FRAGMENT})\s+(?P<names>[A-Za-z_][^;]*);")
# One declarator, up to the comma after it: with an initial value, which may contain commas, or without.
_DECLARATOR = re.compile(
    r"\s*(?P<bare>(?P<name>[A-Za-z_]\w*)(?:\s*\[[^\]]*\])*)\s*(?P<value>=(?:[^,({\[]|\([^)]*\)|{[^}]*}|\[[^\]]*\])*)?(?:,|$)"
)
_ALIGNMENT = re.compile(r"\b(?:__align__|alignas)\s*\([^()]*\)")
_STRUCTURE = re.compile(r"\b(?P<what>struct|union|class)\s+(?P<name>\w*)")
_LASTING = re.compile(r"\b(?:__device__|__constant__|static|extern|thread_local)\b[^;{}()]*;")
_MOST = 12  # each variable needs a build
_ZERO = {"c": "{0}"}  # in C, a number has no empty initialiser
_OTHER = "-1"


@dataclass(frozen=True)
class _Variable:
    """A local variable that is declared without a value, on a line from 1; its declarator ends at offset `end`.

    `integer`: it is one integer, and no array of them. `member_of` is the name of its structure; None outside of one.
    """

    name: str
    line: int
    end: int
    integer: bool
    member_of: str | None


def unset_variable(job: Launch, recording: Recording, again: Callable[[Launch], Recording]) -> Finding | None:
    """Return the local variable that is used before it is set and changes C, or None.

    Parameters
    ----------
    job, recording
        A launch, and the wrong C that it computed.
    again
        Records another launch.
    """
    zero = _ZERO.get(job.kernel.backend, "{}")
    code = _code(job)
    for group in _groups(list(_variables(code))):
        found = _that_changes(job, recording, again, group, zero)
        if found:
            return _finding(recording.wrong, code.split("\n"), found)
    return None


def unset_integer(job: Launch, recording: Recording, again: Callable[[Launch], Recording]) -> Finding | None:
    """Return the integer that is used before it is set, in a kernel that is right only by the value it happens to have.

    Parameters
    ----------
    job, recording
        A launch without a defect.
    again
        Records another launch.
    """
    code = _code(job)
    for group in _groups([one for one in _variables(code) if one.integer and not _may_last(code, one)]):
        found = _that_changes(job, recording, again, group, _OTHER)
        if found:
            return _finding(0, code.split("\n"), found)
    return None


def blame_unset_variable(job: Launch, again: Callable[[Launch], Recording]) -> None:
    """Look for the local variable that is used before it is set, after a fault that has ended the launch.

    Parameters
    ----------
    job
        The launch.
    again
        Records another launch.

    Raises
    ------
    KernelFault
        The variable, where there is one.
    """
    code = _code(job)
    zero = _ZERO.get(job.kernel.backend, "{}")
    for group in _groups(list(_variables(code))):
        if not _ends_well(job, again, group, zero):
            continue
        for variable in group:
            others = [one for one in group if one != variable]
            if not others or not _ends_well(job, again, others, zero):
                finding = _finding(0, code.split("\n"), variable)
                text = f"{job.kernel.path.name}:{finding.line}: {finding.text}"
                raise KernelFault(text, finding.line, "read of memory nobody wrote", variable.name)


def _code(job: Launch) -> str:
    text = job.kernel.text
    return plain_code(text if job.kernel.backend == "c" else device_code(text), directives=False)


def _variables(code: str) -> Iterator[_Variable]:
    for declaration in _DECLARATION.finditer(code):
        at = declaration.start("names")
        # A line without indentation is not in a function.
        if not code[code.rfind("\n", 0, at) + 1].isspace():
            continue
        structure = _structure_around(code, at)
        if structure and structure["what"] == "union":  # one value is that of all members
            continue
        member_of = structure["name"] if structure else None
        while found := _DECLARATOR.match(code, at, declaration.end("names")):
            if not found["value"]:
                line = code.count("\n", 0, found.start("name")) + 1
                integer = bool(declaration["integer"]) and found["bare"] == found["name"]
                yield _Variable(found["name"], line, found.end("bare"), integer, member_of)
            if (at := found.end()) == declaration.end("names"):
                break


def _structure_around(code: str, at: int) -> re.Match[str] | None:
    """Return the head of the structure whose member stands at an offset; None for a variable of a function."""
    depth = 0
    while at and depth >= 0:
        at -= 1
        depth += {"}": 1, "{": -1}.get(code[at], 0)
    head = code[max(code.rfind(end, 0, at) for end in ";{}") + 1 : at]
    return None if ")" in _ALIGNMENT.sub("", head) else _STRUCTURE.search(head)


def _may_last(code: str, variable: _Variable) -> bool:
    """Return whether a variable may be a member of memory that starts as zero, and not of a local variable."""
    if variable.member_of is None:
        return False
    structures = {found["name"] for found in _STRUCTURE.finditer(code)} - {""}
    words = {word for lasting in _LASTING.findall(code) for word in re.findall(r"\w+", lasting)}
    return not variable.member_of or bool(structures & words)


def _groups(candidates: Sequence[_Variable]) -> Iterator[list[_Variable]]:
    """Yield variables of functions, then members: what does not compile with a value spoils its own group only."""
    for members in (False, True):
        group = [one for one in candidates if (one.member_of is not None) == members][:_MOST]
        if group:
            yield group


def _that_changes(
    job: Launch, recording: Recording, again: Callable[[Launch], Recording], group: list[_Variable], value: str
) -> _Variable | None:
    """Return the variable that changes C or what the recorder has found if it starts with a value."""

    def changes(chosen: list[_Variable]) -> bool:
        try:
            other = again(_with(job, chosen, value))
        except BuildError:  # for example behind a macro
            return False
        except (KernelFault, ConstraintError):
            return True
        return other.diagnostics != recording.diagnostics or not np.array_equal(other.c, recording.c, equal_nan=True)

    if not changes(group):
        return None
    return next((variable for variable in group if len(group) == 1 or changes([variable])), None)


def _ends_well(job: Launch, again: Callable[[Launch], Recording], chosen: list[_Variable], value: str) -> bool:
    """Return whether a launch ends without a fault if some variables start with a value."""
    try:
        again(_with(job, chosen, value))
    except (KernelFault, ConstraintError, BuildError):
        return False
    return True


def _with(job: Launch, chosen: list[_Variable], value: str) -> Launch:
    """Return a launch whose variables start with a value."""
    text = job.kernel.text
    for variable in sorted(chosen, key=lambda v: -v.end):
        text = f"{text[: variable.end]} = {value}{text[variable.end :]}"
    return replace(job, kernel=replace(job.kernel, text=text))


def _finding(wrong: int, lines: list[str], variable: _Variable) -> Finding:
    word = re.compile(rf"\b{variable.name}\b")
    use = next((i + 1 for i in range(variable.line, len(lines)) if word.search(lines[i])), 0)
    values = {"variable": variable.name, "count": thousands(wrong)}
    if not wrong and use:
        text = tr(
            "the local variable {variable} is not set before line {line} uses it, and what the kernel does depends on "
            "its value",
            line=use,
            **values,
        )
    elif not wrong:
        text = tr("the local variable {variable} is not set, and what the kernel does depends on its value", **values)
    elif use:
        text = trn(
            "the local variable {variable} is not set before line {line} uses it; {count} element of C depends on it",
            "the local variable {variable} is not set before line {line} uses it; {count} elements of C depend on it",
            wrong,
            line=use,
            **values,
        )
    else:
        text = trn(
            "the local variable {variable} is not set; {count} element of C depends on it",
            "the local variable {variable} is not set; {count} elements of C depend on it",
            wrong,
            **values,
        )
    return Finding("read of memory nobody wrote", variable.line, text, max(wrong, 1), use, variable.name)
