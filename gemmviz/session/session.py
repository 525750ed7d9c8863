"""The state of one window: small models, each with its own signals, and their connections."""

from functools import partial

from gemmviz.catalogue.kernel import Kernel
from gemmviz.session.choice import Choice
from gemmviz.session.comparison import Comparison
from gemmviz.session.comparison_partner import nearest_slower
from gemmviz.session.cursor import Cursor
from gemmviz.session.findings import Findings
from gemmviz.session.frozen_warp import FrozenWarp
from gemmviz.session.inspection import Inspection
from gemmviz.session.lens_choice import LensChoice
from gemmviz.session.machine_code import MachineCode
from gemmviz.session.message import Message
from gemmviz.session.messages import Messages
from gemmviz.session.permission import Permission
from gemmviz.session.places import Places
from gemmviz.session.playback import Playback
from gemmviz.session.predict import Predict
from gemmviz.session.preferences import Preferences, ThemeName
from gemmviz.session.progress import Progress
from gemmviz.session.results import Results
from gemmviz.session.sight import ChartChoices, Sight
from gemmviz.session.snapshot import Reopening
from gemmviz.session.staged import Staged
from gemmviz.session.tour.demonstration import Demonstration
from gemmviz.session.tour.own_stops import OwnStops
from gemmviz.session.tour.stops import Tour
from gemmviz.session.trust import Trust
from gemmviz.session.tuning import Tuning
from gemmviz.session.two_versions import TwoVersions


class Session:
    """Owns the models of one window. Each takes the models that it reads or changes.

    Only `reopening` takes the session itself, as `gemmviz.session.snapshot.OnScreen`: a snapshot has the state of most
    models.

    A model sends a signal after every change. Listeners are called in the order of their connection, models before
    views.

    Parameters
    ----------
    kernels
        The ladder: the kernels that come with gemmviz and may run.
    theme
        ``"dark"`` or ``"light"``.
    """

    def __init__(self, kernels: list[Kernel], theme: ThemeName = "dark") -> None:
        ladder = list(kernels)
        self.messages = Messages()
        self.progress = Progress("record", "bench", "beside")
        self.preferences = Preferences(theme)
        self.results = Results(ladder)
        self.places = Places()
        self.findings = Findings()
        self.sight, self.chart_choices = Sight(), ChartChoices()
        self.choice = Choice(ladder)
        self.cursor = Cursor()
        self.playback = Playback(self.cursor, self.preferences)
        self.staged = Staged(
            *(self.choice, self.cursor, self.progress, self.messages, self.preferences),
            trail=lambda: self.playback.trail,
            # While a question about the next step is open, nothing shows that step.
            motion=lambda: "none" if self.predict.on else self.playback.motion,
        )
        self.inspection = Inspection(self.cursor)
        self.permission = Permission(self.choice, self.messages, Trust(kernels))
        self.tuning = Tuning(self.choice, self.results)
        self.versions = TwoVersions(self.choice, self.permission.trust)
        self.own_stops = OwnStops(self.staged)
        self.lens = LensChoice(self.choice)
        self.machine_code = MachineCode(self.choice)
        self.tour = Tour(self.staged, self.playback, self.inspection, self.own_stops, self.lens)
        slower = partial(nearest_slower, self.choice, self.results)
        self.comparison = Comparison(self.staged, self.playback, slower)
        self.predict = Predict(self.cursor, self.playback, self.inspection, self.preferences, self.lens)
        self.reopening = Reopening(self)
        self.demonstration = Demonstration(self.staged, self.playback, self.tour)
        self.frozen_warp = FrozenWarp(self.choice, self.cursor, self.playback)
        self._wire()

    def _wire(self) -> None:
        # Another text: the figures of the previous text are not valid for it.
        self.choice.text_changed.connect(self.results.drop_stale)
        self.choice.file_changed.connect(self.results.forget)
        self.choice.opened.connect(self._show_notes)
        # Another recording: a tour, a snapshot or a demo that is waiting for it goes to its step.
        self.cursor.shown.connect(self.tour.arrive)
        self.cursor.shown.connect(self.reopening.arrive)
        self.cursor.shown.connect(self.demonstration.arrive)
        self.tour.moved.connect(self._note_lesson)
        # A lens would show the answer.
        self.predict.changed.connect(lambda: self.lens.cover(self.predict.on and not self.predict.revealed))
        # Picking an element of C also picks its thread, after all models have taken the cell.
        self.cursor.picked.connect(self.inspection.take_pick)
        self.cursor.recorded.connect(self.inspection.begin_anew)

    def _note_lesson(self) -> None:
        """Keep that a lesson has reached its last stop."""
        tour = self.tour
        if tour.lesson is not None and tour.at is not None and tour.at == len(tour.stops) - 1:
            self.preferences.finish(self.choice.base.name)

    def _show_notes(self) -> None:
        """Show the notes about the chosen kernel's file."""
        if self.choice.kernel.notes:
            self.messages.tell(Message("\n".join(self.choice.kernel.notes), "warning", lasting=True))

    def advance(self, seconds: float) -> None:
        """Advance playback; after the end of this recording, the second one may still play."""
        if not (self.playback.playing and self.comparison.overtime(seconds)):
            self.playback.advance(seconds)

    def step_by(self, count: int) -> None:
        """Stop, and go some steps forward or back; with a frozen warp, from request to request."""
        if not self.frozen_warp.step(count):
            self.playback.step_by(count)

    def step_unit(self, direction: int) -> None:
        """Stop, and go to the next (1) or the previous (-1) of the chosen units; with a frozen warp, by requests."""
        if not self.frozen_warp.step(direction):
            self.playback.step_unit(direction)
