"""Random actions of a user in dialogs; the system's own dialogs answer at once, without being shown."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox, QPushButton

from gemmviz.ui.export.dialog import ExportDialog
from gemmviz.ui.panels.kernel_chooser import Chooser

_KINDS_OF_FILE = 3  # names that are saved under take turns, so that the ladder does not grow for ever


class Somebody:
    """A user with random actions.

    Parameters
    ----------
    session
        Of the window.
    random
        A `random.Random`.
    folder
        Where files are saved and opened.
    """

    def __init__(self, session, random, folder):
        self.session, self.random, self.folder = session, random, Path(folder)


def dialogs_shown():
    """Return the dialogs that are open."""
    return [d for d in QApplication.topLevelWidgets() if isinstance(d, QDialog) and d.isVisible()]


class Dialogs(Somebody):
    """Answers dialogs."""

    def __init__(self, session, random, folder):
        super().__init__(session, random, folder)
        self._saved = 0
        self._answer_those_of_the_system()
        self._make_files()

    def use(self):
        """Do something in a dialog that is open."""
        dialogs = dialogs_shown()
        if not dialogs:
            return "no dialog"
        dialog = self.random.choice(dialogs)
        if isinstance(dialog, ExportDialog):
            return self._export_in(dialog)
        if isinstance(dialog, Chooser):
            dialog.box.setText(self.random.choice(("", "tile", "naive", "no such rung")))
            QTest.keyClick(dialog.box, self.random.choice((Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape)))
            return "choosing a rung"
        buttons = [b for b in dialog.findChildren(QPushButton) if b.isVisible() and b.isEnabled()]
        if buttons and self.random.random() < 0.7:
            self.random.choice(buttons).click()
        else:
            dialog.close()
        return "dialog"

    def _export_in(self, dialog):
        random = self.random
        if dialog.job is not None or random.random() < 0.4:
            button = dialog.close_button
        else:
            dialog.kind.setCurrentIndex(random.randrange(dialog.kind.count()))
            first = random.randint(1, max(self.session.cursor.steps, 1))
            dialog.first.setValue(first)
            dialog.last.setValue(first + random.randint(0, 12))
            dialog.step.setValue(first)
            dialog.every.setValue(random.randint(1, 4))
            dialog.pixels.setCurrentText(random.choice(("64 × 64", "640 × 480", "1280 × 720", "none")))
            button = dialog.export_button
        if button.isEnabled():
            button.click()
        return "exporting"

    def save_film(self, suffix):
        """Save a film of some steps from the dialog that exports, if it is open and not busy."""
        dialog = next((d for d in dialogs_shown() if isinstance(d, ExportDialog) and d.job is None), None)
        if dialog is None:
            return
        dialog.kind.setCurrentIndex(dialog.kind.findData(suffix))
        dialog.first.setValue(1)
        dialog.last.setValue(3)
        dialog.pixels.setCurrentText("640 × 480")
        if dialog.export_button.isEnabled():
            dialog.export_button.click()

    def discard_all(self):
        """From now on, edits may be lost."""
        QMessageBox.warning = lambda *_: QMessageBox.StandardButton.Discard

    def _answer_those_of_the_system(self):
        buttons, random = QMessageBox.StandardButton, self.random

        def save(_, __, proposed="", kinds="", *more):
            self._saved += 1
            if random.random() < 0.1:
                return "", ""
            name = Path(proposed)
            path = self.folder / f"mine_{self._saved % _KINDS_OF_FILE}{name.suffix}"
            return str(path), random.choice(kinds.split(";;"))

        def choose(*_):
            files = sorted(self.folder.iterdir())
            return (str(random.choice(files)), "") if files and random.random() < 0.9 else ("", "")

        QFileDialog.getSaveFileName, QFileDialog.getOpenFileName = save, choose
        QInputDialog.getText = lambda *_: ("Moments", random.random() < 0.8)
        QMessageBox.warning = lambda *_: random.choice((buttons.Save, buttons.Discard, buttons.Cancel))
        QMessageBox.question = lambda *_: random.choice((buttons.Yes, buttons.No))

    def _make_files(self):
        """Make files to open: copies of rungs, with and without front matter, and nonsense under each suffix."""
        rungs = [k for k in self.session.choice.kernels if k.recordable]
        for backend in ("cuda", "c"):
            rung = next(k for k in rungs if k.backend == backend)
            text = rung.text.replace(f'name = "{rung.name}"', f'name = "copy_{backend}"')
            (self.folder / f"copy_{backend}{rung.path.suffix}").write_text(text, encoding="utf-8")
            plain = [line for line in rung.text.splitlines() if not line.startswith("//")]
            (self.folder / f"plain_{backend}{rung.path.suffix}").write_text("\n".join(plain), encoding="utf-8")
        for suffix in (".gemmviz", ".toml", ".cu"):
            (self.folder / f"nonsense{suffix}").write_text("nonsense = [\n", encoding="utf-8")
