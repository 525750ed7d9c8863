"""The running sums of C in registers: derived from recorded operands, and checked against the stored values."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gemmviz.trace.motion.products import AddedProducts, writes_of_c
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.recording.recording import Recording


@dataclass
class LiveSums:
    """The sums of a recording's products, step by step.

    Attributes
    ----------
    products
        The products in the order in which they are added.
    known
        bool (m x n), the elements whose products add up to the stored value, and that are stored once: for elements
        that are stored several times, memory shows the growing sum.
    first
        int64 (m x n), the step after which an element has its first product; the number of steps if it has none.
    """

    products: AddedProducts
    known: npt.NDArray[np.bool_]
    first: Ints
    _kept: tuple[int, npt.NDArray[np.float64]] | None = field(default=None, repr=False)

    def place(self, step: int) -> int:
        """Return the number of products that were complete before a step."""
        return int(np.searchsorted(self.products.done, step, side="left"))

    def at(self, step: int) -> npt.NDArray[np.float64]:
        """Return the sums when a step begins, float64 (m x n): with all products that were complete before it."""
        upto = self.place(step)
        before, sums = self._kept or (0, np.zeros(self.known.size))
        if upto != before:
            part = slice(min(before, upto), max(before, upto))
            change = np.bincount(self.products.element[part], self._factors[part], self.known.size)
            # Small integers: adding and subtracting them is exact.
            sums = sums + change if upto > before else sums - change
        self._kept = upto, sums
        return sums.reshape(self.known.shape)

    def __post_init__(self) -> None:
        self._factors = self.products.value

    def shown(self, step: int, stored: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which elements have a running sum at a step and are not stored yet (`stored`, m x n, bool)."""
        return self.known & (self.first < step) & ~stored


def live_sums(recording: Recording, steps: int, products: AddedProducts | None) -> LiveSums | None:
    """Find the running sums of a recording.

    Parameters
    ----------
    recording, steps, products
        The recording, the number of steps of its timeline, and its products.

    Returns
    -------
    LiveSums or None
        None if the products are not known.
    """
    if products is None:
        return None
    size = recording.m * recording.n
    totals = np.bincount(products.element, products.value, size).reshape(recording.m, recording.n)
    whole = np.bincount(products.element, minlength=size).reshape(recording.m, recording.n) == recording.k
    known = (writes_of_c(recording) == 1) & whole & same(totals, recording.c - recording.there_before)
    first = np.full(size, steps, np.int64)
    np.minimum.at(first, products.element, products.done)
    return LiveSums(products, known, first.reshape(known.shape))
