"""Which element a vector access begins at that stopped a run because of its address."""

from collections.abc import Sequence

import numpy as np

from gemmviz.catalogue.kernel import MATRICES
from gemmviz.simt.debuginfo import SharedArray
from gemmviz.simt.layout import Run


def misaligned(job: Run, shared: Sequence[SharedArray]) -> str:
    """Say what a thread does, for people: ``reads A[9], 16 bytes at once: the index must be ...``.

    It names no address, as that of an array is another one in each run.

    Parameters
    ----------
    job
        After a run that ended with `Status.MISALIGNED`.
    shared
        The shared arrays, in the order of the watched ones from 3.
    """
    size, verb = job.fault_bytes, "writes" if job.fault_write else "reads"
    stops = 'a GPU stops with "misaligned address"'
    arrays = job.array[: job.arrays]
    inside = (i for i, a in enumerate(arrays) if 0 <= job.fault_address - a.start < a.bytes)
    which = next(inside, None)
    if which is None:
        return f"{verb} {size} bytes at once: the address must be a multiple of {size}; {stops}"
    array = arrays[which]
    name = MATRICES[which] if which < len(MATRICES) else shared[which - len(MATRICES)].name
    shape = () if which < len(MATRICES) else shared[which - len(MATRICES)].shape
    element, within = divmod(job.fault_address - array.start, array.itemsize)
    extent = array.bytes // array.itemsize
    flat = len(shape) < 2
    index = f"[{element}]" if flat else "".join(f"[{i}]" for i in np.unravel_index(element, shape))
    what = f"{verb} {name}{index}, {size} bytes at once"
    if within:
        why = f"it begins {within} bytes into that element"
    elif array.start % size:
        why = f"the array itself begins at no multiple of {size} bytes: declare it __align__({size})"
    elif flat:
        why = f"the index must be a multiple of {size // array.itemsize}"
    else:
        why = f"this is element {element} in memory, and that number must be a multiple of {size // array.itemsize}"
    return f"{what}: {why} ({name} has {extent} elements); {stops}"
