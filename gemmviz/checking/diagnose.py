"""The defects of a launch, from its recording; if it does not explain a wrong C, the launch is recorded once more.

The compiler moves and removes accesses that a result does not need, for example if a sum is overwritten. As written,
without optimisation, each operation of the source stays on its line.
"""

from collections.abc import Callable

from gemmviz.catalogue.errors import BuildError, ConstraintError, KernelTimeout
from gemmviz.catalogue.launch import Launch
from gemmviz.checking.uninitialised import unset_variable
from gemmviz.trace import hazards
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording


def diagnose(job: Launch, recording: Recording, again: Callable[..., Recording]) -> list[Finding]:
    """Return the defects of a launch, worst first.

    Parameters
    ----------
    job, recording
        The launch and its accesses.
    again
        Records another launch, also with ``as_written``, as `gemmviz.trace.recording.record.record` does; called only
        if C is wrong or an access misses its array.

    Raises
    ------
    KernelFault
        From `again`.
    """
    c_is_input = job.kernel.reads_result
    found = hazards.find(recording, c_is_input=c_is_input)
    kinds = {finding.kind for finding in found}
    if kinds - {"wrong result"}:
        # Where two accesses race, the compiler may order them in another way if a variable has a value.
        may_be_unset = "race" not in kinds and (recording.wrong or recording.diagnostics)
        unset = unset_variable(job, recording, again) if may_be_unset else None
        return [unset, *found] if unset else found
    if not found:
        return found
    try:
        unset = unset_variable(job, recording, again)
        if unset:
            return [unset]
        return hazards.find(again(job, as_written=True), c_is_input=c_is_input) or found
    # The first findings are kept; why there are no more is less important.
    except (BuildError, ConstraintError, KernelTimeout):
        return found
