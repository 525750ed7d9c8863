"""The class of a kernel's crash or endless run in its report."""

from gemmviz.catalogue.errors import ConstraintError, Defect, FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report, label
from gemmviz.trace.hazards import Finding


def crashed(
    kernel: Kernel,
    problem: Problem,
    params: dict[str, int],
    message: str,
    line: int | None,
    defect: Defect = "crash",
    array: str = "",
) -> Report:
    """Return the report of a launch that crashed its process.

    Parameters
    ----------
    kernel, problem, params
        The launch.
    message
        The message for people; a FILE:LINE at its beginning is left out.
    line
        The line in the kernel's file, from 1, if known.
    defect, array
        Its class, and the array, if known.
    """
    where = f"{kernel.path.name}:{line}: " if line else f"{kernel.path.name}: "
    report = skipped(kernel, problem, params, "")
    report.findings = [Finding(defect, line or 0, message.removeprefix(where), array=array)]
    return report


def skipped(kernel: Kernel, problem: Problem, params: dict[str, int], reason: str) -> Report:
    """Return the report of a launch that was skipped."""
    try:
        job = launch(kernel, problem, params)
    except (ConstraintError, FrontMatterError):
        return Report(label(kernel, params), problem, params, refused=reason)
    return Report(job.label, problem, job.params, refused=reason)
