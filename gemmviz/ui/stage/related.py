"""The cells that belong to a chosen cell, or to a frozen warp: everything else on the stage is dimmed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.stage.accessed_cells import as_drawn, covered
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.ownership import owned


@dataclass(frozen=True)
class Related:
    """The drawn cells, by array, that belong to the choice; an array that is missing here is not dimmed."""

    cells: dict[int, Ints]


def related(playable: Playable, cell: tuple[int, int], block: int) -> Related:
    """Return the cells that belong to a cell.

    As recorded: of an element of C, its operands; of a shared cell, the origin of the values that the block keeps in
    it; of an element of A or B, the shared cells of the block that ever hold it. By the definition of the product: the
    elements of B that an element of A is multiplied with, and those of C that it goes into.
    """
    array, element = cell
    recording = playable.recording
    chosen = as_drawn(recording.arrays[array], np.array([element]))
    row, column = divmod(int(chosen[0]), recording.arrays[array].grid[1])
    if array == C:
        # Its thread's other elements are chosen with it.
        beside = np.flatnonzero(owned(playable, row, column)[0])
        return Related(_feeding(playable, row, column) | {C: np.union1d(chosen, beside)})
    if array in (A, B):
        line = (
            np.arange(recording.n) + row * recording.n if array == A else np.arange(recording.m) * recording.n + column
        )
        return Related(_holding(playable, array, element, block) | {array: chosen, C: line, B - array: chosen[:0]})
    return Related(_brought(playable, array, element, block) | {array: chosen})


def touched_by_warp(playable: Playable, step: int, block: int, warp: int) -> Related:
    """Return the cells that a warp touches at a step, and the elements of C that are its own."""
    recording = playable.recording
    owner, thread = recording.owners
    mine = np.flatnonzero(((owner == block) & (thread // WARP == warp)).ravel())
    cells = dict.fromkeys(range(len(recording.arrays)), mine[:0]) | {C: mine}
    if playable.timeline.steps:
        array = int(playable.timeline.array[step])
        now = distinct(covered(playable, array, playable.warp_rows(step, block, warp))[0])
        cells[array] = np.union1d(now, mine) if array == C else now
    return Related(cells)


def _feeding(playable: Playable, row: int, column: int) -> dict[int, Ints]:
    recording, fed = playable.recording, playable.provenance.operand_paths(row, column)
    if fed.unknown or not len(fed.matrix):
        return {}  # a part is unknown: dimming the rest would claim too much
    found = {}
    for matrix in (A, B):
        k = distinct(fed.k[fed.matrix == matrix])
        found[matrix] = row * recording.k + k if matrix == A else k * recording.n + column
    return found | _by_shared(playable, fed.shared_reads)


def _by_shared(playable: Playable, rows: Ints) -> dict[int, Ints]:
    """Return the cells of shared arrays that some accesses cover."""
    log, found = playable.recording.accesses, {}
    for index, info in enumerate(playable.recording.arrays):
        if info.space == "shared":
            found[index] = distinct(covered(playable, index, rows[log.array[rows] == index])[0])
    return found


def _holding(playable: Playable, array: int, element: int, block: int) -> dict[int, Ints]:
    staged, log = playable.staged, playable.recording.accesses
    here = np.flatnonzero((staged.read >= 0) & (staged.read_element == element))
    here = here[(log.array[staged.read[here]] == array) & (log.block[staged.row[here]] == block)]
    found = {}
    for index, info in enumerate(playable.recording.arrays):
        if info.space == "shared":
            mine = here[log.array[staged.row[here]] == index]
            found[index] = distinct(as_drawn(info, staged.element[mine]))
    return found


def _brought(playable: Playable, array: int, element: int, block: int) -> dict[int, Ints]:
    staged, recording = playable.staged, playable.recording
    log = recording.accesses
    here = np.flatnonzero(staged.element == element)
    here = here[(log.array[staged.row[here]] == array) & (log.block[staged.row[here]] == block)]
    if staged.unknown[here].any():
        return {}
    here = here[staged.read[here] >= 0]
    found = {}
    for matrix in (A, B):
        mine = here[log.array[staged.read[here]] == matrix]
        found[matrix] = distinct(as_drawn(recording.arrays[matrix], staged.read_element[mine]))
    return found


class NearCells:
    """The cells of one recording that are not dimmed; found again only when the choice changes."""

    def __init__(self, playable: Playable) -> None:
        self._playable = playable
        self._kept: tuple[Any, Related] | None = None

    def at(self, moment: Moment) -> Related | None:
        """Return the cells at a moment; None if nothing is dimmed."""
        if moment.frozen:
            frozen = moment.step, moment.block, moment.warp
            if self._kept is None or self._kept[0] != frozen:
                self._kept = frozen, touched_by_warp(self._playable, *frozen)
            return self._kept[1]
        if moment.cell is None:
            return None
        key = moment.cell, moment.block
        if self._kept is None or self._kept[0] != key:
            self._kept = key, related(self._playable, *key)
        return self._kept[1]
