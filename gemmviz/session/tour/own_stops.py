"""Stops that users set themselves: per rung; they can be ordered, changed, undone, and saved as a lesson."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import language, tr
from gemmviz.session.staged import Staged
from gemmviz.session.tour.lesson_file import Lesson, Texts
from gemmviz.session.tour.lessons import describe
from gemmviz.session.tour.stop import OwnStop, Setting


class OwnStops:
    """The user's own stops, per rung.

    Parameters
    ----------
    staged
        The stage on which the stops are set.
    """

    changed = Signal()
    """The stops, or their sentences, have changed."""

    def __init__(self, staged: Staged) -> None:
        self._staged = staged
        self.mine: dict[str, tuple[OwnStop, ...]] = {}
        """The user's own stops, by the name of the rung."""
        self._undo: list[tuple[str, tuple[OwnStop, ...]]] = []

    def setting(self) -> Setting:
        """Return the setting of the current choice."""
        choice = self._staged.choice
        return Setting.of(choice.problem, choice.params, choice.order, choice.as_written)

    @property
    def here(self) -> tuple[OwnStop, ...]:
        """The user's own stops on the chosen rung."""
        return self.mine.get(self._staged.choice.base.name, ())

    def now(self) -> OwnStop:
        """Return a stop at the moment on the stage."""
        cursor = self._staged.cursor
        return OwnStop(cursor.step, "", cursor.cell, cursor.block, cursor.warp, None, self.setting())

    def add(self, stop: OwnStop, rung: str = "") -> int:
        """Add a stop after the others of a rung (empty: the chosen rung), and return its index."""
        rung = rung or self._staged.choice.base.name
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
        rung = rung or self._staged.choice.base.name
        stops = self.mine.get(rung, ())
        if stops[index].say != sentence:
            self._put((*stops[:index], replace(stops[index], say=sentence), *stops[index + 1 :]), rung)

    def move(self, index: int, to: int) -> None:
        """Move a stop to another place in the list."""
        stops = list(self.here)
        if 0 <= to < len(stops) and to != index:
            stops.insert(to, stops.pop(index))
            self._put(stops)

    def as_lesson(self, path: Path, title: str) -> Lesson:
        """Return the user's own stops on the chosen rung as a lesson, in the current language.

        Raises
        ------
        GemmvizError
            When there are none, when they have several sizes, or when the stage shows another recording.
        """
        stops, choice = self.here, self._staged.choice
        playable, setting = self._staged.current, self.setting()
        if not stops:
            raise GemmvizError(tr("There are no stops to save: set one with B."))
        if choice.unsaved(choice.base) and not choice.breaks:
            raise GemmvizError(
                tr("{file} has edits that are not saved: a lesson is about the file.", file=choice.base.path.name)
            )
        if playable is None or any(stop.setting not in (None, setting) for stop in stops):
            raise GemmvizError(
                tr("A lesson has one size: not all of these stops were set at {size}.", size=str(setting.problem))
            )
        kernel = choice.kernel.name if choice.breaks else choice.base.name
        if not choice.shipped(choice.base) and not choice.breaks:
            kernel = os.path.relpath(choice.base.path, path.parent)
        described = tuple(
            replace(describe(stop.step, stop.cell, stop.block, playable, stop.say), warp=stop.warp, panel=stop.panel)
            for stop in stops
        )
        titles: Texts = {language(): title}
        return Lesson(
            *(path, kernel, setting.problem, titles, described, dict(setting.params), setting.order),
            as_written=setting.as_written,
        )

    def undo(self) -> None:
        """Undo the last change of the user's own stops."""
        if self._undo:
            self.keep(*self._undo.pop())

    @property
    def undoable(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._undo)

    def _put(self, stops: Iterable[OwnStop], rung: str = "") -> None:
        rung = rung or self._staged.choice.base.name
        self._undo.append((rung, self.mine.get(rung, ())))
        self.keep(rung, tuple(stops))

    def keep(self, rung: str, stops: tuple[OwnStop, ...]) -> None:
        """Replace the stops of a kernel."""
        self.mine[rung] = stops
        self.changed.emit()
