"""State files and command lines of the window: the content of the screen, to be reopened."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.user_file import real
from gemmviz.language import mark, tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session.files import snapshot as snapshots
from gemmviz.session.files.command_line import command, left_out
from gemmviz.session.files.snapshot_form import Snapshot, ViewFields
from gemmviz.session.files.state_file import SUFFIX, read_state, write_state
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.inspector import Inspector
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.stage.view import FURTHEST, NEAREST, View
from gemmviz.ui.window.pages import Pages

_PARTS_OF_PIXEL = 6  # decimals: a shift that was saved comes back as it was
_PATTERN = mark("States of the window (*.gemmviz)")


class States:
    """Saves and reopens the state of a window.

    Parameters
    ----------
    window
        Where dialogs belong.
    session
        Its session.
    stage, pages, inspector
        Its parts.
    """

    def __init__(self, window: QWidget, session: Session, stage: Stage, pages: Pages, inspector: Inspector) -> None:
        self._window, self._session = window, session
        self._stage, self._pages, self._inspector = stage, pages, inspector
        listen(window, session.reopening.placed, self._on_placed)

    def take(self) -> Snapshot:
        """Return the state of the window."""
        stage, view = self._stage, self._stage.view
        return snapshots.take(
            self._session,
            {
                "page": self._pages.name(),
                "panel": self._inspector.panel,
                "zoom": view.zoom,
                # In widths: the height of the stage changes with every message above it.
                "shift": [view.dx / max(stage.width(), 1), view.dy / max(stage.width(), 1)],
            },
        )

    def save(self) -> None:
        """Let the user save the state of the window."""
        name = f"{self._session.choice.base.name}{SUFFIX}"
        chosen, _ = QFileDialog.getSaveFileName(self._window, tr("Save what is on screen"), name, tr(_PATTERN))
        if not chosen:
            return
        path = Path(chosen) if chosen.endswith(SUFFIX) else Path(chosen + SUFFIX)
        self._try(lambda: write_state(self.take(), path), tr("Saved {path}.", path=path))

    def open(self, path: Path) -> None:
        """Show the state of a file; the user is asked first about edits that it would replace."""
        try:
            plain, faults = read_state(path)
        except GemmvizError as error:
            self._session.messages.tell(Message(str(error), lasting=True))
            return
        edited = self._would_replace(plain)
        if edited is None:
            self._apply(plain, faults)
            return
        text = tr("{file} has edits here that are not saved, and the state has another text.", file=edited)
        answers = (
            Answer(tr("Open the state"), lambda: self._apply(plain, faults)),
            Answer(tr("Keep mine"), lambda: None),
        )
        self._session.messages.tell(Message(text, "warning", answers=answers, lasting=True, asks=True))

    def copy(self) -> None:
        """Copy the command line that reopens the state of the window."""
        plain = self.take()
        line = command(plain)
        QGuiApplication.clipboard().setText(line)
        lacks = left_out(plain)
        text = tr("Copied: {command}", command=line)
        if lacks:
            text += "\n" + tr("It does not hold {what}; a state file does (Ctrl+Alt+W).", what=lacks)
        self._session.messages.tell(Message(text, "info"))

    def _would_replace(self, plain: Snapshot) -> str | None:
        """Return the name of the file whose unsaved edits a snapshot would replace; None if there are none."""
        saved = plain["kernel"]
        for base in self._session.choice.all_unsaved():
            if saved.get("name") == base.name or ("path" in saved and real(Path(saved["path"])) == base.path):
                other = saved.get("text", base.text) != self._session.choice.text_of(base)
                return base.path.name if other else None
        return None

    def _apply(self, plain: Snapshot, faults: Sequence[str]) -> None:
        if self._try(lambda: snapshots.apply(self._session, plain)) and faults:
            self._session.messages.tell(Message("\n".join(faults), "warning", lasting=True))

    def _try(self, act: Callable[[], object], text: str = "") -> bool:
        try:
            act()
        except GemmvizError as error:
            self._session.messages.tell(Message(str(error), lasting=True))
            return False
        if text:
            self._session.messages.tell(Message(text, "info"))
        return True

    def _on_placed(self, view: ViewFields) -> None:
        """Show the part of the window that was shown."""
        stage = self._stage
        if "zoom" in view:
            x, y = (round(part * stage.width(), _PARTS_OF_PIXEL) for part in view.get("shift", (0, 0)))
            stage.view = View(min(max(view["zoom"], NEAREST), FURTHEST), x, y)
            stage.update()
        if view.get("page") in self._pages.buttons:
            self._pages.turn_to(view["page"])
        if "panel" in view:
            self._session.inspection.turn_to(view["panel"])
