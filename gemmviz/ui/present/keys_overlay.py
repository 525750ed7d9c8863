"""The keys of presenter mode by purpose, over the picture for as long as they are wanted."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from gemmviz.language import LANGUAGES, tr
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.key_names import key_text

_SIZE = 0.85  # of the labels' type
_LOOK = ("theme", "as_written", "present_larger", "present_smaller", "present_type")
_LANGUAGES = tuple(f"present_{code}" for code in LANGUAGES)


class KeysOverlay(QLabel):
    """A table in the middle of its parent: the keys of a class at the left, those that play at the right.

    Parameters
    ----------
    parent
        The widget that it covers.
    actions
        The actions whose keys are shown.
    """

    def __init__(self, parent: QWidget, actions: list[Action]) -> None:
        super().__init__(parent)
        self._covered = parent
        self._actions = actions
        self._look: tuple[Theme, int] | None = None
        self._shown: tuple[Theme, int] | None = None
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setObjectName("keys")
        self.hide()

    def toggle(self) -> None:
        """Show it, or take it away."""
        self.setVisible(self.isHidden())
        self._dress()
        self.place()

    def place(self) -> None:
        """Stand in the middle, if it is shown: to measure the table takes long."""
        if self.isHidden():
            return
        self.resize(self.sizeHint().boundedTo(self._covered.size()))
        self.move(self._covered.rect().center() - self.rect().center())
        self.raise_()

    def set_look(self, theme: Theme, pixels: int) -> None:
        """Choose colours and the height of the type in pixels."""
        self._look = theme, pixels
        self._dress()

    def _dress(self) -> None:
        """Write the table with its present look, if it is shown and has another one."""
        if self.isHidden() or self._look is None or self._look == self._shown:
            return
        self._shown = theme, pixels = self._look
        self.setText(_table(self._actions, theme.accent))
        self.setStyleSheet(
            f"QLabel#keys {{ background: {theme.raised}; color: {theme.text}; border: 2px solid {theme.accent};"
            f" border-radius: 8px; padding: {pixels // 2}px; font-size: {round(pixels * _SIZE)}px; }}"
        )
        self.place()


def _table(actions: list[Action], accent: str) -> str:
    shown = [action for action in actions if action.keys]
    look = [a for a in shown if a.id in (*_LOOK, *_LANGUAGES)]
    teach = [a for a in shown if a not in look and (a.id.startswith("present_") or a.id == "lens")]
    play = [a for a in shown if a not in look and a not in teach]
    asked = [("1 – 4", tr("Answer a question")), (tr("Enter"), tr("Reveal the answer, then ask again"))]
    columns = (
        _group(tr("In class"), [*map(_entry, teach), *asked], accent)
        + _group(tr("Look"), list(map(_entry, look)), accent),
        _group(tr("Play"), list(map(_entry, play)), accent),
    )
    cells = "".join(f'<td valign="top"><table cellspacing=3>{rows}</table></td>' for rows in columns)
    return f"<table cellspacing=12><tr>{cells}</tr></table>"


def _entry(action: Action) -> tuple[str, str]:
    return " / ".join(map(key_text, action.keys)), action.title


def _group(heading: str, entries: list[tuple[str, str]], accent: str) -> str:
    rows = (f"<tr><td><b>{escape(keys)}</b>&nbsp;&nbsp;</td><td>{escape(title)}</td></tr>" for keys, title in entries)
    head = f'<tr><td colspan=2><b style="color: {accent}">{escape(heading)}</b></td></tr>'
    return head + "".join(rows)
