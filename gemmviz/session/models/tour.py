"""A tour: the stops that it goes through, and the current one."""

from collections.abc import Iterable

from psygnal import Signal

from gemmviz.language import language, tr
from gemmviz.session.tour.lesson_file import Lesson
from gemmviz.session.tour.stop import OwnStop, Setting

RungSetting = tuple[str, Setting]
"""The name of a rung, and its size, parameters, order and view."""


class Tour:
    """Holds the stops of a lesson, or the user's own stops; `gemmviz.session.rules.guide.Guide` goes to them."""

    changed = Signal()
    """The stops, or their sentences."""
    moved = Signal()
    """The current stop."""

    def __init__(self) -> None:
        self.lesson: Lesson | None = None
        self.own_rung = ""
        """The rung whose own stops the tour goes through; empty: it does not go through the user's own stops."""
        self.stops: tuple[OwnStop, ...] = ()
        """The stops of the tour; empty while those of a lesson are not yet found in a recording."""
        self.at: int | None = None
        """The last visited stop; None: none yet."""
        self.awaited: int | None = None
        """The stop whose recording is awaited."""
        self.wanted: RungSetting | None = None
        """The rung and setting of the lesson."""
        self.before: RungSetting | None = None
        """The rung and setting from before the first lesson; a tour that ends restores them."""

    @property
    def active(self) -> bool:
        """Whether there is a tour to show."""
        return self.lesson is not None or bool(self.own_rung)

    @property
    def waiting(self) -> bool:
        """Whether the tour waits for the recording of the next stop."""
        return self.awaited is not None

    @property
    def title(self) -> str:
        """The title of the tour; empty if there is none."""
        if self.lesson is not None:
            return self.lesson.title(language())
        return tr("My stops") if self.own_rung else ""

    @property
    def stop(self) -> OwnStop | None:
        """The current stop."""
        return self.stops[self.at] if self.at is not None and self.at < len(self.stops) else None

    @property
    def onward(self) -> str:
        """The rung that follows the last stop of a lesson; empty if there is none, or if more stops come first."""
        if self.lesson is None or self.at is None or self.at < len(self.stops) - 1:
            return ""
        return self.lesson.next

    def begin_lesson(self, lesson: Lesson, wanted: RungSetting, before: RungSetting, at: int = 0) -> None:
        """Begin a lesson; its stop `at` is awaited. In a lesson already, `before` stays as it was."""
        self.before = self.before or before
        self.lesson, self.own_rung, self.stops, self.at = lesson, "", (), None
        self.awaited, self.wanted = at, wanted
        self.changed.emit()
        self.moved.emit()

    def begin_own(self, rung: str, stops: Iterable[OwnStop]) -> None:
        """Begin a tour through the user's own stops on a rung."""
        self.own_rung, self.stops, self.at = rung, tuple(stops), None
        self.changed.emit()

    def end(self) -> None:
        """End the tour."""
        self.lesson, self.own_rung, self.stops, self.at = None, "", (), None
        self.awaited = self.wanted = self.before = None
        self.changed.emit()
        self.moved.emit()

    def show(self, stops: Iterable[OwnStop]) -> None:
        """Replace the stops; a tour of one's own stops that stands at a deleted one goes to the last one."""
        self.stops = tuple(stops)
        self.changed.emit()
        if self.own_rung and self.at is not None and self.at >= len(self.stops):
            self.at = len(self.stops) - 1 if self.stops else None
            self.moved.emit()

    def move(self, index: int) -> None:
        """Make a stop the current one."""
        if self.at != index:
            self.at = index
            self.moved.emit()
