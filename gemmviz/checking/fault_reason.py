"""Finds the local variable that ended a kernel early: an index outside of an array, or a variable without a value."""

from collections.abc import Callable
from functools import partial

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.launch import Launch
from gemmviz.checking.local_arrays import watch_local_arrays
from gemmviz.checking.uninitialised import blame_unset_variable
from gemmviz.trace.recording.record import record


def blame_locals(
    job: Launch, *, deadline_s: float, progress: Callable[[str, float | None], None] = lambda text, within_s: None
) -> None:
    """Look for the reason of a fault among the local variables of a launch.

    Parameters
    ----------
    job
        The launch, which has ended early.
    deadline_s
        The time limit of each further run, in seconds of processor time.
    progress
        As for `gemmviz.checking.examine.examine`.

    Raises
    ------
    KernelFault
        The reason; or whatever else ends the kernel in a further run.
    """
    other = None
    try:
        watch_local_arrays(job, deadline_s=deadline_s, progress=progress)
    except KernelFault as fault:
        if fault.defect == "out of bounds":
            raise
        other = fault
    blame_unset_variable(job, partial(record, deadline_s=deadline_s, progress=progress))
    if other is not None:
        raise other
