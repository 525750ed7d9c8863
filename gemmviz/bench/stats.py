"""Figures of a list of samples."""

from collections.abc import Sequence
from math import floor, log10

import numpy as np

from gemmviz.bench.row import SampleStats


def summarise(seconds: Sequence[float]) -> SampleStats:
    """Return the statistics of at least one sample.

    Raises
    ------
    ValueError
        Without samples.
    """
    if not len(seconds):
        raise ValueError("no samples")
    values = np.asarray(seconds, np.float64)
    low, p5, q1, median, q3, p95 = (float(q) for q in np.percentile(values, (0, 5, 25, 50, 75, 95)))
    spread = (q3 - q1) / median if median > 0 else 0.0
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return {
        "n": len(values),
        "min": low,
        "p5": p5,
        "q1": q1,
        "median": median,
        "q3": q3,
        "p95": p95,
        "iqr_rel": spread,
        "mean": float(values.mean()),
        "std": deviation,
    }


def significant(value: float, spread: float, most: int = 4) -> str:
    """Return a figure with as many significant digits as its relative spread supports, at most four.

    A spread of 1% supports two certain digits and one uncertain digit: three.
    """
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    supported = most if spread <= 0 else max(2, min(most, 1 - floor(log10(spread))))
    decimals = supported - 1 - floor(log10(abs(value)))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
