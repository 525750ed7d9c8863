"""The state of one window: small models, each with its own signals, and their connections."""

from functools import partial

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr_again
from gemmviz.session.files.snapshot import Reopening
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.comparison import Comparison
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.findings import Findings
from gemmviz.session.models.frozen_warp import FrozenWarp
from gemmviz.session.models.guesses import Guesses
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.machine_code import MachineCode
from gemmviz.session.models.messages import Messages
from gemmviz.session.models.own_stops import OwnStops
from gemmviz.session.models.permission import Permission
from gemmviz.session.models.places import Places
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.predict import Predict
from gemmviz.session.models.preferences import Preferences, ThemeName
from gemmviz.session.models.progress import Progress
from gemmviz.session.models.results import Results
from gemmviz.session.models.sight import ChartChoices, Sight
from gemmviz.session.models.tour import Tour
from gemmviz.session.models.tuning import Tuning
from gemmviz.session.models.two_versions import TwoVersions
from gemmviz.session.rules.asking import Asking
from gemmviz.session.rules.comparison_partner import nearest_slower
from gemmviz.session.rules.demonstration import Demonstration
from gemmviz.session.rules.following import Follower
from gemmviz.session.rules.guide import Guide
from gemmviz.session.rules.kept_parameters import KeptParameters
from gemmviz.session.rules.overtime import Overtime
from gemmviz.session.rules.picked_thread import PickedThread
from gemmviz.session.rules.player import Player
from gemmviz.session.rules.side_by_side import SideBySide
from gemmviz.session.rules.staged import Staged
from gemmviz.session.rules.warp_steps import WarpSteps
from gemmviz.session.trust.trust import Trust
from gemmviz.session.values.message import Message


class Session:
    """Owns the models of one window, and the rules that act on several of them.

    A model knows no other model. Only `reopening` takes the session itself, as
    `gemmviz.session.files.snapshot.OnScreen`: a snapshot has the state of most models.

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
        self.guesses = Guesses()
        self.sight, self.chart_choices = Sight(), ChartChoices()
        self.choice = Choice(ladder)
        self.cursor = Cursor()
        self.playback = Playback()
        self.player = Player(self.cursor, self.playback, self.preferences)
        self.staged = Staged(
            *(self.choice, self.cursor, self.progress, self.messages, self.preferences),
            trail=lambda: self.player.trail,
            # While a question about the next step is open, nothing shows that step.
            motion=lambda: "none" if self.predict.on else self.player.motion,
            idea=self._idea,
        )
        self.inspection = Inspection(lambda: self.cursor.threads)
        self.permission = Permission(self.choice, Trust(kernels))
        self.tuning = Tuning(self.choice.bench_problem)
        self.versions = TwoVersions(self.permission.trust)
        self.own_stops = OwnStops(self.choice)
        self.lens = LensChoice(self.choice)
        self.machine_code = MachineCode(self.choice.launch, self.choice.bench_launch)
        # Connected before the machine code, which is then requested once, with the kept parameters.
        self.kept_parameters = KeptParameters(self.choice, self.tuning)
        self._connect_models()
        self.tour = Tour()
        self.guide = Guide(self.tour, self.staged, self.playback, self.inspection, self.own_stops, self.lens)
        slower = partial(nearest_slower, self.choice, self.results)
        self.comparison = Comparison()
        second_cursor = Cursor()
        follower = Follower(second_cursor, self.playback, self.player, self.preferences)
        self.second = Staged(
            *(Choice(ladder), second_cursor, Progress("record"), Messages(), self.preferences),
            trail=follower.trail,
            motion=self.staged.motion,
        )
        self.side_by_side = SideBySide(self.comparison, self.staged, self.second, follower, slower)
        self.overtime = Overtime(self.comparison, self.staged, self.second, self.playback, follower)
        self.predict = Predict()
        self._asked_from: int | None = None  # the stop at which the questions began
        self.asking = Asking(self.predict, self.cursor, self.playback, self.inspection, self.preferences, self.lens)
        self.reopening = Reopening(self)
        self.demonstration = Demonstration(self.staged, self.playback, self.tour, self.guide)
        self.frozen_warp = FrozenWarp()
        self.warp_steps = WarpSteps(self.frozen_warp, self.choice, self.cursor, self.playback)
        self._wire()
        self.picked_thread = PickedThread(self.cursor, self.inspection)

    def _idea(self) -> str:
        return self.demonstration.idea

    def _connect_models(self) -> None:
        choice = self.choice
        choice.chosen.connect(self.permission.refresh)
        choice.chosen.connect(self.lens.follow)
        choice.chosen.connect(self.machine_code.refresh)
        choice.bench_chosen.connect(self.machine_code.refresh)
        self.preferences.spoken.connect(self._translate_standing)
        self.permission.failed.connect(lambda why: self.messages.tell(Message(why, "warning", lasting=True)))

    def _translate_standing(self) -> None:
        """Write the standing texts in the language that was chosen."""
        self.messages.translate()
        self.second.messages.translate()
        for model in (self.machine_code, self.versions, self.places):
            model.fault = tr_again(model.fault, self.preferences.spoken_before)

    def _wire(self) -> None:
        # Another text: the figures of the previous text are not valid for it.
        self.choice.text_changed.connect(self.results.drop_stale)
        self.choice.file_changed.connect(self.results.forget)
        self.choice.opened.connect(self._show_notes)
        # Another recording: a tour, a snapshot or a demo that is waiting for it goes to its step.
        self.cursor.shown.connect(self.guide.arrive)
        self.cursor.shown.connect(self.reopening.arrive)
        self.cursor.shown.connect(self.demonstration.arrive)
        self.tour.moved.connect(self._note_lesson)
        # A lens would show the answer.
        self.predict.changed.connect(lambda: self.lens.cover(self.predict.on and not self.predict.revealed))

        self.predict.toggled.connect(self._on_predict)

    def _on_predict(self) -> None:
        """After questions that began at a stop of a tour, go back to it: its sentence is about that step."""
        tour = self.tour
        if self.predict.on:
            self._asked_from = tour.at if tour.stop is not None and tour.stop.step == self.cursor.step else None
        elif self._asked_from is not None and self._asked_from == tour.at:
            self.guide.go(self._asked_from)

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
        if not (self.playback.playing and self.overtime.advance(seconds)):
            self.player.advance(seconds)

    def step_by(self, count: int) -> None:
        """Stop, and go some steps forward or back; with a frozen warp, from request to request."""
        if not self.warp_steps.step(count):
            self.player.step_by(count)

    def step_unit(self, direction: int) -> None:
        """Stop, and go to the next (1) or the previous (-1) of the chosen units; with a frozen warp, by requests."""
        if not self.warp_steps.step(direction):
            self.player.step_unit(direction)
