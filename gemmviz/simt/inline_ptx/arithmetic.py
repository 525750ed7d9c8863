"""Arithmetic on registers. Rules: PTX ISA, "Instruction Set"."""

from collections.abc import Callable, Sequence

from gemmviz.simt.inline_ptx.directed import directed
from gemmviz.simt.inline_ptx.grammar import NotPtx, Pair, Value, Vector
from gemmviz.simt.inline_ptx.values import TYPES, Values

_FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f32x2", "f64")
# C++ rounds to nearest. Subnormal numbers are kept, although .ftz flushes them to zero.
_SAME = {"rn", "ftz", "lo", "approx", "noftz", "full"}
_COMPARED = {
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
    **{"lo": "<", "ls": "<=", "hi": ">", "hs": ">="},
    **{"equ": "==", "neu": "!=", "ltu": "<", "leu": "<=", "gtu": ">", "geu": ">="},
}
_CONDITIONS = {"and": "&&", "or": "||", "xor": "!="}


def _kind(parts: Sequence[str], others: set[str] | None = None) -> str:
    """Return the type at the end of an instruction's name. The parts before must be in `others` or have no effect."""
    if not parts or parts[-1] not in TYPES or set(parts[:-1]) - _SAME - (others or set()):
        raise NotPtx
    return parts[-1]


def _expression(form: str, arguments: int) -> Callable[[Sequence[str], Sequence[Value], Values], str]:
    """Return the translator of an instruction whose result is a C++ expression of operands of one type."""

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        kind = _kind(parts, {"sat"} if parts[-1:] == ["f32"] else None)
        if len(operands) != arguments + 1:
            raise NotPtx
        text = form.format(*(values.value(operand, TYPES[kind]) for operand in operands[1:]), T=TYPES[kind])
        text = f"gv_ptx::saturated({text})" if "sat" in parts else text
        return values.store(operands[0], text if "x2" in kind or kind == "pred" else f"({TYPES[kind]})({text})")

    return translated


def _limit(name: str) -> Callable[[Sequence[str], Sequence[Value], Values], str]:
    """Return the translator of ``min`` or ``max``; with ``.NaN`` a NaN is the result."""
    plain, strict = (_expression(f"gv_ptx::{name}{end}({{}}, {{}})", 2) for end in ("", "_or_nan"))

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        if "NaN" not in parts:
            return plain(parts, operands, values)
        if parts[-1] not in _FLOATS:
            raise NotPtx
        return strict([part for part in parts if part != "NaN"], operands, values)

    return translated


