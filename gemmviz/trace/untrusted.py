"""Checks recordings from a process in which a stranger's kernel ran, before their numbers are used as indices.

A kernel can overwrite all memory of its process, also the recording. So what arrived may contain any numbers. The
type of each field was checked when the message was read; here every index is compared with the size of its array.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import tr
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.parts import ROWS_AT_ONCE
from gemmviz.trace.recording.accesses import further_words
from gemmviz.trace.recording.recording import WARP, WARPGROUP, Recording
from gemmviz.trace.recording.tma_boxes import REMOTE

_MOST_THREADS = 1024  # per block: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
_MOST_BLOCKS = 1 << 40
_MOST_CELLS = 1 << 36
_SPACES = ("global", "shared")
_DTYPES = "biuf"


class Damaged(GemmvizError):
    """A recording that is inconsistent."""

    def __init__(self, why: object) -> None:
        super().__init__(
            tr("The recording that arrived contradicts itself ({why}): the kernel may have written over it.", why=why)
        )


def checked_recording(found: Recording) -> Recording:
    """Return a recording from another process.

    Raises
    ------
    Damaged
        When a size does not fit, or an index is out of range.
    """
    with _damages():
        _check_launch(found)
        _check_rows(found)
    return found


def checked_timeline(found: Timeline | None, recording: Recording) -> Timeline:
    """Return a timeline from another process.

    Raises
    ------
    Damaged
        When it is not an order of the recording's rows.
    """
    with _damages():
        _need(found is not None, "no order")
        assert found is not None
        steps, rows = found.steps, len(recording.accesses)
        _need(found.order_by in ("grid", "block"), "an unknown order")
        for name, length in (("order", rows), ("start", steps + 1), *((n, steps) for n in ("site", "array", "phase"))):
            _column(getattr(found, name), length, name, "iu")
        _column(found.write, steps, "write", "b")
        _within(found.order, rows, "order")
        _need(_has_each_once(found.order), "an order that repeats rows")
        _need(int(found.start[0]) == 0 and int(found.start[-1]) == rows, "steps that do not cover the rows")
        _need(bool((np.diff(found.start) > 0).all()), "an empty step")
        _within(found.site, len(recording.sites), "site of a step")
        _within(found.array, len(recording.arrays), "array of a step")
    return found


def checked_traffic(found: Traffic | None, recording: Recording, timeline: Timeline | None) -> Traffic:
    """Return traffic from another process.

    Raises
    ------
    Damaged
        When it does not belong to this recording and timeline.
    """
    with _damages():
        _need(found is not None, "no traffic")
        assert found is not None
        steps = timeline.steps if timeline is not None else 0
        _need(found.running.shape == (steps, len(recording.arrays), 2, 3), "sums of another shape")
        _need(found.running.dtype.kind in "iu", "sums that are no whole numbers")
        _need(len(found.arrays) == len(recording.arrays), "another number of arrays")
        names = {array.name for array in recording.arrays}
        for site in found.sites:
            _need(site.array in names, "an array that is not there")
            _need(site.line >= 0, "a line that is not there")
    return found


@contextmanager
def _damages() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise Damaged(error) from None


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _column(found: Any, length: int, name: str, kinds: str) -> None:
    _need(isinstance(found, np.ndarray) and found.dtype.kind in kinds and found.shape == (length,), f"{name} is wrong")


def _within(found: npt.NDArray[Any], end: int, name: str, first: int = 0) -> None:
    if found.size:
        _need(first <= int(found.min()) and int(found.max()) < end, f"{name} points outside")


def _has_each_once(order: npt.NDArray[Any]) -> bool:
    """Return whether an array of length n, with numbers from 0 to n - 1, has each of them once.

    In parts: the window's thread need not wait until all rows of a large recording are looked at.
    """
    seen = np.zeros(len(order), bool)
    for begin in range(0, len(order), ROWS_AT_ONCE):
        seen[order[begin : begin + ROWS_AT_ONCE]] = True
    return bool(seen.all())


def _check_launch(found: Recording) -> None:
    texts = (found.kernel, found.label, found.backend, found.text, found.sha256)
    _need(all(isinstance(text, str) for text in texts), "a text")
    sides = (found.m, found.n, found.k)
    _need(all(isinstance(s, int) and 0 < s < _MOST_CELLS for s in sides), "a size")
    for dims in (found.block, found.grid):
        _need(len(dims) == 3 and all(isinstance(d, int) and d > 0 for d in dims), "a block or a grid")
    _need(found.threads <= _MOST_THREADS and found.blocks <= _MOST_BLOCKS, "a block or a grid")
    for matrix, shape in ((found.a, (sides[0], sides[2])), (found.b, (sides[2], sides[1])), (found.c, sides[:2])):
        _need(isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.shape == shape, "a matrix")
    _need(len(found.arrays) >= 3 and len(found.arrays) < 256, "the arrays")
    for array in found.arrays:
        _need(isinstance(array.name, str) and array.space in _SPACES, "an array")
        _need(len(array.shape) > 0 and all(isinstance(s, int) and s > 0 for s in array.shape), "the shape of an array")
        _need(not array.panels or (len(array.shape) == 3 and not array.column_major), "the shape of panels")
        _need(array.size < _MOST_CELLS and array.itemsize > 0, "the size of an array")
    for site in found.sites:
        _need(isinstance(site.line, int) and site.line >= 0 and isinstance(site.column, int), "a place in the source")
    _need(found.together in (1, WARP, WARPGROUP), "how many threads work together")
    if found.scope is not None:
        first, end = found.scope
        _need(0 <= first < end <= found.blocks, "the recorded blocks")
    if found.sharing is not None:
        _need(found.sharing.holds, "launches of GPUs that are not there")
        _need(found.blocks % len(found.sharing.launches) == 0, "the launches of several GPUs")


def _check_rows(found: Recording) -> None:
    log = found.accesses
    rows = len(log.site)
    for name in ("site", "array", "bytes", "element", "block", "thread", "phase", "turn"):
        _column(getattr(log, name), rows, name, "iu")
    _column(log.write, rows, "write", "b")
    _column(log.value, rows, "value", "f")
    _need(isinstance(log.more, np.ndarray) and log.more.ndim == 1 and log.more.dtype == np.uint32, "the further values")
    _within(log.site, len(found.sites), "site")
    _within(log.array, len(found.arrays), "array")
    _within(log.block, found.blocks, "block")
    _within(log.thread, found.threads, "thread")
    if rows:
        itemsize = np.array([a.itemsize for a in found.arrays], np.int64)
        size = np.array([a.size for a in found.arrays], np.int64)
        width = np.maximum(log.bytes.astype(np.int64) // itemsize[log.array], 1)
        _need(bool((log.element.astype(np.int64) + width <= size[log.array]).all()), "element points outside")
        _need(len(log.more) in (0, int(further_words(found.arrays, log.array, width).sum())), "the further values")
    # Tables with row numbers, or -1.
    for name, kind, columns in (("copies", np.int64, (0, 1)), ("boxes", np.int64, (0, 2)), ("events", np.int32, (10,))):
        table = getattr(log, name)
        _need(isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype == kind, name)
        for column in columns:
            _within(table[:, column], rows + 1, name, first=-1)
    boxes = found.boxes
    for first, count in ((boxes.read, boxes.reads), (boxes.write, boxes.writes)):
        _need(bool(((count >= 0) & (first + count <= rows)).all()), "boxes")
    _within(boxes.block, found.blocks, "block of a box")
    _within(boxes.to, found.blocks, "destination of a box")
    _within(boxes.thread, found.threads, "thread of a box")
    _within(boxes.array, len(found.arrays), "array of a box", first=-1)
    _within(boxes.matrix, 3, "matrix of a box")
    _within(boxes.barrier, len(found.barriers), "barrier of a box", first=-1)
    events = found.events
    _within(events.barrier, len(found.barriers), "barrier", first=-1)
    _within(events.block, found.blocks, "block of an event")
    remote = events.kind == REMOTE
    _within(events.number[remote], found.blocks, "block of a remote access")
    _need(bool((events.arrivals[remote] > 0).all()), "blocks of a cluster")
