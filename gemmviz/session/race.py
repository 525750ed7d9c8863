"""What two recordings that are played in step have come to, side by side: the figures of the race."""

from dataclasses import dataclass

from gemmviz.language import tr, trn
from gemmviz.session.duel import Duel
from gemmviz.session.measured import Measured
from gemmviz.trace.pace import Tally


@dataclass(frozen=True)
class Lane:
    """One figure of both.

    Attributes
    ----------
    id
        ``"bytes"``, ``"requests"``, ``"sectors"``, ``"wavefronts"``, ``"done"`` or ``"gflops"``.
    name
        For people.
    unit
        ``"B"``, ``"%"``, ``"GFLOPS"`` or empty, for counts. Shares are in percent.
    origin
        For people: *recorded*, or *measured*.
    now, total
        Of the chosen rung and of the one beside: so far, and in all. None: a CPU has no such thing.
    """

    id: str
    name: str
    unit: str
    origin: str
    now: tuple[float | None, float | None]
    total: tuple[float | None, float | None]

    @property
    def ratio(self) -> float | None:
        """What the one beside comes to in all, relative to the chosen rung; None where one of them has none."""
        mine, other = self.total
        return other / mine if mine and other else None


def lanes(duel: Duel, step: int, measured: Measured) -> list[Lane]:
    """Return the figures of both at the session's step; none where they are not in step yet.

    Parameters
    ----------
    duel
        The two.
    step
        Of the chosen rung.
    measured
        Whose figures to show beside: only where both rungs were measured here, at the size chosen for measuring.
    """
    match, pair = duel.match, duel.pair
    if match is None or pair is None:
        return []
    now = match.mine.at(min(step, match.mine.last)), match.other.at(duel.beside.step)
    total = match.mine.at(match.mine.last), match.other.at(match.other.last)
    on_gpu = match.mine.on_gpu + match.other.on_gpu
    # A CPU has no sectors: its loop asks for bytes, and nobody recorded which cache lines that moved.
    bytes_name = (tr("bytes asked for"), tr("bytes asked for, moved"), tr("global bytes moved"))[on_gpu]
    found = [
        _lane("bytes", bytes_name, "B", now, total),
        _lane("requests", tr("warp requests"), "", now, total),
        _lane("sectors", tr("sectors of 32 B"), "", now, total),
        _lane("wavefronts", tr("shared wavefronts"), "", now, total),
        _lane("done", tr("C written"), "%", now, total),
    ]
    problem = measured.bench_problem
    size = problem.m, problem.n, problem.k
    mine, other = (measured.figures.at(playable.recording.kernel, size) for playable in pair)
    if mine is not None and other is not None:
        flops = float(mine["gflops"]), float(other["gflops"])
        found.append(Lane("gflops", tr("GFLOPS at {size}", size=problem), "GFLOPS", tr("measured"), flops, flops))
    return [lane for lane in found if any(lane.total)]


def _lane(name: str, title: str, unit: str, now: tuple[Tally, Tally], total: tuple[Tally, Tally]) -> Lane:
    factor = 100 if unit == "%" else 1

    def values(of: tuple[Tally, Tally]) -> tuple[float | None, float | None]:
        mine, other = (getattr(tally, name) for tally in of)
        return (None if mine is None else mine * factor, None if other is None else other * factor)

    return Lane(name, title, unit, tr("recorded"), values(now), values(total))


def ratio_text(ratio: float | None) -> str:
    """Write what one comes to relative to another as people say it: ``1/6.6``, ``6.6×`` or ``=``; nothing for none."""
    if ratio is None:
        return ""
    if ratio == 1:
        return "="
    return f"{ratio:.3g}×" if ratio > 1 else f"1/{1 / ratio:.3g}"


def sentence(duel: Duel, step: int, names: tuple[str, str]) -> str:
    """Say how the race stands.

    Parameters
    ----------
    duel, step
        As for `lanes`.
    names
        Of the chosen rung and of the one beside, for people.
    """
    match = duel.match
    mine, other = names
    if match is None:
        return tr("The race begins when both are recorded.")
    if duel.finished:
        return _verdict(duel, names)
    if duel.pace == "work":
        shares = match.mine.share(min(step, match.mine.last)), match.other.share(duel.beside.step)
        return tr(
            "Of the reads that feed products, {mine} has done {one}, {other} {two}.",
            mine=mine,
            other=other,
            one=f"{shares[0]:.0%}",
            two=f"{shares[1]:.0%}",
        )
    if duel.beside.step >= match.other.last:
        return tr("{other} has finished with the bytes that {mine} has moved so far.", mine=mine, other=other)
    if step >= match.mine.last:
        return tr("{mine} has finished; {other} still moves bytes.", mine=mine, other=other)
    return tr("{other} goes as far as it gets with the bytes that {mine} has moved.", mine=mine, other=other)


def _verdict(duel: Duel, names: tuple[str, str]) -> str:
    match = duel.match
    assert match is not None
    (mine, other), totals = names, [c.at(c.last).bytes for c in (match.mine, match.other)]
    ratio = totals[1] / totals[0] if all(totals) else None
    if ratio is None:
        said = tr("Both have finished.")
    elif ratio == 1:
        said = tr("{other} moves as many bytes as {mine}.", mine=mine, other=other)
    elif ratio < 1:
        said = tr("{other} moves {share} of the bytes of {mine}.", mine=mine, other=other, share=ratio_text(ratio))
    else:
        said = tr("{other} moves {times} the bytes of {mine}.", mine=mine, other=other, times=ratio_text(ratio))
    wrong = [
        trn("{rung} has {count} wrong element of C.", "{rung} has {count} wrong elements of C.", count, rung=name)
        for name, count in zip(names, (playable.recording.wrong for playable in duel.pair or ()), strict=False)
        if count
    ]
    return " ".join([said, *wrong])
