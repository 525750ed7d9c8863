"""The recorder's report on the copy engine's boxes and on mbarriers, and the tiles of boxes in untyped memory."""

import ctypes
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.block_order import by_block
from gemmviz.simt.bulk_copies import boxes_of_rows
from gemmviz.simt.event_log import FIELDS, EventLog, EventsOfRun
from gemmviz.simt.layout import BOX, PIECE_BYTES, TENSOR_MAP, RecorderRun, Status
from gemmviz.simt.shared_array import SharedArray

_MAP_BYTES, _MAP_ALIGNMENT = 128, 64
_BARRIER_BYTES = 8
_CODE_BYTES = 1 << 24
BARE = ("int8", "uint8")


@dataclass(frozen=True)
class TmaReport:
    """The report since `begin`.

    Attributes
    ----------
    boxes
        One record per requested box, sorted by block: `layout.BOX`. ``arrived`` is `layout.NEVER` for a box that never
        arrived. ``read_at`` and ``write_at`` are rows of the recording.
    events
        int32, one row per event of an mbarrier: `EventsOfRun.table`.
    untyped
        The offsets of mbarriers in untyped bytes: `EventsOfRun.untyped`.
    pieces
        int64, for each piece of a box that was loaded to shared memory: the row that writes it, the row that reads it
        (-1: none), and the phase in which the box was requested.
    """

    boxes: npt.NDArray[Any]
    events: npt.NDArray[np.int32]
    untyped: list[int]
    pieces: npt.NDArray[np.int64]


def begin(code: ctypes.CDLL, capacity: int, processes: int) -> EventLog:
    """Prepare for a run of at most `capacity` accesses by at most `processes` processes.

    Raises
    ------
    ConstraintError
        When there is not enough memory.
    """
    with suppress(OSError):
        log = EventLog(code, capacity, processes)
        if code.gv_boxes_begin(ctypes.c_uint64(capacity), ctypes.c_uint32(processes)):
            return log
    raise ConstraintError(tr("not enough memory to record {count} accesses", count=thousands(capacity)))


def boxes_of_run(
    code: ctypes.CDLL,
    log: EventLog,
    run: RecorderRun,
    anchor: int,
    launch: Launch,
    place: Callable[[int], tuple[int, int]],
    barriers: Sequence[SharedArray],
) -> TmaReport:
    """Return the report since `begin`, and free its memory. Without a complete recording there are no events.

    Parameters
    ----------
    code
        The recorder.
    log
        From `begin`.
    run
        After the run.
    anchor
        The address from which offsets in shared memory are counted.
    launch
        The launch with the sizes of the matrices.
    place
        Returns the source line of an instruction's address.
    barriers
        The arrays of mbarriers.
    """
    records = _records(code.gv_boxes, BOX)
    events = EventsOfRun(np.zeros((0, FIELDS), np.int32), [])
    if not len(records) and not log.count:  # most kernels have none
        code.gv_boxes_end()
        return TmaReport(records, events.table, events.untyped, np.zeros((0, 3), np.int64))
    if run.status == Status.OK and not run.count_only:
        events = log.found(run, records, barriers, anchor, place)
    # The records of each block are in order, because one process ran it.
    boxes = by_block(_in_matrices(_relative(records, anchor, place), launch))
    code.gv_boxes_end()
    complete = run.status == Status.OK and not run.count_only
    return TmaReport(boxes, events.table, events.untyped, _pieces(code, boxes if complete else boxes[:0]))


