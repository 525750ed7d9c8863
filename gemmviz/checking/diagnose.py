"""The defects of a launch, from its recording; if it does not explain a wrong C, the launch is recorded once more.

The compiler moves and removes accesses that a result does not need, for example if a sum is overwritten. Without
optimisation each operation of the source stays on its line.
"""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.checking.uninitialised import unset_variable
from gemmviz.trace import hazards
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

# In the first line, which is a comment: line numbers do not change. Compilers that do not know it ignore it.
_NOT_OPTIMISED = '_Pragma("clang optimize off") '


def diagnose(job: Launch, recording: Recording, again: Callable[[Launch], Recording]) -> list[Finding]:
    """Return the defects of a launch, worst first.

    Parameters
    ----------
    job, recording
        The launch and its accesses.
    again
        Records another launch; called only if C is wrong and no defect of another class explains it.

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
        kernel = replace(job.kernel, text=_NOT_OPTIMISED + job.kernel.text)
        return hazards.find(again(replace(job, kernel=kernel)), c_is_input=c_is_input) or found
    except (BuildError, ConstraintError):  # the first findings are kept; why there are no more is less important
        return found
