"""The recorder's report on asynchronous copies."""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.block_order import by_block
from gemmviz.simt.layout import COPY


def begin(code: ctypes.CDLL, capacity: int, processes: int) -> None:
    """Prepare for a run of at most `capacity` accesses by at most `processes` processes.

    Raises
    ------
    ConstraintError
        When there is not enough memory.
    """
    if not code.gv_copies_begin(ctypes.c_uint64(capacity), ctypes.c_uint32(processes)):
        raise ConstraintError(tr("not enough memory to record {count} accesses", count=thousands(capacity)))


def copies_of_run(code: ctypes.CDLL) -> npt.NDArray[Any]:
    """Return the copies that have arrived since `begin`, `layout.COPY`, and free the recorder's memory.

    They are sorted by block and thread, and those of a thread are in their order. Only those with a row for their write
    are reported.

    Parameters
    ----------
    code
        The recorder.
    """
    log = ctypes.c_void_p()
    code.gv_copies.restype = ctypes.c_uint64
    count = code.gv_copies(ctypes.byref(log))
    found = np.zeros(0, COPY)
    if count:  # one process has run each block, so its copies are together
        found = by_block(np.frombuffer((ctypes.c_char * (count * COPY.itemsize)).from_address(log.value or 0), COPY))
    code.gv_copies_end()
    return found
