"""wmma: tiles of a warp that it loads, multiplies and stores.

Rules: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

import re
from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import Values, items

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_TYPES = {
    **{"f16": "half", "bf16": "nv_bfloat16", "tf32": "nvcuda::wmma::precision::tf32", "f32": "float"},
    **{"s8": "signed char", "u8": "unsigned char", "s32": "int", "f64": "double"},
}
_USES = {"a": "matrix_a", "b": "matrix_b", "c": "accumulator", "d": "accumulator"}
_LAYOUTS = ("row", "col")
_WITHOUT_MEANING = {"sync", "aligned", "shared", "shared::cta", "global", "satfinite", "rn"}
_SHAPES = {(16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4)}
# The types of sums for a type of operands.
_SUMS = {
    **{"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",)},
    **{"s8": ("s32",), "u8": ("s32",), "f64": ("f64",)},
}
# The depth of a tile for each type of operands; 16 for the others.
_DEPTHS = {"tf32": 8, "f64": 4}


def _form(parts: Sequence[str]) -> tuple[tuple[int, ...], list[str], list[str]]:
    """Return the sides of the tiles, the layouts and the types in an instruction's name."""
    shapes = [found for part in parts if (found := _SHAPE.fullmatch(part))]
    layouts = [part for part in parts if part in _LAYOUTS]
    kinds = [part for part in parts if part in _TYPES]
    if len(shapes) + len(layouts) + len(kinds) + sum(part in _WITHOUT_MEANING for part in parts) != len(parts):
        raise NotPtx
    shape = tuple(int(side) for side in shapes[0].groups())
    if len(shapes) != 1 or shape not in _SHAPES:
        raise NotPtx
    return shape, layouts, kinds


def _tile(parts: Sequence[str], stride: Sequence[Value], values: Values) -> tuple[str, str, str, int]:
    """Return the type of a load's or a store's registers, its type arguments, the leading dimension, and the layout."""
    use, (shape, (layout,), (kind,)) = parts[0], _form(parts[1:])
    operand = use in ("a", "b")
    operands_of = [kind] if operand else [operands for operands, sums in _SUMS.items() if kind in sums]
    if kind not in ("f16", "f64") and operand != (kind in _SUMS):  # those two are types of operands and of sums
        raise NotPtx
    if all(shape[2] != _DEPTHS.get(of, 16) for of in operands_of):
        raise NotPtx
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(use, (m, n))
    adjacent = rows if layout == "col" else columns
    leading = values.value(stride[0], "unsigned") if stride else f"{adjacent}u"
    tile = f"nvcuda::wmma::{_USES[use]}, " if operand or parts[0] == "c" else ""
    word = "double" if kind == "f64" else "unsigned"
    return word, f"<{tile}{m}, {n}, {k}, {_TYPES[kind]}>", leading, int(layout == "col")


def load(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {r0, ...}, [address]{, stride}``."""
    if parts[0] not in ("a", "b", "c"):
        raise NotPtx
    word, types, leading, by_columns = _tile(parts, operands[2:], values)
    count = len(items(operands[0]))
    call = f"gv_ptx::wmma_load{types}(gv_r, {values.pointer(operands[1])}, {leading}, {by_columns});"
    return f"{{ {word} gv_r[{count}]; {call} {values.stores(operands[0], 'gv_r')} }}"


def store(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [address], {r0, ...}{, stride}``."""
    if parts[0] != "d":
        raise NotPtx
    word, types, leading, by_columns = _tile(parts, operands[2:], values)
    count = len(items(operands[1]))
    filled = f"const {word} gv_r[{count}] = {values.words(operands[1], word)};"
    return f"{{ {filled} gv_ptx::wmma_store{types}({values.pointer(operands[0])}, gv_r, {leading}, {by_columns}); }}"


def multiply(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c``; other types than f16 are all written."""
    shape, layouts, kinds = _form(parts)
    d, *between, c = kinds
    a, b = between or ("f16", "f16")
    if len(layouts) != 2 or len(operands) != 4 or a != b or {c, d} - set(_SUMS[a]) or shape[2] != _DEPTHS.get(a, 16):
        raise NotPtx
    word = "double" if a == "f64" else "unsigned"
    filled = ", ".join(
        f"gv_{name}[] = {values.words(operand, word)}" for name, operand in zip("abc", operands[1:], strict=True)
    )
    sums = "GV_S32_CLAMPED" if "satfinite" in parts and d == "s32" else f"nvcuda::wmma::gv_type<{_TYPES[d]}>::value"
    types = ", ".join([*map(str, shape), *(_TYPES[kind] for kind in (d, a, b, c)), sums])
    call = f"gv_ptx::wmma_multiply<{types}>(gv_d, gv_a, gv_b, gv_c);"
    count = len(items(operands[0]))
    return f"{{ const {word} {filled}; {word} gv_d[{count}]; {call} {values.stores(operands[0], 'gv_d')} }}"
