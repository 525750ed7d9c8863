"""Figures of two recordings that are played in step, side by side."""

from dataclasses import dataclass, replace

from gemmviz.bench.row import figure_of
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, percent, tr, trn
from gemmviz.session.models.comparison import Comparison
from gemmviz.session.models.results import Results
from gemmviz.trace.order.progress import Match, Tally

_ABOUT = "≈"  # not equal, but equal in the visible digits
# Index: the number of kernels that ran on a GPU.
_OTHER_ENDED = (
    mark("{other} finished after as many bytes as {mine} has asked for so far."),
    mark("{other} finished after as many bytes as {mine} has so far; a CPU's bytes are asked for, a GPU's are moved."),
    mark("{other} finished after as many bytes as {mine} has moved so far."),
)
_MINE_ENDED = (
    mark("{mine} has finished; {other} still asks for bytes."),
    mark("{mine} has finished; {other} continues."),
    mark("{mine} has finished; {other} still moves bytes."),
)
_BY_BYTES = (
    mark("{other} is at the step at which it has asked for as many bytes as {mine}."),
    mark("{other} is at the step with as many bytes as {mine}; a CPU's bytes are asked for, a GPU's are moved."),
    mark("{other} is at the step at which it has moved as many bytes as {mine}."),
)
# Key: the result of the second rung, relative to the chosen one.
_GPU_VERDICTS = {
    "=": mark("{other} moves as many bytes as {mine}."),
    _ABOUT: mark("{other} moves about as many bytes as {mine}."),
    "fewer": mark("{other} moves {share} of the bytes of {mine}."),
    "more": mark("{other} moves {times} the bytes of {mine}."),
}
_CPU_VERDICTS = {
    "=": mark("{other} asks for as many bytes as {mine}."),
    _ABOUT: mark("{other} asks for about as many bytes as {mine}."),
    "fewer": mark("{other} asks for {share} of the bytes of {mine}."),
    "more": mark("{other} asks for {times} the bytes of {mine}."),
}


@dataclass(frozen=True)
class FigurePair:
    """One figure of both rungs.

    Attributes
    ----------
    id
        ``"bytes"``, ``"requests"``, ``"sectors"``, ``"wavefronts"``, ``"done"`` or ``"gflops"``.
    name
        The name on the screen.
    unit
        ``"B"``, ``"%"``, ``"GFLOPS"`` or empty, for counts. Shares are in percent.
    origin
        On the screen: *recorded as compiled*, *recorded as written* or *measured*.
    now, total
        The values of the chosen and of the second rung: up to now, and in total. None: a CPU has no such figure.
    alike
        Whether both figures count the same quantity. A CPU's bytes are requested, a GPU's are moved.
    """

    id: str
    name: str
    unit: str
    origin: str
    now: tuple[float | None, float | None]
    total: tuple[float | None, float | None]
    alike: bool = True

    @property
    def ratio(self) -> float | None:
        """The second rung's total divided by the chosen rung's; None if they cannot be compared."""
        mine, other = self.total
        return other / mine if self.alike and mine and other else None


def figure_pairs(
    comparison: Comparison, steps: tuple[int, int], results: Results, problem: Problem
) -> list[FigurePair]:
    """Return the figures of both at their steps; an empty list if they are not in step yet.

    Parameters
    ----------
    comparison
        The comparison of both rungs.
    steps
        The steps of the chosen and of the second rung.
    results
        The results with the GFLOPS, which are used only if both rungs were measured here.
    problem
        The size of these figures.
    """
    match, pair = comparison.match, comparison.met
    if match is None or pair is None:
        return []
    now = match.mine.at(min(steps[0], match.mine.last)), match.other.at(steps[1])
    total = match.mine.at(match.mine.last), match.other.at(match.other.last)
    on_gpu = _on_gpu(match)
    # A CPU has no sectors: its loop requests bytes, and the cache lines that these moved are not recorded.
    bytes_name = (tr("bytes asked for"), tr("bytes asked for, moved"), tr("global bytes moved"))[on_gpu]
    origin = tr("recorded {view}", view=tr(pair[0].recording.view))

    def lane(name: str, title: str, unit: str = "") -> FigurePair:
        return _lane(name, title, unit, origin, now, total)

    found = [
        replace(lane("bytes", bytes_name, "B"), alike=on_gpu != 1),
        lane("requests", tr("warp requests")),
        lane("sectors", tr("sectors of 32 B")),
        lane("wavefronts", tr("shared wavefronts")),
        lane("done", tr("C written"), "%"),
    ]
    size = problem.m, problem.n, problem.k
    mine, other = (results.figures.at(playable.recording.kernel, size) for playable in pair)
    if mine is not None and other is not None:
        flops = figure_of(mine), figure_of(other)
        found.append(FigurePair("gflops", tr("GFLOPS at {size}", size=problem), "GFLOPS", tr("measured"), flops, flops))
    return [lane for lane in found if any(lane.total)]


