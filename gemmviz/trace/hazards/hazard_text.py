"""The names of threads and elements in sentences."""

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
    """Return the name of the array of an access."""
    return recording.arrays[int(recording.accesses.array[row])].name


def element_name(recording: Recording, row: int) -> str:
    """Return the name of the element of an access: ``A[3, 4]``, ``As[3][4]``."""
    log = recording.accesses
    array = recording.arrays[int(log.array[row])]
    element = int(log.element[row])
    if array.space == "global":
        return "{}[{}, {}]".format(array.name, *cell(array, element))
    if array.shape == (1,) and array.space != "shared":
        return array.name
    index: tuple[Any, ...] = np.unravel_index(element, array.shape)
    return array.name + "".join(f"[{i}]" for i in index)


def who(recording: Recording, row: int) -> str:
    """Return the name of the thread of an access."""
    log = recording.accesses
    block, thread = int(log.block[row]), int(log.thread[row])
    if recording.backend == "c":
        return tr("thread {thread}", thread=thread) if recording.threads > 1 else tr("the loop")
    return tr(
        "thread {thread} of block {block}", thread=recording.thread_index(thread), block=recording.block_index(block)
    )


def short_who(recording: Recording, row: int, *, whole: bool = False, block: bool = True) -> str:
    """Return a short name of the thread of an access; with its block only if that is not the first one.

    Parameters
    ----------
    recording, row
        Any, and the access.
    whole
        Whether the first block is named as well.
    block
        Whether a block is named at all.
    """
    if recording.backend == "c":
        return who(recording, row)
    log = recording.accesses
    number = int(log.block[row])
    thread = short_index(recording.thread_index(int(log.thread[row])), recording.block)
    if not block or not (number or whole):
        return tr("thread {thread}", thread=thread)
    return tr(
        "thread {thread} of block {block}",
        thread=thread,
        block=short_index(recording.block_index(number), recording.grid),
    )


def capital(text: str) -> str:
    """Return a sentence with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def short_index(index: tuple[int, int, int], sizes: tuple[int, int, int]) -> str:
    """Return an index with as many numbers as there are dimensions: (3,0), or 3."""
    used = max((at + 1 for at, size in enumerate(sizes) if size > 1), default=1)
    numbers = ",".join(map(str, index[:used]))
    return f"({numbers})" if used > 1 else numbers
