"""Creates and connects the parts that drive the engines of one window."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from gemmviz.control.assembling import Assembling
from gemmviz.control.checks import Checks
from gemmviz.control.comparing import Comparing
from gemmviz.control.elsewhere import Elsewhere, engine_maker
from gemmviz.control.engines import Engines
from gemmviz.control.event_loop import EventLoop
from gemmviz.control.measuring import Measuring
from gemmviz.control.second_recorder import SecondRecorder
from gemmviz.control.stage_recorder import StageRecorder
from gemmviz.control.tuning_runner import TuningRunner
from gemmviz.control.worker import EngineLike
from gemmviz.session import Session

if TYPE_CHECKING:
    from gemmviz.control.claims_runner import ClaimsRunner


class Controller:
    """Turns the state of a session into requests to engines, and their replies into the session's state.

    Parameters
    ----------
    session
        The session with the choice; it takes the replies.
    make_engine
        Makes an engine; called in each worker's thread.
    loop
        The event loop of the session's thread.
    """

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike], loop: EventLoop) -> None:
        self._session = session
        self.engines = Engines(make_engine, loop, engine_maker(session, make_engine))
        self.checks = Checks(session, self.engines)
        self.tuning = TuningRunner(session, self.engines, self.checks)
        self.second = SecondRecorder(session, self.engines)
        self.recording = StageRecorder(session, self.engines)
        self.measuring = Measuring(session, self.engines, self.checks)
        self.assembling = Assembling(session, self.engines)
        self.comparing = Comparing(session, self.engines)
        self.elsewhere = Elsewhere(session, self.engines, self.measuring.probe_again)
        self.recording.answered.connect(self.measuring.probe_once)

    @cached_property
    def claims(self) -> "ClaimsRunner":
        """Checks the claims of the documents."""
        from gemmviz.control.claims_runner import ClaimsRunner  # late: it reads files that no other part needs

        return ClaimsRunner(self._session, self.engines)

    def close(self) -> None:
        """End the engines and their threads."""
        self.recording.pause.stop()
        self.second.pause.stop()
        self.assembling.pause.stop()
        self.engines.close()
