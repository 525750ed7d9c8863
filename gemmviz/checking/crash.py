"""What a kernel's crash or endless run counts as in its report."""

import re

from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report, label
from gemmviz.trace.hazards import Finding, Kind

_ACCESS = re.compile(r" (?:reads|writes) (\w+)\[\d+\]")


def crashed(kernel: Kernel, problem: Problem, params: dict[str, int], message: str, line: int | None) -> Report:
    """Return the report of a launch that took its process with it.

    Parameters
    ----------
    kernel, problem, params
        What was launched.
    message
        What happened, for people; a FILE:LINE in front of it is left out.
    line
        Of the kernel's file, from 1, where known.
    """
    where = f"{kernel.path.name}:{line}: " if line else f"{kernel.path.name}: "
    report = skipped(kernel, problem, params, "")
    kind: Kind = "crash"
    if ", out of bounds (" in message:
        kind = "out of bounds"
    elif 'stops with "misaligned address"' in message:
        kind = "misaligned vector access"
    array = _ACCESS.search(message) if kind == "misaligned vector access" else None
    report.findings = [Finding(kind, line or 0, message.removeprefix(where), array=array[1] if array else "")]
    return report


def skipped(kernel: Kernel, problem: Problem, params: dict[str, int], reason: str) -> Report:
    """Return the report of a launch that was not made."""
    try:
        job = launch(kernel, problem, params)
    except (ConstraintError, FrontMatterError):
        return Report(label(kernel, params), problem, params, refused=reason)
    return Report(job.label, problem, job.params, refused=reason)
