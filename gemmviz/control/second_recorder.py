"""Records the second kernel of a comparison in a separate engine, independently of the first recording."""

from gemmviz.checking.report import Report
from gemmviz.control.engines import Engines
from gemmviz.control.failures import with_line
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Failed, Progress, RecordRequest, Reply
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.models.comparison import Pair
from gemmviz.trace.playable import Playable

# A little longer than the delay of the first recording, which starts first: its memory limits the second one.
_DEBOUNCE_MS = 300


class SecondRecorder:
    """Turns the choice of a comparison into requests, and the replies into the content of its second stage.

    Parameters
    ----------
    session
        The session with the comparison.
    engines
        The engines; the one for the rung beside is used.

    Attributes
    ----------
    pause
        The delay between the last change and its recording.
    """

    def __init__(self, session: Session, engines: Engines) -> None:
        self.session, self.comparison = session, session.comparison
        self._engines = engines
        self._worker = engines.second
        self._run = 0
        self._waiting = False
        self.pause = engines.loop.later(_DEBOUNCE_MS, self._record)
        self._worker.replied.connect(self._on_reply)
        self._worker.recorded.connect(self._on_recorded)
        self._worker.computed.connect(self._on_computed)
        self.session.side_by_side.wanted.connect(self._on_wanted)
        self.session.side_by_side.paired.connect(self._on_paired)
        self.comparison.changed.connect(self._on_changed)
        session.progress.changed.connect(self._on_progress)

    def _on_wanted(self) -> None:
        self._waiting = True
        self.pause.start()

    def _on_changed(self) -> None:
        if not self.comparison.on:
            self.pause.stop()
            self._run, self._waiting = 0, False
            self._worker.cancel()

    def _on_progress(self, engine: str) -> None:
        if engine == "record" and self._waiting and self.session.progress["record"] is None:
            self.pause.start()

    def _record(self) -> None:
        """Record the chosen second rung after the first recording is complete or has failed."""
        comparison, beside = self.comparison, self.session.second
        if not self._waiting or not comparison.on or self.session.progress["record"] is not None:
            return
        self._waiting = False
        if self.session.side_by_side.too_large():
            return
        kernel = beside.choice.kernel
        self._run = self._engines.next_run()
        beside.progress.set("record", (tr("Recording {rung}", rung=kernel.alias), None))
        self._worker.submit(
            RecordRequest(
                self._run,
                **launched(kernel, beside.choice.problem),
                params=dict(beside.choice.params),
                order=self.session.choice.order,
                capacity=self.session.side_by_side.room,
                as_written=self.session.choice.as_written,
            )
        )

    def _on_recorded(self, run: int, playable: Playable, _: Report | None) -> None:
        if run == self._run:
            self.session.side_by_side.show(playable)

    def _on_paired(self) -> None:
        pair = self.session.side_by_side.pair
        if pair is not None:
            self._worker.compute(lambda: _worked_out(pair))

    def _on_computed(self, pair: Pair) -> None:
        self.session.side_by_side.meet(pair)

    def _on_reply(self, reply: Reply) -> None:
        if reply.run != self._run:
            return
        beside = self.session.second
        if isinstance(reply, Progress):
            beside.progress.set("record", (reply.text, reply.share))
        elif isinstance(reply, Failed):
            beside.progress.set("record", None)
            beside.messages.tell(_failure(reply, beside.choice.kernel.alias))


def _worked_out(pair: Pair) -> Pair:
    """Return the pair with the courses of both computed (in the worker's thread)."""
    for playable in pair:
        _ = playable.recording_progress
    return pair


def _failure(reply: Failed, rung: str) -> Message:
    """Return the message about why there is no second recording, and the remedy."""
    if reply.kind == "cancelled":
        return Message(tr("Recording {rung} was cancelled: D twice records it again.", rung=rung), "info")
    remedy = {
        "refused": tr("Choose another size on the left, or another kernel with Ctrl+D."),
        "untrusted": tr("Choose it in the list of kernels, where you are asked whether it may run."),
        "oom": tr("Choose a smaller size on the left."),
        "timeout": tr("Choose a smaller size on the left, or another kernel with Ctrl+D."),
    }.get(reply.kind, tr("Choose another kernel with Ctrl+D."))
    text = f"{rung}: {with_line(reply.message, reply.line)}\n{remedy}"
    return Message(text, "warning" if reply.kind == "refused" else "error")
