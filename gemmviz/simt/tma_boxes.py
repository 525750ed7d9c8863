"""The recorder's report on the copy engine's boxes and on mbarriers, and the arrays that boxes make of bare bytes."""

import ctypes
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.language import tr
from gemmviz.simt.debuginfo import SharedArray
from gemmviz.simt.layout import BOX, EVENT, PIECE_BYTES, TENSOR_MAP

_MAP_BYTES, _MAP_ALIGNMENT = 128, 64
_BARRIER_BYTES = 8
BARE = ("int8", "uint8")


@dataclass(frozen=True)
class TmaReport:
    """The report since `begin`.

    Attributes
    ----------
    boxes
        One record per box that was asked for, in no order: `layout.BOX`. ``arrived`` is `layout.NEVER` for one that
        never arrived.
    events
        One record per thing that happened to an mbarrier, block by block in order: `layout.EVENT`.
    """

    boxes: npt.NDArray[Any]
    events: npt.NDArray[Any]


def begin(code: ctypes.CDLL, capacity: int) -> None:
    """Get ready for a run of at most `capacity` accesses.

    Raises
    ------
    ConstraintError
        When there is no memory.
    """
    if not code.gv_boxes_begin(ctypes.c_uint64(capacity)) or not code.gv_events_begin(ctypes.c_uint64(capacity)):
        raise ConstraintError(tr("not enough memory to record {count} accesses", count=f"{capacity:,}"))


def boxes_of_run(code: ctypes.CDLL, anchor: int, place: Callable[[int], tuple[int, int]] | None = None) -> TmaReport:
    """Return the report since `begin`, and give its memory back.

    Parameters
    ----------
    code
        The recorder.
    anchor
        Where offsets in shared memory are counted from.
    place
        Returns the source line of an instruction's address; without it, ``line`` is 0.
    """
    boxes, events = (
        _relative(_records(function, kind), anchor, place)
        for function, kind in ((code.gv_boxes, BOX), (code.gv_events, EVENT))
    )
    code.gv_boxes_end()
    code.gv_events_end()
    # Each block's own are in order, whichever process ran it.
    return TmaReport(*(told[np.argsort(told["block"], kind="stable")] for told in (boxes, events)))


def _relative(told: npt.NDArray[Any], anchor: int, place: Callable[[int], tuple[int, int]] | None) -> npt.NDArray[Any]:
    """Return records with offsets instead of addresses, and lines instead of instructions."""
    for name in ("shared", "barrier"):
        if name in (told.dtype.names or ()):
            told[name] -= anchor
    pcs, which = np.unique(told["pc"], return_inverse=True)
    lines = [place(int(pc))[0] if place else 0 for pc in pcs]
    told["pc"] = np.array(lines, np.int64)[which]
    return told


def _records(function: Any, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    log = ctypes.c_void_p()
    function.restype = ctypes.c_uint64
    count = function(ctypes.byref(log))
    return np.frombuffer(bytearray(ctypes.string_at(log, count * kind.itemsize)), kind)


def tiles(
    array: SharedArray, boxes: npt.NDArray[Any], dtypes: Sequence[str], names: Collection[str] = ()
) -> list[SharedArray]:
    """Return the arrays of tiles that boxes make of shared memory declared as one row of bytes or numbers.

    The boxes of a matrix that stand one behind the other are one array: (stages, boxes of a stage, rows, columns),
    where a stage is the memory that one mbarrier waits for; without the first two where they are 1.

    Parameters
    ----------
    array
        The bytes, or numbers.
    boxes
        Those of a run (`Told`).
    dtypes
        Of A, B and C.
    names
        That are taken.
    """
    if len(array.shape) != 1:
        return []
    length = array.shape[0] * np.dtype(array.dtype).itemsize
    inside = (boxes["shared"] >= array.offset) & (boxes["shared"] < array.offset + length)
    found: list[SharedArray] = []
    taken: list[tuple[int, int]] = []
    for store in (0, 1):
        for matrix, letter in enumerate(MATRICES):
            mine = boxes[inside & (boxes["matrix"] == matrix) & ((boxes["store"] > 0) == store)]
            mine = mine[np.unique(mine["shared"], return_index=True)[1]]
            if not len(mine) or (array.dtype not in BARE and array.dtype != dtypes[matrix]):
                continue
            size = int(mine["rows"][0] * mine["pieces"][0]) * PIECE_BYTES
            runs = np.split(mine, np.flatnonzero(np.diff(mine["shared"]) != size) + 1)
            for number, run in enumerate(runs):
                start, end = int(run["shared"][0]) - array.offset, int(run["shared"][-1]) - array.offset + size
                # A tile on top of another's place has no array of its own.
                if end > length or any(start < other and begin < end for begin, other in taken):
                    continue
                taken.append((start, end))
                name = f"{letter}s" if len(runs) == 1 else f"{letter}s{number}"
                name = name if name not in names else f"{array.name}.{name}"
                found.append(SharedArray(name, array.offset + start, _shape(run, dtypes[matrix]), dtypes[matrix]))
    return found + (_between(array, taken) if found and array.dtype not in BARE else [])


def _between(array: SharedArray, taken: Sequence[tuple[int, int]]) -> list[SharedArray]:
    """Return the parts of an array of numbers between tiles and behind them, which the kernel fills by itself."""
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
    if (stages != stages[:, :1]).any():  # they do not stand side by side
        each = 1
    return (*(side for side in (len(run) // each, each) if side > 1), *tile)


def barrier_name(arrays: Sequence[SharedArray], offset: int) -> str:
    """Name an mbarrier, ``full[2]``, by its offset; one that is in no array by the offset itself."""
    for array in arrays:
        index, within = divmod(offset - array.offset, _BARRIER_BYTES)
        if 0 <= index < int(np.prod(array.shape)) and not within:
            if array.shape == (1,):
                return array.name
            return array.name + "".join(f"[{i}]" for i in np.unravel_index(index, array.shape))
    return f"+{offset}"


def described(launch: Launch, matrix: str, arrays: Sequence[Any]) -> npt.NDArray[np.uint8]:
    """Return the tensor map of a matrix as the recorder's kernels take it (`layout.TENSOR_MAP`).

    Parameters
    ----------
    launch
        Whose maps.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    arrays
        A, B and C, each with its ``address`` and ``view``.
    """
    box, which = launch.maps[matrix], MATRICES.index(matrix)
    rows, columns = launch.problem.shape(matrix)
    if matrix in launch.kernel.column_major:
        rows, columns = columns, rows
    filled = np.zeros(1, TENSOR_MAP)
    itemsize = arrays[which].view.itemsize
    filled[0] = (arrays[which].address, which, itemsize, rows, columns, box.rows, box.columns, box.swizzle)
    # It is copied as a whole, by instructions that want it aligned.
    room = np.zeros(_MAP_BYTES + _MAP_ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _MAP_ALIGNMENT
    aligned = room[start : start + _MAP_BYTES]
    aligned[: filled.nbytes] = filled.view(np.uint8)
    return aligned
