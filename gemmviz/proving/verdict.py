"""Compares a recording's prediction with the GPU's counters, and explains differences if this can be checked."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Literal

from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.proving.launch_counters import Instruction, LaunchCounters
from gemmviz.proving.prediction import PredictedCost, PredictedSite, Prediction
from gemmviz.trace.cost.wavefronts import WAVEFRONT_BYTES

Agreement = Literal["equal", "explained", "differs"]
# Wavefronts of shared memory may differ by this share if the machine code merges loads unevenly.
_CLOSE = 0.01
# The counter of the whole unit may exceed the sum of all instructions by this share; if the copy engine or the tensor
# cores use shared memory at the same time, by much more.
_WAITED = 0.05
# Divergent lanes make up to two requests of one.
_BRANCHES = 2.0
# The largest number of combinations that are tried for the accesses of one line.
_MOST_TRIED = 100_000
# Figures without a counter: the instructions with these operations are counted in the machine code.
BY_INSTRUCTION = {
    "boxes loaded": ("UTMALDG", "UBLKCP.S.G"),
    "boxes stored": ("UTMASTG", "UTMAREDG", "UBLKCP.G.S", "UBLKRED.G.S"),
    "wgmma wavefronts": ("HGMMA", "QGMMA"),
}
# The counters of each memory space, for loads and for stores.
_FIGURES = {"global": ("sectors", "requests"), "shared": ("wavefronts", "conflicts")}
# The machine code's name for a load of a volatile variable, which reads memory each time.
_VOLATILE = ".STRONG.SYS"


@dataclass(frozen=True)
class Compared:
    """One counter: the recording's figure, the GPU's, and the reason for a difference.

    Attributes
    ----------
    what
        A name of `gemmviz.proving.launch_counters.COUNTERS`, or of `BY_INSTRUCTION`.
    predicted
        As recorded: one request for each access in the source.
    measured
        By the GPU.
    verdict
        ``"explained"``: the machine code makes other accesses than the source, and with these the recording predicts
        `adjusted`, which equals the measured figure (within 1% for shared memory). Or each single instruction has the
        recorded count, and the counter of the whole unit is a little higher (or, if the copy engine and the tensor
        cores use shared memory, higher by any number).
    note
        For people; empty when equal.
    adjusted
        The prediction with the accesses of the machine code; None if it equals `predicted`, or if these accesses cannot
        be derived.
    """

    what: str
    predicted: int
    measured: int
    verdict: Agreement
    note: str = ""
    adjusted: int | None = None


@dataclass(frozen=True)
class _Made:
    """The accesses of one kind in the machine code.

    Attributes
    ----------
    costs
        The costs as compiled; None if the instructions cannot be derived.
    notes
        The differences from the source.
    wavefronts
        The sum over its single instructions.
    waits
        The number of loads of volatile variables, which differs from run to run.
    """

    costs: list[PredictedCost] | None
    notes: list[str]
    wavefronts: int = 0
    waits: int = 0


@dataclass(frozen=True)
class _Way:
    """The loads, or the stores, of a launch in one space of memory.

    Attributes
    ----------
    coarse, fine
        The recorded accesses by place; and by instruction of the recorded program, if one place has several.
    written
        The arrays that the kernel writes: a value that it reads from them may already be in a register.
    code
        The corresponding instructions of the machine code.
    own
        Names of memory that the kernel itself declares; it is not recorded.
    busy
        Whether the copy engine or the tensor cores use this memory at the same time.
    """

    coarse: list[PredictedSite]
    fine: list[PredictedSite]
    written: set[str]
    code: list[Instruction]
    own: tuple[str, ...]
    busy: bool

    @classmethod
    def of(cls, prediction: Prediction, counted: LaunchCounters, space: str, write: bool) -> "_Way":
        """Select the part of a prediction and of the counters for one memory space, and for loads or stores."""
        coarse, fine = (
            [s for s in level if (s.space, s.write) == (space, write)] for level in (prediction.spots, prediction.finer)
        )
        # Instructions without a width are those of tensor cores and of the copy engine.
        code = [i for i in counted.instructions if (i.space, i.write) == (space, write) and i.bits]
        written = {s.array for s in prediction.spots if s.write}
        return cls(coarse, fine, written, code, prediction.own if space == "global" else (), bool(prediction.unseen))

    @cached_property
    def made(self) -> _Made:
        """Return the accesses of the machine code."""
        return _as_compiled(self)

    def compared(self, what: str, figure: str, measured: int | None) -> Compared | None:
        """Compare one counter; None if there is nothing to compare."""
        predicted = _figure(figure, (s.cost for s in self.coarse))
        if not (self.coarse or measured):
            return None
        if measured is None:
            return Compared(what, predicted, 0, "differs", tr("the GPU's counter is missing"))
        if predicted == measured:
            return Compared(what, predicted, measured, "equal")
        return _explained(what, figure, predicted, measured, self.made, self.busy)


def compare(prediction: Prediction, counted: LaunchCounters) -> list[Compared]:
    """Compare every counter that was read, except those of memory that the kernel does not use."""
    found: list[Compared | None] = []
    for space, figures in _FIGURES.items():
        for way in ("load", "store"):
            mine = _Way.of(prediction, counted, space, way == "store")
            names = {f"{space} {way} {figure}": figure for figure in figures}
            found += [mine.compared(what, figure, counted.counters.get(what)) for what, figure in names.items()]
    return [one for one in found if one is not None] + list(_by_instruction(prediction, counted))


def _by_instruction(prediction: Prediction, counted: LaunchCounters) -> Iterator[Compared]:
    """Compare the data that are not moved by the load/store unit."""
    recorded = {one.kind: one for one in prediction.unseen}
    for what, operations in BY_INSTRUCTION.items():
        code = [i for i in counted.instructions if any(operation in i.text for operation in operations)]
        if what == "wgmma wavefronts":
            # Each 128 bytes of operands are one wavefront.
            predicted = recorded["products"].bytes // WAVEFRONT_BYTES if "products" in recorded else 0
            measured = sum(i.wavefronts for i in code)
        else:
            predicted = next((one.count for kind, one in recorded.items() if kind == what), 0)
            measured = _executed(code)
        if predicted or measured:
            yield Compared(what, predicted, measured, "equal" if predicted == measured else "differs")


def _figure(figure: str, costs: Iterable[PredictedCost]) -> int:
    total = sum(costs, PredictedCost(0, 0, 0))
    return {"requests": total.requests, "conflicts": total.units - total.least}.get(figure, total.units)


def _explained(what: str, figure: str, predicted: int, measured: int, made: _Made, busy: bool) -> Compared:
    notes = list(dict.fromkeys(made.notes))
    if made.costs is None:
        return Compared(what, predicted, measured, "differs", "; ".join(notes))
    adjusted, wavefronts = _figure(figure, made.costs), _figure("wavefronts", made.costs)
    more, shared = measured - adjusted, what.startswith("shared")
    near = abs(more) <= made.waits
    if shared and wavefronts == made.wavefronts and more > 0 and (busy or more <= _WAITED * wavefronts):
        # This was seen when data arrive from L2 at the same time; it differs between two launches.
        notes.append(
            tr(
                "one by one its instructions take as many wavefronts as recorded; the unit counts {more} more",
                more=thousands(more),
            )
        )
        near = True
    elif more:
        notes.append(tr("with the accesses of the machine code the recording gives {count}", count=thousands(adjusted)))
        near = near or (shared and abs(more) <= _CLOSE * measured)
    verdict: Agreement = "explained" if near else "differs"
    return Compared(what, predicted, measured, verdict, "; ".join(notes), adjusted if adjusted != predicted else None)


def _as_compiled(way: _Way) -> _Made:
    """Find the accesses of the machine code for each line: a choice for each place that matches the instructions."""
    code = [i for i in way.code if i.executed]
    lines = {s.line for s in way.coarse if not s.copies}
    # cp.async is one instruction in the source and in the machine code.
    parts = [_Made([s.cost for s in way.coarse if s.copies], [])]
    # The code of a header's functions may have no line of the kernel's own file, or one for a few of its calls only.
    others = [i for i in code if i.line not in lines]
    spread = any(not i.line for i in others)
    spots = []
    for line in sorted(lines):
        of_line = [i for i in code if i.line == line]
        part = _on_line(way, line, of_line) if of_line else None
        if part and (part.costs is not None or not spread):
            parts.append(part)
        else:
            spots += [s for s in way.coarse if s.line == line and not s.copies]
            others += of_line
    if spots:
        chosen, reason = _choice(spots, way.written, others) or (None, _unlike(spots, others))
        parts.append(_Made(chosen, reason))
    elif others:
        parts.append(_of_its_own(others, way.own) if way.own else _Made(None, _unlike([], others)))
    costs = [part.costs for part in parts]
    known = [cost for part in costs for cost in part or ()]
    return _Made(
        None if None in costs else known,
        [note for part in parts for note in part.notes],
        sum(i.wavefronts for i in code),
        sum(part.waits for part in parts),
    )


def _on_line(way: _Way, line: int, code: list[Instruction]) -> _Made:
    """Choose for the accesses of one line: by place, or else by instruction of the recorded program."""
    levels = [[s for s in level if s.line == line and not s.copies] for level in (way.coarse, way.fine)]
    for level in levels:
        found = _choice(level, way.written, code) if level else None
        if found:
            return _Made(*found)
    return _Made(None, [_recorded_and_executed(line, _requests(levels[0]), _executed(code))])


def _of_its_own(code: list[Instruction], own: tuple[str, ...]) -> _Made:
    """Use the measured counts of instructions that access the kernel's own memory."""
    # A request has at least one tag; an instruction without active lanes has none, and makes no request.
    beside = [PredictedCost(min(i.executed, i.requests), i.sectors, i.sectors) for i in code]
    asking = (not i.write and _VOLATILE in i.text for i in code)
    waits = sum(cost.requests for cost, asks in zip(beside, asking, strict=True) if asks)
    at = ", ".join(str(line) for line in sorted({i.line for i in code}))
    notes = [
        tr(
            "lines {lines}: {count} sectors of memory that is the kernel's own ({arrays}), which is not recorded",
            lines=at,
            count=thousands(sum(cost.units for cost in beside)),
            arrays=", ".join(own),
        )
    ]
    if waits:
        notes.append(tr("how often a thread looks whether another one is ready differs from run to run"))
    return _Made(beside, notes, waits=waits)


