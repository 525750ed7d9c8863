"""Shows a file with its front matter on top, and tints the new lines."""

from PySide6.QtGui import QColor, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gemmviz.language import tr
from gemmviz.ui.look.theme import Theme


class DescribedText(QPlainTextEdit):
    """The text of a file, to read."""

    def __init__(self) -> None:
        super().__init__()
        self._tinted = 0
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(tr("The file with its front matter"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)

    def show_text(self, text: str) -> None:
        """Show a text, and keep the place to which people have scrolled."""
        if text != self.toPlainText():
            bar = self.verticalScrollBar()
            place = bar.value()
            self.setPlainText(text)
            bar.setValue(place)

    def tint(self, lines: int, wrong: int | None, theme: Theme) -> None:
        """Tint the new lines.

        Parameters
        ----------
        lines
            The number of new lines, which are the first ones.
        wrong
            The one with the fault, from 1; None: no line has a fault.
        theme
            The colours.
        """
        # Lines that were tinted before lose it.
        for number in range(min(max(lines, self._tinted), self.blockCount())):
            tinted = QTextBlockFormat()  # of all rows of the line: a long line is wrapped
            if number < lines:
                colour = QColor(theme.bad if number + 1 == wrong else theme.raised)
                if number + 1 == wrong:
                    colour.setAlpha(90)
                tinted.setBackground(colour)
            cursor = QTextCursor(self.document().findBlockByNumber(number))
            if cursor.blockFormat() != tinted:
                cursor.setBlockFormat(tinted)
        self._tinted = lines
