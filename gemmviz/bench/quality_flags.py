"""Flags: remarks on the quality of a measurement. A figure with a flag is kept."""

import math
from collections.abc import Iterable, Sequence

from gemmviz.backends.nvml import CHOSEN
from gemmviz.bench.row import Row
from gemmviz.language import mark, tr

LAUNCH_BOUND = "hot pass bound by launches"
"""The host queued launches more slowly than the GPU ran them: the hot figure is limited by the host."""
SLOWER_THAN_NUMPY = "slower-than-numpy"
"""NumPy was faster than this reference when measured in turns: shares of the reference are too high."""
FLAGS = (
    *("throttled", "noisy", "contended", "above-peak", "rounds-disagree", "clock-moved"),
    *(SLOWER_THAN_NUMPY, LAUNCH_BOUND),
)
_WORDS = {
    "throttled": mark("the GPU lowered its clock"),
    "noisy": mark("the spread was still too large when the time was over"),
    "contended": mark("other programs used the same device"),
    "above-peak": mark("faster than the modelled peak"),
    "rounds-disagree": mark("the rounds differ by more than 2%"),
    "clock-moved": mark("the CPU's clock moved by more than 5% during the run"),
    SLOWER_THAN_NUMPY: mark("NumPy is faster: not a good reference"),
    LAUNCH_BOUND: mark("the hot pass waited for launches"),
}
_ROUNDS_AGREE = 0.02
_CLOCK_AGREES = 0.05
_BOUND = 1.1


def judge(row: Row, contended: bool = False, paces: Sequence[float] = ()) -> None:
    """Set the row's flags according to its figures; notes that are not in `FLAGS` stay.

    "contended", "clock-moved" and "slower-than-numpy" stay too, once they are set.

    Parameters
    ----------
    row
        A row with figures.
    contended
        Whether other programs used the same device in the last round.
    paces
        ``cpu_pace`` of all kernels of the run so far; without it, of this row's only.
    """
    found = {
        "throttled": bool(row["telemetry"] and set(row["telemetry"]["throttle"]) - CHOSEN),
        "noisy": row["stop_reason"] == "timeout",
        "contended": contended or "contended" in row["flags"],
        "above-peak": _best(row) > (row["peak_gflops"] or math.inf),
        "rounds-disagree": _disagree([entry["median_s"] for entry in row["rounds"]]),
        "clock-moved": "clock-moved" in row["flags"] or _moved([*row.get("cpu_pace", ()), *paces]),
        SLOWER_THAN_NUMPY: SLOWER_THAN_NUMPY in row["flags"],
        LAUNCH_BOUND: _launch_bound(row),
    }
    notes = [note for note in row["flags"] if note not in FLAGS]
    row["flags"] = notes + [flag for flag in FLAGS if found[flag]]


def words(flags: Iterable[str]) -> list[str]:
    """Return the meaning of flags, for people; other notes are kept as they are."""
    return [tr(_WORDS[flag]) if flag in _WORDS else flag for flag in flags]


def _best(row: Row) -> float:
    return max(row["gflops"] or 0.0, row["hot"]["gflops"] if row["hot"] else 0.0)


def _disagree(medians: list[float]) -> bool:
    return bool(medians) and max(medians) > (1 + _ROUNDS_AGREE) * min(medians)


def _moved(paces: list[float]) -> bool:
    return bool(paces) and min(paces) < (1 - _CLOCK_AGREES) * max(paces)


def _launch_bound(row: Row) -> bool:
    hot, host = row["hot"], row["host_launch_s"]
    return bool(hot and host and hot["stats"]["median"] < _BOUND * host)
