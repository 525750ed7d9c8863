"""Conditions on sizes and parameters before a launch: those that a kernel declares, and those that follow from it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product, zip_longest

import numpy as np

from gemmviz.catalogue.division import Division
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.tensor_map import PANEL_BYTES, UNIT_BYTES
from gemmviz.language import tr

# The length of a matrix's row as it is stored: by rows, and by columns.
_SECTOR_BYTES = 32  # the unit in which the memory of a GPU moves data
_ROW = {"A": ("K", "M"), "B": ("N", "K"), "C": ("N", "M")}


@dataclass(frozen=True)
class Condition:
    """One condition; `why` is a sentence for people, empty if the kernel declares the condition itself."""

    expression: Expression
    why: str = ""


def conditions(kernel: Kernel) -> tuple[Condition, ...]:
    """Return the conditions that a kernel declares, in their order, then those that follow.

    The copy engine (TMA) takes matrices whose rows, as they are stored, are a multiple of 16 bytes; clusters divide the
    grid. The latter's conditions may be evaluated only where each side of the cluster is at least 1. Several GPUs have
    equal parts, and the conditions of a launch are those of its part.
    """
    if kernel.division:
        return tuple(_divided(kernel, kernel.division))
    declared = [Condition(expression) for expression in kernel.requires]
    return (*declared, *_rows(kernel), *_clusters(kernel))


def _divided(kernel: Kernel, division: Division) -> Iterator[Condition]:
    """Return the conditions of a kernel for several GPUs: equal parts, and for each part those of its launch."""
    sides, devices = division.sides(), division.devices.text
    why = tr("Each GPU has an equal part of the matrices.")
    for expression in division.conditions():
        yield Condition(expression, why)
    why = tr("The part of each GPU consists of whole sectors of {bytes} bytes.", bytes=_SECTOR_BYTES)
    least = min(np.dtype(kernel.dtype_of(matrix)).itemsize for matrix in ("B", "C"))
    yield Condition(Expression(f"N % ({devices} * {_SECTOR_BYTES // least}) == 0"), why)
    if division.crossing:
        elements = _SECTOR_BYTES // np.dtype(kernel.dtype).itemsize
        yield Condition(Expression(f"M * K % ({devices} * {elements}) == 0"), why)
    for condition in conditions(replace(kernel, division=None)):
        text = re.sub(r"\b[MNK]\b", lambda name: sides[name[0]], condition.expression.text)
        yield Condition(Expression(text), condition.why)


def never(kernel: Kernel, name: str, value: int) -> bool:
    """Return whether a declared condition refuses a parameter's value with every offered value of the other ones."""
    for expression in kernel.requires:
        names = expression.names()
        if name in names and names <= kernel.params.keys():
            others = sorted(names - {name})
            cases = product(*(kernel.params[other] for other in others))
            if not any(holds([expression], {name: value, **dict(zip(others, case, strict=True))}) for case in cases):
                return True
    return False


def holds(must_hold: Iterable[Expression], values: dict[str, int]) -> bool:
    """Return whether all conditions hold; a condition that divides by zero does not hold."""
    try:
        return all(expression.evaluate(values) for expression in must_hold)
    except FrontMatterError:
        return False


def _rows(kernel: Kernel) -> Iterator[Condition]:
    for matrix in sorted(kernel.maps.keys() - kernel.unaligned):
        itemsize = np.dtype(kernel.dtype_of(matrix)).itemsize
        size = _ROW[matrix][matrix in kernel.column_major]
        why = tr(
            "The copy engine (TMA) accepts {matrix} only if each of its stored rows is a multiple of {unit} bytes.",
            matrix=matrix,
            unit=UNIT_BYTES,
        )
        yield Condition(Expression(f"{size} % {UNIT_BYTES // itemsize} == 0"), why)
        box = kernel.maps[matrix]
        if box.rank > 2:
            swizzle = box.swizzle.text
            known = str(int(swizzle) or PANEL_BYTES) if swizzle.isdigit() else ""
            wide = known or f"({swizzle}) + {PANEL_BYTES} * (({swizzle}) == 0)"
            why = tr(
                "A tensor map of {matrix} with {rank} dimensions divides each stored row into panels of {bytes} bytes, "
                "and no part of a panel may be left.",
                matrix=matrix,
                rank=box.rank,
                bytes=wide,
            )
            whole = f"{size} % {int(known) // itemsize}" if known else f"{size} * {itemsize} % ({wide})"
            yield Condition(Expression(f"{whole} == 0"), why)


def _clusters(kernel: Kernel) -> Iterator[Condition]:
    why = tr("Clusters of blocks must divide the grid.")
    for blocks, cluster in zip_longest(kernel.grid, kernel.cluster, fillvalue=Expression("1")):
        if cluster.text != "1":
            yield Condition(Expression(f"{_factor(blocks)} % {_factor(cluster)} == 0"), why)


def _factor(expression: Expression) -> str:
    text = expression.text.strip()
    return text if re.fullmatch(r"\w+(\([^()]*\))?", text) else f"({text})"
