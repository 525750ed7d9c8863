"""The first element of the misaligned vector access that ended a run."""

from collections.abc import Sequence

import numpy as np

from gemmviz.catalogue.matrices import MATRICES
from gemmviz.language import tr
from gemmviz.simt.layout import RecorderRun
from gemmviz.simt.shared_array import SharedArray


def misaligned(job: RecorderRun, thread: str, shared: Sequence[SharedArray]) -> tuple[str, str]:
    """Return a message about the access, and the name of its array ("" if the array is not watched).

    ``thread ... reads A[9], 16 bytes at once: the index must be ...``. The message has no address, because the address
    of an array differs between runs.

    Parameters
    ----------
    job
        The job after a run that ended with `Status.MISALIGNED`.
    thread
        The name of the thread.
    shared
        The shared arrays, in the order of the watched arrays from number 3.
    """
    size = job.fault_bytes
    arrays = job.array[: job.arrays]
    inside = (i for i, a in enumerate(arrays) if 0 <= job.fault_address - a.start < a.bytes)
    which = next(inside, None)
    if which is None:
        return _nowhere(bool(job.fault_write), thread, size), ""
    array = arrays[which]
    name = MATRICES[which] if which < len(MATRICES) else shared[which - len(MATRICES)].name
    shape = () if which < len(MATRICES) else shared[which - len(MATRICES)].shape
    element, within = divmod(job.fault_address - array.start, array.itemsize)
    extent = array.bytes // array.itemsize
    flat = len(shape) < 2
    index = f"[{element}]" if flat else "".join(f"[{i}]" for i in np.unravel_index(element, shape))
    values = {"thread": thread, "element": f"{name}{index}", "bytes": size}
    if job.fault_write:
        what = tr("{thread} writes {element}, {bytes} bytes at once", **values)
    else:
        what = tr("{thread} reads {element}, {bytes} bytes at once", **values)
    if within:
        why = tr("it begins {bytes} bytes into that element", bytes=within)
    elif array.start % size:
        why = tr("the array does not start at a multiple of {bytes} bytes: declare it __align__({bytes})", bytes=size)
    elif flat:
        why = tr("the index must be a multiple of {number}", number=size // array.itemsize)
    else:
        why = tr(
            "this is element {element} in memory, and that number must be a multiple of {number}",
            element=element,
            number=size // array.itemsize,
        )
    text = tr(
        '{what}: {why} ({array} has {count} elements); a GPU stops with "misaligned address"',
        what=what,
        why=why,
        array=name,
        count=extent,
    )
    return text, name


def _nowhere(write: bool, thread: str, size: int) -> str:
    if write:
        return tr(
            "{thread} writes {bytes} bytes at once: the address must be a multiple of {bytes}; "
            'a GPU stops with "misaligned address"',
            thread=thread,
            bytes=size,
        )
    return tr(
        "{thread} reads {bytes} bytes at once: the address must be a multiple of {bytes}; "
        'a GPU stops with "misaligned address"',
        thread=thread,
        bytes=size,
    )
