"""Stops that users set themselves: per rung; they can be ordered, changed, and undone."""

from collections.abc import Iterable
from dataclasses import replace

from psygnal import Signal

from gemmviz.session.tour.stop import OwnStop
from gemmviz.session.values.chosen import Chosen


class OwnStops:
    """The user's own stops, per rung.

    Parameters
    ----------
    choice
        The chosen rung.
    """

    changed = Signal()
    """The stops, or their sentences, have changed."""

    def __init__(self, choice: Chosen) -> None:
        self._choice = choice
        self.mine: dict[str, tuple[OwnStop, ...]] = {}
        """The user's own stops, by the name of the rung."""
        self._undo: list[tuple[str, tuple[OwnStop, ...]]] = []

    @property
    def here(self) -> tuple[OwnStop, ...]:
        """The user's own stops on the chosen rung."""
        return self.mine.get(self._choice.base.name, ())

    def add(self, stop: OwnStop, rung: str = "") -> int:
        """Add a stop after the others of a rung (empty: the chosen rung), and return its index."""
        rung = rung or self._choice.base.name
        before = self.mine.get(rung, ())
        self._put((*before, stop), rung)
        return len(before)

    def remove(self, index: int) -> None:
        """Remove a stop."""
        stops = self.here
        self._put((*stops[:index], *stops[index + 1 :]))

    def replace(self, index: int, stop: OwnStop) -> None:
        """Replace a stop."""
        stops = self.here
        if stops[index] != stop:
            self._put((*stops[:index], stop, *stops[index + 1 :]))

    def say(self, index: int, sentence: str, rung: str = "") -> None:
        """Change the sentence of a stop on a rung (empty: the chosen rung)."""
        rung = rung or self._choice.base.name
        stops = self.mine.get(rung, ())
        if stops[index].say != sentence:
            self._put((*stops[:index], replace(stops[index], say=sentence), *stops[index + 1 :]), rung)

    def move(self, index: int, to: int) -> None:
        """Move a stop to another place in the list."""
        stops = list(self.here)
        if 0 <= to < len(stops) and to != index:
            stops.insert(to, stops.pop(index))
            self._put(stops)

    def undo(self) -> None:
        """Undo the last change of the user's own stops."""
        if self._undo:
            self.keep(*self._undo.pop())

    @property
    def undoable(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._undo)

    def _put(self, stops: Iterable[OwnStop], rung: str = "") -> None:
        rung = rung or self._choice.base.name
        self._undo.append((rung, self.mine.get(rung, ())))
        self.keep(rung, tuple(stops))

    def keep(self, rung: str, stops: tuple[OwnStop, ...]) -> None:
        """Replace the stops of a kernel."""
        self.mine[rung] = stops
        self.changed.emit()
