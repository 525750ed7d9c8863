"""The stages of shared memory that a block fills and reads in turns, and each filling with its steps.

A *stage* is a part of shared memory that holds one tile of A and one of B; a *filling* is one such pair of tiles. Both
follow from the recording alone: values of A or B are written to shared memory (`gemmviz.trace.origin.staging`), and the
nth value that is written to an address belongs to the nth filling of its stage. Parts of one array are different stages
if the copy engine counts their bytes at different mbarriers, or if their first values are in different tiles along K.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.fillings import NEVER, Filling, Stages
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.order.position_along_k import position_along_k
from gemmviz.trace.order.requests import Ints, changes, earlier
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARPGROUP


@dataclass(frozen=True)
class _Written:
    """Elements of tiles that a block writes to shared memory, in the order of the steps: columns of one length.

    `slot` numbers all elements of shared memory, array after array; `region` is -1 if it is not known.
    """

    row: Ints
    slot: Ints
    step: Ints
    k: Ints
    line: Ints
    matrix: Ints
    box: Ints
    read: Ints

    @cached_property
    def lap(self) -> Ints:
        return earlier(np.zeros(len(self.slot), np.int64), self.slot)


@per_recording
def stages(playable: Playable, block: int) -> Stages | None:
    """Find the stages of a block; None if it copies no tiles to shared memory.

    Parameters
    ----------
    playable, block
        The recording and the block.
    """
    depth = playable.story.depth
    written = _written(playable, block) if depth else None
    if written is None or not (written.read >= 0).any():
        return None
    stage = _stage_of_slot(playable, written, depth)[written.slot]
    known = stage >= 0
    laps = int(written.lap.max()) + 1
    of_item = np.where(known, stage * laps + written.lap, -1)
    numbers, index = np.unique(of_item[known], return_inverse=True)
    filling = np.full(len(of_item), -1, np.int64)
    filling[known] = index
    asked, arrived = _first_and_last(playable, written, filling, len(numbers))
    real = np.flatnonzero(asked < NEVER)
    order = real[np.lexsort((arrived[real], asked[real]))]
    uses = _uses(playable, block, written, filling)
    agents = sorted({agent for used in uses.values() for agent in used})
    log = playable.recording.accesses
    copied = written.read[(written.read >= 0) & known]
    asking = distinct(_agent(playable, log.thread[copied])).tolist()
    gates = _gates(playable, written, filling, len(numbers))
    found, bytes_of = [], []
    for place, at in enumerate(order.tolist()):
        mine = np.flatnonzero(filling == at)
        own = mine[written.read[mine] >= 0]
        k = written.k[own]
        (row, high), (column, wide) = (_extent(written.line[own[written.matrix[own] == matrix]]) for matrix in (A, B))
        used = uses.get(at, {})
        full, empty = gates[at].tolist()
        last = max((last for _, last in used.values()), default=NEVER)
        freed = last + 1 if empty < 0 and last < NEVER else last
        found.append(
            Filling(
                place,
                int(numbers[at]) // laps,
                int(numbers[at]) % laps,
                int(k.min()),
                int(k.max()) - int(k.min()) + 1,
                row,
                column,
                high,
                wide,
                int(asked[at]),
                int(arrived[at]),
                used,
                freed if empty < 0 or last == NEVER else _completed(playable, block, empty, last),
                full,
                empty,
            )
        )
        bytes_of.append(_bytes_by_step(playable, written, mine))
    count = max((f.stage for f in found), default=-1) + 1
    return Stages(count, tuple(found), tuple(asking), tuple(agents), tuple(bytes_of))


@per_recording
def is_pipeline(playable: Playable) -> bool:
    """Say whether tiles come in while others are used: by asynchronous copies, or into several stages in turns.

    Parameters
    ----------
    playable
        The recording; of the stages without asynchronous copies those of its first block count.
    """
    depth = playable.story.depth
    if not depth or len(playable.recording.accesses.copies):
        return depth > 0
    written = _written(playable, int(playable.recording.accesses.block[0]))
    return written is not None and int(_stage_of_slot(playable, written, depth).max(initial=-1)) > 0


def _written(playable: Playable, block: int) -> _Written | None:
    """Return the writes of a block to the shared arrays that hold tiles; None if there are none."""
    recording, staged = playable.recording, playable.staged
    log, step_of_row = recording.accesses, playable.timeline.step_of_row
    begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    mine = slice(*np.searchsorted(staged.row, (begin, end)).tolist())
    row, element, read, read_element = (
        column[mine] for column in (staged.row, staged.element, staged.read, staged.read_element)
    )
    shared = np.array([a.space == "shared" for a in recording.arrays])
    brings = (read >= 0) & shared[log.array[row]]
    brings[brings] = log.array[read[brings]] <= B
    sites = distinct(log.site[row[brings]])
    kept = np.flatnonzero(np.isin(log.site[row], sites) & shared[log.array[row]])
    if not len(kept):
        return None
    kept = kept[np.argsort(step_of_row[row[kept]], kind="stable")]
    row, element, read, read_element = (column[kept] for column in (row, element, read, read_element))
    there = np.maximum(read, 0)
    k = np.where(read >= 0, position_along_k(recording, there, np.maximum(read_element, 0)), -1)
    matrix = np.where(read >= 0, log.array[there].astype(np.int64), -1)
    line = np.full(len(row), -1, np.int64)
    for which in (A, B):
        of = matrix == which
        line[of] = recording.arrays[which].cells(read_element[of])[which]
    return _Written(
        row,
        _slots(playable)[log.array[row]] + element.astype(np.int64),
        step_of_row[row],
        k,
        line,
        matrix,
        _box_of(playable, row),
        read,
    )


def _extent(lines: Ints) -> tuple[int, int]:
    """Return the first of some rows or columns, and how many there are from it to the last one."""
    return (int(lines.min()), int(lines.max() - lines.min()) + 1) if len(lines) else (0, 0)


def _box_of(playable: Playable, rows: Ints) -> Ints:
    """Return the box that each row writes, a number of `Recording.boxes`; -1: none."""
    boxes = playable.recording.boxes
    mine = np.flatnonzero((boxes.write >= 0) & (boxes.store == 0))
    if not len(mine):
        return np.full(len(rows), -1, np.int64)
    mine = mine[np.argsort(boxes.write[mine], kind="stable")]
    at = mine[np.maximum(np.searchsorted(boxes.write[mine], rows, side="right") - 1, 0)]
    inside = (boxes.write[at] <= rows) & (rows < boxes.write[at] + boxes.writes[at])
    return np.where(inside, at, -1)


def _stage_of_slot(playable: Playable, written: _Written, depth: int) -> Ints:
    """Return the stage of each element of shared memory; -1 if it holds no tile."""
    boxes = playable.recording.boxes
    size = int(written.slot.max()) + 1
    sign, matrix = np.full((2, size), -1, np.int64)
    first = np.flatnonzero((written.lap == 0) & (written.read >= 0))
    sign[written.slot[first]] = written.k[first] // depth
    matrix[written.slot[first]] = written.matrix[first]
    boxed = np.flatnonzero(written.box >= 0)
    if len(boxed):
        # Bytes are counted at the stage's own mbarrier, which is more certain than the position along K.
        sign[written.slot[boxed]] = -2 - boxes.barrier[written.box[boxed]]
        matrix[written.slot[boxed]] = boxes.matrix[written.box[boxed]]
    at = distinct(written.slot)
    known = np.flatnonzero(matrix[at] >= 0)
    stage = np.full(size, -1, np.int64)
    if not len(known):
        return stage
    # Zeros beyond an edge belong to the neighbouring tile.
    source = at[known[np.maximum(np.searchsorted(known, np.arange(len(at)), side="right") - 1, 0)]]
    sign, matrix = sign[source], matrix[source]
    for which in (A, B):
        mine = np.flatnonzero(matrix == which)
        runs = changes(sign[mine]) if len(mine) else mine
        _, names = np.unique(np.arange(len(runs)), return_inverse=True)
        of_run = np.searchsorted(runs, np.arange(len(mine)), side="right") - 1
        stage[at[mine]] = _same_barrier(sign[mine[runs]], names)[of_run]
    return stage


def _same_barrier(sign: Ints, names: Ints) -> Ints:
    """Return the stage of each region: regions whose bytes are counted by the same mbarrier are one stage."""
    if not (sign <= -2).all():
        return names
    return np.unique(-sign, return_inverse=True)[1]


def _first_and_last(playable: Playable, written: _Written, filling: Ints, count: int) -> tuple[Ints, Ints]:
    """Return, per filling, the first step that reads a part of it and the last one that writes a part of it."""
    asked, arrived = np.full(count, NEVER), np.full(count, -1, np.int64)
    known = np.flatnonzero(filling >= 0)
    np.maximum.at(arrived, filling[known], written.step[known])
    read = known[written.read[known] >= 0]
    np.minimum.at(asked, filling[read], playable.timeline.step_of_row[written.read[read]])
    return asked, arrived


def _agent(playable: Playable, thread: npt.NDArray[np.uint16]) -> Ints:
    """Return the agent of threads: their warpgroup if mbarriers synchronise them, else 0."""
    if not playable.recording.barriers:
        return np.zeros(len(thread), np.int64)
    return thread.astype(np.int64) // WARPGROUP


def _uses(playable: Playable, block: int, written: _Written, filling: Ints) -> dict[int, dict[int, tuple[int, int]]]:
    """Return, per filling, the first and the last step in which each agent reads it."""
    recording, steps = playable.recording, playable.timeline.steps
    log = recording.accesses
    begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    holding = np.zeros(len(recording.arrays), bool)
    holding[distinct(log.array[written.row])] = True
    rows = begin + np.flatnonzero(~log.write[begin:end] & holding[log.array[begin:end]])
    slot = _slots(playable)[log.array[rows]] + log.element[rows].astype(np.int64)
    step = playable.timeline.step_of_row[rows]
    order = np.argsort(written.slot * steps + written.step, kind="stable")
    key = (written.slot * steps + written.step)[order]
    at = np.searchsorted(key, slot * steps + step) - 1
    source = order[np.maximum(at, 0)]
    found = (at >= 0) & (written.slot[source] == slot) & (filling[source] >= 0)
    count = int(filling.max(initial=0)) + 1
    pair = _agent(playable, log.thread[rows[found]]) * count + filling[source[found]]
    first, last = np.full(int(pair.max(initial=0)) + 1, NEVER), np.full(int(pair.max(initial=0)) + 1, -1, np.int64)
    np.minimum.at(first, pair, step[found])
    np.maximum.at(last, pair, step[found])
    uses: dict[int, dict[int, tuple[int, int]]] = {}
    for number in np.flatnonzero(last >= 0).tolist():
        agent, of = divmod(number, count)
        uses.setdefault(of, {})[agent] = int(first[number]), int(last[number])
    return uses


def _slots(playable: Playable) -> Ints:
    """Return, per array, the number of its first element in a common numbering of a block's shared memory."""
    sizes = [a.size if a.space == "shared" else 0 for a in playable.recording.arrays]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _gates(playable: Playable, written: _Written, filling: Ints, count: int) -> Ints:
    """Return, per filling, the mbarriers for full and for empty: int64 (count, 2), -1: none."""
    recording = playable.recording
    gates = np.full((count, 2), -1, np.int64)
    boxed = np.flatnonzero((written.box >= 0) & (filling >= 0))
    gates[filling[boxed], 0] = recording.boxes.barrier[written.box[boxed]]
    names = recording.barriers
    full = {names[b][0] for b in distinct(gates[:, 0]).tolist() if b >= 0}
    size = sum(name in full for name, _ in names)
    others = [n for n in dict.fromkeys(name for name, _ in names) if n not in full]
    other = next((n for n in others if sum(name == n for name, _ in names) == size), None)
    if len(full) == 1 and other is not None:
        by_index = {index: b for b, (name, index) in enumerate(names) if name == other}
        gates[:, 1] = [by_index.get(names[b][1], -1) if b >= 0 else -1 for b in gates[:, 0].tolist()]
    return gates


def _completed(playable: Playable, block: int, barrier: int, after: int) -> int:
    """Return the first step, from `after` on, at which a phase of a block's mbarrier ends."""
    known = playable.mbarrier_states
    number = block * known.barriers + barrier
    first, last = np.searchsorted(known.key, np.array([number, number + 1]) * (known.steps + 1)).tolist()
    ended, steps = known.values[first:last, 0], known.key[first:last] % (known.steps + 1)
    new = np.flatnonzero(np.diff(ended, prepend=0) > 0)
    at = np.searchsorted(steps[new], after)
    return int(steps[new][at]) if at < len(new) else NEVER


def _bytes_by_step(playable: Playable, written: _Written, mine: Ints) -> tuple[Ints, Ints]:
    """Return the steps at which elements are written, ascending, and the bytes written by then."""
    recording = playable.recording
    each = np.array([a.itemsize for a in recording.arrays])[recording.accesses.array[written.row[mine]]]
    steps, index = np.unique(written.step[mine], return_inverse=True)
    return steps, np.cumsum(np.bincount(index, each).astype(np.int64))
