"""Two rungs side by side: the chosen rung and a second one, played in step."""

import re
from collections.abc import Callable

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.session.models.comparison import Comparison, Pair
from gemmviz.session.rules import comparison_match
from gemmviz.session.rules.following import Follower, same_cell
from gemmviz.session.rules.staged import Staged, is_of
from gemmviz.session.values.message import Answer, Message, told
from gemmviz.trace.order.progress import Pace
from gemmviz.trace.playable import Playable

_REFUSAL_END = re.compile(r" \([^()]*\)(;.*)?$")


class SideBySide:
    """Shows a second rung beside the chosen rung.

    Both are recorded at the same size, in the same view, with the same values of the parameters that both have. The
    second stage follows the first one.

    Parameters
    ----------
    comparison
        The second rung, and whether both are in step.
    mine, second
        The stage of the chosen rung, on the left, and the stage of the second one.
    follower
        Moves the cursor of the second stage.
    slower
        Returns the kernel that is compared by default; None: the next rung of the ladder.
    """

    wanted = Signal()
    """Emitted when the choice of the second stage has to be recorded."""
    paired = Signal()
    """Emitted when both recordings exist: the listener computes their courses, and calls `meet`."""

    def __init__(
        self,
        comparison: Comparison,
        mine: Staged,
        second: Staged,
        follower: Follower,
        slower: Callable[[], Kernel | None] = lambda: None,
    ) -> None:
        self._comparison, self._mine, self._second = comparison, mine, second
        self._follower, self._slower = follower, slower
        self._pointing = False
        comparison.switched.connect(self._on_switched)
        comparison.changed.connect(self._follow)
        comparison.matched.connect(self._on_picked)
        comparison.matched.connect(self._follow)
        mine.choice.chosen.connect(self._on_chosen)
        mine.cursor.recorded.connect(self._on_recorded)
        mine.cursor.stepped.connect(self._follow)
        mine.cursor.moved.connect(self._glide)
        mine.cursor.picked.connect(self._on_picked)
        second.cursor.picked.connect(self._on_pointed)

    # The second rung

    def toggle(self) -> None:
        """Show a second rung beside the chosen one, or only the chosen one again."""
        if self._comparison.on:
            self.stop()
        else:
            self.start(self._comparison.kernel)

    def start(self, kernel: Kernel | None = None, pace: Pace | None = None) -> None:
        """Show a second rung beside the chosen one.

        Parameters
        ----------
        kernel
            The rung; None, or the chosen kernel itself: the default.
        pace
            The measure that keeps both in step; by default unchanged.
        """
        mine = self._mine
        if not mine.choice.kernel.recordable:
            self._tell(
                lambda: tr(
                    "{rung} is a library call: it has no source to record, so nothing can be compared step by step. "
                    "Choose a kernel with a source.",
                    rung=mine.choice.kernel.title,
                )
            )
            return
        if kernel is None or kernel.name == mine.choice.kernel.name:
            kernel = self.default()
        if kernel is None or kernel.name == mine.choice.kernel.name:
            alias = mine.choice.kernel.alias
            self._tell(lambda: tr("There is no other kernel to show beside {rung}.", rung=alias))
            return
        self._comparison.begin(kernel, pace)

    def default(self) -> Kernel | None:
        """Return the rung to compare with if none is given; None if there is no other.

        A variant is compared with its base; other kernels with the nearest slower one, which shows why they are faster.
        """
        choice = self._mine.choice
        slower = None if choice.variant else self._slower()
        return slower or comparison_match.next_to(choice)

    def start_named(self, name: str, pace: Pace | None = None) -> None:
        """Show a second rung, given by its name: ``"gpumult1"``, ``"gputiled~no-second-barrier"``.

        Raises
        ------
        UnknownKernel
            When there is none.
        """
        self.start(find(name, self._mine.choice.kernels), pace)

    def stop(self) -> None:
        """Show only the chosen rung; if the size was changed to suit both, restore it."""
        if not self._comparison.on:
            return
        self._comparison.end()
        mine, before = self._mine, self._comparison.size_before
        self._comparison.size_before = None
        if before is not None and mine.choice.problem == before[0]:
            mine.choice.choose(problem=before[1], stays=False)

    def _on_switched(self) -> None:
        if self._comparison.on:
            self._arrange()
            return
        self._second.messages.tell(None)
        self._second.progress.set("record", None)
        self._second.cursor.show(None)

    def _arrange(self) -> None:
        """Find the size for both, and request the missing recording."""
        comparison, mine, beside = self._comparison, self._mine, self._second
        kernel = comparison.kernel
        if not comparison.on or kernel is None or not mine.choice.kernel.recordable:
            return
        found = comparison_match.fit(mine.choice.kernel, mine.choice.params, kernel, mine.choice.problem)
        if found is None:
            comparison.part()
            beside.cursor.show(None)
            self._want(kernel, mine.choice.problem, kernel.defaults)
            self._show_problem(
                tr(
                    "{one} and {other} take no size in common. Choose another kernel with Ctrl+D.",
                    one=mine.choice.kernel.alias,
                    other=kernel.alias,
                )
            )
            return
        if found.problem != mine.choice.problem:
            comparison.size_before = found.problem, mine.choice.problem
            # A refusal ends with the tried size and a size that this rung takes, which may not suit the other one.
            comparison.note = tr("Both at {size}: {why}", size=found.problem, why=_REFUSAL_END.sub("", found.why))
            mine.choice.choose(problem=found.problem, stays=False)
            return  # the new choice calls this method again
        if comparison.size_before is None or comparison.size_before[0] != mine.choice.problem:
            comparison.note = ""
        there = beside.cursor.playable
        wanted = kernel.text, found.problem, found.params, mine.choice.as_written
        if there is not None and is_of(there, *wanted) and there.timeline.order_by == mine.choice.order:
            self._meet()
            return
        beside.messages.tell(None)
        self._want(kernel, found.problem, found.params)
        comparison.part()
        self.wanted.emit()

    def _want(self, kernel: Kernel, problem: Problem, params: dict[str, int]) -> None:
        """Choose the second kernel, in the view and order of the chosen rung."""
        mine, beside = self._mine.choice, self._second.choice
        beside.order, beside.as_written = mine.order, mine.as_written
        beside.choose_kernel(kernel, params, problem)

    # Recordings

    @property
    def room(self) -> int:
        """Return the largest number of accesses for the second recording in the remaining memory; less than 1: none."""
        return comparison_match.room_beside(self._mine.cursor.playable, self._second.choice.kernel)

    def too_large(self) -> bool:
        """Return whether the memory has no room for a second recording; if so, show a message with a size."""
        playable = self._mine.cursor.playable
        if playable is None or self.room > 0:
            return False
        size = comparison_match.smaller(playable)
        text = tr(
            "{rung} alone takes {megabytes} MB, and two recordings may take {most} MB together. "
            "At about {size} both fit.",
            rung=playable.recording.label,
            megabytes=round(comparison_match.weight(playable) / 1e6),
            most=round(comparison_match.MOST_BYTES / 1e6),
            size=size,
        )
        use = Answer(tr("Use {size}", size=size), lambda: self._mine.choice.choose(problem=size))
        self._second.cursor.show(None)
        self._second.messages.tell(Message(text, "warning", answers=(use,)))
        return True

    def show(self, playable: Playable) -> None:
        """Take the second recording."""
        self._second.progress.set("record", None)
        self._second.cursor.show(playable)
        self._meet()

    def meet(self, pair: Pair) -> None:
        """Play two recordings in step from now on; ignore recordings that are no longer on a stage."""
        if _same(pair, self.pair):
            self._comparison.meet(pair)

    @property
    def pair(self) -> Pair | None:
        """Both recordings, if they exist and have the same view."""
        mine, other = self._mine.cursor.playable, self._second.cursor.playable
        if not self._comparison.on or mine is None or other is None:
            return None
        return (mine, other) if mine.recording.as_written == other.recording.as_written else None

    def _meet(self) -> None:
        pair = self.pair
        if pair is None or (self._comparison.match is not None and _same(self._comparison.met, pair)):
            return
        self._comparison.part()
        self.paired.emit()

    # Playing

    def _follow(self) -> None:
        match = self._comparison.match
        if match is not None:
            cursor, last = self._mine.cursor, match.mine.last
            begin, end = (match.step(int(np.clip(step, 0, last))) for step in (cursor.step, cursor.step + 1))
            self._follower.go(begin + (end - begin) * cursor.fraction)

    def _glide(self) -> None:
        """Follow between two steps; after the last step, the second recording continues by itself."""
        match = self._comparison.match
        if match is not None and self._mine.cursor.step < match.mine.last:
            self._follow()

    # Cells

    def _on_picked(self) -> None:
        """Choose on the second stage the cell that is chosen on the first."""
        if not self._comparison.on or self._pointing:
            return
        mine, beside = self._mine.cursor, self._second.cursor
        self._pointing = True
        try:
            beside.choose_warp(mine.warp)
            beside.pick(*same_cell(mine.cell, mine.playable, beside.playable))
        finally:
            self._pointing = False

    def _on_pointed(self) -> None:
        """Choose on the first stage the cell that was chosen on the second, if the first stage has it."""
        if self._pointing:
            return
        mine, beside = self._mine.cursor, self._second.cursor
        cell, block = same_cell(beside.cell, beside.playable, mine.playable)
        if beside.cell is not None and cell is None:
            return
        self._pointing = True
        try:
            mine.pick(cell, block)
        finally:
            self._pointing = False

    # Signals of the first stage

    def _on_chosen(self) -> None:
        kernel = self._comparison.kernel
        if not self._comparison.on or kernel is None:
            return
        if kernel.name == self._mine.choice.kernel.name:
            self._comparison.begin(comparison_match.next_to(self._mine.choice) or kernel)
        else:
            self._arrange()

    def _on_recorded(self) -> None:
        self._comparison.part()
        self._arrange()

    def _tell(self, say: Callable[[], str]) -> None:
        self._mine.messages.tell(told(say, lasting=True))

    def _show_problem(self, text: str) -> None:
        self._second.messages.tell(Message(text, "warning"))


def _same(one: Pair | None, other: Pair | None) -> bool:
    """Return whether these are the same two recordings, without comparing their contents."""
    return one is not None and other is not None and all(a is b for a, b in zip(one, other, strict=True))
