"""cvt: conversions between types of numbers. Rules: PTX ISA, "Data Movement and Conversion Instructions: cvt"."""

from collections.abc import Sequence

from gemmviz.simt.inline_ptx.directed import DIRECTIONS
from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import TYPES, Values

_WHOLE_ROUNDING = {"rni": "NEAREST", "rzi": "TO_ZERO", "rmi": "DOWN", "rpi": "UP"}
_FLOATS = {"f16", "bf16", "f32", "f64"}
_WHOLE = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
_PAIRS = {"f16x2": "_Float16", "bf16x2": "nv_bfloat16"}
_SMALL = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}
_TF32 = {"rna": "gv_tf32_bits", "rn": "gv_ptx::tf32_nearest", "rz": "gv_ptx::tf32_cut"}
_MODIFIERS = {"rn", "rna", *DIRECTIONS, "ftz", "sat", "satfinite", "relu", *_WHOLE_ROUNDING}


def cvt(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cvt.rn.f16.f32 d, a``; two numbers in one register: ``cvt.rn.f16x2.f32 d, high, low``."""
    if len(parts) < 2 or set(parts[:-2]) - _MODIFIERS:
        raise NotPtx
    to, source, how = parts[-2], parts[-1], set(parts[:-2])
    if to == "tf32" and source == "f32" and how in ({"rna"}, {"rn"}, {"rz"}):
        name = _TF32[next(iter(how))]
        return values.store(operands[0], f"{name}({values.value(operands[1], 'float')})")
    if to in _PAIRS and source == "f32" and len(operands) == 3:
        high, low = (_narrowed(_PAIRS[to], how, values.value(operand, "float")) for operand in operands[1:])
        return values.store(operands[0], f"gv_ptx::two<{_PAIRS[to]}>{{{low}, {high}}}")
    if how & {"relu", "rna", *DIRECTIONS}:
        return _directed(to, source, how, operands, values)
    if to in _SMALL:
        return _to_small(to, source, operands, values)
    if to == "f16x2" and source in _SMALL:
        code = values.value(operands[1], "unsigned short")
        low, high = (f"(_Float16)gv_ptx::from_{_SMALL[source]}({byte})" for byte in (f"{code} & 255", f"{code} >> 8"))
        return values.store(operands[0], f"gv_ptx::two<_Float16>{{{low}, {high}}}")
    if how == {"rn"} and source in _WHOLE and to in ("f16", "bf16"):
        return _from_whole(to, source, how, operands, values)
    if {to, source} - {*_FLOATS, *_WHOLE}:
        raise NotPtx
    return _plain(to, source, how, operands, values)


def _narrowed(kind: str, how: set[str], value: str) -> str:
    """Return a float as a number of 16 bits."""
    direction = next((DIRECTIONS[part] for part in how if part in DIRECTIONS), "")
    text = f"gv_ptx::narrowed<{kind}>({value}, {direction})" if direction else f"({kind}){value}"
    return f"gv_ptx::without_sign({text})" if "relu" in how else text


def _directed(to: str, source: str, how: set[str], operands: Sequence[Value], values: Values) -> str:
    """``cvt.rz.f16.f32``, ``cvt.rn.relu.bf16.f32``, ``cvt.rm.f32.f64``."""
    if how - {"rn", "relu", "ftz", *DIRECTIONS} or len(how & {"rn", *DIRECTIONS}) != 1 or len(operands) != 2:
        raise NotPtx
    if source in _WHOLE and to in _FLOATS and "relu" not in how:
        return _from_whole(to, source, how, operands, values)
    if to in ("f16", "bf16") and source == "f32":
        return values.store(operands[0], _narrowed(TYPES[to], how, values.value(operands[1], "float")))
    if (to, source) != ("f32", "f64") or "relu" in how:
        raise NotPtx
    value = values.value(operands[1], "double")
    direction = next(DIRECTIONS[part] for part in how if part in DIRECTIONS)
    return values.store(operands[0], f"gv_ptx::directed((float){value}, {value} - (float){value}, {direction})")


def _from_whole(to: str, source: str, how: set[str], operands: Sequence[Value], values: Values) -> str:
    """``cvt.rz.f16.s32``, ``cvt.rn.bf16.u64``: rounded once."""
    direction = next((DIRECTIONS[part] for part in how if part in DIRECTIONS), "gv_ptx::NEAREST")
    value = values.value(operands[1], TYPES[source])
    if to in ("f16", "bf16"):
        text = f"gv_ptx::narrowed<{TYPES[to]}>(gv_ptx::with_rest({value}), {direction})"
    else:
        text = f"gv_ptx::as_{TYPES[to]}({value}, {direction})"
    return values.store(operands[0], text)


def _to_small(to: str, source: str, operands: Sequence[Value], values: Values) -> str:
    if source == "f32" and len(operands) == 3:
        high, low = (values.value(operand, "float") for operand in operands[1:])
    elif source == "f16x2" and len(operands) == 2:
        both = values.value(operands[1], "gv_ptx::two<_Float16>")
        high, low = f"(float){both}.y", f"(float){both}.x"
    else:
        raise NotPtx
    name = f"gv_ptx::{_SMALL[to]}"
    return values.store(operands[0], f"(unsigned short)({name}({high}) << 8 | {name}({low}))")


def _plain(to: str, source: str, how: set[str], operands: Sequence[Value], values: Values) -> str:
    value, kind = values.value(operands[1], TYPES[source]), TYPES[to]
    rounding = next((name for part, name in _WHOLE_ROUNDING.items() if part in how), "")
    if source in _FLOATS and to not in _FLOATS:
        if not rounding:
            raise NotPtx
        text = f"gv_ptx::whole<{kind}>({value}, gv_ptx::{rounding})"
    elif source in _FLOATS and rounding:  # a float is rounded to an integer and stays a float
        name = {"NEAREST": "rint", "TO_ZERO": "trunc", "DOWN": "floor", "UP": "ceil"}[rounding]
        text = f"({kind})__builtin_{name}((double){value})"
    elif source not in _FLOATS and to not in _FLOATS and "sat" in how:
        text = f"gv_ptx::clamped<{kind}>({value})"
    else:
        text = f"({kind}){value}"
    if "sat" in how and to in _FLOATS:
        text = f"({kind})gv_ptx::saturated((float){text})"
    return values.store(operands[0], text)


def pack(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cvt.pack.sat.s8.s32.b32 d, a, b, c``: a and b as bytes, below the lower half of c; or 16 bits, a above b."""
    saturated, kind, *sources = parts
    wide = kind in ("u16", "s16")
    if saturated != "sat" or not (wide or kind in ("u8", "s8")) or sources != (["s32"] if wide else ["s32", "b32"]):
        raise NotPtx
    first, second = (
        f"(unsigned)({TYPES['u' + kind[1:]]})gv_ptx::clamped<{TYPES[kind]}>({values.value(operand, 'int')})"
        for operand in operands[1:3]
    )
    rest = "" if wide else f" | {values.value(operands[3], 'unsigned')} << 16"
    return values.store(operands[0], f"({first} << {kind[1:]} | {second}{rest})")
