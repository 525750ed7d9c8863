"""Two versions of a kernel that are compared on one page, and the result."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.session.trust.trust import Trust

if TYPE_CHECKING:
    from gemmviz.versions.comparison import Comparison  # late: few windows compare versions


@dataclass(frozen=True)
class Side:
    """One of the two versions: its name, and its kernel."""

    name: str
    kernel: Kernel


class TwoVersions:
    """The version before and the version after.

    Parameters
    ----------
    trust
        Decides which texts may run.
    """

    changed = Signal()
    """The versions, the question whether they may run, the progress, or the result have changed."""
    wanted = Signal()
    """Emitted when the versions have to be compared; both may run."""
    dropped = Signal()
    """Emitted when the current comparison is no longer needed."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self.before: Side | None = None
        self.after: Side | None = None
        self.problem: Problem | None = None
        """The size; None: a small size that both take."""
        self.measures = False
        """Whether both are measured, too."""
        self.asked: tuple[Side, ...] = ()
        """The versions that may not run until the user allows it, while the question is open."""
        self.busy = ""
        self.share: float | None = None
        self.result: Comparison | None = None
        self.fault = ""

    def choose(self, before: Side | None, after: Side | None) -> None:
        """Choose the versions; the result of other versions is dropped. Files with one name have their folders."""
        if before is not None and after is not None:
            before, after = _told_apart(before, after)
        if (before, after) != (self.before, self.after):
            self.drop()
            self.before, self.after = before, after
            self._renew()

    def want(self, problem: Problem | None, measures: bool) -> None:
        """Choose the size, and whether both are measured."""
        if (problem, measures) != (self.problem, self.measures):
            self.problem, self.measures = problem, measures
            self.changed.emit()

    def compare(self) -> None:
        """Compare the versions if both may run; else ask whether they may."""
        sides = self.sides
        if sides is None:
            return
        self._renew()
        self.asked = tuple(side for side in sides if not self._trust.allows(side.kernel.path, side.kernel.text))
        if self.asked:
            self.changed.emit()
        else:
            self.wanted.emit()

    def allow(self) -> None:
        """Allow the texts in question to run, now and later, and compare."""
        fault = ""
        for side in self.asked:
            try:
                self._trust.allow(side.kernel.path, side.kernel.text)
            except GemmvizError as error:
                fault = str(error)  # they may run in this window only
        self.compare()
        self.fault = self.fault or fault
        self.changed.emit()

    def refuse(self) -> None:
        """Close the question without running anything."""
        self.asked = ()
        self.changed.emit()

    @property
    def sides(self) -> tuple[Side, Side] | None:
        """Both versions; None until both are chosen."""
        return None if self.before is None or self.after is None else (self.before, self.after)

    def say(self, text: str, share: float | None) -> None:
        """Show the current work."""
        self.busy, self.share = text, share
        self.changed.emit()

    def show(self, result: "Comparison") -> None:
        """Take the result."""
        self.busy, self.result = "", result
        self.changed.emit()

    def fail(self, fault: str) -> None:
        """Take the reason why there is no result."""
        self.busy, self.fault = "", fault
        self.changed.emit()

    def drop(self) -> None:
        """Stop the current comparison."""
        if self.busy:
            self.busy = ""
            self.dropped.emit()
            self.changed.emit()

    def _renew(self) -> None:
        self.asked, self.result, self.fault = (), None, ""
        self.changed.emit()


def _told_apart(before: Side, after: Side) -> tuple[Side, Side]:
    one, other = before.kernel.path, after.kernel.path
    if before.name != after.name or one.parent.name == other.parent.name:
        return before, after
    return replace(before, name=f"{one.parent.name}/{one.name}"), replace(
        after, name=f"{other.parent.name}/{other.name}"
    )
