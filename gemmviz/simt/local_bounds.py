"""A build whose accesses to local arrays are checked: an index outside of one ends the run.

Local arrays are registers, or memory of one thread. They are not recorded, and an index outside of one changes
whatever lies beside it: other variables, pointers, counters of loops. Clang's check (``-fsanitize=local-bounds``)
stops at such an access in front of its effect. It compares with the whole array, so a step from one row of a local
array into the next one is no fault. GCC has no such check.
"""

import signal
from dataclasses import replace

from gemmviz.backends.compiler import compiler
from gemmviz.catalogue.launch import Launch
from gemmviz.simt.layout import RecorderRun
from gemmviz.simt.wild_access import local_arrays, locals_of_line

_MACRO = "GV_LOCAL_BOUNDS"
FLAGS = ("-O0", "-fsanitize=local-bounds")
"""Clang's flags. Without optimisation, as arrays whose indices are all known disappear otherwise."""


def watched(launch: Launch) -> Launch | None:
    """Return a launch with indices of local arrays checked.

    None for a kernel whose text shows no local array, and where the compiler has no such check.
    """
    if compiler().kind != "clang" or not local_arrays(launch):
        return None
    return replace(launch, macros={**launch.macros, _MACRO: 1})


def is_watched(launch: Launch) -> bool:
    """Return whether a launch was made by `watched`."""
    return _MACRO in launch.macros


def left_arrays(job: RecorderRun, launch: Launch, line: int) -> list[str]:
    """Return the local arrays one of which an access was outside of; none if the run ended for another reason.

    Parameters
    ----------
    job
        The job after a run that ended with a signal.
    launch
        The launch.
    line
        The line of the kernel's file, from 1; 0 if it is not known.
    """
    if job.signal != signal.SIGILL or not is_watched(launch):
        return []
    return locals_of_line(launch, line)
