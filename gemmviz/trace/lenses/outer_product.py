"""The outer product that a thread computes at one k: its values of A and B, the products, and its sums.

The values are recorded; products and sums are those values multiplied and added, as in
`gemmviz.trace.origin.thread_state`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.per_recording import latest, per_recording
from gemmviz.trace.motion.products import AddedProducts
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.operand_paths import Operands
from gemmviz.trace.origin.thread_state import Products, products, state_at
from gemmviz.trace.playable import Playable

MOST_LINES = 32
"""The largest number of rows, and of columns, of C."""
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OuterProduct:
    """A thread's work at one k, after a step. Missing values are NaN.

    Attributes
    ----------
    owned
        The number of elements of C that the thread owns.
    rows, columns
        int64, the different rows and columns of C that it works on, ascending.
    k
        The k whose values it read last; -1: none yet.
    a, b
        float64, its values of A, one for each row, and of B, one for each column.
    from_a, from_b
        The arrays from which they are read, as indices into the recording's arrays; -1: none yet.
    product, before, after
        float64 (rows, columns), the computed products of this k, and the sums without and with these products. The sums
        of elements that the thread does not own are NaN.
    read, reads
        The number of values of this k that it has read, and the total; a value that is read twice counts twice.
    made, products
        The number of computed products of this k, and the total.
    """

    owned: int
    rows: Ints
    columns: Ints
    k: int
    a: Values
    b: Values
    from_a: int
    from_b: int
    product: Values
    before: Values
    after: Values
    read: int
    reads: int
    made: int
    products: int


@latest(4)
def outer_product(playable: Playable, block: int, thread: int, step: int) -> OuterProduct | None:
    """Return the outer product of a thread after a step.

    Returns
    -------
    OuterProduct or None
        None if the thread owns no element of C, or if it is unknown which values it multiplies.
    """
    if playable.recording.backend == "cuda":
        known = _of_thread(playable, block, thread)
        return None if known.by_warp or not len(known.rows) else _of_registers(playable, known, step)
    return _of_loop(playable, thread, step)


@per_recording
def knows_products(playable: Playable) -> bool:
    """Return whether the multiplied values of a recording are known: on a CPU, for each element of C at each k.

    If a loop keeps a value in a register while it stores several elements of C, not all of its products are known.
    """
    recording = playable.recording
    if recording.backend == "cuda":
        return recording.together == 1
    added = _of_loops(playable)
    return added is not None and len(added) == recording.m * recording.n * recording.k


@per_recording
def read_at_once(playable: Playable, array: int) -> int:
    """Return how many elements of an array each read takes, as a vector's lanes; 1 if the reads differ."""
    recording, timeline = playable.recording, playable.timeline
    steps = np.flatnonzero((timeline.array == array) & ~timeline.write)
    sizes = distinct(recording.accesses.bytes[timeline.order[timeline.start[steps]]])
    return int(sizes[0]) // recording.arrays[array].itemsize if len(sizes) == 1 else 1


@latest(1)
def _of_loops(playable: Playable) -> AddedProducts | None:
    """Return the products of a CPU's loops, each once, though an element may be stored several times."""
    added = playable.products
    if added is None:
        return None
    _, once = np.unique(added.element * playable.recording.k + added.k, return_index=True)
    return added.taken(np.sort(once))


@latest(8)
def _of_thread(playable: Playable, block: int, thread: int) -> Products:
    return products(playable, block, thread)


def _of_registers(playable: Playable, known: Products, step: int) -> OuterProduct:
    """Return the outer product of a GPU's thread."""
    state = state_at(playable, known, step)
    (rows, columns), operands, log = state.grid, known.operands, playable.recording.accesses
    value = np.append(operands.value.astype(np.float64), np.nan)  # -1 has no value
    mine = np.flatnonzero(known.k == state.k)
    made = mine[known.step[mine] <= step]
    grid = (len(rows), len(columns))
    at = np.searchsorted(rows, known.rows), np.searchsorted(columns, known.columns)
    product, before, after = (np.full(grid, np.nan) for _ in range(3))
    factors = value[known.a[made]] * value[known.b[made]]
    product[at[0][known.element[made]], at[1][known.element[made]]] = factors
    after[at] = state.sums
    before[at] = state.sums - np.bincount(known.element[made], factors, len(known.rows))
    lines = np.where(operands.matrix == A, np.isin(operands.line, rows), np.isin(operands.line, columns))
    of_k = np.flatnonzero((operands.k == state.k) & lines)
    read = playable.timeline.step_of_row[operands.use[of_k]] <= step
    arrays = [log.array[operands.use[held[held >= 0]]] for held in (state.a, state.b)]
    from_a, from_b = (int(array[0]) if len(array) else -1 for array in arrays)
    return _cut(
        OuterProduct(
            known.owned,
            rows,
            columns,
            state.k,
            value[state.a],
            value[state.b],
            from_a,
            from_b,
            product,
            before,
            after,
            int(read.sum()),
            len(of_k) if state.k >= 0 else 0,
            len(made),
            len(mine),
        )
    )


