"""Which shipped kernels make the same accesses as another one, and in which lines their sources differ."""

import re
import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from gemmviz import data
from gemmviz.catalogue.front_matter import code_start
from gemmviz.catalogue.plain_code import without_comments

_BREAKS = re.compile(r"^//[ \t]*---gemmviz[ \t]*breaks", re.MULTILINE)
_ENTRY = re.compile(r"__global__[^(]*?\b(\w+)\s*\(")


@dataclass(frozen=True)
class Likeness:
    """Another kernel with the same accesses, and the lines of the source that differ from it, from 1."""

    kernel: str
    lines: tuple[int, ...]


@cache
def pairs() -> dict[str, str]:
    """Return the kernels of ``resources/same_accesses.toml``, each with the other one, by name."""
    return tomllib.loads((data.root("resources") / "same_accesses.toml").read_text(encoding="utf-8"))


@cache
def likeness(kernel: str, text: str) -> Likeness | None:
    """Return which kernel makes the same accesses as a shipped one; None if there is none, or for an edited text."""
    other = pairs().get(kernel)
    if other is None or _shipped(kernel) != text:
        return None
    return Likeness(other, tuple(different_lines(text, _shipped(other))))


def different_lines(text: str, other: str) -> list[int]:
    """Return the lines of a kernel's code, from 1, that another one's code has not; comments and names do not count."""
    mine, before = _code(text), _code(other)
    matching = SequenceMatcher(None, [line for _, line in before], [line for _, line in mine], autojunk=False)
    return [
        number
        for kind, _, _, begin, end in matching.get_opcodes()
        if kind in ("replace", "insert")
        for number, _ in mine[begin:end]
    ]


def _code(text: str) -> list[tuple[int, str]]:
    """Return the lines of code with their numbers: without spaces, and with one name for the kernel."""
    start, found = code_start(text), _BREAKS.search(text)
    code = without_comments(text[start : found.start() if found else None])
    named = _ENTRY.search(code)
    if named is not None:
        code = re.sub(rf"\b{re.escape(named[1])}\b", "kernel", code)
    first = text.count("\n", 0, start) + 1
    lines = ((first + at, "".join(line.split())) for at, line in enumerate(code.split("\n")))
    return [(number, line) for number, line in lines if line]


def _shipped(kernel: str) -> str:
    (path,) = (p for p in data.root("kernels").glob("*/*_*.cu") if p.stem.partition("_")[2] == kernel)
    return path.read_text(encoding="utf-8")
