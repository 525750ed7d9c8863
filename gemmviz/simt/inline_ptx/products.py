"""mma: products of a warp on tensor cores. Shapes and types: PTX ISA, "Warp-level Matrix Instructions"."""

import re
from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.narrow_products import NARROW, narrow
from gemmviz.simt.inline_ptx.values import Values, items

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_TYPES = {
    "f16": "GV_HALF",
    "bf16": "GV_BFLOAT16",
    "tf32": "GV_TF32",
    "f32": "GV_FLOAT",
    "s8": "GV_S8",
    "u8": "GV_U8",
    "e4m3": "GV_E4M3",
    "e5m2": "GV_E5M2",
    "s32": "GV_S32",
    "f64": "GV_DOUBLE",
}
# The depths (K) for each type of the operands, and the allowed types of the sums.
_BYTES = {(16, 8, 16), (16, 8, 32), (8, 8, 16)}
_SHAPES = {
    "f16": {(16, 8, 16), (16, 8, 8), (8, 8, 4)},
    "bf16": {(16, 8, 16), (16, 8, 8)},
    "tf32": {(16, 8, 4), (16, 8, 8)},
    "s8": _BYTES,
    "u8": _BYTES,
    "e4m3": {(16, 8, 32), (16, 8, 16)},
    "e5m2": {(16, 8, 32), (16, 8, 16)},
    "f64": {(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)},
}
_SUMS = {
    **dict.fromkeys(("f16", "e4m3", "e5m2"), ("f16", "f32")),
    **dict.fromkeys(("bf16", "tf32"), ("f32",)),
    **dict.fromkeys(("s8", "u8"), ("s32",)),
    "f64": ("f64",),
}
_WITHOUT_MEANING = {"sync", "aligned", "row", "col", "satfinite", "kind::f8f6f4", "rn"}


def mma(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c``: d = a b + c."""
    if NARROW.intersection(parts):
        return narrow(parts, operands, values)
    shapes = [found for part in parts if (found := _SHAPE.fullmatch(part))]
    shape = tuple(int(side) for side in shapes[0].groups())
    kinds = [part for part in parts if part in _TYPES]
    known = all(part in _TYPES or part in _WITHOUT_MEANING or _SHAPE.fullmatch(part) for part in parts)
    if len(kinds) != 4 or len(operands) != 4 or not known:
        raise NotPtx
    d, a, b, c = kinds
    if shape not in _SHAPES.get(a, ()) or shape not in _SHAPES.get(b, ()) or {c, d} - set(_SUMS[a]):
        raise NotPtx
    word = "double" if a == "f64" else "unsigned"
    filled = ", ".join(
        f"gv_{name}[] = {values.words(operand, word)}" for name, operand in zip("abc", operands[1:], strict=True)
    )
    if shape == (8, 8, 4) and a == "f16":
        layouts = [part for part in parts if part in ("row", "col")]
        if len(layouts) != 2:
            raise NotPtx
        by_columns = ", ".join(str(int(layout == "col")) for layout in layouts)
        call = f"gv_mma_quads(gv_d, {_TYPES[d]}, gv_a, gv_b, gv_c, {_TYPES[c]}, {by_columns});"
    else:
        if [part for part in parts if part in ("row", "col")] != ["row", "col"]:
            raise NotPtx
        sums = "GV_S32_CLAMPED" if "satfinite" in parts else _TYPES[d]
        sides = ", ".join(map(str, shape))
        call = f"gv_mma<{sides}, {_TYPES[a]}, {_TYPES[b]}, {_TYPES[c]}, {sums}>(gv_d, gv_a, gv_b, gv_c);"
    count = len(items(operands[0]))
    return f"{{ const {word} {filled}; {word} gv_d[{count}]; {call} {values.stores(operands[0], 'gv_d')} }}"
