"""Leads through a tour: records what a stop needs, and goes to its step, cell, block, warp and panel."""

from collections.abc import Callable
from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find
from gemmviz.language import language, tr
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.own_stops import OwnStops
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.tour import RungSetting, Tour
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.lesson_file import Lesson, load_lesson
from gemmviz.session.tour.lessons import find_lesson, recorded_at, resolve
from gemmviz.session.tour.stop import OwnStop, Setting
from gemmviz.session.values.message import Message, told


class Guide:
    """Goes through the stops of a tour, and has no state of its own.

    A lesson is recorded at its own size with its own parameters, as compiled unless its file says otherwise. At its end
    the previous choice is restored.

    Parameters
    ----------
    tour
        The tour.
    staged, playback
        The stage of the tour, and its playback.
    inspection
        Shows the tab beside the stage that a stop names.
    own_stops
        The user's own stops.
    lens
        The lens on the stage: in a lesson each stop chooses it.
    """

    recording_wanted = Signal()
    """Emitted when the choice has to be recorded at once."""

    def __init__(
        self,
        tour: Tour,
        staged: Staged,
        playback: Playback,
        inspection: Inspection,
        own_stops: OwnStops,
        lens: LensChoice,
    ) -> None:
        self._tour, self._staged, self._playback, self._inspection = tour, staged, playback, inspection
        self._own_stops, self._choice, self._lens = own_stops, staged.choice, lens
        self._choice.chosen.connect(self._on_chosen)
        staged.preferences.spoken.connect(self._resolve_again)
        own_stops.changed.connect(self._on_own_stops)

    # Lessons

    def toggle_lesson(self) -> None:
        """Begin the lesson of the chosen rung, or leave it."""
        if self._tour.lesson is not None:
            self.leave()
        else:
            self.start_rung(self._choice.base.name)

    def start_rung(self, rung: str, at: int = 0) -> None:
        """Begin the lesson of a rung at a stop, from 0; if there is none, show a message."""
        try:
            kernel = find(rung, self._choice.kernels)
            lesson = find_lesson(kernel)
        except GemmvizError as error:
            self._tell(str(error), "warning")
            return
        if lesson is not None:
            self.start(lesson, at)
        elif kernel.recordable:
            self._note(lambda: tr("{rung} has no lesson yet: see docs/lessons.md to write one.", rung=kernel.alias))
        else:
            self._note(lambda: tr("{rung} is a library call: it has no source to show a lesson on.", rung=kernel.alias))

    def open(self, path: Path) -> None:
        """Begin the lesson of a file; if it is not a lesson, show a message."""
        try:
            lesson = load_lesson(path)
        except GemmvizError as error:
            self._tell(str(error), "warning")
        else:
            self.start(lesson)

    def start(self, lesson: Lesson, at: int = 0) -> None:
        """Record with a lesson's settings, and then go to a stop, by default the first; past the end, to the last."""
        try:
            kernel = self._choice.named(find(lesson.kernel, self._choice.kernels))
            problem, params = recorded_at(lesson, kernel)
            if kernel.base_name not in [k.name for k in self._choice.kernels]:
                self._choice.add_kernel(kernel)
        except GemmvizError as error:
            self._tell(f"{lesson.path.name}: {error}", "warning")
            return
        self._playback.pause()
        rung = self._choice.kernel if self._choice.breaks else self._choice.base
        wanted = kernel.name, Setting.of(problem, params, lesson.order, lesson.as_written)
        at = min(at, len(lesson.stops) - 1)
        self._tour.begin_lesson(lesson, wanted, (rung.name, self._choice.setting), at)
        self._show(wanted)

    def leave(self, *, restore: bool = True) -> None:
        """End the tour; restore size, parameters, order and view from before a lesson, unless `restore` is False."""
        before, lesson = self._tour.before, self._tour.lesson
        self._tour.end()
        if lesson is not None:
            self._lens.show_own()
        if lesson is None or before is None or not restore:
            return
        rung, setting = before
        if rung.partition("~")[0] == self._choice.base.name:
            self._show(before)
        else:
            self._choice.order, self._choice.as_written = setting.order, setting.as_written
            self._choice.choose_kernel(self._choice.kernel)

    def _show(self, rung_setting: RungSetting) -> None:
        """Choose a rung at a setting; record it unless its recording is on the stage already."""
        rung, setting = rung_setting
        kernel = find(rung, self._choice.kernels)
        if kernel.name != self._choice.kernel.name or self._choice.setting != setting:
            self._choice.order, self._choice.as_written = setting.order, setting.as_written
            self._choice.choose_kernel(kernel, dict(setting.params), setting.problem)
        if self._staged.current is not None:
            if self._tour.lesson is not None:
                self._staged.messages.tell(None)  # a lesson needs the space
            self.arrive()
        else:
            self.recording_wanted.emit()

    def _on_chosen(self) -> None:
        """End the tour when the user chooses another rung, size, parameters or view."""
        tour, rung = self._tour, self._choice.base.name
        if tour.own_rung and tour.own_rung != rung:
            self.leave()
        elif tour.lesson is not None and tour.wanted is not None:
            name, setting = tour.wanted
            if name.partition("~")[0] != rung or setting != self._choice.setting:
                self.leave(restore=False)

    def arrive(self) -> None:
        """Take a new recording: find the stops in it, and go to the awaited one, or the current one again."""
        tour = self._tour
        if tour.lesson is not None and not self._resolve_again():
            return
        awaited, tour.awaited = tour.awaited, None
        if awaited is not None:
            self.go(awaited)
        elif tour.lesson is not None and tour.at is not None:
            self.go(tour.at)

    def _resolve_again(self) -> bool:
        """Find a lesson's stops in the recording on the stage, with sentences in the chosen language."""
        playable, lesson = self._staged.current, self._tour.lesson
        if lesson is None or playable is None:
            return False
        try:
            found = resolve(lesson, playable, language(), self._choice.kernel.demo)
        except GemmvizError as error:
            self.leave()
            self._tell(str(error), "warning")
            return False
        self._tour.show(
            OwnStop(s.step, s.say, s.cell, s.block, s.warp, s.panel, lane=s.lane, lens=s.lens, fraction=s.fraction)
            for s in found
        )
        return True

    # Moving

    def go(self, index: int) -> None:
        """Go to a stop: playing ends, and its step, cell, block, warp and panel are chosen."""
        tour = self._tour
        if not 0 <= index < len(tour.stops):
            return
        stop = tour.stops[index]
        self._playback.pause()
        tour.move(index)
        if stop.setting is not None and (stop.setting != self._choice.setting or self._staged.current is None):
            tour.awaited = index
            wanted = stop.setting
            self._choice.choose(wanted.problem, dict(wanted.params), wanted.order, wanted.as_written, stays=False)
            if self._staged.current is None:
                self.recording_wanted.emit()
                return
            tour.awaited = None
        self.point_at(stop)
        if tour.lesson is not None:
            self._lens.show(stop.lens)

    def next(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) stop; after a lesson's last stop, to the next rung's lesson."""
        tour = self._tour
        if not tour.active:
            if self._own_stops.here:
                self.show_own(0)
            else:
                self.toggle_lesson()
        elif tour.at is None:
            self.go(0)
        elif direction > 0 and tour.onward:
            self.start_rung(tour.onward)
        else:
            self.go(tour.at + direction)

    def point_at(self, stop: OwnStop) -> None:
        """Go to the moment of a stop, with all its choices."""
        cursor = self._staged.cursor
        cursor.seek(stop.step, stop.step + stop.fraction)
        cursor.pick(stop.cell, stop.block)
        if stop.warp is not None:
            cursor.choose_warp(stop.warp)
        if stop.lane is not None:
            self._inspection.choose_lane(stop.lane)
        if stop.panel is not None:
            self._inspection.turn_to(stop.panel)

    def sentence(self, stop: OwnStop) -> str:
        """Return a stop's sentence; where the text of a lesson's kernel was changed, a note in its place."""
        wanted = self._tour.wanted if self._tour.lesson is not None else None
        if wanted is None or wanted[0] == self._choice.kernel.name:
            return stop.say
        return tr("You have changed the kernel. This lesson is about the unchanged kernel: F6 brings it back.")

    def show_own(self, index: int = 0) -> None:
        """Go through the user's own stops, from one of them on."""
        if self._tour.lesson is not None:
            self.leave()
        self._tour.begin_own(self._choice.base.name, self._own_stops.here)
        self.go(index)

    def _on_own_stops(self) -> None:
        self._tour.show(self._own_stops.here if self._tour.own_rung else self._tour.stops)

    def _note(self, say: Callable[[], str]) -> None:
        self._staged.messages.tell(told(say, lasting=True))

    def _tell(self, text: str, kind: str) -> None:
        self._staged.messages.tell(Message(text, kind, lasting=True))
