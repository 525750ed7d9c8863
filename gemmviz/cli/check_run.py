"""Runs the launches that ``gemmviz check`` has planned in the engine, and collects the reports."""

import threading
from collections.abc import Callable

from rich.console import Console

from gemmviz.catalogue.errors import BuildError, ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_kernel import plain_kernel
from gemmviz.checking.plan import CheckPlan
from gemmviz.checking.report import Report
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import Checked, CheckRequest, Failed, Progress
from gemmviz.engine.supervisor import Engine

Serve = Callable[[CheckRequest], list[Report]]


def check(
    kernel: Kernel, todo: CheckPlan, *, must_fit: bool, deadline_s: float = 20.0, serve: Serve | None = None
) -> tuple[list[Report], list[str]]:
    """Return a report per launch, and the launches left out with the reasons.

    Parameters
    ----------
    kernel, todo
        The kernel and the planned launches.
    must_fit
        Whether a size that the kernel does not take is an error; else it is left out if there are other sizes.
    deadline_s
        The time limit of each launch in seconds of processor time.
    serve
        Serves the request elsewhere, and returns its reports in order; None: in an engine of this machine.

    Raises
    ------
    ConstraintError, BuildError, Unavailable
        When a size that must fit is refused, or when no launch could be recorded.
    """
    reports: list[Report] = []
    left_out = list(todo.left_out)
    usual = todo.launches[0][1]
    refusal = ""
    request = CheckRequest(1, **plain_kernel(kernel), launches=todo.to_plain(), deadline_s=deadline_s)
    for report in serve(request) if serve else _reports(kernel, request):
        if report.refused:
            if must_fit and report.params == usual:
                raise ConstraintError(report.refused)
            refusal = refusal or report.refused
            left_out.append(f"{report}: {report.refused}")
            continue
        first = report.findings[0] if report.findings else None
        if first and first.kind == "does not compile" and not reports:
            where = f"{kernel.path.name}:{first.line}: " if first.line else ""
            raise BuildError(where + first.text, first.line or None)
        reports.append(report)
    if refusal and not reports:
        raise ConstraintError(refusal)
    return reports, left_out


def _reports(kernel: Kernel, request: CheckRequest) -> list[Report]:
    found: list[Report] = []
    engine = Engine(Named([kernel]))
    try:
        with Console(stderr=True).status("Checking") as status:
            for reply in engine.run(request, threading.Event()):
                match reply:
                    case Progress():
                        status.update(reply.text)
                    case Checked():
                        found.append(reply.report)
                    case Failed():
                        raise (Unavailable if reply.kind == "unsupported" else GemmvizError)(reply.message)
    finally:
        engine.close()
    return found
