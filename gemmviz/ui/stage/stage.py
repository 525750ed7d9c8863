"""The stage as a widget: shows what the session plays, zooms, and lets people pick cells."""

from time import perf_counter

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QFont, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.session import Session
from gemmviz.trace.recording import Recording
from gemmviz.ui.stage.painter import Moment, StagePainter, View, blank
from gemmviz.ui.stage.scene import C, Panel
from gemmviz.ui.theme import THEMES

_CLICK = 4
_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class Stage(QWidget):
    """A, B, C and the chosen block's shared memory at the session's step.

    Parameters
    ----------
    session
        What to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.view = View()
        self.frame_seconds: list[float] = []
        self.base_font: QFont | None = None
        self._painter: StagePainter | None = None
        self._pressed: QPoint | None = None
        self._dragged = False
        self._show_focus = False
        self.setObjectName("stage")
        self.setAccessibleName("Stage: matrices A, B and C")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 240)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        session.recorded.connect(self._on_recorded)
        session.themed.connect(self._on_recorded_same_view)
        session.stepped.connect(self._refresh)
        session.picked.connect(self._refresh)
        session.chosen.connect(self._refresh)
        session.drafted.connect(self._refresh)
        session.progressed.connect(self._on_progress)

    def sizeHint(self) -> QSize:
        """Prefer a large square."""
        return QSize(640, 520)

    def reset_view(self) -> None:
        """Show everything again."""
        self.view = View()
        self.update()

    def panels(self) -> list[Panel]:
        """Return where every array stands now, in the widget's pixels."""
        painter = self._painter_now()
        return painter.panels(QRectF(self.rect()), self.view) if painter else []

    def _on_recorded(self) -> None:
        self._painter = None
        self.reset_view()

    def _on_recorded_same_view(self) -> None:
        self._painter = None
        self.update()

    def _refresh(self) -> None:
        self.update()

    def _on_progress(self, engine: str) -> None:
        if engine == "record":
            self.update()

    def _painter_now(self) -> StagePainter | None:
        if self._painter is None and self.session.playable is not None and self.session.kernel.recordable:
            theme = THEMES[self.session.theme]
            self._painter = StagePainter(self.session.playable, theme, self.base_font or self.font())
        return self._painter

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the session's moment."""
        begin = perf_counter()
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:
            # A painter left open would break every later frame as well.
            painter.end()
        self.frame_seconds.append(perf_counter() - begin)
        del self.frame_seconds[:-2000]

    def _paint(self, painter: QPainter) -> None:
        session, stage = self.session, self._painter_now()
        if stage is None or not session.kernel.recordable:
            blank(painter, self.rect(), THEMES[session.theme], *self._empty_text())
        else:
            moment = Moment(session.step, session.shown_block, session.cell, session.trail, self.view, session.warp)
            stage.paint(painter, QRectF(self.rect()), moment, self.devicePixelRatioF())
            if session.outdated:
                self._draw_outdated(painter)
        if self._show_focus:
            painter.setPen(QColor(THEMES[session.theme].text))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _draw_outdated(self, painter: QPainter) -> None:
        """Say that the picture is still of another source than the one beside it."""
        theme, session = THEMES[self.session.theme], self.session
        busy = session.progress["record"]
        shown = session.playable.recording
        before = " of the text before" if shown.text != session.text and self._is_of_base(shown) else ""
        size = f" at {shown.m} × {shown.n} × {shown.k}"
        text = f"still showing {shown.label}{size}{before}" + (f"  ·  {busy[0]}…" if busy else "")
        height = self.fontMetrics().height() * 1.6
        box = QRectF(4, self.height() - height - 2, self.width() - 8, height)
        painter.fillRect(box, QColor(theme.raised))
        painter.setPen(QColor(theme.text))
        painter.drawRect(box)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _is_of_base(self, shown: Recording) -> bool:
        return shown.kernel.partition("~")[0] == self.session.base.name

    def _empty_text(self) -> tuple[str, str]:
        kernel = self.session.kernel
        if not kernel.recordable:
            return (
                f"{kernel.title}: a library call",
                "There is no source to record, so there is nothing to play. It is the reference that the other "
                "rungs are measured against: press “Measure this” below, or choose a rung with a source.",
            )
        progress = self.session.progress["record"]
        if progress is not None:
            return f"Recording {kernel.alias}…", progress[0]
        return "Nothing recorded yet", "Choose a rung on the left, then press Record (Ctrl+R)."

    # Keyboard

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus to those who move it with keys; a frame that is always there says nothing."""
        self._show_focus = event.reason() in _BY_KEY
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the frame away."""
        self._show_focus = False
        self.update()

    def zoom(self, direction: int) -> None:
        """Zoom in (1) or out (-1) about the middle."""
        self._zoom_about(QPointF(self.rect().center()), 1.4**direction)

    def shift(self, x: int, y: int) -> None:
        """Move the picture by a tenth of the stage, in the direction given."""
        step = min(self.width(), self.height()) / 10
        self.view = View(self.view.zoom, self.view.dx + x * step, self.view.dy + y * step)
        self.update()

    def pick_next_array(self) -> None:
        """Choose the first cell of the next array: C, then A, B and the shared ones."""
        if self.session.playable is not None:
            arrays = len(self.session.playable.recording.arrays)
            chosen = self.session.cell
            self._pick_cell(C if chosen is None else (chosen[0] + 1) % arrays, 0, 0)

    def pick_beside(self, down: int, right: int) -> None:
        """Choose the cell beside the chosen one; the first of C where none is chosen."""
        playable, chosen = self.session.playable, self.session.cell
        if playable is None:
            return
        if chosen is None:
            self._pick_cell(C, 0, 0)
            return
        info = playable.recording.arrays[chosen[0]]
        row, column = (int(v[0]) for v in info.cells(np.array([chosen[1]])))
        rows, columns = info.grid
        self._pick_cell(chosen[0], min(max(row + down, 0), rows - 1), min(max(column + right, 0), columns - 1))

    def let_go(self) -> None:
        """Choose no cell."""
        self.session.pick(None)

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        self._zoom_about(event.position(), 1.2 ** (event.angleDelta().y() / 120))

    def _zoom_about(self, at: QPointF, factor: float) -> None:
        zoom = min(max(self.view.zoom * factor, 0.5), 60.0)
        factor = zoom / self.view.zoom
        self.view = View(zoom, at.x() - (at.x() - self.view.dx) * factor, at.y() - (at.y() - self.view.dy) * factor)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        self._pressed, self._dragged = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shift the picture."""
        if self._pressed is None:
            return
        moved = event.position().toPoint() - self._pressed
        if self._dragged or moved.manhattanLength() > _CLICK:
            self._dragged = True
            self.view = View(self.view.zoom, self.view.dx + moved.x(), self.view.dy + moved.y())
            self._pressed = event.position().toPoint()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pick the cell under the pointer; a click beside the arrays lets go of it."""
        if self._pressed is not None and not self._dragged:
            self._pick(event.position())
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything again."""
        self.reset_view()

    def _pick(self, point: QPointF) -> None:
        playable = self.session.playable
        if playable is None:
            return
        for panel in self.panels():
            cell = panel.at(point.x(), point.y())
            if cell is None:
                continue
            self._pick_cell(panel.array, *cell)
            return
        self.session.pick(None)

    def _pick_cell(self, array: int, row: int, column: int) -> None:
        recording = self.session.playable.recording
        info = recording.arrays[array]
        rows, columns = info.grid
        element = column * rows + row if info.column_major else row * columns + column
        block = int(recording.owners[0][row, column]) if array == C else None
        self.session.pick((array, element), block)
