"""The structures of ``runtime.h``, for ctypes."""

import ctypes as ct
from enum import IntEnum
from typing import Any

import numpy as np

MAX_ARRAYS, MAX_SITES, MAX_NOTES = 32, 4096, 32

# One column per field of an access, in the order of `Run`.
COLUMNS: list[tuple[str, Any]] = [
    ("site", np.uint16),
    ("which", np.uint8),
    ("write", np.bool_),
    ("bytes", np.uint8),
    ("element", np.uint32),
    ("value", np.uint32),
    ("block_of", np.uint32),
    ("thread_of", np.uint16),
    ("phase_of", np.uint16),
    ("turn_of", np.uint16),
]
ROW_BYTES = sum(np.dtype(kind).itemsize for _, kind in COLUMNS)


class Status(IntEnum):
    """How a run ended."""

    OK, FULL, SIGNAL, DEADLINE, TOO_MANY_SITES, NO_MEMORY, TOO_MANY_PHASES, WARP_WAITS, PART_OF_WARP, MISALIGNED = (
        range(10)
    )
    TOO_MANY_COPIES = 10
    ASSERTION = 12
    BARRIER_NOT_READY, ARRIVES_TOO_OFTEN, PART_OF_GROUP, GROUP_WAITS = range(13, 17)
    ADDS_NO_FLOATS, FLAG_NEVER_SET = 17, 18
    STACK_OVERFLOW = 19


class WatchedArray(ct.Structure):
    """``gv_array``."""

    _fields_ = (
        ("start", ct.c_size_t),
        ("bytes", ct.c_uint64),
        ("guard", ct.c_uint64),
        ("itemsize", ct.c_uint32),
        ("shared", ct.c_uint32),
        ("doubles", ct.c_uint32),
        ("inside", ct.c_uint32),
    )


class DiagnosticRecord(ct.Structure):
    """``gv_note``."""

    _fields_ = (
        ("kind", ct.c_int32),
        ("array", ct.c_int32),
        ("offset", ct.c_int64),
        ("pc", ct.c_size_t),
        ("other_pc", ct.c_size_t),
        ("block", ct.c_uint32),
        ("thread", ct.c_uint32),
        ("other", ct.c_uint32),
        ("write", ct.c_uint32),
        ("times", ct.c_uint64),
        ("barrier", ct.c_size_t),
        ("copied", ct.c_int64),
        ("arrivals", ct.c_uint32),
        ("parity", ct.c_uint32),
    )


class RecorderRun(ct.Structure):
    """``gv_run``."""

    _fields_ = (
        ("block", ct.c_uint32 * 3),
        ("grid", ct.c_uint32 * 3),
        ("arrays", ct.c_uint32),
        ("array", WatchedArray * MAX_ARRAYS),
        ("capacity", ct.c_uint64),
        ("more_capacity", ct.c_uint64),
        ("stack_bytes", ct.c_uint64),
        ("deadline_s", ct.c_double),
        ("first_block", ct.c_uint32),
        ("end_block", ct.c_uint32),
        ("cluster", ct.c_uint32),
        ("workers", ct.c_uint32),
        ("count_only", ct.c_uint32),
        ("entry", ct.c_void_p),
        ("arguments", ct.c_void_p),
        *((name, ct.c_void_p) for name, _ in COLUMNS),
        ("more", ct.c_void_p),
        ("count", ct.c_uint64),
        ("more_count", ct.c_uint64),
        ("unordered", ct.c_uint32),
        ("shared_by", ct.c_uint32),
        ("sites", ct.c_uint32),
        ("site_pc", ct.c_size_t * MAX_SITES),
        ("site_atomic", ct.c_uint8 * MAX_SITES),
        ("notes", ct.c_uint32),
        ("note", DiagnosticRecord * MAX_NOTES),
        ("status", ct.c_int32),
        ("signal", ct.c_int32),
        ("fault_pc", ct.c_size_t),
        ("last_pc", ct.c_size_t),
        ("fault_address", ct.c_size_t),
        ("fault_block", ct.c_uint32),
        ("fault_thread", ct.c_uint32),
        ("fault_other", ct.c_uint32),
        ("fault_bytes", ct.c_uint32),
        ("fault_write", ct.c_uint32),
    )
