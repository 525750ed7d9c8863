"""Tours: they go through the stops of a lesson, or through the user's own stops."""

from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find
from gemmviz.language import language, tr
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.own_stops import OwnStops
from gemmviz.session.models.playback import Playback
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.lesson_file import Lesson, load_lesson
from gemmviz.session.tour.lessons import find_lesson, recorded_at, resolve
from gemmviz.session.tour.stop import OwnStop, Setting
from gemmviz.session.values.message import Message


class Tour:
    """Goes through the stops of a lesson, or through the user's own stops on the chosen rung.

    A lesson is recorded at its own size with its own parameters, as compiled unless its file says otherwise. At its end
    the previous choice is restored.

    Parameters
    ----------
    staged, playback
        The stage of the tour, and its playback.
    inspection
        Shows the tab beside the stage that a stop names.
    own_stops
        The user's own stops.
    lens
        The lens on the stage: in a lesson each stop chooses it.
    """

    changed = Signal()
    """The stops, or their sentences."""
    moved = Signal()
    """The current stop."""
    recording_wanted = Signal()
    """Emitted when the choice has to be recorded at once."""

    def __init__(
        self, staged: Staged, playback: Playback, inspection: Inspection, own_stops: OwnStops, lens: LensChoice
    ) -> None:
        self._staged, self._playback, self._inspection, self._own_stops = staged, playback, inspection, own_stops
        self._choice, self._lens = staged.choice, lens
        self.lesson: Lesson | None = None
        self.own = False
        """Whether the tour goes through the user's own stops."""
        self.at: int | None = None
        """The last visited stop; None: none yet."""
        self._resolved: tuple[OwnStop, ...] = ()
        self._wanted: tuple[str, Setting] | None = None
        self._before: tuple[str, Setting] | None = None
        self._awaited: int | None = None
        self._own_rung = ""
        self._choice.chosen.connect(self._on_chosen)
        staged.preferences.spoken.connect(self._resolve_again)
        own_stops.changed.connect(self._on_own_stops)

    @property
    def active(self) -> bool:
        """Whether there is a tour to show."""
        return self.lesson is not None or self.own

    @property
    def waiting(self) -> bool:
        """Whether the tour waits for the recording of the next stop."""
        return self._awaited is not None

    @property
    def title(self) -> str:
        """The title of the tour; empty if there is none."""
        if self.lesson is not None:
            return self.lesson.title(language())
        return tr("My stops") if self.own else ""

    @property
    def stops(self) -> list[OwnStop]:
        """The stops of the tour."""
        if self.lesson is not None:
            return list(self._resolved)
        return list(self._own_stops.here) if self.own else []

    @property
    def stop(self) -> OwnStop | None:
        """The current stop."""
        stops = self.stops
        return stops[self.at] if self.at is not None and self.at < len(stops) else None

    @property
    def onward(self) -> str:
        """The rung that follows the last stop of a lesson; empty if there is none, or if more stops come first."""
        at_end = self.lesson is not None and self.at is not None and self.at >= len(self._resolved) - 1
        return self.lesson.next if at_end and self.lesson is not None else ""

    # Lessons

    def toggle_lesson(self) -> None:
        """Begin the lesson of the chosen rung, or leave it."""
        if self.lesson is not None:
            self.leave()
        else:
            self.start_rung(self._choice.base.name)

    def start_rung(self, rung: str) -> None:
        """Begin the lesson of a rung; if there is none, show a message."""
        try:
            kernel = find(rung, self._choice.kernels)
            lesson = find_lesson(kernel)
        except GemmvizError as error:
            self._tell(str(error), "warning")
            return
        if lesson is not None:
            self.start(lesson)
        elif kernel.recordable:
            self._tell(tr("{rung} has no lesson yet: see docs/lessons.md to write one.", rung=kernel.alias))
        else:
            self._tell(tr("{rung} is a library call: it has no source to show a lesson on.", rung=kernel.alias))

    def open(self, path: Path) -> None:
        """Begin the lesson of a file; if it is not a lesson, show a message."""
        try:
            lesson = load_lesson(path)
        except GemmvizError as error:
            self._tell(str(error), "warning")
        else:
            self.start(lesson)

    def start(self, lesson: Lesson) -> None:
        """Record with a lesson's settings, and then go to its first stop."""
        try:
            kernel = find(lesson.kernel, self._choice.kernels)
            problem, params = recorded_at(lesson, kernel)
            if kernel.base_name not in [k.name for k in self._choice.kernels]:
                self._choice.add_kernel(kernel)
        except GemmvizError as error:
            self._tell(f"{lesson.path.name}: {error}", "warning")
            return
        self._playback.pause()
        if self._before is None:
            rung = self._choice.kernel if self._choice.breaks else self._choice.base
            self._before = rung.name, self._choice.setting
        self.lesson, self.own, self._resolved, self.at = lesson, False, (), None
        self.changed.emit()
        self.moved.emit()
        self._awaited = 0
        self._wanted = kernel.name, Setting.of(problem, params, lesson.order, lesson.as_written)
        self._show(*self._wanted)

    def leave(self, *, restore: bool = True) -> None:
        """End the tour; restore size, parameters, order and view from before a lesson, unless `restore` is False."""
        before, self._before, lesson = self._before, None, self.lesson
        self.lesson, self.own, self.at, self._resolved, self._awaited = None, False, None, (), None
        self.changed.emit()
        self.moved.emit()
        if lesson is not None:
            self._lens.show_own()
        if lesson is None or before is None or not restore:
            return
        rung, setting = before
        if rung.partition("~")[0] == self._choice.base.name:
            self._show(rung, setting)
        else:
            self._choice.order, self._choice.as_written = setting.order, setting.as_written
            self._choice.choose_kernel(self._choice.kernel)

    def _show(self, rung: str, setting: Setting) -> None:
        """Choose a rung at a setting; record it unless its recording is on the stage already."""
        kernel = find(rung, self._choice.kernels)
        if kernel.name != self._choice.kernel.name or self._choice.setting != setting:
            self._choice.order, self._choice.as_written = setting.order, setting.as_written
            self._choice.choose_kernel(kernel, dict(setting.params), setting.problem)
        if self._staged.current is not None:
            if self.lesson is not None:
                self._staged.messages.tell(None)  # a lesson needs the space
            self.arrive()
        else:
            self.recording_wanted.emit()

    def _on_chosen(self) -> None:
        """End the tour when the user chooses another rung, size, parameters or view."""
        if self.own and self._own_rung != self._choice.base.name:
            self.leave()
        elif self.lesson is not None and self._wanted is not None:
            rung, setting = self._wanted
            if rung.partition("~")[0] != self._choice.base.name or setting != self._choice.setting:
                self._before = None
                self.leave()

    def arrive(self) -> None:
        """Take a new recording: find the stops in it, and go to the awaited one, or the current one again."""
        if self.lesson is not None and not self._resolve_again():
            return
        awaited, self._awaited = self._awaited, None
        if awaited is not None:
            self.go(awaited)
        elif self.lesson is not None and self.at is not None:
            self.go(self.at)

    def _resolve_again(self) -> bool:
        """Find a lesson's stops in the recording on the stage, with sentences in the chosen language."""
        playable = self._staged.current
        if self.lesson is None or playable is None:
            return False
        try:
            found = resolve(self.lesson, playable, language(), self._choice.kernel.demo)
        except GemmvizError as error:
            self.leave()
            self._tell(str(error), "warning")
            return False
        self._resolved = tuple(
            OwnStop(s.step, s.say, s.cell, s.block, s.warp, s.panel, lane=s.lane, lens=s.lens) for s in found
        )
        self.changed.emit()
        return True

    # Moving

    def go(self, index: int) -> None:
        """Go to a stop: playing ends, and its step, cell, block, warp and panel are chosen."""
        stops = self.stops
        if not 0 <= index < len(stops):
            return
        stop = stops[index]
        self._playback.pause()
        if self.at != index:
            self.at = index
            self.moved.emit()
        if stop.setting is not None and (stop.setting != self._choice.setting or self._staged.current is None):
            self._awaited = index
            wanted = stop.setting
            self._choice.choose(wanted.problem, dict(wanted.params), wanted.order, wanted.as_written, stays=False)
            if self._staged.current is None:
                self.recording_wanted.emit()
                return
            self._awaited = None
        self.point_at(stop)
        if self.lesson is not None:
            self._lens.show(stop.lens)

    def next(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) stop; after a lesson's last stop, to the next rung's lesson."""
        if not self.active:
            if self._own_stops.here:
                self.show_own(0)
            else:
                self.toggle_lesson()
        elif self.at is None:
            self.go(0)
        elif direction > 0 and self.onward:
            self.start_rung(self.onward)
        else:
            self.go(self.at + direction)

    def point_at(self, stop: OwnStop) -> None:
        """Go to the moment of a stop, with all its choices."""
        cursor = self._staged.cursor
        cursor.seek(stop.step)
        cursor.pick(stop.cell, stop.block)
        if stop.warp is not None:
            cursor.choose_warp(stop.warp)
        if stop.lane is not None:
            self._inspection.choose_lane(stop.lane)
        if stop.panel is not None:
            self._inspection.turn_to(stop.panel)

    # The user's own stops

    def show_own(self, index: int = 0) -> None:
        """Go through the user's own stops, from one of them on."""
        if self.lesson is not None:
            self.leave()
        self.own, self.at, self._own_rung = True, None, self._choice.base.name
        self.changed.emit()
        self.go(index)

    def _on_own_stops(self) -> None:
        """Emit that the user's own stops changed; a tour at a deleted stop goes to the last one."""
        self.changed.emit()
        count = len(self._own_stops.here)
        if self.own and self.at is not None and self.at >= count:
            self.at = count - 1 if count else None
            self.moved.emit()

    def _tell(self, text: str, kind: str = "info") -> None:
        self._staged.messages.tell(Message(text, kind, lasting=True))