def _pieces(code: ctypes.CDLL, boxes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the pieces of boxes: `TmaReport.pieces`."""
    code.gv_pieces_found.restype = ctypes.c_uint64
    these = ctypes.c_uint64(len(boxes)), ctypes.c_void_p(boxes.ctypes.data)
    found = np.empty((code.gv_pieces_found(*these, None), 3), np.int64)
    code.gv_pieces_found(*these, ctypes.c_void_p(found.ctypes.data))
    return found


def end(code: ctypes.CDLL) -> None:
    """Free the memory of the report on boxes."""
    code.gv_boxes_end()


def boxes_so_far(code: ctypes.CDLL, anchor: int, launch: Launch) -> npt.NDArray[Any]:
    """Return the boxes since `begin`, also while the run goes on, as `boxes_of_run` does, without lines and rows."""
    return by_block(_in_matrices(_relative(_records(code.gv_boxes, BOX).copy(), anchor, None), launch))


def _in_matrices(boxes: npt.NDArray[Any], launch: Launch) -> npt.NDArray[Any]:
    itemsizes = [np.dtype(launch.kernel.dtype_of(matrix)).itemsize for matrix in MATRICES]
    return boxes_of_rows(boxes, [_stored_shape(launch, matrix)[1] for matrix in MATRICES], itemsizes)


def _relative(log: npt.NDArray[Any], anchor: int, place: Callable[[int], tuple[int, int]] | None) -> npt.NDArray[Any]:
    """Change records, so that they have offsets instead of addresses, and lines instead of instructions."""
    for name in ("shared", "barrier"):
        log[name] -= anchor
    log["pc"] = _lines(log["pc"], place) if place else 0
    return log


def _lines(pcs: npt.NDArray[np.uint64], place: Callable[[int], tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Return the line of each instruction. There are many, and few different ones, which are close to each other."""
    if not len(pcs):
        return np.zeros(0, np.int64)
    first = pcs.min()
    if pcs.max() - first > _CODE_BYTES:  # an address outside of the kernel's code
        far, which = np.unique(pcs, return_inverse=True)
        return np.array([place(pc)[0] for pc in far.tolist()], np.int64)[which]
    offset = (pcs - first).astype(np.int64)
    used = np.zeros(int(offset.max()) + 1, bool)
    used[offset] = True
    line = np.zeros(len(used), np.int64)
    for at in np.flatnonzero(used).tolist():
        line[at] = place(int(first) + at)[0]
    found: npt.NDArray[np.int64] = line[offset]
    return found


def _records(function: Any, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the recorder's records in its own memory."""
    log = ctypes.c_void_p()
    function.restype = ctypes.c_uint64
    count = function(ctypes.byref(log))
    if not count:
        return np.zeros(0, kind)
    return np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(log.value or 0), kind)


def tiles(
    array: SharedArray, boxes: npt.NDArray[Any], dtypes: Sequence[str], names: Collection[str] = ()
) -> list[SharedArray]:
    """Return the tiles of boxes in shared memory that is declared as one row of bytes or numbers, as arrays.

    Adjacent boxes of one matrix are one array with the shape (stages, boxes per stage, rows, columns), without the
    first two if they are 1. A stage is the memory of the boxes that one mbarrier waits for.

    Parameters
    ----------
    array
        The array of bytes or numbers.
    boxes
        The boxes of a run (`TmaReport`).
    dtypes
        The types of A, B and C.
    names
        The names that are in use already.
    """
    if len(array.shape) != 1:
        return []
    length = array.shape[0] * np.dtype(array.dtype).itemsize
    inside = (boxes["shared"] >= array.offset) & (boxes["shared"] < array.offset + length)
    # The matrix of each box, and whether it is stored.
    use = np.where(inside, 2 * boxes["matrix"].astype(np.int64) + (boxes["store"] > 0), -1)
    found: list[SharedArray] = []
    taken: list[tuple[int, int]] = []
    for store in (0, 1):
        for matrix, letter in enumerate(MATRICES):
            numbers = np.flatnonzero(use == 2 * matrix + store)
            if not len(numbers) or (array.dtype not in BARE and array.dtype != dtypes[matrix]):
                continue
            mine = boxes[numbers[np.unique(boxes["shared"][numbers], return_index=True)[1]]]
            size = int(mine["rows"][0] * mine["pieces"][0]) * PIECE_BYTES
            runs = np.split(mine, np.flatnonzero(np.diff(mine["shared"]) != size) + 1)
            for number, run in enumerate(runs):
                start, end = int(run["shared"][0]) - array.offset, int(run["shared"][-1]) - array.offset + size
                # A tile that overlaps another one gets no array.
                if end > length or any(start < other and begin < end for begin, other in taken):
                    continue
                taken.append((start, end))
                name = f"{letter}s" if len(runs) == 1 else f"{letter}s{number}"
                name = name if name not in names else f"{array.name}.{name}"
                found.append(SharedArray(name, array.offset + start, _shape(run, dtypes[matrix]), dtypes[matrix]))
    return found + (_between(array, taken) if found and array.dtype not in BARE else [])


def _between(array: SharedArray, taken: Sequence[tuple[int, int]]) -> list[SharedArray]:
    """Return the parts of an array of numbers between tiles and after them, which the kernel fills without TMA."""
    size = np.dtype(array.dtype).itemsize
    found, at = [], 0
    for start, end in [*sorted(taken), (array.shape[0] * size, 0)]:
        if start > at:
            found.append(SharedArray(array.name, array.offset + at, ((start - at) // size,), array.dtype))
        at = end
    return found


def _shape(run: npt.NDArray[Any], dtype: str) -> tuple[int, ...]:
    tile = int(run["rows"][0]), int(run["pieces"][0]) * PIECE_BYTES // np.dtype(dtype).itemsize
    of_stage = np.unique(run["barrier"], return_counts=True)[1]
    each = int(of_stage[0]) if (of_stage == of_stage[0]).all() else 1
    stages = run["barrier"].reshape(-1, each)
    if (stages != stages[:, :1]).any():  # the boxes of a stage are not adjacent
        each = 1
    return (*(side for side in (len(run) // each, each) if side > 1), *tile)


def barrier_name(arrays: Sequence[SharedArray], offset: int) -> str:
    """Return the name of the mbarrier at an offset, ``full[2]``; the offset as text if it is in no array."""
    for array in arrays:
        index, within = divmod(offset - array.offset, _BARRIER_BYTES)
        if 0 <= index < int(np.prod(array.shape)) and not within:
            if array.shape == (1,):
                return array.name
            return array.name + "".join(f"[{i}]" for i in np.unravel_index(index, array.shape))
    return f"+{offset}"


def _stored_shape(launch: Launch, matrix: str) -> tuple[int, int]:
    """Return the rows and columns of a matrix as it is stored."""
    rows, columns = launch.problem.shape(matrix)
    return (columns, rows) if matrix in launch.kernel.column_major else (rows, columns)


def described(launch: Launch, matrix: str, arrays: Sequence[Any]) -> npt.NDArray[np.uint8]:
    """Return the tensor map of a matrix in the recorder's form (`layout.TENSOR_MAP`).

    Parameters
    ----------
    launch
        The launch with the tensor maps.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    arrays
        A, B and C, each with its ``address`` and ``view``.
    """
    box, which = launch.maps[matrix], MATRICES.index(matrix)
    rows, columns = _stored_shape(launch, matrix)
    filled = np.zeros(1, TENSOR_MAP)
    itemsize = arrays[which].view.itemsize
    filled[0] = (arrays[which].address, which, itemsize, rows, columns, box.rows, box.columns, box.swizzle)
    # The kernel copies it as a whole, with instructions that need an aligned address.
    room = np.zeros(_MAP_BYTES + _MAP_ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _MAP_ALIGNMENT
    aligned = room[start : start + _MAP_BYTES]
    aligned[: filled.nbytes] = filled.view(np.uint8)
    return aligned