def _not(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    kind = TYPES[_kind(parts)]
    sign = "!" if kind == "bool" else "~"
    return values.store(operands[0], f"({kind})({sign}{values.value(operands[1], kind)})")


def _shift(parts: Sequence[str], operands: Sequence[Value], values: Values, name: str) -> str:
    kind = TYPES[_kind(parts)]
    by = values.value(operands[2], "unsigned")
    return values.store(operands[0], f"gv_ptx::{name}({values.value(operands[1], kind)}, {by})")


def _shl(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    return _shift(parts, operands, values, "shifted_left")


def _shr(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    return _shift(parts, operands, values, "shifted_right")


def _shf(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    low, high, by = (values.value(operand, "unsigned") for operand in operands[1:4])
    how = f"{str('l' in parts).lower()}, {str('wrap' in parts).lower()}"
    return values.store(operands[0], f"gv_ptx::funnel({low}, {high}, {by}, {how})")


def _mul(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mul``, and ``mad``, which adds a third operand."""
    kind = _kind(parts, {"wide", "hi", "sat"})
    if "sat" in parts and kind != "f32":
        raise NotPtx
    a, b = (values.value(operand, TYPES[kind]) for operand in operands[1:3])
    if "wide" in parts:
        result = f"gv_ptx::wide({a}, {b})"
        wider = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[kind]
    else:
        result = f"gv_ptx::high({a}, {b})" if "hi" in parts else f"{a} * {b}"
        wider = kind
    if len(operands) == 4:
        result = f"{result} + {values.value(operands[3], TYPES[wider])}"
    result = f"gv_ptx::saturated({result})" if "sat" in parts else result
    return values.store(operands[0], result if "x2" in kind else f"({TYPES[wider]})({result})")


def _mad(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    return (_fma if parts[-1] in _FLOATS else _mul)(parts, operands, values)


def compared(how: str, kind: str, a: str, b: str) -> str:
    """Return a comparison of two values as a C++ expression.

    Parameters
    ----------
    how
        As in the name of an instruction: ``"lt"``; ``"ltu"`` is also true for a NaN.
    kind
        The type of both, as in the name of an instruction.
    a, b
        C++ expressions.
    """
    if how in ("num", "nan"):
        return f"({a} == {a} && {b} == {b})" if how == "num" else f"({a} != {a} || {b} != {b})"
    test = f"({a} {_COMPARED[how]} {b})"
    or_nan = how in ("equ", "neu", "ltu", "leu", "gtu", "geu") and kind in _FLOATS
    return f"({test} || {a} != {a} || {b} != {b})" if or_nan else test


def _setp(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``setp.lt{.and}.s32 p|q, a, b{, c}``."""
    combined = [part for part in parts[1:-1] if part in _CONDITIONS]
    kind = _kind(parts[1:], set(_CONDITIONS))
    a, b = (values.value(operand, TYPES[kind]) for operand in operands[1:3])
    test = compared(parts[0], kind, a, b)
    targets = operands[0]
    both = (targets.first, targets.second) if isinstance(targets, Pair) else (targets,)
    results = [test, f"!{test}"][: len(both)]
    if combined:
        more = values.value(operands[3], "bool")
        results = [f"({result} {_CONDITIONS[combined[0]]} {more})" for result in results]
    return "".join(values.store(target, result) for target, result in zip(both, results, strict=True))


def _selp(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    kind = TYPES[_kind(parts)]
    a, b = (values.value(operand, kind) for operand in operands[1:3])
    return values.store(operands[0], f"{values.value(operands[3], 'bool')} ? {a} : {b}")


def _mov(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mov``; it also packs a vector into a register and unpacks it."""
    kind = TYPES[_kind(parts)]
    target, source = operands
    bits = {"unsigned short": 16, "unsigned": 32, "unsigned long long": 64}.get(kind, 0)
    if isinstance(source, Vector) and len(source.items) > 1:
        part = _part(bits, source)
        width = bits // len(source.items)
        packed = [
            f"({kind}){values.value(item, part)}" + f" << {i * width}" * (i > 0) for i, item in enumerate(source.items)
        ]
        return values.store(target, f"({kind})({' | '.join(packed)})")
    if isinstance(target, Vector) and len(target.items) > 1:
        part = _part(bits, target)
        width = bits // len(target.items)
        stores = [
            values.store(item, f"({part})(gv_v >> {i * width})") if i else values.store(item, f"({part})gv_v")
            for i, item in enumerate(target.items)
        ]
        return f"{{ const {kind} gv_v = {values.value(source, kind)}; {''.join(stores)} }}"
    return values.store(target, values.value(source, kind))


def _part(bits: int, vector: Vector) -> str:
    found = {8: "unsigned char", 16: "unsigned short", 32: "unsigned"}.get(bits // len(vector.items))
    if not bits or found is None:
        raise NotPtx
    return found


def _lop3(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    if list(parts) != ["b32"] or len(operands) != 5:
        raise NotPtx
    given = ", ".join(values.value(operand, "unsigned") for operand in operands[1:])
    return values.store(operands[0], f"gv_ptx::by_table({given})")


def _prmt(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    if list(parts) != ["b32"] or len(operands) != 4:
        raise NotPtx
    given = ", ".join(values.value(operand, "unsigned") for operand in operands[1:])
    return values.store(operands[0], f"gv_ptx::permuted({given})")


def _bfe(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    kind = TYPES[_kind(parts)]
    at, length = (values.value(operand, "unsigned") for operand in operands[2:4])
    return values.store(operands[0], f"gv_ptx::field({values.value(operands[1], kind)}, {at}, {length})")


def _bfi(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    if list(parts) not in (["b32"], ["b64"]):
        raise NotPtx
    v, into = (values.value(operand, TYPES[parts[0]]) for operand in operands[1:3])
    at, length = (values.value(operand, "unsigned") for operand in operands[3:])
    return values.store(operands[0], f"gv_ptx::inserted({into}, {v}, {at}, {length})")


def _bfind(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bfind{.shiftamt}.u32 d, a``: the place of the first bit from above that differs from the sign."""
    kind = _kind(parts, {"shiftamt"})
    if kind not in ("u32", "s32", "u64", "s64"):
        raise NotPtx
    shifts = str("shiftamt" in parts).lower()
    return values.store(operands[0], f"gv_ptx::highest({values.value(operands[1], TYPES[kind])}, {shifts})")


def _bmsk(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bmsk.clamp.b32 d, at, length``: a mask of adjacent bits; ``wrap``: modulo 32."""
    how, kind = parts
    if how not in ("clamp", "wrap") or kind != "b32":
        raise NotPtx
    at, length = (values.value(operand, "unsigned") for operand in operands[1:3])
    return values.store(operands[0], f"gv_ptx::bit_mask({at}, {length}, {str(how == 'wrap').lower()})")


def _szext(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``szext.clamp.s32 d, a, bits``: the low bits of a number, filled with its sign or with zeros."""
    how, kind = parts
    if how not in ("clamp", "wrap") or kind not in ("u32", "s32"):
        raise NotPtx
    value, bits = values.value(operands[1], TYPES[kind]), values.value(operands[2], "unsigned")
    return values.store(operands[0], f"gv_ptx::extended({value}, {bits}, {str(how == 'wrap').lower()})")


def _dp4a(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``dp4a.s32.s32 d, a, b, c``: four products of bytes, and c."""
    if len(parts) != 2 or {*parts} - {"s32", "u32"}:
        raise NotPtx
    kinds = [{"s32": "signed char", "u32": "unsigned char"}[part] for part in parts]
    given = ", ".join(values.value(operand, "unsigned") for operand in operands[1:4])
    return values.store(operands[0], f"gv_ptx::byte_products<{', '.join(kinds)}>({given})")


def _dp2a(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``dp2a.lo.s32.s32 d, a, b, c``: products of the two halves of a and two bytes of b, and c."""
    if len(parts) != 3 or parts[0] not in ("lo", "hi") or {*parts[1:]} - {"s32", "u32"}:
        raise NotPtx
    kinds = (
        f"{'short' if parts[1] == 's32' else 'unsigned short'}, {'signed' if parts[2] == 's32' else 'unsigned'} char"
    )
    a, b, c = (values.value(operand, "unsigned") for operand in operands[1:4])
    return values.store(operands[0], f"gv_ptx::half_products<{kinds}>({a}, {b}{' >> 16' * (parts[0] == 'hi')}, {c})")


def _fma(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``fma.rn{.relu}.f16x2 d, a, b, c``; with ``relu`` a result below 0 becomes 0."""
    others = [part for part in parts if part != "relu"]
    text = _ROUNDED_FMA(others, operands, values)
    if len(others) == len(parts):
        return text
    if others[-1] not in ("f16", "bf16", "f16x2", "bf16x2"):
        raise NotPtx
    kind = TYPES[others[-1]]
    return text + values.store(operands[0], f"gv_ptx::most_or_nan({values.value(operands[0], kind)}, {kind}{{}})")


_ROUNDED_FMA = directed("fma", 3, _expression("gv_ptx::fma({}, {}, {})", 3))
ARITHMETIC = {
    "add": directed("sum", 2, _expression("{} + {}", 2)),
    "sub": directed("difference", 2, _expression("{} - {}", 2)),
    "mul": directed("times", 2, _mul),
    "mad": _mad,
    "fma": _fma,
    "div": directed("quotient", 2, _expression("{} / {}", 2)),
    "rem": _expression("{} % {}", 2),
    "min": _limit("least"),
    "max": _limit("most"),
    "neg": _expression("gv_ptx::negated({})", 1),
    "abs": _expression("gv_ptx::magnitude({})", 1),
    "rcp": directed("reciprocal", 1, _expression("1 / {}", 1)),
    "sqrt": directed("root", 1, _expression("({T})sqrt((double){})", 1)),
    "rsqrt": _expression("1 / ({T})sqrt((double){})", 1),
    "ex2": _expression("gv_ptx::of_each({}, exp2f)", 1),
    "lg2": _expression("({T})log2f((float){})", 1),
    "sin": _expression("sinf({})", 1),
    "cos": _expression("cosf({})", 1),
    "tanh": _expression("gv_ptx::of_each({}, tanhf)", 1),
    "and": _expression("{} & {}", 2),
    "or": _expression("{} | {}", 2),
    "xor": _expression("{} ^ {}", 2),
    "not": _not,
    "popc": _expression("__builtin_popcountll({})", 1),
    "clz": _expression("gv_ptx::zeros_before({})", 1),
    "brev": _expression("gv_ptx::reversed({})", 1),
    "shl": _shl,
    "shr": _shr,
    "shf": _shf,
    "setp": _setp,
    "selp": _selp,
    "mov": _mov,
    "lop3": _lop3,
    "prmt": _prmt,
    "bfe": _bfe,
    "dp4a": _dp4a,
    "dp2a": _dp2a,
    "bfi": _bfi,
    "bfind": _bfind,
    "bmsk": _bmsk,
    "szext": _szext,
}
