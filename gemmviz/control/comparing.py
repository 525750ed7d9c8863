"""Compares two versions of a kernel for the window in a separate engine, so that no recording waits for it."""

from contextlib import suppress
from typing import TYPE_CHECKING

from gemmviz.bench.document import Document
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.problem import Problem
from gemmviz.control.engines import Engines
from gemmviz.control.failures import with_line
from gemmviz.engine.messages import FINAL, Progress, Reply, Request, Sample
from gemmviz.language import tr
from gemmviz.session import Session

if TYPE_CHECKING:
    from gemmviz.control.version_course import Course
    from gemmviz.versions.comparison import Comparison

    _Made = tuple[Course, Request | Comparison | GemmvizError]
    """A course, and its next request or its end."""


class Comparing:
    """Drives the course of a comparison: see `gemmviz.control.version_course`.

    The course processes replies in the engine's thread, so that the window's thread need not wait.

    Parameters
    ----------
    session
        The session with the versions; it takes the result.
    engines
        The engines; the one for versions is used.
    """

    def __init__(self, session: Session, engines: Engines) -> None:
        self.session, self.versions = session, session.versions
        self._engines = engines
        self._worker = engines.versions
        self._course: Course | None = None
        self._run = self._done = self._requests = 0
        self._replies: list[Reply] = []
        self._worker.replied.connect(self._on_reply)
        self._worker.computed.connect(self._on_computed)
        self.versions.wanted.connect(self._start)
        self.versions.dropped.connect(self._drop)
        engines.cancelled.connect(self._on_cancelled)

    def _start(self) -> None:
        from gemmviz.control.version_course import MEASURED_SIZE, Wanted, course  # late: few windows compare versions

        sides = self.versions.sides
        if sides is None:
            return
        self._drop()
        self._run = self._engines.next_run()
        wanted = Wanted(
            (sides[0].name, sides[1].name),
            (sides[0].kernel, sides[1].kernel),
            run=self._run,
            problem=self.versions.problem,
            measured_at=Problem.cube(MEASURED_SIZE) if self.versions.measures else None,
            protocol=self.session.choice.protocol,
            not_measured=tr("not measured: “Measure both, too” does so on this machine"),
            keep=_keep,
        )
        self._course, self._done, self._requests = course(wanted), 0, wanted.requests
        self._go_on([])

    def _go_on(self, replies: list[Reply]) -> None:
        steps = self._course
        assert steps is not None
        self.versions.say(tr("Comparing {before} and {after}", **self._names()), self._done / self._requests)
        self._worker.compute(lambda: _next(steps, replies))

    def _names(self) -> dict[str, str]:
        sides = self.versions.sides
        return {"before": sides[0].name, "after": sides[1].name} if sides else {"before": "", "after": ""}

    def _on_computed(self, made: "_Made") -> None:
        from gemmviz.versions.comparison import Comparison  # late: the first paint needs no comparison

        steps, found = made
        if steps is not self._course:
            return  # cancelled in the meantime
        if isinstance(found, Comparison):
            self._course = None
            self.versions.show(found)
        elif isinstance(found, GemmvizError):
            self._course = None
            self.versions.fail(_reason(found))
        else:
            self._replies = []
            self._worker.submit(found)

    def _on_reply(self, reply: Reply) -> None:
        if reply.run != self._run or self._course is None:
            return
        if isinstance(reply, Progress):
            share = (self._done + (reply.share or 0.0)) / self._requests
            self.versions.say(reply.text, share)
        elif not isinstance(reply, Sample):
            self._replies.append(reply)
            if isinstance(reply, FINAL):
                self._done += 1
                self._go_on(self._replies)

    def _on_cancelled(self) -> None:
        if self._course is not None:
            self._course = None
            self.versions.fail(tr("The comparison was cancelled."))

    def _drop(self) -> None:
        if self._course is not None:
            self._course = None
            self._worker.cancel()


def _next(steps: "Course", replies: list[Reply]) -> "_Made":
    """Return the next request of a course, or its end (in the worker's thread)."""
    try:
        return steps, steps.send(replies) if replies else next(steps)
    except StopIteration as end:
        found: Comparison = end.value
        return steps, found
    except GemmvizError as error:
        return steps, error


def _keep(document: Document) -> None:
    """Keep the result file of a measurement; if it cannot be stored, it is still shown."""
    from gemmviz.bench import store  # late: few comparisons measure

    with suppress(GemmvizError):
        store.save(document)


def _reason(error: GemmvizError) -> str:
    """Return why there is no result, and the remedy on the page."""
    from gemmviz.control.version_course import RequestFailed  # late: the first paint needs no comparison

    if isinstance(error, RequestFailed) and error.reply.kind == "cancelled":
        return tr("The comparison was cancelled.")
    if isinstance(error, ConstraintError):
        return f"{error}\n{tr('Choose another size above.')}"
    return with_line(str(error), error.reply.line if isinstance(error, RequestFailed) else None)
