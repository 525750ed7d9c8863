"""Records the chosen kernel shortly after a change, and shows the recording on the stage."""

from dataclasses import replace
from functools import partial

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size, single_changes
from gemmviz.checking.report import Report
from gemmviz.control import chosen_text
from gemmviz.control.engines import Engines
from gemmviz.control.failures import failure
from gemmviz.control.recording_notes import about, explained, purpose, with_guess
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Failed, Progress, RecordRequest, Reply
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session.models.choice import Choice
from gemmviz.session.values.message import MOST_ANSWERS
from gemmviz.trace.playable import Playable

_DEBOUNCE_MS = 250
# Kinds of failures that are not caused by the text.
_SAYS_NOTHING = ("untrusted", "internal")
# Kinds that a wrong launch of a right kernel leads to.
_OF_LAUNCHES = ("crash", "timeout")


def request_for(choice: Choice, run: int = 0) -> RecordRequest:
    """Return the request to record the chosen kernel."""
    return RecordRequest(
        run,
        **launched(choice.kernel, choice.problem),
        params=dict(choice.params),
        order=choice.order,
        as_written=choice.as_written,
    )


class StageRecorder:
    """Turns the choice into requests, and recordings into the content of the stage.

    Parameters
    ----------
    session
        The session with the choice; it takes the recordings.
    engines
        The engines; the recording one is used.

    Attributes
    ----------
    play_next
        Whether the next recording starts to play automatically.
    pause
        The delay between the last change and its recording.
    """

    answered = Signal()
    """Emitted when a recording has arrived, or the reason why there is none; the stage does not show it yet."""

    def __init__(self, session: Session, engines: Engines) -> None:
        self.session = session
        self._engines = engines
        self.play_next = True
        self._base = session.choice.base
        self._run, self._text = 0, ""
        self._failed: Failed | None = None
        self.pause = engines.loop.later(_DEBOUNCE_MS, self.record)
        engines.recorder.replied.connect(self._on_reply)
        engines.recorder.recorded.connect(self._on_recorded)
        session.choice.chosen.connect(self._on_chosen)
        session.guide.recording_wanted.connect(self.record)
        session.reopening.recording_wanted.connect(self.record)
        session.demonstration.recording_wanted.connect(self.record)
        session.permission.granted.connect(self.record)
        session.guesses.noted.connect(self._on_noted)

    def _on_chosen(self) -> None:
        session = self.session
        if not chosen_text.is_kernel(session):
            # The edited text is not a kernel yet: the previous recording stays.
            self.pause.stop()
            return
        # A lesson itself explains an exhibit, and needs the space.
        exhibit = session.choice.kernel.exhibit if session.tour.lesson is None else ""
        if session.choice.base is not self._base or not self._outlives_typing():
            session.messages.tell(purpose(exhibit) if exhibit else None)
        self._base = session.choice.base
        if session.choice.auto:
            self.pause.start()

    def _outlives_typing(self) -> bool:
        """Return whether the message is a question, or about another file than the one being edited."""
        message = self.session.messages.current
        if message is None or not message.lasting:
            return False
        return message.asks or (message.source is not None and message.source[0] != self.session.choice.base.path.name)

    def record(self) -> None:
        """Record the chosen kernel; for a size that does not fit, a message names one that does."""
        session, choice = self.session, self.session.choice
        choice.settle()
        self.pause.stop()
        if not chosen_text.is_kernel(session):
            return
        if not choice.kernel.recordable or not session.permission.refresh():
            self._engines.recorder.cancel()
            self._run = 0
            session.progress.set("record", None)
            session.playback.pause()
            session.cursor.show(None)
            return
        if (unfit := self._unfit()) is not None:
            session.messages.tell(unfit)
            return
        self._run, self._text = self._engines.next_run(), choice.kernel.text
        session.progress.set("record", (tr("Recording {kernel}", kernel=choice.kernel.alias), None))
        self._engines.recorder.submit(request_for(choice, self._run))

    def _unfit(self) -> Message | None:
        """Return the message about a size or a parameter that the chosen kernel does not take; None if all fits."""
        choice = self.session.choice
        try:
            choice.launch()
        except GemmvizError as error:
            return Message(str(error), "warning", answers=self._fitting(), anew=self._unfit)
        return None

    def _fitting(self) -> tuple[Answer, ...]:
        """Return the choices that fit: the nearest size with these parameters, and parameters with this size."""
        choice = self.session.choice
        kernel, problem, params = choice.kernel, choice.problem, choice.params
        found, size = [], nearest_size(kernel, problem, params)
        if size and size != problem:
            found.append(Answer(tr("Use {size}", size=size), partial(choice.choose, problem=size)))
        for name, value in single_changes(kernel, problem, params).items():
            title = tr("Use {parameter}", parameter=f"{name} = {value}")
            found.append(Answer(title, partial(choice.choose, params=params | {name: value})))
        return tuple(found[:MOST_ANSWERS])

    def _on_recorded(self, run: int, playable: Playable, report: Report | None) -> None:
        session = self.session
        if run != self._run:
            return
        self._failed = None
        session.cursor.arriving.emit(playable)
        session.findings.record(playable.recording.text, report)
        session.progress.set("record", None)
        self.answered.emit()
        placed = session.tour.waiting or session.reopening.waiting or session.demonstration.waiting
        playing = (session.playback.playing or self.play_next) and not placed
        self.play_next = False
        session.playback.pause()
        session.cursor.show(playable)
        notes = about(playable, session)
        if notes is not None or session.messages.current is None or not session.messages.current.lasting:
            session.messages.tell(notes)
        if playing:
            session.playback.play()

    def _on_reply(self, reply: Reply) -> None:
        if reply.run != self._run:
            return
        session = self.session
        if isinstance(reply, Progress):
            session.progress.set("record", (reply.text, reply.share))
        elif isinstance(reply, Failed):
            if reply.kind not in _SAYS_NOTHING:
                session.cursor.fail(self._text, reply.kind)
            session.progress.set("record", None)
            self.answered.emit()
            self._failed = reply
            self._tell_failed(reply)

    def _tell_failed(self, reply: Failed) -> None:
        session = self.session
        message = failure(reply, session.choice)
        if reply.kind == "cancelled":
            message = Message(tr("The recording was cancelled."), "info")
        message = replace(message, text=session.demonstration.fail(message.text))
        if reply.kind == "cancelled" or (reply.kind == "crash" and not reply.line):
            message = replace(message, answers=(Answer(tr("Record again"), self.record),))
        if reply.kind in _OF_LAUNCHES:
            message = with_guess(message, session)
        session.messages.tell(explained(message, session.choice.kernel))

    def _on_noted(self, kernel: Kernel) -> None:
        """Tell what came of other launches of the chosen kernel, with what was recorded."""
        session, playable = self.session, self.session.cursor.playable
        if kernel is not session.choice.kernel:
            return
        if self._failed is not None:
            self._tell_failed(self._failed)
        elif playable is not None and playable.recording.wrong:
            session.messages.tell(about(playable, session))
