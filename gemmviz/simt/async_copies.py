"""The recorder's report on asynchronous copies."""

import ctypes

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.layout import RecorderRun, Status


def begin(code: ctypes.CDLL, capacity: int, processes: int) -> None:
    """Prepare for a run of at most `capacity` accesses by at most `processes` processes.

    Raises
    ------
    ConstraintError
        When there is not enough memory.
    """
    if not code.gv_copies_begin(ctypes.c_uint64(capacity), ctypes.c_uint32(processes)):
        raise ConstraintError(tr("not enough memory to record {count} accesses", count=thousands(capacity)))


def copies_of_run(code: ctypes.CDLL, run: RecorderRun) -> npt.NDArray[np.int64]:
    """Return the copies that have arrived since `begin`, and free the recorder's memory.

    Each has the row that writes it, the row that reads it (-1: none), and the phase of its issue. They are sorted by
    block and thread, and those of a thread are in their order. Only those with a row for their write are reported, and
    none of a run that has not come to its end.

    Parameters
    ----------
    code
        The recorder.
    run
        After the run, with its columns.

    Raises
    ------
    MemoryError
        When there is not enough memory.
    """
    code.gv_copies.restype = ctypes.c_uint64
    complete = run.status == Status.OK and not run.count_only
    found = np.empty((code.gv_copies() if complete else 0, 3), np.int64)
    enough = not len(found) or code.gv_copies_found(ctypes.byref(run), ctypes.c_void_p(found.ctypes.data))
    code.gv_copies_end()
    if not enough:
        raise MemoryError
    return found
