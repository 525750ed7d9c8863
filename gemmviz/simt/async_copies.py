"""The recorder's report on asynchronous copies: the copies that arrived, and their instructions."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.layout import COPY


@dataclass(frozen=True)
class Copies:
    """The asynchronous copies of a run.

    Attributes
    ----------
    arrived
        One record per copy that its thread waited for, in no order. ``block`` and ``thread`` issued it in ``phase``;
        ``order`` is its number among the copies of the thread, from 0. ``reads`` and ``writes`` are the numbers of its
        rows: no reads if only zeros are copied, no writes if the destination is not an array.
    reading, writing
        bool, per site: whether it is the read or the write of an asynchronous copy.
    """

    arrived: npt.NDArray[Any]
    reading: npt.NDArray[np.bool_]
    writing: npt.NDArray[np.bool_]


def begin(code: ctypes.CDLL, capacity: int, processes: int) -> None:
    """Prepare for a run of at most `capacity` accesses by at most `processes` processes.

    Raises
    ------
    ConstraintError
        When there is not enough memory.
    """
    if not code.gv_copies_begin(ctypes.c_uint64(capacity), ctypes.c_uint32(processes)):
        raise ConstraintError(tr("not enough memory to record {count} accesses", count=thousands(capacity)))


def copies_of_run(code: ctypes.CDLL, site_pc: Sequence[int]) -> Copies:
    """Return the report since `begin`, and free its memory.

    Parameters
    ----------
    code
        The recorder.
    site_pc
        The address of each site's instruction.
    """
    log, instruction, instructions = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_size_t)(), ctypes.c_uint64()
    code.gv_copies.restype = ctypes.c_uint64
    count = code.gv_copies(ctypes.byref(log), ctypes.byref(instruction), ctypes.byref(instructions))
    raw = ctypes.string_at(log, count * COPY.itemsize)
    sites = np.array(site_pc, np.uint64)
    known = np.array(instruction[: instructions.value], np.uint64)
    code.gv_copies_end()
    return Copies(np.frombuffer(raw, COPY), np.isin(sites, known - np.uint64(1)), np.isin(sites, known))
