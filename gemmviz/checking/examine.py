"""Records one launch and makes a report of it."""

from collections.abc import Callable
from functools import partial

from gemmviz.catalogue.errors import BuildError, ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.batch_entries import findings_of_last_entry
from gemmviz.checking.diagnose import diagnose
from gemmviz.checking.later_launches import later_launch_findings
from gemmviz.checking.launch_bounds import launch_bounds_findings
from gemmviz.checking.local_arrays import watch_local_arrays
from gemmviz.checking.report import Report, label
from gemmviz.checking.scaled_result import scaled_findings
from gemmviz.checking.shared_alignment import alignment_findings
from gemmviz.checking.uninitialised import unset_integer
from gemmviz.checking.waste import wasted
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt.faults import TooManyBarriers
from gemmviz.trace.cost import traffic
from gemmviz.trace.hazards import Finding, Kind
from gemmviz.trace.recording.later_launch import record_later_launch
from gemmviz.trace.recording.record import record

_SLOWER = 5.0  # without optimisation, a kernel takes this many times as long at the most


def examine(
    kernel: Kernel,
    problem: Problem,
    params: dict[str, int],
    *,
    deadline_s: float = 20.0,
    progress: Callable[[str, float | None], None] = lambda text, within_s: None,
) -> Report:
    """Return the defects of a launch. If it cannot be recorded, the report has the reason.

    Call this in a process that may crash: a kernel is foreign code.

    Parameters
    ----------
    kernel, problem, params
        The launch.
    deadline_s
        The time limit of the kernel in seconds of processor time.
    progress
        Called at each stage with a text and the longest time in seconds that it takes unless it hangs (None: unknown).

    Raises
    ------
    KernelFault
        When the kernel crashes or does not end: this process must not continue.
    Unavailable
        When there is no compiler.
    """
    name = label(kernel, params)
    try:
        job = launch(kernel, problem, params)
    except FrontMatterError as error:
        return Report(name, problem, params, [_finding("front matter", error, kernel)])
    except ConstraintError as error:
        return Report(name, problem, params, refused=str(error))
    report = Report(job.label, problem, job.params)
    again = partial(record, deadline_s=deadline_s, progress=progress)
    try:
        recording = again(job)
    except TooManyBarriers as error:
        # At the sizes of a check this means a loop that does not end.
        report.findings = [_finding("crash", error, kernel)]
        return report
    except ConstraintError as error:
        report.refused = str(error)
        return report
    except BuildError as error:
        report.findings = [_finding("does not compile", error, kernel)]
        return report
    progress(tr("Checking {count} accesses", count=thousands(len(recording.accesses))), None)
    report.findings = diagnose(job, recording, again)
    if recording.wrong or not report.findings:
        ends_well = not recording.wrong
        watch_local_arrays(job, deadline_s=_SLOWER * deadline_s, progress=progress, ends_well=ends_well)
    if kernel.backend == "cuda":
        report.findings = [*launch_bounds_findings(job), *report.findings]
    if not report.findings and job.scaled is not None:
        report.findings = scaled_findings(job.scaled, again(job.scaled))
    if not report.findings:
        unset = unset_integer(job, recording, again)
        report.findings = [unset] if unset else []
    if not report.findings and job.batch:
        report.findings = findings_of_last_entry(job, again)
    if kernel.backend == "cuda":
        if not report.findings:
            report.findings = alignment_findings(job, again)
        if not report.findings:
            later = partial(record_later_launch, deadline_s=deadline_s, progress=progress)
            report.findings = later_launch_findings(job, later)
        report.costs = wasted(traffic.measure(recording).sites, recording)
    return report


def _finding(kind: Kind, error: FrontMatterError | TooManyBarriers | BuildError, kernel: Kernel) -> Finding:
    """Return an error as a finding: its line is a field, and not a part of the text."""
    return Finding(kind, error.line or 0, str(error).removeprefix(f"{kernel.path.name}:{error.line}: "))
