"""The operands of a wrong element of C, and the operands that it needs.

C[i, j] needs row i of A and column j of B, each element equally often. C is wrong if an owner of its elements reads
another row or column, omits an element, or uses an element more often than the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.matrices import MATRICES, A, B, C
from gemmviz.language import mark, tr
from gemmviz.trace.distinct import distinct, numbered
from gemmviz.trace.hazards.access_index import Flags, Ints
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import element_name, who
from gemmviz.trace.hazards.origins import Items, origins
from gemmviz.trace.recording.recording import WARP, Recording

_ENOUGH = 300_000  # accesses to follow; at least those of one block
_MOST = 4_000_000  # pairs of (row or column of C, k) to count
_MOST_SPLIT = 4  # ways to divide the products of a tile among blocks
# Key: (matrix, whether the element is used at all).
_UNEVEN = {
    (0, False): mark("{thread} never uses {operand} for {element}, unlike the rest of its row{through}"),
    (1, False): mark("{thread} never uses {operand} for {element}, unlike the rest of its column{through}"),
    (0, True): mark("{thread} uses {operand} {times} times for {element}, unlike the rest of its row{through}"),
    (1, True): mark("{thread} uses {operand} {times} times for {element}, unlike the rest of its column{through}"),
}


@dataclass(frozen=True)
class Reason:
    """Why C is wrong; ``uneven``: an operand is omitted, or used more often than its neighbours."""

    finding: Finding
    uneven: bool


@dataclass(frozen=True)
class Uses:
    """Uses: one entry per element of A or B that reaches an owner of wrong elements of C.

    ``unit`` numbers the owners. ``outer`` is the row of A or the column of B, ``k`` the other index. ``row`` is the
    access, ``fill`` the access that wrote the shared copy or -1, ``load`` the access that had read that value.
    """

    unit: Ints
    matrix: Ints
    outer: Ints
    k: Ints
    row: Ints
    fill: Ints
    load: Ints


def wrong_operands(recording: Recording) -> list[Finding]:
    """Explain wrong elements of C by their owners' reads; at most one reason for A and one for B."""
    by_warp = recording.together >= WARP
    if recording.boxes.store.any() and not by_warp:
        return []  # one thread stores the results of many: their owners are unknown
    items = origins(recording, _telling_rows(recording), together=recording.together)
    unit = _units(items, by_warp)
    cells, owners = _owned(recording, items, unit)
    if not len(cells):
        return []
    uses = _uses(recording, items, unit, distinct(owners))
    found = []
    for matrix in (A, B):
        sure = ~np.isin(owners, _unsure(items, unit, matrix))
        found.append(next(_reasons(recording, uses, matrix, cells[sure], owners[sure]), None))
    reasons = [reason for reason in found if reason is not None]
    findings = [reason.finding for reason in reasons]
    # An omitted iteration of a loop is missing from A and from B: this is one mistake.
    same = len(findings) == 2 and findings[0].line == findings[1].line and all(reason.uneven for reason in reasons)
    return findings[:1] if same else findings


def wrong_elements(recording: Recording) -> Flags:
    """Return which elements of C (m x n) are wrong; elements of blocks that did not run are not."""
    wrong: Flags = ~(recording.c == recording.product)
    return wrong if recording.scope is None else wrong & (recording.owners[0] >= 0)


def last_uses(recording: Recording) -> Ints:
    """Return the last access that reads an operand for the owner of each wrong element of C, in their order."""
    items = origins(recording, _telling_rows(recording), together=1)
    unit = _units(items, False)
    _, owners = _owned(recording, items, unit)
    brings = ((items.matrix >= 0) | items.unknown) & ~items.write & ~items.copied & np.isin(unit, owners)
    rows: Ints = items.row[brings]
    return rows


def _telling_rows(recording: Recording) -> Ints:
    """Return the accesses of a few blocks that compute wrong elements: one example is enough."""
    log = recording.accesses
    if recording.backend == "c":  # threads run one after the other, and compute one element after the other
        return np.arange(min(len(log), _ENOUGH))
    block = recording.owners[0][wrong_elements(recording)]
    return _rows_of(recording, distinct(block[block >= 0]))


def _rows_of(recording: Recording, blocks: Ints) -> Ints:
    """Return the accesses of the first of some blocks, in their order: enough of them, and at least one block's."""
    log = recording.accesses
    first, end = (np.searchsorted(log.block, blocks, side) for side in ("left", "right"))
    taken = max(int(np.searchsorted(np.cumsum(end - first), _ENOUGH)), 1)
    stretches = [np.arange(f, e) for f, e in sorted(zip(first[:taken], end[:taken], strict=True))]
    return np.concatenate(stretches) if stretches else np.zeros(0, np.int64)


