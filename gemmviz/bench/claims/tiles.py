"""The tiles of A and B that a block multiplies, from its recording."""

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.accesses import Array, Column
from gemmviz.trace.recording.recording import Recording


def walk(recording: Recording, block: int = 0) -> str:
    """Return the parts of A and B that a block reads in each of its tile steps.

    Parameters
    ----------
    recording
        Of a kernel that copies tiles into shared memory.
    block
        Linear block index.

    Returns
    -------
    str
        ``"A[0:4,0:4] x B[0:4,0:4], A[0:4,4:8] x B[4:8,0:4]"``: half-open ranges of rows and columns, step by step;
        empty if nothing is tiled.
    """
    log = recording.accesses
    if not any(a.space == "shared" for a in recording.arrays):
        return ""
    mine = (log.block == block) & ~log.write
    steps = []
    for phase in distinct(log.phase[mine & (log.array <= B)]):
        parts = []
        for index in (A, B):
            array = recording.arrays[index]
            parts.append(_box(array, log.element[mine & (log.phase == phase) & (log.array == index)]))
        steps.append(" x ".join(parts))
    return ", ".join(steps)


def _box(array: Array, elements: Column) -> str:
    """Return the rectangle of a matrix that holds the elements."""
    if not len(elements):
        return f"{array.name}[]"
    rows, columns = array.cells(elements)
    return f"{array.name}[{rows.min()}:{rows.max() + 1},{columns.min()}:{columns.max() + 1}]"