def _on_gpu(match: Match) -> int:
    """Return the number of kernels that ran on a GPU: bytes are comparable if it is none or both."""
    return match.mine.on_gpu + match.other.on_gpu


def _lane(
    name: str, title: str, unit: str, origin: str, now: tuple[Tally, Tally], total: tuple[Tally, Tally]
) -> FigurePair:
    factor = 100 if unit == "%" else 1

    def values(of: tuple[Tally, Tally]) -> tuple[float | None, float | None]:
        mine, other = (getattr(tally, name) for tally in of)
        return (None if mine is None else mine * factor, None if other is None else other * factor)

    return FigurePair(name, title, unit, origin, values(now), values(total))


def ratio_text(ratio: float | None) -> str:
    """Return a ratio as text: ``1/6.6``, ``6.6×``, ``=`` or ``≈``, or empty."""
    if ratio is None:
        return ""
    if ratio == 1:
        return "="
    text = f"{ratio:.3g}×" if ratio > 1 else f"1/{1 / ratio:.3g}"
    return _ABOUT if text in ("1×", "1/1") else text


def sentence(comparison: Comparison, steps: tuple[int, int], names: tuple[str, str]) -> str:
    """Return a sentence about the state of the comparison.

    Parameters
    ----------
    comparison, steps
        As for `figure_pairs`.
    names
        The names of the chosen and of the second rung on the screen.
    """
    match = comparison.match
    mine, other = names
    if match is None:
        return tr("The comparison begins when both are recorded.")
    if comparison.finished(*steps):
        return _verdict(comparison, names)
    if comparison.pace == "work":
        shares = match.mine.share(min(steps[0], match.mine.last)), match.other.share(steps[1])
        return tr(
            "Reads for products: {mine} has made {one} of its reads, {other} {two}.",
            mine=mine,
            other=other,
            one=percent(shares[0]),
            two=percent(shares[1]),
        )
    if steps[1] >= match.other.last:
        templates = _OTHER_ENDED
    elif steps[0] >= match.mine.last:
        templates = _MINE_ENDED
    else:
        templates = _BY_BYTES
    return tr(templates[_on_gpu(match)], mine=mine, other=other)


def _verdict(comparison: Comparison, names: tuple[str, str]) -> str:
    match = comparison.match
    assert match is not None
    on_gpu = _on_gpu(match)
    (mine, other), totals = names, [c.at(c.last).bytes for c in (match.mine, match.other)]
    if not all(totals):
        text = tr("Both have finished.")
    elif on_gpu == 1:
        text = tr("Both have finished. What a CPU asks for cannot be compared with what a GPU moves.")
    else:
        ratio = totals[1] / totals[0]
        texts = _GPU_VERDICTS if on_gpu else _CPU_VERDICTS
        written = ratio_text(ratio)
        by_size = "fewer" if ratio < 1 else "more"
        text = tr(texts.get(written, texts[by_size]), mine=mine, other=other, share=written, times=written)
    wrong = [
        trn("{rung} has {count} wrong element of C.", "{rung} has {count} wrong elements of C.", count, rung=name)
        for name, count in zip(names, (playable.recording.wrong for playable in comparison.met or ()), strict=False)
        if count
    ]
    return " ".join([text, *wrong])
