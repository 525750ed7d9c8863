"""The executing line of the source with one before and one after, in type for the back row."""

from textwrap import wrap

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.session.models.cursor import Cursor
from gemmviz.ui.connections import listen
from gemmviz.ui.look.fonts import mono
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.turns import InTurn

_LEVEL = 4


def around(text: str, line: int) -> list[tuple[int, str]]:
    """Return the number and text of a line (from 1), of the last one before it and of the first one after.

    Empty lines are passed over. Their common indentation is left out, and of the rest all but one level.
    """
    lines = text.expandtabs(_LEVEL).splitlines()
    if not 1 <= line <= len(lines):
        return []
    filled = [number for number, one in enumerate(lines, 1) if one.strip()]
    chosen = [*[n for n in filled if n < line][-1:], line, *[n for n in filled if n > line][:1]]
    indents = {n: len(lines[n - 1]) - len(lines[n - 1].lstrip()) for n in chosen}
    least = min(indents.values())
    return [(n, " " * min(indents[n] - least, _LEVEL) + lines[n - 1].strip()) for n in chosen]


class SourceLines(QWidget):
    """Shows where the session's step stands in the source that was recorded.

    Parameters
    ----------
    cursor
        The step that is shown.
    """

    def __init__(self, cursor: Cursor) -> None:
        super().__init__()
        self._cursor = cursor
        self.theme: Theme | None = None
        self._pixels, self._most = 12, 1
        self._text: str | None = None
        self._line = 0
        self._lines: list[tuple[int, str]] = []
        self.setAccessibleName(tr("The line that executes"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.in_turn = InTurn(self, self.refresh)
        listen(self, cursor.stepped, self._on_step)
        listen(self, cursor.recorded, self.refresh)
        self.refresh()

    def set_type(self, pixels: int, rows: int = 1) -> None:
        """Choose the height of the type in pixels, and how many rows the executing line may take."""
        self._pixels, self._most = pixels, rows
        self.updateGeometry()
        self.update()

    def lines(self) -> list[tuple[int, str]]:
        """Return the numbers and texts that are shown."""
        return self._lines

    def _on_step(self) -> None:
        if self._cursor.line != self._line:
            self.in_turn.ask()

    def refresh(self) -> None:
        """Take the line of the session's step."""
        playable, line = self._cursor.playable, self._cursor.line
        text = playable.recording.text if playable is not None else ""
        # While it plays, the line is the same one for many steps.
        if (text, line) != (self._text, self._line):
            self._text, self._line = text, line
            self._lines = around(text, line)
            self.setAccessibleDescription("\n".join(f"{number}: {one}" for number, one in self._lines))
            self.update()

    def _rows(self) -> int:
        return 2 + self._most

    def sizeHint(self) -> QSize:
        """Ask for all rows."""
        return QSize(200, int(self._metrics().height() * 1.12 * self._rows()))

    def _font(self, bold: bool = False) -> QFont:
        font = mono()
        font.setPixelSize(self._pixels)
        font.setBold(bold)
        return font

    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self._font(bold=True))

    def _texts(self) -> list[tuple[bool, list[str]]]:
        """Return the content of the rows: per line whether it executes, and its parts."""
        metrics = self._metrics()
        letters = max(int((self.width() - metrics.height() * 1.2) / metrics.horizontalAdvance("0")), 12)
        found = []
        for number, text in self._lines:
            head, now = f"{number:>3}  ", number == self._line
            below = " " * (len(head) + len(text) - len(text.lstrip()) + 4)
            rows = self._most if now else 1
            whole = head + text
            if rows == 1:  # cut anywhere: a long call has no place to break it
                parts = [whole if len(whole) <= letters else f"{whole[: letters - 1].rstrip()}…"]
            else:
                parts = wrap(whole, letters, subsequent_indent=below, max_lines=rows, placeholder=" …")
            found.append((now, parts))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines: a mark and bold type for the one that executes."""
        if self.theme is None or not self._lines:
            return
        with QPainter(self) as painter:
            metrics = self._metrics()
            left, height, top = metrics.height() * 1.1, self.height() / self._rows(), 0.0
            for now, parts in self._texts():
                if now:
                    painter.fillRect(QRectF(0, top, self.width(), height * len(parts)), QColor(self.theme.raised))
                    painter.setPen(QColor(self.theme.accent))
                    painter.setFont(self._font())
                    painter.drawText(QRectF(0, top, left, height), Qt.AlignmentFlag.AlignCenter, "▶")
                painter.setFont(self._font(now))
                painter.setPen(QColor(self.theme.text if now else self.theme.muted))
                for part in parts:
                    painter.drawText(QRectF(left, top, self.width(), height), Qt.AlignmentFlag.AlignVCenter, part)
                    top += height
