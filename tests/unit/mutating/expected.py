"""The expected findings on a mutant: the possible classes of its defect, and their lines."""

import re

from gemmviz.trace.hazards import Finding
from mutating.operators import Mutant, Source

_STOPS = {"crash", "misaligned vector access"}
# An index, a count or a condition may be that of a barrier: then threads wait for ever, or for others.
_INDEX = {
    *("out of bounds", "race", "read of memory nobody wrote", "element of C never written"),
    *("element of C written by two threads", "wrong result", "barrier divergence"),
    *_STOPS,
}
CLASSES: dict[str, set[str]] = {
    "drop-barrier": {"race"},
    "shift-index": _INDEX,
    "swap-stride": _INDEX,
    "shrink-bound": _INDEX - _STOPS,
    "grow-bound": _INDEX,
    "skip-init": {"read of memory nobody wrote", "wrong result"},
    "skip-zero-fill": {"read of memory nobody wrote", "wrong result"},
    "remove-guard": _INDEX,
    "return-above-barrier": {"barrier divergence", "element of C never written"},  # the latter where all leave
    "swap-xy": _INDEX,
    "drop-accumulate": {"wrong result"},
    "drop-factor": _INDEX | {"too many threads"},  # the latter of __launch_bounds__
    "shrink-shared": _INDEX,
    "transpose": _INDEX - {"crash"},  # vectors are misaligned
}
_DEFINED = re.compile(
    r"\b(\w+)(?:\[[^\]]*\])*\s*(?:[-+*]?=)(?!=)|fill_fragment\((\w+)|^\s*(?:const )?\w+ (\w+)(?:\[\w+\])*;"
)


def lines(mutant: Mutant) -> set[int]:
    """Return the lines, from 1, on which a report finds the mistake.

    That is the mistaken line. Where it touches no matrix and no shared array, as it computes an index, counts a loop or
    declares something, it is as well every line that uses what it defines, and for a branch or a loop what it governs.
    """
    text = [line.split("//")[0] for line in mutant.kernel.text.split("\n")]
    found = {mutant.line}
    access = re.compile(rf"\b(?:{'|'.join(sorted(Source(mutant.original).arrays))})\[|_matrix_sync\(")
    original = mutant.original.text.split("\n")[mutant.line - 1].split("//")[0]
    if mutant.operator == "drop-barrier":
        around = [line - 1 for line in _loop_around(text, mutant.line - 1)]
        return {i + 1 for i in (*around, *_called(text, around))}
    if mutant.operator == "return-above-barrier":
        # All threads may leave: then no barrier is missed, and the store behind it is not reached.
        behind = re.compile(r"__syncthreads|\bC\[|\(&?C\b")
        return found | {i + 1 for i, line in enumerate(text) if i + 1 > mutant.line and behind.search(line)}
    is_declaration = "__shared__" in original
    found |= {i + 1 for i in _called(text, [mutant.line - 1])}  # the arguments of a call are used there
    if access.search(original) and not is_declaration and mutant.operator != "skip-init":
        return found
    waiting = _names(original)
    if is_declaration:
        waiting = set(re.findall(r"(\w+)\[", original)[:1])
    if re.search(r"\b(?:for|if) \(", original):
        governed = _governed(text, mutant.line - 1)
        if any("return;" in text[i] for i in governed):  # a guard that leaves governs all that follows
            governed = list(range(mutant.line, len(text)))
        elif any(re.search(r"\b(?:break|continue);", text[i]) for i in governed):  # or the rest of its loop
            governed += _rest_of_loop(text, mutant.line - 1)
        governed = list({*governed, *_called(text, governed)})
        found |= {i + 1 for i in governed}
        for i in governed:
            if not access.search(text[i]):
                waiting |= _names(text[i])
    known: set[str] = set()
    while waiting:
        name = waiting.pop()
        known.add(name)
        for i, line in enumerate(text):
            if not re.search(rf"\b{name}\b", line) or line.startswith("//"):
                continue
            found.add(i + 1)
            found |= {j + 1 for j in _called(text, [i])}  # what it is handed to
            before = i  # a statement may begin on a line before
            while before and re.search(r"[=(,]\s*$", text[before - 1]):
                found.add(before)
                before -= 1
            # The compiler reads a value that a loop does not change before it: the access is on the loop head.
            if i and re.match(r"\s*for \(", text[i - 1]):
                found.add(i)
            if not access.search(line) or re.search(rf"\b{name}\b\S* \+?= ", line):
                waiting |= _names(line) - known - {"C"}
    return found


def is_named(mutant: Mutant, findings: list[Finding]) -> tuple[bool, bool]:
    """Return whether any finding is of a class that the mistake can be, and whether such a one names a right line."""
    classes = _INDEX if _changes_an_index(mutant) else CLASSES[mutant.operator]
    right = [f for f in findings if f.kind in classes]
    expected = lines(mutant)
    return bool(right), any({f.line, f.other_line} & expected for f in right)


def _changes_an_index(mutant: Mutant) -> bool:
    """Return whether a line without an access sets an integer: what is skipped or dropped there is part of an index."""
    if mutant.operator not in ("drop-accumulate", "skip-zero-fill"):
        return False
    set_here = re.match(r"\s*(\w+)\s*[-+*/]?=", mutant.original.text.split("\n")[mutant.line - 1])
    return bool(set_here and re.search(rf"\bint\b[^;(){{}}]*\b{set_here[1]}\b", mutant.original.text))


def _names(line: str) -> set[str]:
    names = {name for found in _DEFINED.findall(line) for name in found if name}
    return names | {
        name for found in re.findall(r"\bint (\w+ = [^;(]*);", line) for name in re.findall(r"(\w+) =", found)
    }


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _governed(text: list[str], index: int) -> list[int]:
    """Return the lines that stand further in than one, down to the first that does not; with a branch's other side."""
    found = []
    branch = re.search(r"\bif \(", text[index])
    for i in range(index + 1, len(text)):
        other_side = branch and re.match(r"\s*(?:\} )?else\b", text[i]) and _indent(text[i]) == _indent(text[index])
        if text[i].strip() and _indent(text[i]) <= _indent(text[index]) and not other_side:
            break
        found.append(i)
    return found or [index + 1]


def _rest_of_loop(text: list[str], index: int) -> list[int]:
    """Return the lines of the loop around a line, from that line on."""
    heads = [i for i in range(index) if re.match(r"\s*(?:for|while) \(", text[i]) and index in _governed(text, i)]
    return [i for i in _governed(text, heads[-1]) if i > index] if heads else []


def _called(text: list[str], lines: list[int]) -> list[int]:
    """Return the bodies of the file's own functions that some lines call."""
    bodies = []
    for name in {name for i in lines for name in re.findall(r"\b(\w+)(?:<[\w, ]+>)?\(", text[i])}:
        heads = [i for i, line in enumerate(text) if re.match(rf"(?:static|__device__|SIMD_\w+)\b.*\b{name}\(", line)]
        for head in heads:
            bodies += list(range(head, text.index("}", head)))
    return bodies


def _loop_around(text: list[str], index: int) -> list[int]:
    """Return the lines, from 1, of the loop that a line stands in, or else of the function."""
    for i in range(index, -1, -1):
        if re.match(r"\s*for \(", text[i]) and index in _governed(text, i):
            return [i + 1, *(j + 1 for j in _governed(text, i))]
    first = max(i for i in range(index) if text[i] == "{")
    return list(range(first + 1, text.index("}", index) + 1))
