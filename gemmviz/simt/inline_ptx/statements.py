"""Finds the asm statements of a preprocessed source: the position, the template and the operands of each.

The grammar is that of GCC's extended asm, which CUDA uses, too (Inline PTX Assembly in CUDA, "Assembler statements").
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TEXT = r'(?:u8|[uUL])?R"(?P<end>[^()\s\\]{0,16})\((?P<raw>.*?)\)(?P=end)"|(?:u8|[uUL])?"(?P<plain>(?:\\.|[^"\\\n])*)"'
_LETTER = r"(?<![\w])'(?:\\.|[^'\\\n])*'"
_STRING = re.compile(_TEXT, re.DOTALL)
_WORD = re.compile(rf"{_TEXT}|{_LETTER}|\b(?P<word>asm|__asm__|__asm)\b", re.DOTALL)
_TOKEN = re.compile(rf"{_TEXT}|{_LETTER}|(?P<mark>[()\[\]{{}}:,])", re.DOTALL)
_QUALIFIERS = re.compile(
    r"(?:\s|^#[^\n]*$|\b(?:volatile|__volatile__|__volatile|inline|__inline__|goto)\b)*", re.MULTILINE
)
MARKER = re.compile(r'^#(?:line)? (\d+) "((?:\\.|[^"\\])*)"([ \d]*)$', re.MULTILINE)
_OPERAND = re.compile(r"[\s,]*(?:\[\s*(?P<name>\w+)\s*\]\s*)?(?=\")")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(\n)|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}
_LINE_END = re.compile("\n")
_SYSTEM = "3"  # the flag of a line marker for a header of the system
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class Operand:
    """One operand of a statement: ``[name] "constraint" (expression)``; `name` may be empty."""

    constraint: str
    expression: str
    name: str = ""


@dataclass(frozen=True)
class Statement:
    """One asm statement.

    Attributes
    ----------
    start, end
        Its positions in the preprocessed text, from the word ``asm`` to its closing parenthesis.
    file, line
        Its source, according to the line markers.
    template
        The instructions.
    outputs, inputs
        The operands, in the order of their numbers.
    """

    start: int
    end: int
    file: str
    line: int
    template: str
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]


class Places:
    """The source file and line of each position of a preprocessed text."""

    def __init__(self, text: str) -> None:
        self._ends = [m.start() for m in _LINE_END.finditer(text)]
        self._marks = [(m.end() + 1, int(m[1]), m[2], m[3].split()) for m in MARKER.finditer(text)]
        self._starts = [mark[0] for mark in self._marks]

    def at(self, place: int) -> tuple[str, int, bool]:
        """Return the file, the line, and whether the file is a header of the system."""
        index = bisect_right(self._starts, place) - 1
        if index < 0:
            return "", bisect_left(self._ends, place) + 1, False
        start, line, file, flags = self._marks[index]
        return file, line + bisect_left(self._ends, place) - bisect_left(self._ends, start), _SYSTEM in flags


def statements(text: str, own: Callable[[str, bool], bool]) -> Iterator[Statement]:
    """Yield the asm statements of a preprocessed source, in order.

    Parameters
    ----------
    text
        The preprocessor's output, with its line markers.
    own
        Returns whether the statements of a file count, from its name and whether it is a header of the system.
    """
    places = Places(text)
    for found in _WORD.finditer(text):
        if found["word"] is None:
            continue
        file, line, system = places.at(found.start())
        opening = _QUALIFIERS.match(text, found.end())
        assert opening is not None  # the group may be empty
        if not own(file, system) or text[opening.end() : opening.end() + 1] != "(":
            continue
        statement = _statement(text, found.start(), opening.end(), file, line)
        if statement is not None:
            yield statement


def _statement(text: str, start: int, opening: int, file: str, line: int) -> Statement | None:
    """Return the statement whose parenthesis opens at a position; None if there is no statement."""
    sections, end = _sections(text, opening)
    if not end:
        return None
    template = _texts(sections[0])
    parts = [_operands(section) for section in sections[1:3]]
    if template is None or any(part is None for part in parts):
        return None
    outputs, inputs = (tuple(part or ()) for part in [*parts, [], []][:2])
    return Statement(start, end, file, line, template, outputs, inputs)


def _sections(text: str, opening: int) -> tuple[list[str], int]:
    """Return the parts between the colons of a parenthesis, and the position after it (0: it does not end)."""
    sections: list[str] = []
    begin, depth = opening + 1, 0
    for token in _TOKEN.finditer(text, opening):
        mark = token["mark"]
        if mark is None or mark == ",":
            continue
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            if depth == 0:
                return [*sections, text[begin : token.start()]], token.end()
        elif depth == 1:
            sections.append(text[begin : token.start()])
            begin = token.end()
    return sections, 0


def _operands(section: str) -> list[Operand] | None:
    """Return the operands of a section; None if it contains anything else. The comma between two may be missing."""
    found, at = [], 0
    section = MARKER.sub("", section).rstrip().rstrip(",")
    while at < len(section):
        head = _OPERAND.match(section, at)
        if head is None:
            return None
        opening = _strings_end(section, head.end())
        constraint = _texts(section[head.end() : opening])
        end = _closing(section, opening)
        if constraint is None or not end:
            return None
        found.append(Operand(constraint, section[opening + 1 : end - 1], head["name"] or ""))
        at = end
    return found


def _strings_end(text: str, start: int) -> int:
    """Return the position after the string literals that begin at a position, and after the blanks that follow."""
    while (literal := _STRING.match(text, start)) is not None:
        start = literal.end()
        start += len(text) - start - len(text[start:].lstrip())
    return start


def _closing(text: str, opening: int) -> int:
    """Return the position after the parenthesis that opens at a position; 0 if none opens there, or it does not end."""
    if text[opening : opening + 1] != "(":
        return 0
    depth = 0
    for token in _TOKEN.finditer(text, opening):
        mark = token["mark"] or ""
        depth += (mark in _OPENING) - (mark in _CLOSING) if mark else 0
        if depth == 0:
            return token.end()
    return 0


def _texts(section: str) -> str | None:
    """Return the text of adjacent string literals; None if there is anything else."""
    section = MARKER.sub("", section)
    texts, at = [], 0
    for literal in _STRING.finditer(section):
        if section[at : literal.start()].strip():
            return None
        texts.append(literal["raw"] if literal["raw"] is not None else _ESCAPE.sub(_unescaped, literal["plain"]))
        at = literal.end()
    return "".join(texts) if texts and not section[at:].strip() else None


def _unescaped(found: re.Match[str]) -> str:
    octal, hexadecimal, newline, letter = found.groups()
    if octal or hexadecimal:
        return chr(int(octal, 8) if octal else int(hexadecimal, 16))
    return "" if newline else _ESCAPED.get(letter, letter)
