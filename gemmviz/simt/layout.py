"""The interface of the recorder's C side and its Python side (``runtime/recording.h``), for ctypes and NumPy.

`check` compares the two descriptions, number by number and field by field.
"""

import ctypes as ct
import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np

MAX_ARRAYS, MAX_SITES, MAX_NOTES, PANEL_NAME, PTX_NAME = 32, 4096, 32, 32, 104
WARP, WARPGROUP = 32, 128  # threads
NEVER = 65535  # the arrival phase of a box that never arrived
PIECE_BYTES = 16  # the bytes of a box that are copied at once
NO_BOX = 1  # the swizzle of adjacent bytes that are no box
NO_MATRIX = 3  # the matrix of bytes that are in no matrix

# One column per field of an access, in the order of `RecorderRun`.
COLUMNS: list[tuple[str, Any]] = [
    ("site", np.uint16),
    ("which", np.uint8),
    ("write", np.bool_),
    ("bytes", np.uint8),
    ("element", np.uint32),
    ("value", np.float32),
    ("block_of", np.uint32),
    ("thread_of", np.uint16),
    ("phase_of", np.uint16),
    ("turn_of", np.uint16),
]
# The columns of a recording of this length take 1.1 GB.
MAX_ACCESSES = 50_000_000
# Room for the further elements of accesses, in words for each access: with 16 bytes, an access to halves has four.
# Columns and words of the longest recording then take 1.8 GiB.
MORE_PER_ACCESS = 4
ROW_BYTES = sum(np.dtype(kind).itemsize for _, kind in COLUMNS)


class Status(IntEnum):
    """The end of a run: complete, or the reason of an early end."""

    OK = 0
    FULL = 1
    SIGNAL = 2
    DEADLINE = 3
    TOO_MANY_SITES = 4
    NO_MEMORY = 5
    TOO_MANY_PHASES = 6
    WARP_WAITS = 7
    PART_OF_WARP = 8
    MISALIGNED = 9
    TOO_MANY_COPIES = 10
    ONE_PROCESS = 11  # only between the recorder's processes
    ASSERTION = 12
    BARRIER_NOT_READY = 13
    ARRIVES_TOO_OFTEN = 14
    PART_OF_GROUP = 15
    GROUP_WAITS = 16
    ADDS_NO_FLOATS = 17
    FLAG_NEVER_SET = 18
    STACK_OVERFLOW = 19
    UNKNOWN_PTX = 20
    NOT_SHARED = 21
    WAITS = 22
    AGAIN = 23  # to be run again with each instruction at once
    BOX_BETWEEN_UNITS = 24
    TRAP = 25


class NoteKind(IntEnum):
    """Defects of a kernel that do not end its run."""

    OUT_OF_BOUNDS = 1
    BARRIER_LEFT = 2
    BARRIERS_DIFFER = 3
    STUCK_AT_MBARRIER = 4
    STUCK_AT_BARRIER = 5
    OPERAND = 6
    EARLY = 7
    LATE = 8
    CROWDED = 9
    COUNTS_DIFFER = 10
    MADE_TWICE = 11


class NumberKind(IntEnum):
    """How the recorder makes a float of an element's bits."""

    FLOAT = 0
    DOUBLE = 1
    SMALL = 2
    INT = 3
    UNSIGNED = 4
    UNKNOWN = 5
    LONG = 6


class ScratchKind(IntEnum):
    """Whether a watched array is a variable of the device, and whether it is used as a flag."""

    NONE = 0
    DATA = 1
    FLAGS = 2


class SiteKind(IntEnum):
    """Kinds of instructions that access memory."""

    PLAIN = 0
    ATOMIC = 1
    PRODUCT = 2
    REMOTE = 3


class EventKind(IntEnum):
    """Events of an mbarrier; those from `FENCE` on belong to no mbarrier."""

    INIT = 0
    ARRIVE = 1
    EXPECT = 2
    WAIT = 3
    PASS = 4
    BYTES = 5
    COMPLETE = 6
    FENCE = 7
    WRITTEN = 8
    ASKED = 9
    GLOBAL_READ = 10
    THREAD_FENCE = 11
    FLAG_SET = 12
    FLAG_SEEN = 13
    REMOTE = 14
    CLUSTER_ARRIVED = 15
    CLUSTER_MET = 16