def _unlike(spots: list[PredictedSite], code: list[Instruction]) -> list[str]:
    return [
        _recorded_and_executed(
            line, _requests(s for s in spots if s.line == line), _executed(i for i in code if i.line == line)
        )
        for line in sorted({s.line for s in spots} | {i.line for i in code})
    ]


def _recorded_and_executed(line: int, recorded: int, executed: int) -> str:
    return tr(
        "line {line}: {recorded} requests recorded, {executed} executed",
        line=line,
        recorded=thousands(recorded),
        executed=thousands(executed),
    )


def _requests(spots: Iterable[PredictedSite]) -> int:
    return sum(s.cost.requests for s in spots)


def _executed(code: Iterable[Instruction]) -> int:
    return sum(i.executed for i in code)


def _choice(
    spots: list[PredictedSite], written: set[str], code: list[Instruction]
) -> tuple[list[PredictedCost], list[str]] | None:
    """Return the cost of one line's accesses whose requests, by width, equal the executed instructions."""
    executed = Counter[int]()
    for instruction in code:
        executed[instruction.bits // 8] += instruction.executed
    if _alike(spots, code, executed):
        return [spot.cost for spot in spots], []
    choices = []
    for spot in spots:
        never = [(spot.bytes, PredictedCost(0, 0, 0))] if not spot.write and spot.array in written else []
        parted = [(spot.bytes, spot.parted)] if spot.parted else []
        choices.append([(spot.bytes, spot.cost), *spot.once.items(), *never, *parted])
    units = sum(i.sectors + i.wavefronts for i in code)
    found = None
    for choice in islice(product(*choices), _MOST_TRIED):
        makes = Counter[int]()
        for width, cost in choice:
            makes[width] += cost.requests
        if +makes != executed:
            continue
        # The order of two arrays on one line is unknown: the costs of the instructions tell them apart.
        exact = sum(cost.units for _, cost in choice) == units
        if found is None or exact:
            found = choice
        if exact:
            break
    if found is None:
        return None
    sentences = [
        _merged_text(spot, width, cost)
        for spot, (width, cost) in zip(spots, found, strict=True)
        if (width, cost.requests) != (spot.bytes, spot.cost.requests)
    ]
    return [cost for _, cost in found], sentences


def _alike(spots: list[PredictedSite], code: list[Instruction], executed: Counter[int]) -> bool:
    """Return whether instructions cost as much as recorded; instructions without active lanes are executed, too."""
    requests = Counter[int]()
    for spot in spots:
        requests[spot.bytes] += spot.cost.requests
    return (
        requests.keys() == executed.keys()
        and all(executed[width] >= asked for width, asked in requests.items())
        and sum(i.sectors + i.wavefronts for i in code) == sum(s.cost.units for s in spots)
    )


def _merged_text(spot: PredictedSite, width: int, cost: PredictedCost) -> str:
    at: dict[str, str | int] = {"line": spot.line, "array": spot.array}
    if not cost.requests:
        return tr(
            "line {line}: the compiler keeps {array} in a register instead of loading what the thread has stored", **at
        )
    if cost is spot.parted:
        return tr(
            "line {line}: the compiler makes two stores to {array}: one for lanes that have just loaded, one for the "
            "others",
            **at,
        )
    ratio = spot.cost.requests / cost.requests
    if width != spot.bytes:
        less, merged = ratio * spot.bytes / width, width // spot.bytes
        stores = mark("line {line}: the compiler merges {count} stores of {array} into one of {width} bytes")
        loads = mark("line {line}: the compiler merges {count} loads of {array} into one of {width} bytes")
        text = tr(stores if spot.write else loads, count=merged, width=width, **at)
        return (
            text if less == 1 else tr("{text}, and makes {times} times fewer requests", text=text, times=f"{less:.3g}")
        )
    if ratio < _BRANCHES:
        stores = mark("line {line}: the compiler stores {array} once for lanes that branch apart in the recording")
        loads = mark("line {line}: the compiler loads {array} once for lanes that branch apart in the recording")
        return tr(stores if spot.write else loads, **at)
    stores = mark("line {line}: the compiler stores each element of {array} once where the source asks {times} times")
    loads = mark("line {line}: the compiler loads each element of {array} once where the source asks {times} times")
    return tr(stores if spot.write else loads, times=f"{ratio:.3g}", **at)
