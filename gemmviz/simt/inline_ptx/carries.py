"""Whole numbers of several registers, and products of 24 bits. Rules: PTX ISA, "Integer Arithmetic Instructions".

The carry of a thread is a variable of the recorder: no other thread runs between two of these instructions.
"""

from collections.abc import Callable, Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import TYPES, Values

Translator = Callable[[Sequence[str], Sequence[Value], Values], str]
_UNSIGNED = {"u32": "unsigned", "s32": "unsigned", "u64": "unsigned long long", "s64": "unsigned long long"}


def _flags(takes: bool, gives: bool) -> str:
    return f"{str(takes).lower()}, {str(gives).lower()}"


def _sum(name: str, takes: bool, gives: bool) -> Translator:
    """Return the translator of ``add.cc``, ``addc``, ``sub.cc`` or ``subc``."""

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        if len(parts) != 1 or parts[0] not in _UNSIGNED or len(operands) != 3:
            raise NotPtx
        kind = _UNSIGNED[parts[0]]
        a, b = (values.value(operand, kind) for operand in operands[1:])
        return values.store(operands[0], f"gv_ptx::{name}<{kind}>({a}, {b}, {_flags(takes, gives)})")

    return translated


def _product(half: str, takes: bool, gives: bool) -> Translator:
    """Return the translator of ``mad.lo.cc`` or ``madc.lo``; the carry is that of the sum."""
    name = {"lo": "wide", "hi": "high"}[half]

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        if len(parts) != 1 or parts[0] not in _UNSIGNED or len(operands) != 4:
            raise NotPtx
        kind, whole = TYPES[parts[0]], _UNSIGNED[parts[0]]
        a, b = (values.value(operand, kind) for operand in operands[1:3])
        product = f"gv_ptx::{name}({a}, {b})"
        c = values.value(operands[3], whole)
        text = f"gv_ptx::with_carry<{whole}>(({whole}){product}, {c}, {_flags(takes, gives)})"
        return values.store(operands[0], text)

    return translated


def _product_of_24(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mul24.lo.u32``, ``mad24.hi.s32``: bits 0 to 31 or 16 to 47 of the product of two numbers of 24 bits."""
    half, *kinds = parts
    if half not in ("lo", "hi") or len(kinds) != 1 or kinds[0] not in ("u32", "s32") or len(operands) not in (3, 4):
        raise NotPtx
    kind = TYPES[kinds[0]]
    a, b = (f"gv_ptx::of_24({values.value(operand, kind)})" for operand in operands[1:3])
    product = f"(unsigned)(gv_ptx::wide({a}, {b}){' >> 16' * (half == 'hi')})"
    added = f" + {values.value(operands[3], 'unsigned')}" if len(operands) == 4 else ""
    return values.store(operands[0], product + added)


CARRIES: dict[str, Translator] = {
    "add.cc": _sum("with_carry", takes=False, gives=True),
    "addc": _sum("with_carry", takes=True, gives=False),
    "addc.cc": _sum("with_carry", takes=True, gives=True),
    "sub.cc": _sum("with_borrow", takes=False, gives=True),
    "subc": _sum("with_borrow", takes=True, gives=False),
    "subc.cc": _sum("with_borrow", takes=True, gives=True),
    **{f"mad.{half}.cc": _product(half, takes=False, gives=True) for half in ("lo", "hi")},
    **{f"madc.{half}": _product(half, takes=True, gives=False) for half in ("lo", "hi")},
    **{f"madc.{half}.cc": _product(half, takes=True, gives=True) for half in ("lo", "hi")},
    "mul24": _product_of_24,
    "mad24": _product_of_24,
}
