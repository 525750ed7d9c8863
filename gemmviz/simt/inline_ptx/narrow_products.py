"""mma of 4-bit numbers and of bits, and mma.sp, whose A is sparse.

Shapes and types: PTX ISA, "Warp-level Matrix Instructions: mma" and "... mma.sp".
"""

import re
from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import Values, items

_SHAPE = re.compile(r"m(\d+)n8k(\d+)")
_TYPES = {
    **{"s4": "GV_S4", "u4": "GV_U4", "b1": "GV_BIT", "f16": "GV_HALF", "bf16": "GV_BFLOAT16", "tf32": "GV_TF32"},
    **{"f32": "GV_FLOAT", "s32": "GV_S32"},
}
# Rows and depths for each type of the operands, and the types of sums.
_NARROW = {(8, 32), (16, 32), (16, 64)}
_SHAPES = {"s4": _NARROW, "u4": _NARROW, "b1": {(8, 128), (16, 128), (16, 256)}}
_SPARSE = {"f16": {(16, 16), (16, 32)}, "bf16": {(16, 16), (16, 32)}, "tf32": {(16, 8), (16, 16)}}
_SUMS = {
    **{"f16": {"f16", "f32"}, "bf16": {"f32"}, "tf32": {"f32"}},
    **{"s4": {"s32"}, "u4": {"s32"}, "b1": {"s32"}},
}
_BITS = {"s4": 4, "u4": 4, "b1": 1, "f16": 16, "bf16": 16, "tf32": 32}
_OPERATIONS = {"xor": "GV_WORDS_XOR", "and": "GV_WORDS_AND"}
_WITHOUT_MEANING = {"sync", "aligned", "row", "col", "satfinite", "popc"}
_SELECTORS = 4  # a register of one lane of four is chosen
_LANES = 32

NARROW = frozenset(_SHAPES)
"""The types of operands that this module multiplies."""


def narrow(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 d, a, b, c``; bits also have ``.xor.popc`` or ``.and.popc``."""
    operation = [part for part in parts if part in _OPERATIONS]
    a = _kinds(parts)[1]
    if (a == "b1") != (len(operation) == 1 and "popc" in parts) or len(operands) != 4:
        raise NotPtx
    how = _OPERATIONS[operation[0]] if operation else "GV_WORDS_PRODUCT"
    return _product([part for part in parts if part not in _OPERATIONS], operands, values, _SHAPES, how)


def sparse(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 d, a, b, c, where, selector``."""
    if len(operands) != 6:
        raise NotPtx
    return _product(parts, operands, values, _SPARSE, "GV_WORDS_SPARSE")


def _kinds(parts: Sequence[str]) -> list[str]:
    kinds = [part for part in parts if part in _TYPES]
    if len(kinds) != 4:
        raise NotPtx
    return kinds


def _product(
    parts: Sequence[str],
    operands: Sequence[Value],
    values: Values,
    shapes: dict[str, set[tuple[int, int]]],
    how: str,
) -> str:
    found = [match for part in parts if (match := _SHAPE.fullmatch(part))]
    d, a, b, c = _kinds(parts)
    rows, depth = (int(side) for side in found[0].groups())
    known = all(part in _TYPES or part in _WITHOUT_MEANING or _SHAPE.fullmatch(part) for part in parts)
    if not known or (rows, depth) not in shapes.get(a, ()) or {c, d} - _SUMS[a] or _BITS.get(a) != _BITS.get(b):
        raise NotPtx
    stored = depth // 2 if how == "GV_WORDS_SPARSE" else depth
    registers = [
        rows // 4 // (2 if d == "f16" else 1),
        rows * stored * _BITS[a] // (32 * _LANES),
        8 * depth * _BITS[b] // (32 * _LANES),
        rows // 4 // (2 if c == "f16" else 1),
    ]
    if [len(items(operand)) for operand in operands[:4]] != registers:
        raise NotPtx
    where, selector = "0u", "0u"
    if how == "GV_WORDS_SPARSE":
        where, selector = (values.value(operand, "unsigned") for operand in operands[4:])
        selector = f"{selector} % {_SELECTORS * 8 // depth if _BITS[a] == _BITS['tf32'] else _SELECTORS * 16 // depth}"
    filled = ", ".join(
        f"gv_{name}[] = {values.words(operand)}" for name, operand in zip("abc", operands[1:4], strict=True)
    )
    sums = "GV_S32_CLAMPED" if "satfinite" in parts and d == "s32" else _TYPES[d]
    form = f"{{{rows}, {depth}, {_TYPES[a]}, {_TYPES[b]}, {_TYPES[c]}, {sums}, {how}, {where}, {selector}}}"
    call = f"const gv_words_form gv_f = {form}; gv_mma_words(gv_d, gv_a, gv_b, gv_c, &gv_f);"
    return f"{{ const unsigned {filled}; unsigned gv_d[{registers[0]}]; {call} {values.stores(operands[0], 'gv_d')} }}"