def _units(items: Items, by_warp: bool) -> Ints:
    """Return the unit of computation of each item: a thread, or one of the elements that a thread computes in turn.

    A thread's accesses up to a store to C are one unit, together with earlier ones that store to the same elements.
    """
    if by_warp or not len(items.row):
        return items.owner
    store = items.write & (items.array == C)
    new_owner = np.append(True, items.owner[1:] != items.owner[:-1])
    use = ~items.write & ((items.matrix >= 0) | items.unknown) & ~items.copied
    # A unit begins with another owner, or with the first use after a store.
    stored = np.cumsum(store)
    last_use = np.maximum.accumulate(np.where(use, np.arange(len(use)), -1))
    before = np.append(-1, last_use[:-1])
    begins = new_owner | (use & (before >= 0) & (stored > stored[np.maximum(before, 0)]))
    stretch = np.cumsum(begins) - 1
    cell = np.full(int(stretch[-1]) + 1, np.iinfo(np.int64).max)
    np.minimum.at(cell, stretch[store], items.element[store])
    return numbered(items.owner, cell[stretch])[1]


def _owned(recording: Recording, items: Items, unit: Ints) -> tuple[Ints, Ints]:
    """Return the wrong elements of C that were written, and the unit that wrote each last."""
    store = np.flatnonzero(items.write & (items.array == C))
    store = store[np.argsort(items.row[store], kind="stable")]
    owner = np.full(recording.arrays[C].size, -1, np.int64)
    owner[items.element[store]] = unit[store]
    row, column = recording.arrays[C].cells(np.arange(len(owner)))
    cells = np.flatnonzero(wrong_elements(recording)[row, column] & (owner >= 0))
    return cells, owner[cells]


def _uses(recording: Recording, items: Items, unit: Ints, units: Ints) -> Uses:
    picked = np.flatnonzero((items.matrix >= 0) & ~items.write & ~items.copied & np.isin(unit, units))
    matrix, origin = items.matrix[picked], items.origin[picked]
    outer, k = np.zeros((2, len(picked)), np.int64)
    for which in (0, 1):
        mine = matrix == which
        row, column = recording.arrays[which].cells(origin[mine])
        outer[mine], k[mine] = (row, column) if which == A else (column, row)
    return Uses(unit[picked], matrix, outer, k, items.row[picked], items.fill[picked], items.load[picked])


def _unsure(items: Items, unit: Ints, matrix: int) -> Ints:
    """Return the units that read values of unknown origin from shared memory, which may be of A (0) or B (1).

    If an array is known to hold a matrix, its values of unknown source are assumed to be of that matrix, too. An array
    of unknown values may hold partial sums, or be the tile of a matrix that has no known tile.
    """
    staged = np.flatnonzero((items.fill >= 0) & (items.matrix >= 0))
    of_matrix = distinct(items.array[staged[items.matrix[staged] == matrix]])
    blind = items.unknown & np.isin(items.array, of_matrix)
    if not len(of_matrix):
        blind = items.unknown & ~np.isin(items.array, distinct(items.array[staged]))
    units: Ints = distinct(unit[blind])
    return units


def _reasons(recording: Recording, uses: Uses, matrix: int, cells: Ints, owners: Ints) -> Iterator[Reason]:
    """Yield the faults in the uses of A (0) or B (1): foreign operands, then omitted ones, then too frequent ones."""
    if not len(cells):
        return
    row, column = recording.arrays[C].cells(cells)
    outer = row if matrix == A else column
    length = max(recording.m, recording.n)
    pairs, example = np.unique(owners * length + outer, return_index=True)
    mine = np.flatnonzero((uses.matrix == matrix) & np.isin(uses.unit, owners))
    key = uses.unit[mine] * length + uses.outer[mine]
    place = np.searchsorted(pairs, key)
    owned = (place < len(pairs)) & (pairs[np.minimum(place, len(pairs) - 1)] == key)
    # An owner may have right and wrong elements: only operands that none of them needs are foreign.
    foreign = mine[~owned & ~_belongs_to_right(recording, uses, mine, matrix)]
    if len(foreign):
        yield Reason(_foreign(recording, uses, foreign, cells, owners), False)
    if len(pairs) * recording.k > _MOST or not owned.any():
        return
    inside = mine[owned]
    at = place[owned] * recording.k + uses.k[inside]
    count = np.bincount(at, minlength=len(pairs) * recording.k).reshape(len(pairs), recording.k)
    usual = int(np.median(count[count > 0]))
    missing, often = count == 0, count > usual
    for _ in range(_MOST_SPLIT):
        somewhere = np.flatnonzero(missing.any(axis=1))
        if not len(somewhere):
            break
        alike = (missing == missing[somewhere[0]]).all(axis=1)
        made = _made_elsewhere(recording, int(cells[example[somewhere[0]]]))
        missing[np.ix_(alike, made)] = False
        if missing[somewhere[0]].any():
            break
    for odd in (missing, often):
        pair, k = np.nonzero(odd)
        if len(pair):
            near = inside[place[owned] == pair[0]]
            near = near if len(near) else mine  # no element of that row or column is used
            cell, times = int(cells[example[pair[0]]]), int(count[pair[0], k[0]])
            yield Reason(_uneven(recording, uses, near, matrix, cell, int(k[0]), times), True)


