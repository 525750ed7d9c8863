"""The kernel's source: highlighted, the executing line marked; a click on a line goes to its next execution."""

from pygments.lexers.c_cpp import CppLexer
from pygments.styles import get_style_by_name
from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gemmviz.session import Session
from gemmviz.ui.theme import THEMES, Theme

_CUDA_WORDS = frozenset(
    (
        "__global__",
        "__device__",
        "__shared__",
        "__restrict__",
        "__launch_bounds__",
        "__syncthreads",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
    )
)


class Highlighter(QSyntaxHighlighter):
    """Colours a document with Pygments, all of it at once, because comments span lines."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._lines: list[list[tuple[int, int, QTextCharFormat]]] = []
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Colour again, for another theme."""
        style = get_style_by_name(theme.pygments)
        formats: dict[object, QTextCharFormat] = {}
        self._lines = [[]]
        column = 0
        for token, text in CppLexer(stripnl=False).get_tokens(self.document().toPlainText()):
            if token not in formats:
                formats[token] = _format(style.style_for_token(token), theme)
            form = (
                _format({"color": None, "bold": True, "italic": False}, theme)
                if text in _CUDA_WORDS
                else (formats[token])
            )
            for number, part in enumerate(text.split("\n")):
                if number:
                    self._lines.append([])
                    column = 0
                self._lines[-1].append((column, len(part), form))
                column += len(part)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        number = self.currentBlock().blockNumber()
        for start, length, form in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(start, length, form)


def _format(style: dict, theme: Theme) -> QTextCharFormat:
    form = QTextCharFormat()
    if style["color"]:
        colour = QColor("#" + style["color"])
        # Comments of many styles are too faint for a projector.
        if theme.name == "dark" and colour.lightness() < 130:
            colour = QColor(theme.muted)
        form.setForeground(colour)
    else:
        form.setForeground(QColor(theme.text))
    form.setFontItalic(style["italic"])
    if style["bold"]:
        form.setFontWeight(QFont.Weight.Bold)
    return form


