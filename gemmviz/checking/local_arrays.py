"""Finds an index outside of a local array.

Such an access changes other variables, so what the recording shows is a consequence: a wrong sum, a pointer to
nowhere, a loop that does not end. Or it shows nothing: what lies beside the array may not be needed, and the compiler
may assume that such an index does not come.
"""

from collections.abc import Callable

from gemmviz.catalogue.errors import BuildError, ConstraintError, KernelFault
from gemmviz.catalogue.launch import Launch
from gemmviz.simt.local_bounds import watched
from gemmviz.trace.recording.record import record


def watch_local_arrays(
    job: Launch,
    *,
    deadline_s: float,
    progress: Callable[[str, float | None], None] = lambda text, within_s: None,
    ends_well: bool = False,
) -> None:
    """Record a launch once more, with each index of a local array checked.

    Parameters
    ----------
    job
        The launch.
    deadline_s
        The time limit, in seconds of processor time.
    progress
        As for `gemmviz.checking.examine.examine`.
    ends_well
        Whether the launch is known to end well. Then no other fault is raised: without optimisation it is slower and
        needs more memory.

    Raises
    ------
    KernelFault
        When an index is outside of a local array, or the kernel ends early for another reason.
    """
    launch = watched(job)
    if launch is None:
        return
    try:
        record(launch, deadline_s=deadline_s, progress=progress)
    except KernelFault as fault:
        if not ends_well or fault.defect == "out of bounds":
            raise
    except (BuildError, ConstraintError):  # then only the first findings are known
        return
