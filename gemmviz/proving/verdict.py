"""Puts what a recording predicts beside what the GPU counted, and explains what differs where that can be checked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from gemmviz.proving.counted import Counted, Instruction
from gemmviz.proving.prediction import Cost, Prediction, Spot

Verdict = Literal["equal", "explained", "differs"]
# Shared memory's wavefronts may be off by this much where the machine code merges loads unevenly.
_CLOSE = 0.01
# Lanes that branch apart make up to two requests of one.
_BRANCHES = 2.0


@dataclass(frozen=True)
class Compared:
    """One counter: what the recording says, what the GPU counted, and why they differ if they do.

    Attributes
    ----------
    what
        A name of `gemmviz.proving.counted.COUNTERS`.
    predicted
        As recorded: one request for each access in the source.
    measured
        By the GPU.
    verdict
        ``"explained"``: the machine code makes fewer or wider accesses than the source, and with these the recording
        gives `adjusted`, which is what was measured (within 1%).
    note
        For people; empty when equal.
    adjusted
        What the recording predicts with the accesses that the machine code makes; None where nothing explains it.
    """

    what: str
    predicted: int
    measured: int
    verdict: Verdict
    note: str = ""
    adjusted: int | None = None


def compare(prediction: Prediction, counted: Counted) -> list[Compared]:
    """Compare every counter that was read, those of memory that the kernel does not use left out."""
    found = []
    for space, way, figures in (
        ("global", "load", ("sectors", "requests")),
        ("global", "store", ("sectors", "requests")),
        ("shared", "load", ("wavefronts", "conflicts")),
        ("shared", "store", ("wavefronts", "conflicts")),
    ):
        write = way == "store"
        coarse, fine = (
            [s for s in level if (s.space, s.write) == (space, write)] for level in (prediction.spots, prediction.finer)
        )
        written = {s.array for s in prediction.spots if s.write}
        code = [i for i in counted.instructions if (i.space, i.write) == (space, write)]
        as_compiled = None
        for figure in figures:
            what = f"{space} {way} {figure}"
            predicted = _figure(figure, (s.cost for s in coarse))
            measured = counted.counters.get(what)
            if measured is None:
                if coarse:
                    found.append(Compared(what, predicted, 0, "differs", "the GPU's counter is missing"))
                continue
            if not (coarse or measured):
                continue
            if predicted == measured:
                found.append(Compared(what, predicted, measured, "equal"))
                continue
            as_compiled = as_compiled or _as_compiled(coarse, fine, written, code)
            found.append(_explained(what, figure, predicted, measured, *as_compiled))
    return found


def _figure(figure: str, costs: Iterable[Cost]) -> int:
    total = sum(costs, Cost(0, 0, 0))
    return {"requests": total.requests, "conflicts": total.units - total.least}.get(figure, total.units)


def _explained(what: str, figure: str, predicted: int, measured: int, costs: list[Cost] | None, note: str) -> Compared:
    if costs is None:
        return Compared(what, predicted, measured, "differs", note)
    adjusted = _figure(figure, costs)
    near = adjusted == measured
    if not near:
        near = what.startswith("shared") and abs(adjusted - measured) <= _CLOSE * measured
        note += f"{'; ' if note else ''}with the accesses of the machine code the recording gives {adjusted:,}"
    return Compared(what, predicted, measured, "explained" if near else "differs", note, adjusted)


def _as_compiled(
    coarse: list[Spot], fine: list[Spot], written: set[str], code: list[Instruction]
) -> tuple[list[Cost] | None, str]:
    """Find what the compiler made of the accesses of each line: a choice for each place that gives its instructions.

    Parameters
    ----------
    coarse, fine
        By place, and by instruction of the recorded program where several have one place.
    written
        The arrays that the kernel writes: what it reads of them may be in a register already.
    code
        The machine code's.

    Returns
    -------
    tuple
        What each access costs as compiled (None where no choices give the instructions), and what differs.
    """
    costs: list[Cost] | None = []
    notes = []
    for line in sorted({s.line for s in coarse} | {i.line for i in code}):
        executed = Counter[int]()
        for instruction in code:
            if instruction.line == line and instruction.executed:
                executed[instruction.bits // 8] += instruction.executed
        levels = [[s for s in level if s.line == line] for level in (coarse, fine)]
        chosen, said = next(
            (found for level in levels if level and (found := _choice(level, written, executed))),
            (None, [f"line {line}: {_requests(levels[0]):,} requests recorded, {executed.total():,} executed"]),
        )
        notes += said
        costs = None if costs is None or chosen is None else costs + chosen
    return costs, "; ".join(dict.fromkeys(notes))


def _requests(spots: Iterable[Spot]) -> int:
    return sum(s.cost.requests for s in spots)


def _choice(spots: list[Spot], written: set[str], executed: Counter[int]) -> tuple[list[Cost], list[str]] | None:
    """Return what the accesses of one line cost so that they make the instructions executed, by their width."""
    choices = []
    for spot in spots:
        never = [(spot.bytes, Cost(0, 0, 0))] if not spot.write and spot.array in written else []
        choices.append([(spot.bytes, spot.cost), *spot.once.items(), *never])
    for choice in product(*choices):
        makes = Counter[int]()
        for width, cost in choice:
            makes[width] += cost.requests
        if +makes == executed:
            said = [
                _said(spot, width, cost)
                for spot, (width, cost) in zip(spots, choice, strict=True)
                if (width, cost.requests) != (spot.bytes, spot.cost.requests)
            ]
            return [cost for _, cost in choice], said
    return None


def _said(spot: Spot, width: int, cost: Cost) -> str:
    where, verb = f"line {spot.line}: the compiler", "stores" if spot.write else "loads"
    if not cost.requests:
        return f"{where} keeps {spot.array} in a register instead of loading what the thread has stored"
    ratio = spot.cost.requests / cost.requests
    if width != spot.bytes:
        less = ratio * spot.bytes / width
        kept = "" if less == 1 else f", and asks {less:.3g} times less often"
        return f"{where} merges {width // spot.bytes} {verb} of {spot.array} into one of {width} bytes{kept}"
    if ratio < _BRANCHES:
        return f"{where} {verb} {spot.array} once for lanes that branch apart in the recording"
    return f"{where} {verb} each element of {spot.array} once where the source asks {ratio:.3g} times"