class BoxKind(IntEnum):
    """The copy engine's use of a box: ``store`` of `BOX`."""

    LOAD = 0
    STORE = 1
    ADD = 2


class WatchedArray(ct.Structure):
    """``gv_array``."""

    _fields_ = (
        ("start", ct.c_size_t),
        ("bytes", ct.c_uint64),
        ("guard", ct.c_uint64),
        ("itemsize", ct.c_uint32),
        ("shared", ct.c_uint32),
        ("number", ct.c_uint32),
        ("inside", ct.c_uint32),
        ("scratch", ct.c_uint32),
        ("floats", ct.c_void_p),
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
        ("other_barrier", ct.c_size_t),
        ("surplus", ct.c_int64),
        ("announced_pc", ct.c_size_t),
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
        ("clock_s", ct.c_double),
        ("first_block", ct.c_uint32),
        ("end_block", ct.c_uint32),
        ("cluster", ct.c_uint32),
        ("workers", ct.c_uint32),
        ("count_only", ct.c_uint32),
        ("huge_pages", ct.c_uint32),
        ("no_turns", ct.c_uint32),
        ("at_once", ct.c_uint32),
        ("keep_flags", ct.c_uint32),
        ("first_ended", ct.c_void_p),
        ("entry", ct.c_void_p),
        ("arguments", ct.c_void_p),
        *((name, ct.c_void_p) for name, _ in COLUMNS),
        ("more", ct.c_void_p),
        ("count", ct.c_uint64),
        ("more_count", ct.c_uint64),
        ("shared_by", ct.c_uint32),
        ("together", ct.c_uint32),
        ("sites", ct.c_uint32),
        ("site_pc", ct.c_size_t * MAX_SITES),
        ("site_kind", ct.c_uint8 * MAX_SITES),
        ("notes", ct.c_uint32),
        ("note", DiagnosticRecord * MAX_NOTES),
        ("status", ct.c_int32),
        ("signal", ct.c_int32),
        ("passed_s", ct.c_double),
        ("fault_pc", ct.c_size_t),
        ("last_pc", ct.c_size_t),
        ("fault_address", ct.c_size_t),
        ("fault_block", ct.c_uint32),
        ("fault_thread", ct.c_uint32),
        ("fault_other", ct.c_uint32),
        ("fault_bytes", ct.c_uint32),
        ("fault_write", ct.c_uint32),
        ("instruction", ct.c_char * PTX_NAME),
    )


class ChangedFlag(ct.Structure):
    """``gv_changed``."""

    _fields_ = (
        *((name, ct.c_uint64) for name in ("at", "value", "before", "writer_pc", "reader_pc")),
        ("bytes", ct.c_uint32),
        ("seen", ct.c_uint32),
    )


class Panels(ct.Structure):
    """``gv_panels``."""

    _fields_ = (("name", ct.c_char * PANEL_NAME), ("shape", ct.c_uint32 * 3), ("array", ct.c_uint32))


class EventAddresses(ct.Structure):
    """``gv_event_addresses``."""

    _fields_ = (
        ("barrier", ct.POINTER(ct.c_uint64)),
        ("line", ct.POINTER(ct.c_uint64)),
        ("barriers", ct.c_uint64),
        ("lines", ct.c_uint64),
    )


# ``gv_box``, ``gv_event`` and ``gv_tensor_map``.
BOX = np.dtype(
    [
        *((name, np.int64) for name in ("shared", "barrier", "pc")),
        *((name, np.uint32) for name in ("block", "to_block", "number", "read_at", "write_at", "reads", "writes")),
        *((name, np.int32) for name in ("row", "column")),
        *(
            (name, np.uint32)
            for name in ("rows", "pieces", "first_row", "end_row", "first_piece", "end_piece", "order")
        ),
        *((name, np.uint16) for name in ("thread", "issued", "arrived", "matrix", "store", "swizzle")),
        ("padding", np.uint16, 2),
    ]
)
EVENT = np.dtype(
    [
        *((name, np.int32) for name in ("barrier", "block", "kind", "number", "parity", "arrivals", "bytes")),
        *((name, np.int32) for name in ("thread", "phase", "line", "row", "turn", "remote")),
    ]
)
TENSOR_MAP = np.dtype(
    [
        *(("matrix", np.uint64), ("index", np.uint32), ("itemsize", np.uint32), ("rows", np.int32)),
        ("columns", np.int32),
        *((name, np.uint32) for name in ("box_rows", "box_columns", "swizzle")),
    ],
    align=True,
)