def _made_elsewhere(recording: Recording, cell: int) -> Ints:
    """Return each k for which another block than the owner's makes the product for an element of C.

    It may pass on a sum. A unit of that block uses both factors. Blocks with numbers near the owner's are looked at.
    """
    (row,), (column,) = recording.arrays[C].cells(np.array([cell]))
    owner = int(recording.owners[0][row, column])
    blocks = distinct(recording.accesses.block).astype(np.int64)
    blocks = blocks[blocks != owner]
    blocks = blocks[np.argsort(np.abs(blocks - owner), kind="stable")]
    items = origins(recording, _rows_of(recording, blocks), together=recording.together)
    used = ~items.write & ~items.copied
    factors = []
    for matrix in (A, B):
        mine = np.flatnonzero(used & (items.matrix == matrix))
        at_row, at_column = recording.arrays[matrix].cells(items.origin[mine])
        needed = at_row == row if matrix == A else at_column == column
        k = at_column if matrix == A else at_row
        factors.append((items.owner[mine] * recording.k + k)[needed])
    made: Ints = distinct(np.intersect1d(*factors) % recording.k)
    return made


def _belongs_to_right(recording: Recording, uses: Uses, mine: Ints, matrix: int) -> Flags:
    """Return the uses that belong to a right element of C."""
    block, thread = recording.owners
    right = ~wrong_elements(recording)
    log = recording.accesses
    size = max(recording.m, recording.n)
    axis = 0 if matrix == A else 1
    cell = np.nonzero(right & (block >= 0))
    if not len(cell[0]):
        return np.zeros(len(mine), bool)
    keys = (block[cell] * recording.threads + thread[cell]) * size + cell[axis]
    rows = uses.row[mine]
    wanted = (log.block[rows].astype(np.int64) * recording.threads + log.thread[rows]) * size + uses.outer[mine]
    found: Flags = np.isin(wanted, keys)
    return found


def _foreign(recording: Recording, uses: Uses, foreign: Ints, cells: Ints, owners: Ints) -> Finding:
    use = int(foreign[0])
    cell = int(cells[np.flatnonzero(owners == uses.unit[use])[0]])
    line, other, through = _lines(recording, uses, use)
    row, column = recording.arrays[C].cells(np.array([cell]))
    text = tr(
        "{thread} uses {operand} for {element}{through}: it needs row {row} of A and column {column} of B",
        thread=who(recording, int(uses.row[use])),
        operand=_operand(uses, use),
        element=_c(recording, cell),
        through=through,
        row=row[0],
        column=column[0],
    )
    return Finding("wrong result", line, text, recording.wrong, other, MATRICES[uses.matrix[use]])


def _uneven(recording: Recording, uses: Uses, near: Ints, matrix: int, cell: int, k: int, times: int) -> Finding:
    """Report an element that is used too often or not at all; `near` are uses of its row or column."""
    use = int(near[np.argmin(np.abs(uses.k[near] - k))])
    line, other, through = _lines(recording, uses, use)
    row, column = recording.arrays[C].cells(np.array([cell]))
    name = f"A[{row[0]}, {k}]" if matrix == A else f"B[{k}, {column[0]}]"
    text = tr(
        _UNEVEN[matrix, times > 0],
        thread=who(recording, int(uses.row[use])),
        operand=name,
        times=times,
        element=_c(recording, cell),
        through=through,
    )
    return Finding("wrong result", line, text, recording.wrong, other, MATRICES[matrix])


def _lines(recording: Recording, uses: Uses, use: int) -> tuple[int, int, str]:
    """Return the line of a use, the line that filled its shared copy (or 0), and a text about both.

    The text is in brackets, with a space before it, or empty.
    """
    line = [s.line for s in recording.sites]
    site = recording.accesses.site
    here, fill = line[int(site[uses.row[use]])], int(uses.fill[use])
    if fill < 0:
        return here, 0, ""
    there = line[int(site[fill])]
    load = line[int(site[uses.load[use]])]
    element = element_name(recording, int(uses.row[use]))
    if load == there:
        remark = tr("(it reads {element}, which line {line} filled)", element=element, line=there)
    else:
        remark = tr(
            "(it reads {element}, which line {line} filled with a value that line {load} read)",
            element=element,
            line=there,
            load=load,
        )
    return here, there, f" {remark}"


def _operand(uses: Uses, use: int) -> str:
    outer, k = int(uses.outer[use]), int(uses.k[use])
    return f"A[{outer}, {k}]" if uses.matrix[use] == 0 else f"B[{k}, {outer}]"


def _c(recording: Recording, cell: int) -> str:
    row, column = recording.arrays[C].cells(np.array([cell]))
    return f"C[{row[0]}, {column[0]}]"
