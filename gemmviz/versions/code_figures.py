"""Figures of two versions' machine code: registers, spills, and instructions for each product."""

from collections.abc import Callable

from gemmviz.assembly.counts import OTHER, SHOWN
from gemmviz.assembly.summary import Part
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.versions.figure import Figure, Group
from gemmviz.versions.version import MachineCode, Version

_MANY_PRODUCTS = 1024
_Read = Callable[[MachineCode], float]


def code_group(before: Version, after: Version) -> Group:
    """Return the figures of both versions' machine code.

    Instructions are those of the main loop, else of the whole kernel. They are counted per instruction that computes
    products if both versions use the same one, else per 1,024 products of a warp.

    Parameters
    ----------
    before, after
        The versions.
    """
    reasons = dict.fromkeys(of.no_code for of in (before, after) if of.no_code)
    codes = before.code, after.code
    known = [code for code in codes if code is not None]
    if not known:
        return Group("code", tr("Machine code"), "", (), "; ".join(reasons))
    made_for = " / ".join(dict.fromkeys(code.architecture for code in known))

    def figure(id: str, name: str, read: _Read) -> Figure:
        one, other = (None if code is None else read(code) for code in codes)
        return Figure(id, name, one, other)

    figures = [
        figure("registers", tr("registers per thread"), lambda code: code.usage.registers),
        figure("spill_store_bytes", tr("bytes of spilled registers stored"), lambda code: code.usage.spill_store_bytes),
        figure("spill_load_bytes", tr("bytes of spilled registers loaded"), lambda code: code.usage.spill_load_bytes),
        figure("stack_bytes", tr("bytes of local memory per thread"), lambda code: code.usage.stack_bytes),
        figure("shared_bytes", tr("bytes of shared memory per block"), lambda code: code.usage.shared_bytes),
        figure("instructions", tr("instructions"), lambda code: len(code.summary.whole.instructions)),
    ]
    return Group(
        "code",
        tr("Machine code"),
        tr("compiled for {arch}", arch=made_for),
        [*figures, *_per_product(codes)],
        "; ".join(reasons),
    )


def _per_product(codes: tuple[MachineCode | None, MachineCode | None]) -> list[Figure]:
    parts = [None if code is None else code.summary.loop or code.summary.whole for code in codes]
    units = {part.unit for part in parts if part is not None}
    same = len(units) == 1 and units != {""}
    unit = next(iter(units)) if same else ""
    figures = []
    pair: list[float | None]
    for kind in SHOWN:
        if kind == OTHER or not any(part is not None and part.counts[kind] for part in parts):
            continue
        if kind == unit:
            name = tr("{unit} in the main loop", unit=kind)
            pair = [None if part is None else part.counts[kind] for part in parts]
        elif same:
            name = tr("{kind} per {unit}", kind=kind, unit=unit)
            pair = [None if part is None else part.ratio(kind) for part in parts]
        else:
            name = tr("{kind} per {count} products of a warp", kind=kind, count=thousands(_MANY_PRODUCTS))
            pair = [None if part is None else _per_many(part, kind) for part in parts]
        figures.append(Figure(f"loop.{kind}", name, pair[0], pair[1]))
    return figures


def _per_many(part: Part, kind: str) -> float | None:
    return part.counts[kind] * _MANY_PRODUCTS / part.products if part.products else None
