"""Teaching stops that people set themselves: per rung, put in order, changed, taken back, and made into a lesson."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.problem import Problem
from gemmviz.language import language, tr
from gemmviz.session.tour.lesson_file import Lesson
from gemmviz.session.tour.lessons import describe
from gemmviz.trace.order.timeline import Order

if TYPE_CHECKING:
    from gemmviz.session.state import Session


@dataclass(frozen=True)
class Setting:
    """Size, parameters, order of the blocks and view: what a step number is worth nothing without."""

    problem: Problem
    params: tuple[tuple[str, int], ...]
    order: Order
    as_written: bool = False

    @classmethod
    def of(cls, problem: Problem, params: dict[str, int], order: Order, as_written: bool = False) -> "Setting":
        """Return the setting with its parameters in the order of their names."""
        return cls(problem, tuple(sorted(params.items())), order, as_written)


@dataclass(frozen=True)
class OwnStop:
    """A moment to stop at.

    Attributes
    ----------
    step
        Position in the timeline, from 0.
    say
        What to look at, and why: shown while people stand there.
    cell
        (array index, element in memory order) to choose; None: no cell.
    block, warp
        To choose, by their linear indices; None: as they are.
    panel
        A tab of the inspector to turn to; None: as it is.
    setting
        At which size, parameters, order and view the step was taken; None: those of the tour.
    lane
        Of the warp, to choose; None: as it is.
    """

    step: int
    say: str = ""
    cell: tuple[int, int] | None = None
    block: int | None = None
    warp: int | None = None
    panel: str | None = None
    setting: Setting | None = None
    lane: int | None = None


class OwnStops:
    """One's own stops of a session, per rung.

    Parameters
    ----------
    session
        Where the stops are set.
    """

    changed = Signal()
    """Which stops there are, or what they say."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.mine: dict[str, tuple[OwnStop, ...]] = {}
        """One's own stops, per name of a rung."""
        self._undo: list[tuple[str, tuple[OwnStop, ...]]] = []

    def _setting(self) -> Setting:
        session = self._session
        return Setting.of(session.problem, session.params, session.order, session.as_written)

    def _is_recorded(self) -> bool:
        session, playable = self._session, self._session.playable
        return playable is not None and not session.outdated and playable.timeline.order_by == session.order

    @property
    def own_stops(self) -> tuple[OwnStop, ...]:
        """One's own stops on the chosen rung."""
        return self.mine.get(self._session.base.name, ())

    def here(self) -> OwnStop:
        """Return a stop at the moment that is on the stage."""
        session = self._session
        return OwnStop(session.step, "", session.cell, session.block, session.warp, None, self._setting())

    def add(self, stop: OwnStop, rung: str = "") -> int:
        """Add a stop of one's own behind the others of a rung (empty: the chosen one), and return its index."""
        rung = rung or self._session.base.name
        before = self.mine.get(rung, ())
        self._put((*before, stop), rung)
        return len(before)

    def remove(self, index: int) -> None:
        """Take a stop of one's own away."""
        stops = self.own_stops
        self._put((*stops[:index], *stops[index + 1 :]))

    def replace(self, index: int, stop: OwnStop) -> None:
        """Put a stop in the place of another."""
        stops = self.own_stops
        if stops[index] != stop:
            self._put((*stops[:index], stop, *stops[index + 1 :]))

    def say(self, index: int, sentence: str, rung: str = "") -> None:
        """Change the sentence of a stop of one's own on a rung (empty: the chosen one)."""
        rung = rung or self._session.base.name
        stops = self.mine.get(rung, ())
        if stops[index].say != sentence:
            self._put((*stops[:index], replace(stops[index], say=sentence), *stops[index + 1 :]), rung)

    def move(self, index: int, to: int) -> None:
        """Move a stop of one's own to another place in the row."""
        stops = list(self.own_stops)
        if 0 <= to < len(stops) and to != index:
            stops.insert(to, stops.pop(index))
            self._put(stops)

    def as_lesson(self, path: Path, title: str) -> Lesson:
        """Return one's own stops on the chosen rung as a lesson, in the language that is spoken.

        Raises
        ------
        GemmvizError
            When there are none, they stand at several sizes, or the recording on the stage is another one.
        """
        session, stops = self._session, self.own_stops
        playable, setting = session.playable, self._setting()
        if not stops:
            raise GemmvizError(tr("There are no stops to save: set one with B."))
        if session.unsaved(session.base) and not session.breaks:
            raise GemmvizError(
                tr("{file} has edits that are not saved: a lesson is about the file.", file=session.base.path.name)
            )
        if playable is None or not self._is_recorded() or any(stop.setting not in (None, setting) for stop in stops):
            raise GemmvizError(
                tr("A lesson has one size: not all of these stops were set at {size}.", size=str(setting.problem))
            )
        kernel = session.kernel.name if session.breaks else session.base.name
        if not session.shipped(session.base) and not session.breaks:
            kernel = os.path.relpath(session.base.path, path.parent)
        described = tuple(
            replace(describe(stop.step, stop.cell, stop.block, playable, stop.say), warp=stop.warp, panel=stop.panel)
            for stop in stops
        )
        return Lesson(
            *(path, kernel, setting.problem, {language(): title}, described, dict(setting.params), setting.order),
            as_written=setting.as_written,
        )

    def undo(self) -> None:
        """Take the last change of one's own stops back."""
        if self._undo:
            self.keep(*self._undo.pop())

    @property
    def undoable(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self._undo)

    def _put(self, stops: Iterable[OwnStop], rung: str = "") -> None:
        rung = rung or self._session.base.name
        self._undo.append((rung, self.mine.get(rung, ())))
        self.keep(rung, tuple(stops))

    def keep(self, rung: str, stops: tuple[OwnStop, ...]) -> None:
        """Let the stops of a rung be these, in the place of those before."""
        self.mine[rung] = stops
        self.changed.emit()