class Gutter(QWidget):
    """Line numbers, an arrow at the executing line, a cross at a line in error."""

    def __init__(self, source: "Source") -> None:
        super().__init__(source)
        self._source = source
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        """Take as much as the line numbers need."""
        return QSize(self._source.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the visible numbers."""
        self._source.paint_gutter(self, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the next execution of the line."""
        self._source.click(event.position().toPoint())


class Source(QPlainTextEdit):
    """The kernel's file, read-only.

    Parameters
    ----------
    session
        Whose kernel and executing line to show.
    """

    line_clicked = Signal(int)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAccessibleName("Source of the kernel")
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(9)
        self.setFont(font)
        self.setStyleSheet("font-size: 9pt; font-family: 'DejaVu Sans Mono', 'Liberation Mono', monospace;")
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self._gutter = Gutter(self)
        self._text = ""
        self._line = 0
        self._error: int | None = None
        self._executed: set[int] = set()
        self._highlighter: Highlighter | None = None
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self.updateRequest.connect(self._on_update)
        session.chosen.connect(self.load)
        session.recorded.connect(self._on_recorded)
        session.stepped.connect(self._mark)
        session.messaged.connect(self._on_message)
        session.themed.connect(self._on_theme)

    def load(self) -> None:
        """Show the chosen kernel's file, or the one that a message is about."""
        message = self.session.message
        text = message.source[1] if message and message.source else self.session.kernel.text
        if text != self._text:
            self._text = text
            self.setPlainText(text)
            self._highlighter = Highlighter(self.document(), THEMES[self.session.theme])
            self.setViewportMargins(self.gutter_width(), 0, 0, 0)
            # Not 0: the marks of the text before must go even where no line of this one executes.
            self._line, self._error = -1, None
            self._on_recorded()
            self._scroll_to_entry()

    def executing(self) -> int:
        """Return the line that is marked as executing (from 1; 0: none)."""
        return self._line

    def error(self) -> int | None:
        """Return the line that is marked as wrong (from 1), or None."""
        return self._error

    def _fits(self) -> bool:
        playable = self.session.playable
        return playable is not None and playable.recording.text == self._text

    def _scroll_to_entry(self) -> None:
        """Put the code in view rather than the front matter."""
        lines = self._text.splitlines()
        end = next((i for i, line in enumerate(lines) if line.replace(" ", "") == "//---"), 0)
        self.verticalScrollBar().setValue(min(end + 1, self.verticalScrollBar().maximum()))

    def _on_recorded(self) -> None:
        self._executed = {s.line for s in self.session.playable.recording.sites} if self._fits() else set()
        self._error = None
        self._mark()
        self._gutter.update()

    def _on_theme(self) -> None:
        if self._highlighter is not None:
            self._highlighter.set_theme(THEMES[self.session.theme])
        self._line = -1
        self._mark()

    def _on_message(self) -> None:
        self.load()
        message = self.session.message
        error = message.line if message is not None else None
        if error != self._error:
            self._error = error
            self._line = -1
            self._mark()
            if error:
                self._show(error)

    def _mark(self) -> None:
        line = self.session.line if self._fits() else 0
        if line == self._line:
            return
        self._line = line
        theme = THEMES[self.session.theme]
        marks = []
        for number, colour, alpha in ((line, theme.accent, 85), (self._error or 0, theme.bad, 95)):
            block = self.document().findBlockByNumber(number - 1)
            if number < 1 or not block.isValid():
                continue
            mark = QTextEdit.ExtraSelection()
            tint = QColor(colour)
            tint.setAlpha(alpha)
            mark.format.setBackground(tint)
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(block)
            marks.append(mark)
        self.setExtraSelections(marks)
        self._gutter.update()
        if line > 0:
            self._show(line)

    def _show(self, line: int) -> None:
        """Scroll a line into view, only when it is out of it: a page that jumps cannot be read."""
        block = self.document().findBlockByNumber(line - 1)
        first = self.firstVisibleBlock().blockNumber()
        visible = max(1, int(self.viewport().height() / max(self.blockBoundingRect(block).height(), 1)))
        if not first < line < first + visible:
            self.verticalScrollBar().setValue(max(0, line - visible // 2))

    # The gutter

    def gutter_width(self) -> int:
        """Return the width of the line numbers in pixels."""
        digits = len(str(max(self.blockCount(), 10)))
        return self.fontMetrics().horizontalAdvance("9") * (digits + 2) + 10

    def paint_gutter(self, gutter: QWidget, event: QPaintEvent) -> None:
        """Paint the numbers of the visible lines; lines that access memory are bright."""
        theme = THEMES[self.session.theme]
        painter = QPainter(gutter)
        painter.setFont(self.font())
        painter.fillRect(event.rect(), QColor(theme.panel))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            line = block.blockNumber() + 1
            marked, wrong = line == self._line, line == self._error
            painter.setPen(
                QColor(
                    theme.bad
                    if wrong
                    else theme.accent
                    if marked
                    else theme.text
                    if line in self._executed
                    else theme.faint
                )
            )
            mark = "✗" if wrong else "▶" if marked else ""
            painter.drawText(QRect(2, int(top), 14, int(height)), Qt.AlignmentFlag.AlignLeft, mark)
            place = QRect(0, int(top), gutter.width() - 6, int(height))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(line))
            block, top = block.next(), top + height

    def click(self, point: QPoint) -> None:
        """Announce a click on the line at a point of the gutter or the text."""
        cursor = self.cursorForPosition(QPoint(2, point.y()))
        self.line_clicked.emit(cursor.blockNumber() + 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the next execution of the line, unless text was selected."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.click(event.position().toPoint())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter as high as the text."""
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(area.left(), area.top(), self.gutter_width(), area.height())

    def _on_update(self, area: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())
