"""Parses the PTX of an asm statement: instructions with their operands, labels, registers, and blocks.

The grammar is that of the PTX ISA, "Syntax" and "State Spaces, Types, and Variables", as far as asm statements use it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.catalogue.errors import NO_COMMA

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r"\s*(?:(?P<operand>%\d+|%\[\w+\])|(?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b"
    r"|\d+\.\d*(?:[eE][-+]?\d+)?|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)"
    r"|(?P<word>%?%?[A-Za-z_$.](?:[\w.$]|::)*)|(?P<mark>[{}()\[\],;:@!|+<>=-]))"
)
_REGISTER_TYPES = {
    "pred": "bool",
    **dict.fromkeys(("b8", "u8", "s8"), "unsigned char"),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), "unsigned short"),
    **dict.fromkeys(("b32", "u32", "s32", "f16x2", "bf16x2"), "unsigned"),
    **dict.fromkeys(("b64", "u64", "s64"), "unsigned long long"),
    "f32": "float",
    "f64": "double",
}

_SIGNS = frozenset(":@!|+<>=-)]}")
_MOST_SHARED = 48 << 10  # elements of a shared array
_MOST_DIGITS = 3  # in the number of registers of one declaration


class NotPtx(Exception):
    """A text that is not PTX, or PTX that the recorder does not know. The message is the unknown part."""


@dataclass(frozen=True)
class Name:
    """A register, an operand of the statement (``%0``) or a special register; ``negated``: ``!p``."""

    text: str
    negated: bool = False


@dataclass(frozen=True)
class Number:
    """A constant, as in the source."""

    text: str


@dataclass(frozen=True)
class Vector:
    """``{a, b}``."""

    items: tuple["Value", ...]


@dataclass(frozen=True)
class Pair:
    """``p|q``: two destinations."""

    first: Name
    second: Name


@dataclass(frozen=True)
class Address:
    """``[a+16]``, or ``[map, {x, y}]``: the terms of the address, and coordinates."""

    terms: tuple[Name | Number, ...]
    coordinates: tuple["Value", ...] = ()


Value = Name | Number | Vector | Pair | Address


@dataclass(frozen=True)
class Instruction:
    """An instruction in `block`, with its predicate, its name with all modifiers, and its operands."""

    predicate: Name | None
    opcode: str
    operands: tuple[Value, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Label:
    """A label."""

    name: str
    block: tuple[int, ...]


@dataclass(frozen=True)
class Register:
    """A declared register, or a shared array; `kind` is the type of the C++ variable, `count` the array's length."""

    name: str
    kind: str
    block: tuple[int, ...]
    count: int = 0

    @property
    def as_cpp(self) -> str:
        """The declaration in C++, with ``{}`` for the name of the variable."""
        array = f"thread_local gv_ptx::shared_array<{self.kind}, {self.count}>::type {{}};"
        return array if self.count else f"{self.kind} {{}};"


@dataclass(frozen=True)
class Program:
    """The content of an asm statement. A block is given by the numbers of the braces around it, outermost first."""

    items: tuple[Instruction | Label, ...]
    registers: tuple[Register, ...]


