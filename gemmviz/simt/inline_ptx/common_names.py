"""Registers and labels outside of all braces: the later asm statements of the function may use them, too."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gemmviz.simt.inline_ptx.grammar import (
    Address,
    Instruction,
    Label,
    Name,
    NotPtx,
    Pair,
    Program,
    Register,
    Value,
    Vector,
    parse,
)
from gemmviz.simt.inline_ptx.statements import Statement

# What may declare such a register, or such a label.
_MAY_DECLARE = re.compile(r"(?<!\w)\.(?:reg|shared)\b|[A-Za-z_$][\w$]*\s*:(?!:)")
_BRACE = re.compile(r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|^#[^\n]*$|[{}]', re.MULTILINE)


@dataclass
class CommonNames:
    """What a statement has in common with others.

    Attributes
    ----------
    declared
        Its own registers that others use, each with the C++ variable for it.
    registers, labels
        What it uses of the others: their C++ variables, and their C++ labels by name.
    """

    declared: dict[Register, str] = field(default_factory=dict)
    registers: dict[Register, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


NONE = CommonNames()


def common_names(text: str, found: Sequence[Statement]) -> Mapping[int, CommonNames]:
    """Return what the statements of a source have in common, by their numbers; nothing for most sources.

    Parameters
    ----------
    text
        The source.
    found
        Its statements, in order.
    """
    declaring = [number for number, one in enumerate(found) if _MAY_DECLARE.search(one.template)]
    if not declaring:
        return {}
    programs = {number: program for number, one in enumerate(found) if (program := _parsed(one))}
    names: dict[int, CommonNames] = {}
    for number, program in programs.items():
        for name in _unknown(program):
            at = _nearest(name, number, declaring, programs, lambda a, b: _same_block(text, found[a], found[b]))
            if at is None:
                continue
            mine = names.setdefault(number, CommonNames())
            for i, register in enumerate(programs[at].registers):
                if register.name == name and not register.block and at < number:
                    mine.registers[register] = register_name(at, i, register)
                    names.setdefault(at, CommonNames()).declared[register] = register_name(at, i, register)
            for i, label in enumerate(_labels(programs[at])):
                # A jump must not leave out the variables that a statement makes of its operands.
                if label == Label(name, ()) and not found[at].outputs and not found[at].inputs:
                    mine.labels[name] = label_name(at, i)
    return names


def register_name(number: int, place: int, register: Register) -> str:
    """Return the C++ variable for a register of a statement; a shared array keeps its name, which is shown."""
    return register.name if register.count else f"gv{number}r{place}"


def label_name(number: int, place: int) -> str:
    """Return the C++ label for a label of a statement."""
    return f"gv{number}l{place}"


def _parsed(statement: Statement) -> Program | None:
    try:
        return parse(statement.template)
    except (NotPtx, RecursionError):
        return None


def _labels(program: Program) -> list[Label]:
    return [item for item in program.items if isinstance(item, Label)]


def _unknown(program: Program) -> set[str]:
    """Return the names that a statement uses and does not declare; operands and special registers are among them."""
    own = {register.name for register in program.registers} | {label.name for label in _labels(program)}
    used = {name for item in program.items if isinstance(item, Instruction) for name in _names(item)}
    return used - own


def _names(item: Instruction) -> Iterator[str]:
    waiting: list[Value | None] = [item.predicate, *item.operands]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Name):
            yield value.text
        elif isinstance(value, Pair):
            waiting += [value.first, value.second]
        elif isinstance(value, Vector):
            waiting += value.items
        elif isinstance(value, Address):
            waiting += [*value.terms, *value.coordinates]


def _nearest(
    name: str,
    number: int,
    declaring: Sequence[int],
    programs: Mapping[int, Program],
    together: Callable[[int, int], bool],
) -> int | None:
    """Return the statement in the same function that has a register or a label outside of all braces."""
    for at in sorted(declaring, key=lambda one: abs(one - number)):
        program = programs.get(at)
        if program is None or at == number:
            continue
        is_register = at < number and any(one.name == name and not one.block for one in program.registers)
        if (is_register or Label(name, ()) in program.items) and together(min(at, number), max(at, number)):
            return at
    return None


def _same_block(text: str, first: Statement, second: Statement) -> bool:
    """Return whether the block of the first statement does not end before the second."""
    depth = 0
    for brace in _BRACE.finditer(text, first.end, second.start):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth < 0:
            return False
    return True
