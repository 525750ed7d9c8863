"""The facts about a cell: owner, accesses, and the reads of its operands. See `gemmviz.trace.origin.provenance`."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints, changes
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.recording.recording import WARP


@dataclass(frozen=True)
class CellAccesses:
    """Accesses of one cell, in the order of the steps.

    Attributes
    ----------
    rows, steps
        int64, rows of the recording, and the step of the timeline of each.
    lines
        int64, the lines of the source, from 1; 0 if unknown.
    write
        bool.
    value
        float32, the value read from the cell or written to it.
    """

    rows: Ints
    steps: Ints
    lines: Ints
    write: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Owner:
    """The thread that wrote an element of C last.

    Attributes
    ----------
    block, thread
        Linear indices.
    writes
        All writes of the element, by any thread.
    """

    block: int
    thread: int
    writes: CellAccesses

    @property
    def warp(self) -> int:
        """The warp within the block."""
        return self.thread // WARP

    @property
    def lane(self) -> int:
        """The lane within the warp."""
        return self.thread % WARP


@dataclass(frozen=True)
class OperandPaths:
    """The operands of an element of C, a path from global memory to the thread per use.

    Attributes
    ----------
    matrix, k
        int64, 0 for A and 1 for B, and the position along K.
    read, write, use
        int64, rows of the recording: the read from global memory, the write of its value to shared memory, the owner's
        read of the shared copy. For a value that the owner reads directly, `use` is `read`, and `write` is -1.
    value
        float32, the owner's values; in a defective kernel, values from shared memory may differ from those of the
        matrix.
    by_warp, by_group
        Whether these are the reads of the owner's whole warp, or (if both are true) of its warpgroup.
    unknown
        Whether the owner also used values from shared memory of unknown origin: paths may be
        missing.
    stored
        The value that the owner stored last; NaN if there is none.
    rest
        Whether other threads computed the rest of the sum and passed it through memory that is not recorded: C is
        right, but the products of these paths are only a part of it.
    """

    matrix: Ints
    k: Ints
    read: Ints
    write: Ints
    use: Ints
    value: npt.NDArray[np.float32]
    by_warp: bool
    unknown: bool = False
    stored: float = float("nan")
    by_group: bool = False
    rest: bool = False

    def taken(self, which: Ints) -> "OperandPaths":
        """Return some of the paths, in the given order."""
        columns = {name: getattr(self, name)[which] for name in ("matrix", "k", "read", "write", "use", "value")}
        return replace(self, **columns)

    def reads(self, matrix: int) -> Ints:
        """Return the different rows that read A (0) or B (1) from global memory."""
        return distinct(self.read[self.matrix == matrix])

    @property
    def shared_reads(self) -> Ints:
        """The different rows that read shared memory."""
        return distinct(self.use[self.write >= 0])

    def covered(self, matrix: int) -> int:
        """Return the number of different positions along K with an operand from A (0) or B (1)."""
        return len(distinct(self.k[self.matrix == matrix]))

    def whole(self) -> "OperandPaths":
        """Return the paths that form a product: those at positions along K that have both A and B."""
        places = [self.k[self.matrix == matrix] for matrix in (A, B)]
        return self.taken(np.flatnonzero(np.isin(self.k, np.intersect1d(*places))))

    @cached_property
    def total(self) -> float:
        """The sum of the products of the read values, one product for each position along K."""
        kept = self.taken(closest(self.matrix, self.k, self.use)).whole()
        a, b = (kept.value[mine][np.argsort(kept.k[mine])] for mine in (kept.matrix == A, kept.matrix == B))
        return float(a.astype(np.float64) @ b)

    @property
    def gives_stored(self) -> bool:
        """Whether the products of the read values add up to the stored value."""
        return bool(same(self.total, self.stored))


@dataclass(frozen=True)
class Operands:
    """The operands that some threads read.

    Attributes
    ----------
    matrix, line, k
        int64, 0 for A and 1 for B; the row of A or column of B; and the position along K.
    read, write, use
        As in `OperandPaths`.
    value
        float32, the thread's values; in a defective kernel, values from shared memory may differ from those of the
        matrix.
    unknown
        The number of values of unknown origin that it read from shared memory.
    place
        int64, the element (in memory order) of the array that `use` reads; -1 if it is not known.
    computed
        Whether the threads read values from shared memory that a thread had computed and not copied: partial sums.
    """

    matrix: Ints
    line: Ints
    k: Ints
    read: Ints
    write: Ints
    use: Ints
    value: npt.NDArray[np.float32]
    unknown: int
    place: Ints
    computed: bool = False


def closest(matrix: Ints, k: Ints, use: Ints) -> Ints:
    """Choose, for each position along K, the use of A and the use of B that are closest together.

    Parameters
    ----------
    matrix, k, use
        For each use: 0 for A and 1 for B, the position along K (or any number that only uses of one pair share), and
        the row of the recording.

    Returns
    -------
    ndarray
        int64, ascending, the indices of the chosen uses; for a position along K without A or without B, all uses.
    """
    a, b = (np.flatnonzero(matrix == which) for which in (A, B))
    alone = np.setxor1d(k[a], k[b])  # no pair to choose
    far = int(use.max(initial=0)) + 1
    key = k * far + use
    b = b[np.argsort(key[b])]
    at = np.searchsorted(key[b], key[a])
    pairs, distances = [], []
    for neighbour in (at - 1, at):
        other = b[np.clip(neighbour, 0, max(len(b) - 1, 0))] if len(b) else np.zeros(0, np.int64)
        mine = a[: len(other)]
        same = k[other] == k[mine]
        pairs.append(np.stack([mine, other])[:, same])
        distances.append(np.abs(use[other] - use[mine])[same])
    pair, distance = np.concatenate(pairs, axis=1), np.concatenate(distances)
    order = np.lexsort((distance, k[pair[0]]))
    nearest = order[changes(k[pair[0]][order])]
    return np.sort(np.concatenate([pair[:, nearest].ravel(), np.flatnonzero(np.isin(k, alone))]))
