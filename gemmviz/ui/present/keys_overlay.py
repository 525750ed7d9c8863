"""The keys of presenter mode, over the picture for as long as they are wanted."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from gemmviz.language import tr
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.key_names import key_text

_COLUMNS = 2


class KeysOverlay(QLabel):
    """A small table in the middle of its parent.

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
        entries = [(" / ".join(map(key_text, a.keys)), a.title) for a in actions if a.keys]
        entries.append(("1 – 4", tr("Answer a question")))
        entries.append((tr("Enter"), tr("Reveal the answer, then ask again")))
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setText(_table(entries))
        self.setObjectName("keys")
        self.hide()

    def toggle(self) -> None:
        """Show it, or take it away."""
        self.setVisible(self.isHidden())
        self.place()

    def place(self) -> None:
        """Stand in the middle."""
        self.resize(self.sizeHint().boundedTo(self._covered.size()))
        self.move(self._covered.rect().center() - self.rect().center())
        self.raise_()

    def set_look(self, theme: Theme, pixels: int) -> None:
        """Choose colours and the height of the type in pixels."""
        self.setStyleSheet(
            f"QLabel#keys {{ background: {theme.raised}; color: {theme.text}; border: 2px solid {theme.accent};"
            f" border-radius: 8px; padding: {pixels // 2}px; font-size: {round(pixels * 0.8)}px; }}"
        )
        self.place()


def _table(entries: list[tuple[str, str]]) -> str:
    rows = [
        f"<td><b>{escape(keys)}</b>&nbsp;</td><td>{escape(title)}&nbsp;&nbsp;&nbsp;</td>" for keys, title in entries
    ]
    half = -(-len(rows) // _COLUMNS)
    lines = [row + (rows[half + place] if half + place < len(rows) else "") for place, row in enumerate(rows[:half])]
    return f"<table cellspacing=4>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
