"""Looks for defects on request: at other sizes, and before a kernel that is not as shipped is measured."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_kernel import plain_kernel
from gemmviz.checking import report_text
from gemmviz.checking.plan import CheckPlan, plan
from gemmviz.checking.report import Report
from gemmviz.control import chosen_text
from gemmviz.control.engines import Engines
from gemmviz.engine.messages import Checked, CheckRequest, Done, Failed, Progress, Reply
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.models.progress import Share

Job = tuple[Kernel, dict[str, int]]
"""A kernel with the parameters to measure it with."""
_Clean = tuple[str, tuple[tuple[str, int], ...]]
_After = Callable[[str, bool], None]
"""Takes the reason why a kernel may not be measured (empty if it may), and whether it could be checked at all."""


@dataclass
class CheckedJob:
    """The checker's verdict on one job: ``fault`` is empty if it may be measured."""

    job: Job
    fault: str


@dataclass
class _Run:
    """The check of one kernel, while it runs."""

    number: int
    kernel: Kernel
    todo: CheckPlan
    reports: list[Report] = field(default_factory=list)


class Checks:
    """Checks kernels one after another, in the engine that records.

    If a recording is requested during a check, the recording gets the engine and the check ends.

    Parameters
    ----------
    session
        The session with the kernel to check; it takes the findings.
    engines
        The engines; the recording one is used.
    """

    def __init__(self, session: Session, engines: Engines) -> None:
        self.session = session
        self._engines = engines
        self._run: _Run | None = None
        self._after: _After = lambda fault, checked: None
        self._shown: Share | None = None
        self._clean: set[_Clean] = set()
        engines.recorder.replied.connect(self._on_reply)

    def check_sizes(self) -> None:
        """Check the chosen kernel at sizes that suit it and show its changes, and with each value of its parameters."""
        self.session.choice.settle()
        kernel = self.session.choice.kernel
        if kernel.recordable and self.session.choice.fault is None and chosen_text.may_run(self.session):
            self._check(kernel, {}, self._show_fault)

    def judge(self, jobs: list[Job], done: Callable[[list[CheckedJob]], None]) -> None:
        """Check some kernels before they are measured; unchanged kernels of gemmviz are not checked.

        Parameters
        ----------
        jobs
            Kernels with parameters.
        done
            Takes the verdicts, one per job; not called when the check is cancelled.
        """
        self._judge(list(jobs), [], done)

    def _judge(self, jobs: list[Job], verdicts: list[CheckedJob], done: Callable[[list[CheckedJob]], None]) -> None:
        while jobs:
            job = jobs.pop(0)
            kernel, params = job
            if not kernel.recordable or self.session.choice.shipped(kernel) or _clean(kernel, params) in self._clean:
                verdicts.append(CheckedJob(job, ""))
                continue

            def after(fault: str, checked: bool, job: Job = job) -> None:
                self._judge(jobs, [*verdicts, CheckedJob(job, fault)], done)

            self._check(kernel, params, after)
            return
        done(verdicts)

    def _check(self, kernel: Kernel, params: dict[str, int], after: _After) -> None:
        try:
            todo = plan(kernel, [], params)
        except GemmvizError as error:
            after(_unchecked(str(error)), False)
            return
        self._run = _Run(self._engines.next_run(), kernel, todo)
        self._after = after
        if kernel is self.session.choice.kernel:
            self.session.findings.start(kernel.text)
        self._show_progress(tr("Checking {kernel}", kernel=kernel.alias), None)
        request = CheckRequest(self._run.number, **plain_kernel(kernel), launches=todo.to_plain())
        self._engines.recorder.submit(request)

    def _on_reply(self, reply: Reply) -> None:
        run = self._run
        if run is None or reply.run != run.number:
            return
        match reply:
            case Progress():
                self._show_progress(tr("Checking: {what}", what=reply.text), reply.share)
            case Checked():
                report = reply.report
                run.reports.append(report)
                if self._is_shown(run):
                    self.session.findings.add(report)
            case Done():
                self._end(run, run.todo.left_out)
                self._after(*self._fault(run))
            case Failed(kind="cancelled"):
                self._end(run, [tr("the rest, as the check was cancelled")])
                if self.session.messages.current is None:
                    self.session.messages.tell(Message(tr("The check was cancelled."), "info"))
            case Failed():
                self._end(run, [reply.message])
                self._after(_unchecked(reply.message), False)

    def _is_shown(self, run: _Run) -> bool:
        return run.kernel.text == self.session.findings.text

    def _end(self, run: _Run, left_out: list[str]) -> None:
        self._run = None
        if self._is_shown(run):
            self.session.findings.finish(left_out)
        self.session.progress.end("record", self._shown)

    def _show_progress(self, text: str, share: float | None) -> None:
        self._shown = text, share
        self.session.progress.set("record", self._shown)

    def _fault(self, run: _Run) -> tuple[str, bool]:
        """Return the reason why a kernel must not be measured without a question (see `_After`)."""
        defects = {
            report_text.key(f): (f, report) for report in reversed(run.reports) for f in reversed(report.findings)
        }
        if defects:
            first, report = next(reversed(defects.values()))
            sentence = f"{report_text.kind(first)}: {report_text.sentence(first)}"
            if first.line:
                sentence = tr("at {size}, line {line}: {defect}", size=report.problem, line=first.line, defect=sentence)
            else:
                sentence = tr("at {size}: {defect}", size=report.problem, defect=sentence)
            more = len(defects) - 1
            return (tr("{defect}, and {count} more", defect=sentence, count=more) if more else sentence), True
        looked = [report for report in run.reports if not report.refused]
        if not looked:
            return _unchecked(run.reports[0].refused if run.reports else tr("nothing was recorded")), False
        self._clean |= {_clean(run.kernel, report.params) for report in looked}
        return "", True

    def _show_fault(self, fault: str, checked: bool) -> None:
        if not checked:
            self.session.messages.tell(Message(fault[:1].upper() + fault[1:], "warning", lasting=True))


def _unchecked(reason: str) -> str:
    return tr("it cannot be checked: {reason}", reason=reason)


def _clean(kernel: Kernel, params: dict[str, int]) -> _Clean:
    return kernel.text, tuple(sorted(params.items()))