def _cut(whole: OuterProduct) -> OuterProduct:
    """Return the first `MOST_LINES` rows and columns of an outer product."""
    if max(whole.product.shape) <= MOST_LINES:
        return whole
    r, c = slice(MOST_LINES), slice(MOST_LINES)
    grids = (grid[r, c] for grid in (whole.product, whole.before, whole.after))
    product, before, after = grids
    lines = (whole.rows[r], whole.columns[c], whole.k, whole.a[r], whole.b[c], whole.from_a, whole.from_b)
    counts = (whole.read, whole.reads, whole.made, whole.products)
    return OuterProduct(whole.owned, *lines, product, before, after, *counts)


def _of_loop(playable: Playable, thread: int, step: int) -> OuterProduct | None:
    """Return the outer product that a loop on a CPU computes: the neighbouring products of one k."""
    added = _of_loops(playable)
    if added is None or not knows_products(playable):
        return None
    mine = np.flatnonzero(added.thread == thread)
    if not len(mine):
        return None
    past = int(np.searchsorted(added.done[mine], step, side="right"))
    now = mine[max(past - 1, 0)]
    k = added.k[mine]
    same = np.flatnonzero(np.diff(k != added.k[now], prepend=True, append=True))
    run = np.searchsorted(same, max(past - 1, 0), side="right")
    first, last = int(same[run - 1]), int(same[run])
    of_k = mine[first:last]
    rows, columns = (distinct(line) for line in np.divmod(added.element[of_k], playable.recording.n))
    if max(len(rows), len(columns)) > MOST_LINES:
        rows, columns = rows[:MOST_LINES], columns[:MOST_LINES]
        inside = np.isin(added.element[of_k] // playable.recording.n, rows)
        inside &= np.isin(added.element[of_k] % playable.recording.n, columns)
        of_k = of_k[inside]
    made = of_k[added.done[of_k] <= step]
    return _looped(playable, added, rows, columns, of_k, made, mine[:first], added.done[mine[last:]], step)


def _looped(
    playable: Playable,
    added: AddedProducts,
    rows: Ints,
    columns: Ints,
    of_k: Ints,
    made: Ints,
    earlier: Ints,
    later: Ints,
    step: int,
) -> OuterProduct:
    recording = playable.recording
    owned = int((recording.owners[1] == added.thread[of_k[0]]).sum())

    def at(which: Ints) -> tuple[Ints, Ints]:
        row, column = np.divmod(added.element[which], recording.n)
        return np.searchsorted(rows, row), np.searchsorted(columns, column)

    a, b = np.full(len(rows), np.nan), np.full(len(columns), np.nan)
    product, before, after = (np.full((len(rows), len(columns)), np.nan) for _ in range(3))
    a[at(made)[0]], b[at(made)[1]] = added.a[made], added.b[made]
    product[at(made)] = added.value[made]
    inside = np.zeros(recording.m * recording.n, bool)
    inside[added.element[of_k]] = True
    sums = np.zeros(recording.m * recording.n)
    past = earlier[inside[added.element[earlier]]]
    np.add.at(sums, added.element[past], added.a[past].astype(np.float64) * added.b[past])
    before[at(of_k)] = sums[added.element[of_k]]
    after[at(of_k)] = before[at(of_k)]
    after[at(made)] += product[at(made)]
    from_a, from_b = (int(column[of_k[0]]) for column in (added.a_array, added.b_array))
    # A value may be read again after its product was counted; the next k is another outer product.
    operands = _operands_of(playable, int(added.thread[of_k[0]]))
    when = playable.timeline.step_of_row[operands.use]
    last = int(later[0]) if len(later) else playable.timeline.steps
    lines = np.where(operands.matrix == A, np.isin(operands.line, rows), np.isin(operands.line, columns))
    begin = int(added.done[earlier[-1]]) if len(earlier) else -1
    mine = lines & (operands.k == added.k[of_k[0]]) & (begin < when) & (when <= last)
    read, reads = int((mine & (when <= step)).sum()), int(mine.sum())
    k = int(added.k[of_k[0]]) if len(made) else -1
    counts = (read, reads, len(made), len(of_k))
    return OuterProduct(owned, rows, columns, k, a, b, from_a, from_b, product, before, after, *counts)


@latest(4)
def _operands_of(playable: Playable, thread: int) -> Operands:
    return playable.provenance.operands(0, thread, thread + 1)
