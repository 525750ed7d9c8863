"""Records the rung beside, in an engine of its own, so that it never waits for the first recording or stops it."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from gemmviz.checking.report import Report
from gemmviz.engine.messages import Failed, Progress, RecordRequest, Reply
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.comparison import Pair
from gemmviz.trace.playable import Playable
from gemmviz.ui.window.worker import EngineLike, Worker

# A little longer than the first recording waits: it goes first, as what it needs decides what room is left.
_DEBOUNCE_MS = 300


class SecondRecorder(QObject):
    """Turns what a comparison wants into requests, and the replies into what its second stage shows.

    Parameters
    ----------
    session
        Whose comparison.
    make_engine
        Makes an engine; called in the worker's thread when the first rung is put beside.
    next_run
        Gives requests their numbers.
    """

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike], next_run: Callable[[], int]) -> None:
        super().__init__()
        self.session, self.comparison = session, session.comparison
        self.worker = Worker("records beside", make_engine)
        self._next_run = next_run
        self._run = 0
        self._waiting = False
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(_DEBOUNCE_MS)
        self._debounce.timeout.connect(self._record)
        self.worker.replied.connect(self._on_reply)
        self.worker.recorded.connect(self._on_recorded)
        self.worker.computed.connect(self._on_computed)
        self.comparison.wanted.connect(self._on_wanted)
        self.comparison.paired.connect(self._on_paired)
        self.comparison.changed.connect(self._on_changed)
        session.progress.changed.connect(self._on_progress)

    def close(self) -> None:
        """End the engine and the thread."""
        self._debounce.stop()
        self._run, self._waiting = -1, False
        self.worker.stop()

    def cancel(self) -> None:
        """Stop recording."""
        self.worker.cancel()

    def _on_wanted(self) -> None:
        self._waiting = True
        self._debounce.start()

    def _on_changed(self) -> None:
        if not self.comparison.on:
            self._debounce.stop()
            self._run, self._waiting = 0, False
            self.worker.cancel()

    def _on_progress(self, engine: str) -> None:
        if engine == "record" and self._waiting and self.session.progress["record"] is None:
            self._debounce.start()

    def _record(self) -> None:
        """Record what is wanted, once the first recording is there or has failed."""
        comparison, beside = self.comparison, self.comparison.second
        if not self._waiting or not comparison.on or self.session.progress["record"] is not None:
            return
        self._waiting = False
        if comparison.too_large():
            return
        kernel, problem = beside.choice.kernel, beside.choice.problem
        self._run = self._next_run()
        beside.progress.set("record", (tr("Recording {rung}", rung=kernel.alias), None))
        self.worker.submit(
            RecordRequest(
                self._run,
                str(kernel.path),
                kernel.text,
                problem.m,
                problem.n,
                problem.k,
                dict(beside.choice.params),
                self.session.choice.order,
                capacity=comparison.room,
                as_written=self.session.choice.as_written,
            )
        )

    def _on_recorded(self, run: int, playable: Playable, _: Report | None) -> None:
        if run == self._run:
            self.comparison.show(playable)

    def _on_paired(self) -> None:
        pair = self.comparison.pair
        if pair is not None:
            self.worker.compute(lambda: _worked_out(pair))

    def _on_computed(self, pair: Pair) -> None:
        self.comparison.meet(pair)

    def _on_reply(self, reply: Reply) -> None:
        if reply.run != self._run:
            return
        beside = self.comparison.second
        if isinstance(reply, Progress):
            beside.progress.set("record", (reply.text, reply.share))
        elif isinstance(reply, Failed):
            beside.progress.set("record", None)
            beside.messages.tell(_failure(reply, beside.choice.kernel.alias))


def _worked_out(pair: Pair) -> Pair:
    """Return the pair when the courses of both are there (in the worker's thread)."""
    for playable in pair:
        _ = playable.recording_progress
    return pair


def _failure(reply: Failed, rung: str) -> Message:
    """Say why there is no second recording, and what to do."""
    if reply.kind == "cancelled":
        return Message(tr("Recording {rung} was cancelled: D twice records it again.", rung=rung), "info")
    line = tr("line {line}: ", line=reply.line) if reply.line and f"{reply.line}" not in reply.message else ""
    what = {
        "refused": tr("Choose another size on the left, or another rung with Ctrl+D."),
        "untrusted": tr("Choose it in the ladder, where you are asked whether it may run."),
        "oom": tr("Choose a smaller size on the left."),
        "timeout": tr("Choose a smaller size on the left, or another rung with Ctrl+D."),
    }.get(reply.kind, tr("Choose another rung with Ctrl+D."))
    return Message(f"{rung}: {line}{reply.message}\n{what}", "warning" if reply.kind == "refused" else "error")
