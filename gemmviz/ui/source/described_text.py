"""Shows a file with its front matter on top, and tints the new lines."""

from PySide6.QtGui import QColor, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from gemmviz.language import tr
from gemmviz.ui.look.theme import Theme


class DescribedText(QPlainTextEdit):
    """The text of a file, to read."""

    def __init__(self) -> None:
        super().__init__()
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
        marks = []
        for line in range(lines):
            mark = QTextEdit.ExtraSelection()
            colour = QColor(theme.bad if line + 1 == wrong else theme.raised)
            if line + 1 == wrong:
                colour.setAlpha(90)
            mark.format.setBackground(colour)
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByLineNumber(line))
            marks.append(mark)
        self.setExtraSelections(marks)
