"""A text editor for kernels: locked until the user edits, line numbers, marks, indenting, undo."""

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from gemmviz.ui.known import qt, shortcut
from gemmviz.ui.look.fonts import mono, mono_style
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.source.folding import Folding
from gemmviz.ui.source.gutter import Gutter, Mark, blocks_in_sight, has, show_marks
from gemmviz.ui.source.highlighter import Highlighter

_POINTS = 9.0
_INDENT = " " * 4
_LEAVES = (Qt.Modifier.CTRL | Qt.Modifier.ALT | Qt.Modifier.META).value
_F_KEYS = range(Qt.Key.Key_F1, Qt.Key.Key_F35 + 1)


class Editor(QPlainTextEdit):
    """Shows and edits a text; it is independent of kernels.

    Parameters
    ----------
    theme
        Its colours.
    """

    line_clicked = Signal(int)
    """The next execution of a line is to be shown."""
    typed = Signal(str)
    """The user has changed the text, by typing, pasting or undoing."""
    refused = Signal()
    """The user typed into the locked text."""
    left = Signal()
    """The user leaves the editor (Esc)."""
    locked_changed = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.line = 0
        """The executing line, from 1; 0: none."""
        self.executed: set[int] = set()
        """The lines that access memory."""
        self.marks: dict[int, list[Mark]] = {}
        self._given = self._shown = self._last = ""
        self._filling = False
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        font = mono()
        self.setFont(font)
        self._points = 0.0
        self.folding = Folding(self)
        self.gutter = Gutter(self)
        self.gutter.setParent(self)
        self.highlighter = Highlighter(self.document(), theme)
        self.updateRequest.connect(self._on_update)
        self.blockCountChanged.connect(self._on_lines)
        self.textChanged.connect(self._on_text)
        self._lines = self.blockCount()
        self._fit_type()
        self.lock(True)

    # The text

    def text(self) -> str:
        """Return the text, to the byte as it was given where it is unchanged."""
        # Qt shows some separators and blanks as others: unchanged lines must stay as they were.
        return self._given if self._last == self._shown else self._last

    def fill(self, text: str, *, anew: bool) -> None:
        """Show a text.

        Parameters
        ----------
        text
            The text to show.
        anew
            Whether it is another file: it cannot be undone then. Else the change can be undone.
        """
        if not anew and text == self.text():
            return
        self._filling = True
        try:
            if anew:
                self.setPlainText(text)
            else:
                self._change_to(text)
        finally:
            self._filling = False
        self._given, self._shown = text, self._last
        if anew or self.folding.folded:
            self.folding.fold_all()

    def _change_to(self, text: str) -> None:
        """Change only the stretch that differs, so that the view and the marks stay where they are."""
        before = self.toPlainText()
        head = _alike(before, text)
        tail = _alike(before[head:][::-1], text[head:][::-1])
        cursor = QTextCursor(self.document())
        cursor.setPosition(_qt_length(before[:head]))
        cursor.setPosition(_qt_length(before[: len(before) - tail]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[head : len(text) - tail])

    def _on_text(self) -> None:
        now = self.toPlainText()
        # Colouring a line is announced like a change of its text.
        if now != self._last:
            self._last = now
            open_fonts(qt()).keep(now)
            if not self._filling:
                self.typed.emit(self.text())

    def take_over(self, other: "Editor") -> None:
        """Go on with the text of another editor, which is no longer in use: cursor, undo history, lock."""
        cursor, document = other.textCursor(), other.document()
        position, anchor = cursor.position(), cursor.anchor()
        self._filling = other._filling = True
        try:
            document.setParent(self)
            document.documentLayout().setPaintDevice(self.viewport())
            self.setDocument(document)
            self.highlighter = other.highlighter  # it belongs to the document
        finally:
            self._filling = False
        self._given, self._shown, self._last = other._given, other._shown, other._last
        self._lines = self.blockCount()
        mine = self.textCursor()
        mine.setPosition(anchor)
        mine.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(mine)
        self.lock(other.locked)
        self._fit_gutter()
        self.show_marked()

    # The lock

    @property
    def locked(self) -> bool:
        """Whether the text cannot be typed in."""
        return self.isReadOnly()

    def lock(self, locked: bool) -> None:
        """Lock the text against edits by accident, or make it editable."""
        changed = locked != self.isReadOnly()
        self.setReadOnly(locked)
        self.setTabChangesFocus(locked)
        shape = Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)
        if changed:
            if not locked:
                self.folding.open_all()
            self.locked_changed.emit(locked)

    # Keys

    def event(self, event: QEvent) -> bool:
        """Keep the keys that type and move for the text while it is edited; else they are shortcuts of the window."""
        handled = super().event(event)
        key = shortcut(event)
        if key is not None and not self.locked and not event.isAccepted():
            is_comment = key.key() == Qt.Key.Key_Slash and key.modifiers() == Qt.KeyboardModifier.ControlModifier
            if is_comment or not (key.modifiers().value & _LEAVES or key.key() in _F_KEYS):
                event.accept()
                return True
        return handled

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Type, indent, comment out, or announce that the text is locked."""
        key, plain = event.key(), not event.modifiers().value & _LEAVES
        if self.locked:
            if plain and event.text().isprintable() and event.text():
                self.refused.emit()
            else:
                super().keyPressEvent(event)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key == Qt.Key.Key_Tab and plain:
            if self.textCursor().hasSelection():
                self._change_lines(lambda line: _INDENT + line if line.strip() else line)
            else:
                column = self.textCursor().positionInBlock()
                self.insertPlainText(" " * (len(_INDENT) - column % len(_INDENT)))
        elif key == Qt.Key.Key_Backtab:
            self._change_lines(lambda line: re.sub(r"^(\t| {1,4})", "", line))
        elif key == Qt.Key.Key_Slash and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self._toggle_comment()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            before = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
            self.insertPlainText("\n" + before[: len(before) - len(before.lstrip())])
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def _toggle_comment(self) -> None:
        cursor = self.textCursor()
        first, last = self._selected_lines()
        lines = [self.document().findBlockByNumber(n).text() for n in range(first, last + 1)]
        if all(re.match(r"\s*//", line) for line in lines if line.strip()):
            self._change_lines(lambda line: re.sub(r"^(\s*)// ?", r"\1", line))
        else:
            self._change_lines(lambda line: re.sub(r"^(\s*)(?=\S)", r"\1// ", line))
        if not cursor.hasSelection():
            self.moveCursor(QTextCursor.MoveOperation.NextBlock)

    def _selected_lines(self) -> tuple[int, int]:
        cursor = self.textCursor()
        first = self.document().findBlock(cursor.selectionStart()).blockNumber()
        end = self.document().findBlock(cursor.selectionEnd())
        # A selection that ends before the first letter of a line does not touch that line.
        at_start = end.position() == cursor.selectionEnd() and end.blockNumber() > first
        return first, end.blockNumber() - at_start

    def _change_lines(self, change: Callable[[str], str]) -> None:
        """Change each selected line, as one edit, and keep them selected."""
        first, last = self._selected_lines()
        selected = self.textCursor().hasSelection()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for number in range(first, last + 1):
            block = self.document().findBlockByNumber(number)
            text = change(block.text())
            if text != block.text():
                cursor.setPosition(block.position())
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                cursor.insertText(text)
        cursor.endEditBlock()
        if selected:
            cursor.setPosition(self.document().findBlockByNumber(first).position())
            cursor.setPosition(self.document().findBlockByNumber(last).position(), QTextCursor.MoveMode.KeepAnchor)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the next execution of a line that is clicked with Ctrl; else place the cursor."""
        if event.button() == Qt.MouseButton.LeftButton and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.click_line(self.line_at(event.position().toPoint().y()))
        else:
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the next execution of the line while it is locked; else choose a word."""
        super().mouseDoubleClickEvent(event)
        if self.locked and event.button() == Qt.MouseButton.LeftButton:
            self.click_line(self.line_at(event.position().toPoint().y()))

    def click_line(self, line: int) -> None:
        """Fold or open the description that begins at a line; of any other, announce that its execution is wanted."""
        if not self.folding.toggle(line):
            self.line_clicked.emit(line)

    def fold_sign(self, line: int) -> str:
        """Return the sign of a line at which something is folded away, or none."""
        return self.folding.sign(line)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the errors of the line under the mouse; colour the text when it was painted for the first time."""
        if event.type() == QEvent.Type.Paint and not self.highlighter.begun:
            self.highlighter.begin_soon()
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_marks(self, self.line_at(event.pos().y()), event, self.viewport())
            return True
        return super().viewportEvent(event)

    # Marks

    def set_theme(self, theme: Theme) -> None:
        """Take other colours, and the size of type."""
        if theme != self.theme:
            self.theme = theme
            self.highlighter.set_theme(theme)
        self._fit_type()
        self.show_marked()

    def _fit_type(self) -> None:
        points = round(scaled(_POINTS), 2)
        if points != self._points:
            self._points = points
            self.setStyleSheet(f"font-size: {points}pt; {mono_style()}")
            self._fit_gutter()

    def show_marked(self, moved_from: int | None = None) -> None:
        """Tint the executing line and the lines in error, and paint the gutter again.

        Parameters
        ----------
        moved_from
            The line that was executing, if only that has changed; None: anything may have.
        """
        theme, tints = self.theme, []
        wrong = [(line, theme.bad, 60) for line in self.marks if line != self.line and has(self, line, "error")]
        marked = {number for number, *_ in wrong} | {self.line}
        changed = [(n, theme.warn, 60) for n in self.marks if n not in marked and has(self, n, "changed")]
        for number, colour, alpha in ((self.line, theme.accent, 85), *wrong, *changed):
            block = self.document().findBlockByNumber(number - 1)
            if number < 1 or not block.isValid():
                continue
            tint = QTextEdit.ExtraSelection()
            shade = QColor(colour)
            shade.setAlpha(alpha)
            tint.format.setBackground(shade)
            tint.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            tint.cursor = QTextCursor(block)
            tints.append(tint)
        self.setExtraSelections(tints)
        if moved_from is None:
            self.gutter.update()
            return
        for line in (moved_from, self.line):
            block = self.document().findBlockByNumber(line - 1)
            if line > 0 and block.isValid():
                place = self.blockBoundingGeometry(block).translated(self.contentOffset()).toAlignedRect()
                self.gutter.update(0, place.top(), self.gutter.width(), place.height())

    def reveal(self, line: int) -> None:
        """Scroll a line into view, only when it is out of it: a page that jumps cannot be read."""
        self.folding.reveal(line)
        block = self.document().findBlockByNumber(line - 1)
        # Of the lines that are not folded away: the scroll bar counts these.
        first, at = self.firstVisibleBlock().firstLineNumber(), block.firstLineNumber() + 1
        visible = max(1, int(self.viewport().height() / max(self.blockBoundingRect(block).height(), 1)))
        if not first < at < first + visible:
            self.verticalScrollBar().setValue(max(0, at - visible // 2))

    def go_to(self, line: int) -> None:
        """Put the cursor on a line, and scroll it into view."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.reveal(line)

    def _on_lines(self, count: int) -> None:
        """Move the marks below an edit with their lines."""
        added, self._lines = count - self._lines, count
        self._fit_gutter()
        if self._filling:
            return
        at = self.textCursor().blockNumber() + 1 - max(added, 0)

        def moved(line: int) -> int:
            return line + added if line > at else line

        self.marks = {moved(line): marks for line, marks in self.marks.items()}
        self.executed = {moved(line) for line in self.executed}
        self.line = moved(self.line)

    # The gutter

    def visible_lines(self) -> list[tuple[int, int, int]]:
        """Return (line from 1, top, height) of the visible lines."""
        return blocks_in_sight(self, self.firstVisibleBlock())

    def line_at(self, y: int) -> int:
        """Return the line at a height of the text."""
        return self.cursorForPosition(QPoint(2, y)).blockNumber() + 1

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter as high as the text, and the edited line visible."""
        super().resizeEvent(event)
        self._fit_gutter()
        if not self.locked and self.hasFocus():
            self.ensureCursorVisible()

    def _fit_gutter(self) -> None:
        width = self.gutter.width_for(self.blockCount(), self.fontMetrics())
        self.setViewportMargins(width, 0, 0, 0)
        area = self.contentsRect()
        self.gutter.setGeometry(area.left(), area.top(), width, area.height())

    def _on_update(self, area: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, area.y(), self.gutter.width(), area.height())


def _qt_length(text: str) -> int:
    """Return the number of Qt's characters in a text: UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def _alike(one: str, other: str) -> int:
    """Return the number of characters that two texts share at their start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