def described() -> dict[str, int]:
    """Return the description of the Python side: sizes and offsets in bytes, and numbers, by their names in C."""
    lines = {"GV_MAX_ARRAYS": MAX_ARRAYS, "GV_MAX_SITES": MAX_SITES, "GV_MAX_NOTES": MAX_NOTES}
    lines |= {
        "GV_NEVER": NEVER,
        "GV_PIECE_BYTES": PIECE_BYTES,
        "GV_NO_BOX": NO_BOX,
        "GV_NO_MATRIX": NO_MATRIX,
        "GV_PANEL_NAME": PANEL_NAME,
    }
    lines |= {"GV_PTX_NAME": PTX_NAME}
    lines |= {"GV_WARP": WARP, "GV_WARPGROUP": WARPGROUP}
    numbers: dict[str, type[IntEnum]]
    numbers = {"GV_": Status, "GV_NOTE_": NoteKind, "GV_SITE_": SiteKind, "GV_EVENT_": EventKind}
    numbers |= {"GV_BOX_": BoxKind, "GV_NUMBER_": NumberKind, "GV_SCRATCH_": ScratchKind}
    lines |= {prefix + name: member for prefix, kind in numbers.items() for name, member in kind.__members__.items()}
    structures: Mapping[str, type[ct.Structure]]
    structures = {"gv_array": WatchedArray, "gv_note": DiagnosticRecord, "gv_run": RecorderRun, "gv_panels": Panels}
    structures |= {"gv_changed": ChangedFlag, "gv_event_addresses": EventAddresses}
    for name, structure in structures.items():
        lines["sizeof " + name] = ct.sizeof(structure)
        for field in structure._fields_:
            place = getattr(structure, field[0])
            lines |= {f"{name}.{field[0]}": place.offset, f"sizeof {name}.{field[0]}": place.size}
    # The size of a pointer does not show the type that it points to.
    lines |= {f"sizeof *gv_run.{column}": np.dtype(kind).itemsize for column, kind in (*COLUMNS, ("more", np.uint32))}
    records = {"gv_box": BOX, "gv_event": EVENT, "gv_tensor_map": TENSOR_MAP}
    for name, record in records.items():
        lines["sizeof " + name] = record.itemsize
        for part, (kind, offset, *_) in (record.fields or {}).items():
            lines |= {f"{name}.{part}": offset, f"sizeof {name}.{part}": kind.itemsize}
    return lines


_agreed: set[str] = set()  # the files of recorders that agree with this side


def check(code: ct.CDLL) -> None:
    """Compare the descriptions of the C side and the Python side.

    Parameters
    ----------
    code
        A recorder.

    Raises
    ------
    RuntimeError
        When they differ; the message names each difference.
    """
    if code._name in _agreed:  # a library never changes after it has its name
        return
    lines = ct.c_void_p()
    code.gv_layout.restype = ct.c_uint32
    count = code.gv_layout(ct.byref(lines))
    # ctypes would make an object for each `gv_layout_line`.
    read = struct.iter_unpack("PQ", ct.string_at(lines.value or 0, count * struct.calcsize("PQ")))
    theirs, ours = {ct.string_at(name).decode(): value for name, value in read}, described()
    wrong = [f"{n}: {theirs.get(n)}, {ours.get(n)}" for n in theirs | ours if theirs.get(n) != ours.get(n)]
    if wrong:
        raise RuntimeError(f"the recorder's C and Python sides do not agree (C, Python): {'; '.join(wrong)}")
    _agreed.add(code._name)
