"""Arithmetic on floats that is not rounded to nearest. Rules: PTX ISA, "Floating Point Instructions"."""

from collections.abc import Callable, Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import Values

DIRECTIONS = {"rz": "gv_ptx::TO_ZERO", "rm": "gv_ptx::DOWN", "rp": "gv_ptx::UP"}
Translated = Callable[[Sequence[str], Sequence[Value], Values], str]


def directed(name: str, arguments: int, plain: Translated) -> Translated:
    """Return the translator of an instruction with any rounding.

    Parameters
    ----------
    name
        The function for the other directions, which has the direction as its last argument.
    arguments
        The number of its other arguments.
    plain
        The translator for results that are rounded to nearest.
    """

    def translated(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
        chosen = [part for part in parts if part in DIRECTIONS]
        if not chosen:
            return plain(parts, operands, values)
        if parts[-1] != "f32" or len(chosen) != 1 or set(parts) - {*DIRECTIONS, "ftz", "f32"}:
            raise NotPtx
        if len(operands) != arguments + 1:
            raise NotPtx
        given = ", ".join(values.value(operand, "float") for operand in operands[1:])
        return values.store(operands[0], f"gv_ptx::{name}({given}, {DIRECTIONS[chosen[0]]})")

    return translated
