"""Random actions of a user in the window: through widgets, keys and menus, as people act."""

from functools import partial

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTreeWidget
from soak_dialogs import Dialogs
from soak_rest import Restful
from soak_widgets import choose_in, use_any

from gemmviz.language import LANGUAGES
from gemmviz.session.models.preferences import TYPE_SCALES

_SIZES = (1, 2, 3, 4, 5, 7, 8, 8, 8, 12, 16, 16, 16, 20, 24, 32, 33, 48, 64, 5000)
_MEASURED = (1, 16, 33, 64, 100, 128, 256)
_TYPED = ("x", "1", ";", " ", "}", "0 + ", "// a note", "/*", "for (;;) ;", "int zero = 0; zero = 1 / zero;", "__")
# Used by separate actions, or at the end.
_NOT_AT_RANDOM = ("quit",)
_LONG_RUNS = ("measure_all", "all_over_n", "tune", "over_n")


class User(Restful):
    """Does everything once, in an order of chance, and then things at random."""

    def __init__(self, session, random, folder):
        super().__init__(session, random, folder)
        self._dialogs = Dialogs(session, random, folder)
        self._weights = {
            self.rung: 8,
            self.size: 8,
            self.params: 5,
            self.type_text: 8,
            self.undo: 6,
            self.break_it: 3,
            self.page: 5,
            self.chart: 3,
            self.claim: 2,
            self.theme: 3,
            self.language: 2,
            self.type_size: 4,
            self.resize: 3,
            self.present: 4,
            self.predict: 5,
            self.compare: 4,
            self.lesson: 5,
            self.scrub: 10,
            self.play: 8,
            self.point: 8,
            self.freeze: 4,
            self.measure: 2,
            self.long_run: 1,
            self.cancel: 5,
            self.export: 3,
            self.states: 4,
            self.open_file: 3,
            self.answer: 4,
            self.dialog: 10,
            self.any_action: 12,
            self.any_widget: 8,
        }
        # Libraries, fonts and their glyphs are loaded when they are first needed: that is before memory is compared.
        kinds = [partial(self.speak, language) for language in LANGUAGES]
        kinds += [partial(self.film, suffix) for suffix in (".gif", ".mp4")]
        first = [*self._weights, *kinds]
        self.untried = random.sample(first, len(first))
        """The actions that have not been done yet."""

    def act(self):
        """Do one thing; return its name."""
        self.see_first_look()
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()
        presenting = self.window.presenting
        if presenting.on and self.random.random() < 0.3:
            return self.in_front()
        if not self.untried:
            action = self.random.choices([*self._weights], [*self._weights.values()])[0]
            return action() or action.__name__
        action = self.untried.pop()
        try:
            return action() or action.__name__  # a partial one returns its name
        except StopIteration:  # the window was being exchanged
            self.untried.insert(0, action)
            raise

    def give_no_answer(self):
        """Close the menu or the dialog that waits."""
        waiting = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if waiting is not None:
            waiting.close()

    def leave(self):
        """Close the window; edits are lost."""
        self._dialogs.discard_all()
        self.window.close()

    # Files

    def open_file(self):
        """Open one of the files; a text that is new is asked about."""
        self._trigger("open")

    def states(self):
        """Save the state of the screen, open a saved state, or copy its command line."""
        self._trigger(self.random.choice(("save_state", "open", "copy_command")))

    # What is chosen

    def rung(self):
        """Choose a rung in the ladder."""
        kernel = self.random.choice(self.session.choice.kernels)
        self.window.ladder.setCurrentItem(self.window.ladder.item_of(kernel.name))

    def size(self):
        """Set a size in the boxes of the recording."""
        row = self.window.recording.size_row
        if self.random.random() < 0.2:
            row.link.click()
        row.boxes[self.random.choice("MNK")].setValue(self.random.choice(_SIZES))

    def params(self):
        """Choose a parameter of the kernel, recorded or measured."""
        row = self.random.choice((self.window.recording, self.window.measuring)).params
        if row.boxes:
            choose_in(self.random.choice([*row.boxes.values()]), self.random)

    def break_it(self):
        """Take a part of the kernel away, or put it back."""
        entries = [a for a in self.window.source_side.break_box.menu.actions() if a.isVisible() and a.text()]
        if entries:
            self.random.choice(entries).trigger()

    # The text

    def type_text(self):
        """Type something into the source, at a random place."""
        source, random = self.window.source, self.random
        if source.locked:
            if not source.editable:
                return
            source.toggle_edit()
        cursor = source.textCursor()
        cursor.setPosition(random.randrange(len(source.toPlainText()) + 1))
        if random.random() < 0.3:
            cursor.movePosition(QTextCursor.MoveOperation.NextWord, QTextCursor.MoveMode.KeepAnchor)
        source.setTextCursor(cursor)
        QTest.keyClicks(source, random.choice(_TYPED))
        if random.random() < 0.3:
            QTest.keyClick(source, random.choice((Qt.Key.Key_Return, Qt.Key.Key_Backspace, Qt.Key.Key_Tab)))

    def undo(self):
        """Undo, redo, or go back to the text on file."""
        kind = self.random.choice(("undo", "undo", "redo", "revert", "revert"))
        if kind == "revert":
            self._trigger("revert")
        else:
            key = Qt.Key.Key_Z if kind == "undo" else Qt.Key.Key_Y
            QTest.keyClick(self.window.source, key, Qt.KeyboardModifier.ControlModifier)

    # How it is shown

    def page(self):
        """Turn to a page."""
        self._trigger(self.random.choice(("page_stage", "page_stage", "page_charts", "page_claims")))

    def chart(self):
        """Turn to another chart."""
        self.window.charts.setCurrentIndex(self.random.randrange(self.window.charts.count()))

    def claim(self):
        """Choose a claim."""
        for tree in self.window.claims.findChildren(QTreeWidget)[:1]:
            heading = tree.topLevelItem(self.random.randrange(max(tree.topLevelItemCount(), 1)))
            if heading is not None:
                below = [heading.child(at) for at in range(heading.childCount())]
                tree.setCurrentItem(self.random.choice([heading, *below]))

    def theme(self):
        """Dark or light, calm or not."""
        self._trigger(self.random.choice(("theme", "theme", "calm")))

    def language(self):
        """Speak another language."""
        self._trigger(f"speak_{self.random.choice([*LANGUAGES])}")

    def speak(self, language):
        """Speak this language."""
        self._trigger(f"speak_{language}")
        return "language"

    def type_size(self):
        """Make type larger or smaller, as far as it goes."""
        if self.random.random() < 0.15:
            self.session.preferences.set_type_scale(self.random.choice(TYPE_SCALES))
        else:
            self._trigger(self.random.choice(("larger", "smaller", "type_size", "type_size")))

    def resize(self):
        """Make the window larger or smaller."""
        self.window.resize(self.random.choice((800, 1100, 1280, 1600, 1920)), self.random.choice((500, 720, 900, 1080)))

    def present(self):
        """Begin presenting, or end it."""
        self._trigger("present")

    def in_front(self):
        """Use the keys of presenter mode, as a teacher does."""
        presenter = self.window.presenting.presenter
        self.random.choice(presenter.findChildren(QAction)).trigger()
        return "presenting"

    # What plays

    def predict(self):
        """Begin to predict, answer, reveal, end."""
        predict = self.session.predict
        if not predict.on or self.random.random() < 0.1:
            self._trigger("predict")
        elif self.random.random() < 0.5:
            predict.answer(self.random.randrange(4))
        else:
            predict.reveal()

    def compare(self):
        """Put another rung beside, choose which, or end it."""
        self._trigger(self.random.choice(("beside", "beside", "beside_which", "beside_pace")))

    def lesson(self):
        """Begin a lesson, go on in it, leave it; set stops."""
        begin = ("lesson", "demo", "bookmark", "my_stops")
        self._trigger(self.random.choice((*begin, "next_stop", "next_stop", "next_stop", "previous_stop")))

    def scrub(self):
        """Press on the score and draw the pointer along."""
        score, random = self.window.transport.slider, self.random
        if not score.isVisible() or score.width() < 2:
            return
        at = [QPoint(random.randrange(score.width()), score.height() // 2) for _ in range(random.randint(1, 6))]
        QTest.mousePress(score, Qt.MouseButton.LeftButton, pos=at[0])
        for point in at[1:]:
            QTest.mouseMove(score, point)
        QTest.mouseRelease(score, Qt.MouseButton.LeftButton, pos=at[-1])

    def play(self):
        """Play, pause, step, change the speed or the loop."""
        steps = ("play", "play", "play", "forward", "back", "unit_next", "phase_on", "tile_on", "request_on", "faster")
        self._trigger(
            self.random.choice((*steps, "slower", "loop", "loop_from", "loop_to", "loop_all", "start", "end"))
        )

    def point(self):
        """Click on the stage, zoom with the wheel, drag the picture."""
        stage, random = self.window.stage, self.random
        if not stage.isVisible():
            return
        at = QPoint(random.randrange(stage.width()), random.randrange(stage.height()))
        kind = random.choice(("click", "click", "click", "wheel", "drag", "double"))
        if kind == "click":
            QTest.mouseClick(stage, Qt.MouseButton.LeftButton, pos=at)
        elif kind == "double":
            QTest.mouseDClick(stage, Qt.MouseButton.LeftButton, pos=at)
        elif kind == "drag":
            QTest.mousePress(stage, Qt.MouseButton.LeftButton, pos=at)
            QTest.mouseMove(stage, QPoint(random.randrange(stage.width()), random.randrange(stage.height())))
            QTest.mouseRelease(stage, Qt.MouseButton.LeftButton, pos=at)
        else:
            turned = QPoint(0, random.choice((-480, -120, 120, 480)))
            none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False
            QApplication.sendEvent(stage, QWheelEvent(QPointF(at), QPointF(at), QPoint(), turned, *none))

    def freeze(self):
        """Freeze a warp, or go from warp to warp."""
        self._trigger(self.random.choice(("freeze", "freeze", "warp_on", "warp_back", "next_panel")))

    # What runs

    def measure(self):
        """Measure a small product on the CPU."""
        window, rungs = self.window, [k for k in self.session.choice.kernels if k.backend == "c"]
        self.session.choice.choose_kernel(self.random.choice(rungs))
        window.measuring.quick.setChecked(True)
        window.measuring.size_row.boxes[self.random.choice("MNK")].setValue(self.random.choice(_MEASURED))
        self._trigger("measure")

    def long_run(self):
        """Begin something that takes minutes: it is cancelled soon."""
        self.window.measuring.quick.setChecked(True)
        self._trigger(self.random.choice(_LONG_RUNS))

    def cancel(self):
        """Stop what runs."""
        self._trigger("cancel")

    # Answers

    def answer(self):
        """Answer a message or the question whether a text may run, or close the message."""
        question = self.window.run_question
        if question.isVisible():
            buttons = (question.run_button, question.look_button, question.folder_button)
            self.random.choice([b for b in buttons if b.isVisible()] or [question.look_button]).click()
        else:
            self._trigger(self.random.choice(("answer_1", "answer_2", "close_message")))

    def export(self):
        """Open the dialog that exports steps; `dialog` goes on in it. Or save the stage, a chart, or figures."""
        self._trigger(self.random.choice(("export", "export", "save_picture", "save_chart", "save")))

    def film(self, suffix):
        """Save a film of a few steps; if nothing is recorded now, record, and try again later."""
        if self.session.cursor.playable is None or self.session.staged.outdated:
            self.untried.insert(0, partial(self.film, suffix))
            if self.session.progress["record"] is None:  # each request ends the recording before it
                self.rest()
            return "no film"
        self._trigger("export")
        self._dialogs.save_film(suffix)
        return "film"

    def dialog(self):
        """Do something in a dialog that is open."""
        return self._dialogs.use()

    # Anything

    def any_action(self):
        """Choose any entry of the menus."""
        left_out = (*_NOT_AT_RANDOM, *_LONG_RUNS)
        names = [record.id for record in self.window.actions_table if record.id not in left_out]
        name = self.random.choice(names)
        self._trigger(name)
        return f"menu: {name}"

    def any_widget(self):
        """Use any visible button, box, tab or list."""
        return use_any(self.window, self.random)

    def _trigger(self, name):
        action = self.window.findChild(QAction, name, Qt.FindChildOption.FindDirectChildrenOnly)
        if action is None:
            raise LookupError(f"the window has no action {name}")
        action.trigger()
