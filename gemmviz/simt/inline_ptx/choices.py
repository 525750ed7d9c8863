"""Instructions that compare, test or choose, and sums of distances. Rules: PTX ISA, "Instruction Set"."""

from collections.abc import Sequence

from gemmviz.simt.inline_ptx.arithmetic import compared
from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import TYPES, Values

_WHOLE = {"u16", "s16", "u32", "s32", "u64", "s64"}
_CHOSEN = {"b16", "b32", "b64", "f32", "f64", *_WHOLE}
# Each test of a number, with the functions of C for it.
_TESTS = {
    "finite": "__builtin_isfinite({0})",
    "infinite": "__builtin_isinf({0}) != 0",
    "number": "!__builtin_isnan({0})",
    "notanumber": "__builtin_isnan({0}) != 0",
    "normal": "__builtin_isnormal({0})",
    "subnormal": "(__builtin_isfinite({0}) && {0} != 0 && !__builtin_isnormal({0}))",
}


def choose(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``slct.f32.s32 d, a, b, c``: a where c is not below 0, else b."""
    if len(parts) not in (2, 3) or parts[0] not in _CHOSEN or parts[-1] not in ("s32", "f32") or len(operands) != 4:
        raise NotPtx
    if len(parts) == 3 and parts[1] != "ftz":
        raise NotPtx
    a, b = (values.value(operand, TYPES[parts[0]]) for operand in operands[1:3])
    by = values.value(operands[3], TYPES[parts[-1]])
    return values.store(operands[0], f"{by} >= 0 ? {a} : {b}")


def compare(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``set.lt.u32.f32 d, a, b``: all bits, or 1.0 for a float, where a comparison is true; else 0."""
    kinds = [part for part in parts[1:] if part in TYPES]
    if len(kinds) != 2 or len(operands) != 3 or {*parts[1:]} - {*kinds, "ftz"} or kinds[0] not in ("u32", "s32", "f32"):
        raise NotPtx
    true = "1.0f" if kinds[0] == "f32" else f"({TYPES[kinds[0]]})~0u"
    test = compared(parts[0], kinds[1], *(values.value(operand, TYPES[kinds[1]]) for operand in operands[1:]))
    return values.store(operands[0], f"{test} ? {true} : ({TYPES[kinds[0]]})0")


def test_number(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``testp.finite.f32 p, a``."""
    if len(parts) != 2 or parts[1] not in ("f32", "f64") or len(operands) != 2:
        raise NotPtx
    return values.store(operands[0], f"(bool)({_TESTS[parts[0]].format(values.value(operands[1], TYPES[parts[1]]))})")


def is_zero(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cnot.b32 d, a``: 1 where a is 0, else 0."""
    if len(parts) != 1 or parts[0] not in ("b16", "b32", "b64") or len(operands) != 2:
        raise NotPtx
    kind = TYPES[parts[0]]
    return values.store(operands[0], f"({kind})({values.value(operands[1], kind)} == 0)")


def with_sign(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``copysign.f32 d, a, b``: b with the sign of a."""
    if len(parts) != 1 or parts[0] not in ("f32", "f64") or len(operands) != 3:
        raise NotPtx
    sign, of = (values.value(operand, TYPES[parts[0]]) for operand in operands[1:])
    return values.store(operands[0], f"__builtin_copysign{'f' * (parts[0] == 'f32')}({of}, {sign})")


def distance(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``sad.u32 d, a, b, c``: c and the distance of a and b."""
    if len(parts) != 1 or parts[0] not in _WHOLE or len(operands) != 4:
        raise NotPtx
    kind = TYPES[parts[0]]
    a, b, c = (values.value(operand, kind) for operand in operands[1:])
    return values.store(operands[0], f"({kind})({c} + ({a} < {b} ? {b} - {a} : {a} - {b}))")
