"""How threads and elements are called."""

from typing import Any

import numpy as np

from gemmviz.language import tr
from gemmviz.trace.recording.accesses import Array
from gemmviz.trace.recording.recording import Recording


def cell(array: Array, element: int) -> tuple[int, int]:
    """Return row and column of an element."""
    row, column = array.cells(np.array([element]))
    return int(row[0]), int(column[0])


def array_name(recording: Recording, row: int) -> str:
    """Name the array of an access."""
    return recording.arrays[int(recording.accesses.array[row])].name


def element_name(recording: Recording, row: int) -> str:
    """Name the element of an access: ``A[3, 4]``, ``As[3][4]``."""
    log = recording.accesses
    array = recording.arrays[int(log.array[row])]
    element = int(log.element[row])
    if array.space == "global":
        return "{}[{}, {}]".format(array.name, *cell(array, element))
    index: tuple[Any, ...] = np.unravel_index(element, array.shape)
    return array.name + "".join(f"[{i}]" for i in index)


def who(recording: Recording, row: int) -> str:
    """Name the thread of an access."""
    log = recording.accesses
    block, thread = int(log.block[row]), int(log.thread[row])
    if recording.backend == "c":
        return tr("thread {thread}", thread=thread) if recording.threads > 1 else tr("the loop")
    return tr(
        "thread {thread} of block {block}", thread=recording.thread_index(thread), block=recording.block_index(block)
    )
