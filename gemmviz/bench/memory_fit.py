"""Checks whether a problem fits in memory before anything is allocated."""

import numpy as np

from gemmviz.backends.base import Backend, OutOfMemory
from gemmviz.backends.host import available_memory, host_bytes
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import LARGEST, Problem


def check_fit(backend: Backend, concrete: Launch, references: References) -> None:
    """Refuse a problem that cannot fit in the memory of the device or the host.

    Raises
    ------
    OutOfMemory
        With the largest cube that fits.
    """
    kernel = concrete.kernel
    itemsize = max(np.dtype(kernel.dtype).itemsize, np.dtype(kernel.dtype_out).itemsize)
    for where, free, needed in (
        ("GPU" if backend.clears_l2 else "host", backend.free_bytes(), backend.needed_bytes),
        ("host", available_memory(), host_bytes),
    ):
        if free is None:
            continue
        # The memory of references is needed anyway, or can be freed.
        free += references.nbytes if where == "host" else 0
        if needed(concrete.problem, itemsize) + _further_entries(concrete, itemsize) <= free:
            continue
        low, high = 0, LARGEST
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if needed(Problem.cube(middle), itemsize) <= free else (low, middle - 1)
        raise OutOfMemory(
            f"{concrete.problem} needs {needed(concrete.problem, itemsize) / 2**30:.3g} GiB of {where} memory and "
            f"{free / 2**30:.3g} GiB are free; the largest N that fits is {low}"
        )


def _further_entries(concrete: Launch, itemsize: int) -> int:
    """Return the bytes of a batch's matrices beyond those of its first entry."""
    sides = ((matrix, concrete.problem.shape(matrix)) for matrix in MATRICES)
    return itemsize * sum(concrete.elements(matrix) - rows * columns for matrix, (rows, columns) in sides)
