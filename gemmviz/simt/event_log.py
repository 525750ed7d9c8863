"""The recorder's log of the events of mbarriers, in memory that becomes an array of the recording."""

import ctypes
import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.sandbox.libc import MAP_NORESERVE
from gemmviz.sandbox.result_memory import HUGE_PAGE
from gemmviz.simt.block_order import order_of, reordered
from gemmviz.simt.layout import EVENT, EventAddresses, RecorderRun
from gemmviz.simt.shared_array import SharedArray

FIELDS = EVENT.itemsize // 4
"""The fields of an event, each of 8 bytes."""
_COUNT_BYTES = 8  # in front of the log
_BARRIER_BYTES = 8


@dataclass(frozen=True)
class EventsOfRun:
    """The events of a complete run.

    Attributes
    ----------
    table
        int32, a row per event, block by block in order, with the columns of `layout.EVENT`. ``barrier`` is the number
        of an mbarrier, or -1: first those of the arrays have a number, then those of `untyped`.
    untyped
        The offsets of further mbarriers that the events name, ascending.
    """

    table: npt.NDArray[np.int32]
    untyped: list[int]


class EventLog:
    """The memory for the events of one run of at most `capacity` accesses by at most `processes` processes.

    Raises
    ------
    OSError
        When there is not enough memory.
    """

    def __init__(self, code: ctypes.CDLL, capacity: int, processes: int) -> None:
        self._code = code
        kind = mmap.MAP_SHARED if processes > 1 else mmap.MAP_PRIVATE  # new shared pages take longer
        kind |= mmap.MAP_ANONYMOUS | MAP_NORESERVE
        self._pages = mmap.mmap(-1, _COUNT_BYTES + HUGE_PAGE + capacity * EVENT.itemsize, flags=kind)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        self._log = _COUNT_BYTES + -(start + _COUNT_BYTES) % HUGE_PAGE
        count, log = ctypes.c_void_p(start + self._log - _COUNT_BYTES), ctypes.c_void_p(start + self._log)
        code.gv_events_begin(count, log, ctypes.c_uint64(capacity), ctypes.c_uint32(processes))

    @property
    def count(self) -> int:
        """The number of events so far."""
        return int.from_bytes(self._pages[self._log - _COUNT_BYTES : self._log], "little")

    def found(
        self,
        run: RecorderRun,
        boxes: npt.NDArray[Any],
        barriers: Sequence[SharedArray],
        anchor: int,
        place: Callable[[int], tuple[int, int]],
    ) -> EventsOfRun:
        """Return the events of the complete run, and set `boxes` (`layout.BOX`) to rows in place of counts of accesses.

        Parameters
        ----------
        run
            With its columns.
        boxes
            The recorder's report.
        barriers
            The arrays of mbarriers.
        anchor
            The address from which offsets in shared memory are counted.
        place
            Returns the source line of an instruction's address.

        Raises
        ------
        MemoryError
            When there is not enough memory.
        """
        count = self.count
        self._pages.resize(self._log + count * EVENT.itemsize)
        log = np.frombuffer(self._pages, EVENT, count, self._log)
        addresses, events = EventAddresses(), ctypes.c_void_p(log.ctypes.data)
        numbered = self._code.gv_events_numbered(ctypes.c_uint64(count), events, ctypes.byref(addresses))
        of = [address - anchor for address in addresses.barrier[: addresses.barriers]]
        lines = np.array([place(address)[0] for address in addresses.line[: addresses.lines]], np.int64)
        self._code.gv_events_numbered_end()
        known = barrier_offsets(barriers)
        untyped = sorted({*of} - {*known})
        number = {offset: i for i, offset in reversed([*enumerate(known + untyped)])}
        numbers = np.array([number[offset] for offset in of], np.int64)
        if not numbered or not self._code.gv_rows_found(
            *(ctypes.byref(run), ctypes.c_uint64(count), events),
            *(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_void_p(lines.ctypes.data)),
            *(ctypes.c_uint64(len(boxes)), ctypes.c_void_p(boxes.ctypes.data)),
        ):
            raise MemoryError
        order = order_of(log["block"])
        log = log if order is None else reordered(log, order)
        return EventsOfRun(log.view(np.int32).reshape(count, FIELDS), untyped)


def barrier_offsets(barriers: Sequence[SharedArray]) -> list[int]:
    """Return the offset of every mbarrier of some arrays."""
    return [array.offset + _BARRIER_BYTES * i for array in barriers for i in range(int(np.prod(array.shape)))]
