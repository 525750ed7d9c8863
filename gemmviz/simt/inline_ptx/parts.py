"""Operations on the four bytes or the two halves of a register. Rules: PTX ISA, "SIMD Video Instructions"."""

from collections.abc import Callable, Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import Values

Translator = Callable[[Sequence[str], Sequence[Value], Values], str]
_TYPES = {4: {"u32": "unsigned char", "s32": "signed char"}, 2: {"u32": "unsigned short", "s32": "short"}}
_NAMES = {
    "vadd": "SUM",
    "vsub": "DIFFERENCE",
    "vavrg": "AVERAGE",
    "vabsdiff": "DISTANCE",
    "vmin": "LEAST",
    "vmax": "MOST",
}


def _each(name: str, count: int) -> Translator:
    """Return the translator of ``vadd4.u32.u32.u32{.sat or .add} d, a, b, c``, without a choice of parts."""

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        result, *kinds, how = parts if len(parts) == 4 else [*parts, ""]
        if len(kinds) != 2 or how not in ("", "sat", "add") or len(operands) != 4:
            raise NotPtx
        first, second = (_TYPES[count][kind] for kind in kinds)
        a, b, c = (values.value(operand, "unsigned") for operand in operands[1:])
        bounds = f"gv_ptx::bounds_of<{_TYPES[count][result]}>()" if how == "sat" else "gv_ptx::no_bounds()"
        call = f"gv_ptx::each_part<{first}, {second}>(gv_ptx::{_NAMES[name]}, {a}, {b}, {bounds}"
        return values.store(operands[0], f"{call}, {c}, {str(how == 'add').lower()})")

    return translated


PARTS: dict[str, Translator] = {f"{name}{count}": _each(name, count) for name in _NAMES for count in _TYPES}
