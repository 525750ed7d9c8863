"""Two rungs side by side: which stands beside the chosen one, and how both are played in step."""

import re
from typing import TYPE_CHECKING

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.session import comparison_match
from gemmviz.session.second_rung import SecondRung, same_cell
from gemmviz.trace.order.progress import Match, Pace
from gemmviz.trace.playable import Playable

if TYPE_CHECKING:
    from gemmviz.session.state import Session

Pair = tuple[Playable, Playable]
_REFUSAL_END = re.compile(r" \([^()]*\)(;.*)?$")
PACES: tuple[Pace, ...] = ("work", "bytes")
# A recording beside plays on at its own speed when the session's has ended (in step by bytes): as `Playback` does.
_PLAY_SECONDS, _SLOWEST, _LONGEST_TICK_S, _CALM_S = 30.0, 3.0, 0.25, 0.5


class Comparison:
    """A second rung beside the session's.

    Both are recorded at one size, in one view, with the same values of the parameters that both have. Whatever moves
    the session moves the one beside.

    Parameters
    ----------
    session
        The rung on the left.
    """

    changed = Signal()
    """Whether there is a rung beside, which, or what they are in step by."""
    wanted = Signal()
    """What `second` names should be recorded."""
    paired = Signal()
    """Both recordings are there: somebody should work out how far each is when, and call `meet`."""
    matched = Signal()
    """Both recordings are played in step."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.on = False
        self.kernel: Kernel | None = None
        """The rung beside; it stays chosen while it is not shown."""
        self.pace: Pace = "work"
        self.second = SecondRung(session)
        self.note = ""
        """Why both are at another size than the one that was chosen; empty where they are not."""
        self.match: Match | None = None
        self._met: Pair | None = None
        self._size_before: tuple[Problem, Problem] | None = None
        self._overtime = self._still_s = 0.0
        self._pointing = False
        session.chosen.connect(self._on_chosen)
        session.recorded.connect(self._on_recorded)
        session.stepped.connect(self._follow)
        session.picked.connect(self._on_picked)
        self.second.pointed.connect(self._on_pointed)

    # Which

    def toggle(self) -> None:
        """Show a rung beside the chosen one, or only that again."""
        if self.on:
            self.stop()
        else:
            self.start(self.kernel)

    def start(self, kernel: Kernel | None = None, pace: Pace | None = None) -> None:
        """Show a rung beside the chosen one; by default the one to compare with first.

        Parameters
        ----------
        kernel
            The rung; one that is what is chosen already gives way to the default.
        pace
            What to keep in step by; by default as it is.
        """
        session = self._session
        if not session.kernel.recordable:
            self._tell(
                tr(
                    "{rung} is a library call: it has no source to record, so nothing can be compared step by step. "
                    "Choose a rung with a source.",
                    rung=session.kernel.title,
                )
            )
            return
        if kernel is None or kernel.name == session.kernel.name:
            kernel = comparison_match.next_to(session)
        if kernel is None or kernel.name == session.kernel.name:
            self._tell(tr("There is no other rung to show beside {rung}.", rung=session.kernel.alias))
            return
        self.on, self.kernel = True, kernel
        self.pace = pace or self.pace
        self._arrange()
        self.changed.emit()

    def start_named(self, name: str, pace: Pace | None = None) -> None:
        """Show a rung beside by its name: ``"gpumult1"``, ``"gputiled~no-second-barrier"``.

        Raises
        ------
        UnknownKernel
            When there is none.
        """
        self.start(find(name, self._session.kernels), pace)

    def stop(self) -> None:
        """Show only the chosen rung; the size chosen before comes back, where it was changed to suit both."""
        if not self.on:
            return
        self.on, self.match, self._met, self.note = False, None, None, ""
        self.second.tell(None)
        self.second.set_progress(None)
        self.second.show(None)
        self.changed.emit()
        session, before = self._session, self._size_before
        self._size_before = None
        if before is not None and session.problem == before[0]:
            session.choose(problem=before[1], stays=False)

    def set_pace(self, pace: Pace) -> None:
        """Choose what both have done the same amount of: products' work (``"work"``) or bytes moved (``"bytes"``)."""
        self.pace = pace
        if self.match is not None:
            self.match = Match(self.match.mine, self.match.other, pace)
        self._follow()
        self.changed.emit()

    def next_pace(self) -> None:
        """Choose the other measure."""
        self.set_pace(PACES[(PACES.index(self.pace) + 1) % len(PACES)])

    def _arrange(self) -> None:
        """Find the size for both, and ask for what is missing."""
        session, kernel, beside = self._session, self.kernel, self.second
        if not self.on or kernel is None or not session.kernel.recordable:
            return
        found = comparison_match.fit(session.kernel, session.params, kernel, session.problem)
        if found is None:
            self.match = None
            beside.show(None)
            beside.want(kernel, session.problem, kernel.defaults)
            self._say(
                tr(
                    "{one} and {other} take no size in common. Choose another rung with Ctrl+D.",
                    one=session.kernel.alias,
                    other=kernel.alias,
                )
            )
            return
        if found.problem != session.problem:
            self._size_before = found.problem, session.problem
            # A refusal ends with what was tried and which size that rung would take, which may not suit the other.
            self.note = tr("Both at {size}: {why}", size=found.problem, why=_REFUSAL_END.sub("", found.why))
            session.choose(problem=found.problem, stays=False)
            return  # chosen: this is done again
        if self._size_before is None or self._size_before[0] != session.problem:
            self.note = ""
        if beside.is_of(kernel, found.problem, found.params) and self._same_order():
            self._meet()
            return
        beside.tell(None)
        beside.want(kernel, found.problem, found.params)
        self.match = None
        self.wanted.emit()

    def _same_order(self) -> bool:
        playable = self.second.playable
        return playable is not None and playable.timeline.order_by == self._session.order

    # Recordings

    @property
    def room(self) -> int:
        """Accesses that the recording beside may have, as two of them must fit in memory; less than 1: none does."""
        return comparison_match.room_beside(self._session.playable, self.second.kernel)

    def too_large(self) -> bool:
        """Say whether the chosen rung's recording leaves no room for another; if so, the size that does is told."""
        playable = self._session.playable
        if playable is None or self.room > 0:
            return False
        from gemmviz.session.state import Answer, Message  # late: the session is made of this module

        size = comparison_match.smaller(playable)
        said = tr(
            "{rung} alone takes {megabytes} MB, and two recordings may take {most} MB together. "
            "At about {size} both fit.",
            rung=playable.recording.label,
            megabytes=round(comparison_match.weight(playable) / 1e6),
            most=round(comparison_match.MOST_BYTES / 1e6),
            size=size,
        )
        use = Answer(tr("Use {size}", size=size), lambda: self._session.choose(problem=size))
        self.second.show(None)
        self.second.tell(Message(said, "warning", answers=(use,)))
        return True

    def show(self, playable: Playable) -> None:
        """Take the recording beside."""
        self.second.set_progress(None)
        self.second.show(playable)
        self._meet()

    def meet(self, pair: Pair) -> None:
        """Play two recordings in step from now on; one that is on neither stage any more is left alone.

        What is asked of them first takes as long as they are large: it may have been worked out before.
        """
        if not _same(pair, self.pair):
            return
        self._met = pair
        self.match = Match(pair[0].recording_progress, pair[1].recording_progress, self.pace)
        self._overtime = 0.0
        self._on_picked()
        self._follow()
        self.matched.emit()

    @property
    def pair(self) -> Pair | None:
        """Both recordings, where both are there, in one view."""
        mine, other = self._session.playable, self.second.playable
        if not self.on or mine is None or other is None:
            return None
        return (mine, other) if mine.recording.as_written == other.recording.as_written else None

    def _meet(self) -> None:
        pair = self.pair
        if pair is None or (self.match is not None and _same(self._met, pair)):
            return
        self.match = None
        self.paired.emit()

    # Playing

    @property
    def finished(self) -> bool:
        """Whether both stand at their last step."""
        match, session = self.match, self._session
        return match is not None and session.step >= match.mine.last and self.second.step >= match.other.last

    def overtime(self, seconds: float) -> bool:
        """Let the one beside play on where the session's recording has ended; False when there is nothing to wait for.

        In step by bytes, the rung that moves fewer has finished while the other is on its way.
        """
        session, match, beside = self._session, self.match, self.second
        waits = match is not None and session.loop_range is None and session.step >= match.mine.last
        if match is None or not waits or beside.step >= match.other.last:
            self._overtime = self._still_s = 0.0
            return False
        seconds = min(seconds, _LONGEST_TICK_S)
        self._still_s += seconds
        self._overtime += seconds * session.speed * max(match.other.last / _PLAY_SECONDS, _SLOWEST)
        steps = int(self._overtime)
        if steps and not (session.calm and self._still_s < _CALM_S):
            self._overtime, self._still_s = self._overtime - steps, 0.0
            beside.seek(beside.step + steps)
        return True

    def _follow(self) -> None:
        if self.match is not None:
            step = self._session.step
            self.second.seek(self.match.step(int(np.clip(step, 0, self.match.mine.last))))

    # Cells

    def _on_picked(self) -> None:
        """Choose on the second stage what is chosen on the first."""
        if self.on and not self._pointing:
            session = self._session
            self.second.choose_warp(session.warp)
            self.second.point(*same_cell(session.cell, session.playable, self.second.playable))

    def _on_pointed(self) -> None:
        """Choose on the first stage what was chosen on the second; a cell that only that one has stays there."""
        cell, block = same_cell(self.second.cell, self.second.playable, self._session.playable)
        if self.second.cell is not None and cell is None:
            return
        self._pointing = True
        try:
            self._session.pick(cell, block)
        finally:
            self._pointing = False

    # What the session does

    def _on_chosen(self) -> None:
        if not self.on:
            return
        if self.kernel is not None and self.kernel.name == self._session.kernel.name:
            self.kernel = comparison_match.next_to(self._session) or self.kernel
            self.changed.emit()
        self._arrange()

    def _on_recorded(self) -> None:
        self.match = self._met = None
        if self.on:
            self._arrange()

    def _tell(self, text: str) -> None:
        from gemmviz.session.state import Message  # late: the session is made of this module

        self._session.tell(Message(text, "info", lasting=True))

    def _say(self, text: str) -> None:
        from gemmviz.session.state import Message  # late, as above

        self.second.tell(Message(text, "warning"))


def _same(one: Pair | None, other: Pair | None) -> bool:
    """Say whether these are the same two recordings, without comparing what they hold."""
    return one is not None and other is not None and all(a is b for a, b in zip(one, other, strict=True))
