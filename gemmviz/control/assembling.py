"""Compiles and disassembles the chosen launch in a separate engine, so that no recording waits for it."""

from typing import TYPE_CHECKING

from gemmviz.assembly.listing import Listing
from gemmviz.control.engines import Engines
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Assembled, AssembleRequest, Failed, Progress, Reply
from gemmviz.language import tr
from gemmviz.session import Session

if TYPE_CHECKING:
    from gemmviz.assembly.summary import Summary

    _Read = tuple[int, Listing, Summary]

_DEBOUNCE_MS = 250


class Assembling:
    """Turns the choice into requests, and listings into the content of the tab.

    Parameters
    ----------
    session
        The session with the choice; it takes the listings.
    engines
        The engines; the one for machine code is used.

    Attributes
    ----------
    pause
        The delay between the last change and its compilation.
    """

    def __init__(self, session: Session, engines: Engines) -> None:
        self.session, self.code = session, session.machine_code
        self._engines = engines
        self._worker = engines.assembler
        self._run = 0
        self.pause = engines.loop.later(_DEBOUNCE_MS, self._assemble)
        self._worker.replied.connect(self._on_reply)
        self._worker.computed.connect(self._on_computed)
        self.code.wanted.connect(self._on_wanted)
        self.code.dropped.connect(self._drop)
        session.permission.granted.connect(self._on_granted)

    def _on_wanted(self) -> None:
        self.pause.start()

    def _on_granted(self) -> None:
        self.code.refresh(again=True)

    def _drop(self) -> None:
        self.pause.stop()
        self._run = 0
        self._worker.cancel()

    def _assemble(self) -> None:
        session, code = self.session, self.code
        if session.choice.fault is not None:
            code.fail(str(session.choice.fault), session.choice.fault.line or 0)
            return
        if not session.permission.refresh():
            code.fail(tr("This text is not compiled until you allow it to run."))
            return
        made = code.launch()
        self._run = self._engines.next_run()
        code.begin(tr("Compiling {kernel}", kernel=made.kernel.alias))
        self._worker.submit(
            AssembleRequest(
                self._run,
                **launched(made.kernel, made.problem),
                params=dict(made.params),
                architecture=code.architecture,
            )
        )

    def _on_reply(self, reply: Reply) -> None:
        if reply.run != self._run:
            return
        if isinstance(reply, Progress):
            self.code.begin(reply.text)
        elif isinstance(reply, Assembled):
            run, listing = reply.run, reply.listing
            self._worker.compute(lambda: _read(run, listing))
        elif isinstance(reply, Failed):
            self.code.fail(reply.message, reply.line or 0)

    def _on_computed(self, found: "_Read") -> None:
        run, listing, counted = found
        if run == self._run:
            self.code.show(listing, counted)


def _read(run: int, listing: Listing) -> "_Read":
    """Return a listing with its summary (in the worker's thread)."""
    from gemmviz.assembly.summary import summary  # late: the first picture has no machine code

    return run, listing, summary(listing)