def parse(text: str) -> Program:
    """Parse PTX.

    Parameters
    ----------
    text
        The text of an asm statement, with ``%0`` for operands and ``%%`` for a percent sign.

    Raises
    ------
    NotPtx
        When it is not PTX.
    """
    return _Parser(_tokens(_COMMENT.sub(" ", text))).program()


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotPtx(text[at:].split("\n")[0].strip())
        kind = token.lastgroup or ""
        found.append((kind, token[kind].replace("%%", "%")))
        at = token.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._items: list[Instruction | Label] = []
        self._registers: list[Register] = []

    def program(self) -> Program:
        block: tuple[int, ...] = ()
        blocks = 0
        while self._at < len(self._tokens):
            if self._take("{"):
                blocks += 1
                block = (*block, blocks)
            elif self._take("}"):
                if not block:
                    raise NotPtx("}")
                block = block[:-1]
            elif not self._take(";"):
                self._statement(block)
        return Program(tuple(self._items), tuple(self._registers))

    def _statement(self, block: tuple[int, ...]) -> None:
        if self._next(1) == ":" and self._kind() == "word":
            self._items.append(Label(self._word(), block))
            self._at += 1
            return
        if self._next().split(".")[:2] == ["", "reg"]:  # the blank may be missing: .reg.b32
            self._declaration(self._word().removeprefix(".reg").lstrip("."), block)
            return
        if self._next().split(".")[:2] == ["", "shared"]:
            self._array(block)
            return
        predicate = None
        if self._take("@"):
            negated = self._take("!")
            predicate = Name(self._word(), negated)
        opcode = self._word()
        while self._next()[:1] == ".":  # a blank may stand before a modifier: prmt .b32
            opcode += self._word()
        operands: list[Value] = []
        while self._at < len(self._tokens) and not self._take(";"):
            operands.append(self._value())
            if not self._take(",") and self._next() not in (";", ""):
                joined = self._next() in _SIGNS
                raise NotPtx(f"{opcode} ... {self._next()}" if joined else f"{opcode}{NO_COMMA}{self._next()}")
            if self._at == len(self._tokens):  # in a macro the last semicolon may be missing
                break
        self._items.append(Instruction(predicate, opcode, tuple(operands), block))

    def _declaration(self, kind: str, block: tuple[int, ...]) -> None:
        kind = kind or self._word().lstrip(".")
        if kind not in _REGISTER_TYPES:
            raise NotPtx(f".reg .{kind}")
        while True:
            name = self._word()
            if self._take("<"):
                count = self._word()
                self._need(">")
                if not count.isdecimal() or len(count) > _MOST_DIGITS:
                    raise NotPtx(f"{name}<{count}>")
                self._registers += [Register(f"{name}{i}", _REGISTER_TYPES[kind], block) for i in range(int(count))]
            else:
                self._registers.append(Register(name, _REGISTER_TYPES[kind], block))
            if not self._take(","):
                break
        self._need(";")

    def _array(self, block: tuple[int, ...]) -> None:
        """``.shared .align 16 .b8 tile[4096];``: in the recorder every shared array is aligned enough."""
        words = self._word().split(".")[2:]
        while self._next().startswith("."):
            words += self._word().split(".")[1:]
            if words[-1:] == ["align"]:
                self._word()
        kind = words[-1] if words else ""
        if kind not in _REGISTER_TYPES or set(words[:-1]) - {"align"}:
            raise NotPtx(f".shared .{kind}")
        while True:
            name, count = self._word(), "1"
            if self._take("["):
                count = self._word()
                self._need("]")
            if not count.isdecimal() or not name.isidentifier() or not 0 < int(count) <= _MOST_SHARED:
                raise NotPtx(f".shared {name}[{count}]")
            self._registers.append(Register(name, _REGISTER_TYPES[kind], block, int(count)))
            if not self._take(","):
                break
        self._need(";")

    def _value(self) -> Value:
        if self._take("{"):
            return Vector(self._list("}", self._value))
        if self._take("["):
            return self._address()
        negated = self._take("!")
        if self._kind() == "number" or self._next() in ("+", "-"):
            return Number(self._number())
        first = Name(self._word(), negated)
        return Pair(first, Name(self._word())) if self._take("|") else first

    def _address(self) -> Address:
        terms: list[Name | Number] = []
        coordinates: tuple[Value, ...] = ()
        while not self._take("]"):
            if self._take(","):
                self._need("{")
                coordinates = self._list("}", self._value)
                continue
            self._take("+")
            numeric = self._kind() == "number" or self._next() == "-"
            terms.append(Number(self._number()) if numeric else Name(self._word()))
        return Address(tuple(terms), coordinates)

    def _list(self, end: str, element: Callable[[], Value]) -> tuple[Value, ...]:
        found: list[Value] = []
        while not self._take(end):
            found.append(element())
            if not self._take(",") and self._next() != end:
                raise NotPtx(self._next() or end)
        return tuple(found)

    def _number(self) -> str:
        sign = "-" if self._take("-") else ""
        self._take("+")
        if self._kind() != "number":
            raise NotPtx(self._next() or "-")
        return sign + self._word()

    def _word(self) -> str:
        if self._at == len(self._tokens) or self._kind() == "mark":
            raise NotPtx(self._next() or "the end of the text")
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self, further: int = 0) -> str:
        at = self._at + further
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _take(self, mark: str) -> bool:
        if self._next() != mark:
            return False
        self._at += 1
        return True

    def _need(self, mark: str) -> None:
        if not self._take(mark):
            raise NotPtx(self._next() or mark)
