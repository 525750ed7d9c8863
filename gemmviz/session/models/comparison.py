"""The comparison on the stage: the second rung, and the measure that keeps both in step."""

from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.order.progress import Match, Pace
from gemmviz.trace.playable import Playable

Pair = tuple[Playable, Playable]
"""The recordings of the chosen and of the second rung."""
PACES: tuple[Pace, ...] = ("work", "bytes")


class Comparison:
    """Holds the second rung; `gemmviz.session.rules.side_by_side.SideBySide` plays both in step."""

    switched = Signal()
    """Another second rung, or none. Emitted before `changed`."""
    changed = Signal()
    """The second rung, whether it is shown, or the measure that keeps both in step."""
    matched = Signal()
    """Emitted when both recordings are played in step."""

    def __init__(self) -> None:
        self.on = False
        self.kernel: Kernel | None = None
        """The second rung; it stays chosen while it is not shown."""
        self.pace: Pace = "work"
        self.note = ""
        """The reason why both have another size than the chosen one; empty if they have the chosen size."""
        self.match: Match | None = None
        """The steps that belong together; None while the recordings are not in step."""
        self.met: Pair | None = None
        """The recordings of `match`."""
        self.size_before: tuple[Problem, Problem] | None = None
        """The size that suits both, and the size that was chosen before; None: the size was not changed."""

    def begin(self, kernel: Kernel, pace: Pace | None = None) -> None:
        """Show a second rung; None: the measure stays the same."""
        self.on, self.kernel, self.pace = True, kernel, pace or self.pace
        self.switched.emit()
        self.changed.emit()

    def end(self) -> None:
        """Show only the chosen rung."""
        self.on, self.note = False, ""
        self.part()
        self.switched.emit()
        self.changed.emit()

    def finished(self, step: int, beside: int) -> bool:
        """Return whether both rungs are at their last step.

        Parameters
        ----------
        step, beside
            The steps of the chosen and of the second rung.
        """
        return self.match is not None and step >= self.match.mine.last and beside >= self.match.other.last

    def set_pace(self, pace: Pace) -> None:
        """Choose the measure that is equal in both: work on products (``"work"``) or bytes moved (``"bytes"``)."""
        self.pace = pace
        if self.match is not None:
            self.match = Match(self.match.mine, self.match.other, pace)
        self.changed.emit()

    def next_pace(self) -> None:
        """Choose the other measure."""
        self.set_pace(PACES[(PACES.index(self.pace) + 1) % len(PACES)])

    def meet(self, pair: Pair) -> None:
        """Keep two recordings in step from now on.

        The first use of their progress takes time in proportion to their size; it may have been computed before.
        """
        self.met = pair
        self.match = Match(pair[0].recording_progress, pair[1].recording_progress, self.pace)
        self.matched.emit()

    def part(self) -> None:
        """Keep no recordings in step."""
        self.match = self.met = None
