"""Figures of a list of samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from gemmviz.bench.row import SampleStats


@dataclass(frozen=True)
class Stats:
    """Statistics of samples, in seconds (``iqr_rel`` is a ratio).

    Attributes
    ----------
    n
        Number of samples.
    min, p5, q1, median, q3, p95
        Quantiles; ``p5`` and ``p95`` are the 5th and 95th percentiles.
    iqr_rel
        (q3 - q1) / median, the spread.
    mean, std
        Mean and standard deviation (of the sample; 0 for a single one).
    """

    n: int
    min: float
    p5: float
    q1: float
    median: float
    q3: float
    p95: float
    iqr_rel: float
    mean: float
    std: float

    def to_plain(self) -> SampleStats:
        """Return all fields."""
        return {
            "n": self.n,
            "min": self.min,
            "p5": self.p5,
            "q1": self.q1,
            "median": self.median,
            "q3": self.q3,
            "p95": self.p95,
            "iqr_rel": self.iqr_rel,
            "mean": self.mean,
            "std": self.std,
        }


def summarise(seconds: Sequence[float]) -> Stats:
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
    return Stats(len(values), low, p5, q1, median, q3, p95, spread, float(values.mean()), deviation)


def significant(value: float, spread: float, most: int = 4) -> str:
    """Return a figure with as many significant digits as its relative spread supports, at most four.

    A spread of 1% supports two digits and one that is uncertain: three.
    """
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    supported = most if spread <= 0 else max(2, min(most, 1 - floor(log10(spread))))
    decimals = supported - 1 - floor(log10(abs(value)))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
