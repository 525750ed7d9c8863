"""Measures the kernels of one size in turns, so that drift (clocks, heat, other programs) affects all of them."""

from collections.abc import Generator, Sequence
from contextlib import closing

from gemmviz.bench.measure import Measurement, MeasureStep, Record
from gemmviz.bench.timing import Samples

# Progress within a round at the beginning of its cold pass, and of its hot pass: see `Measurement`.
_TIMING, _HOT = 0.5, 0.95
Turn = tuple[int, float, Record]


def take_turns(measurements: Sequence[Measurement], rounds: int) -> Generator[Turn, None, None]:
    """Measure some kernels, round by round; a finished kernel is left out of the later rounds.

    Within a round, kernels of one element type are measured one after the other, as they share inputs and references.

    Parameters
    ----------
    measurements
        The kernels; those with finished rounds continue when the others have as many rounds.
    rounds
        The number of rounds.

    Yields
    ------
    The index of the measurement, the share of all rounds that is done (0 to 1), and its record.
        Which measurement (its index), the share of all rounds that is done (0 to 1), and its record.
    """
    types = list(dict.fromkeys(m.kernel.dtype for m in measurements))
    order = sorted(range(len(measurements)), key=lambda i: types.index(measurements[i].kernel.dtype))
    steps = max(rounds * len(order), 1)
    for number in range(rounds):
        for place, index in enumerate(order):
            one = measurements[index]
            if one.over or one.rounds > number:
                continue
            # Closing frees the device's memory as soon as no measurement needs it.
            with closing(one.round()) as records:
                for record in records:
                    yield index, (number * len(order) + place + _share(record)) / steps, record


def _share(record: Record) -> float:
    """Return the share of a kernel's round that is done."""
    match record:
        case MeasureStep():
            return record.share
        case Samples():
            return _TIMING + (_HOT - _TIMING) * record.share
    return 1.0
