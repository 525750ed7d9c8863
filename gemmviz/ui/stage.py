"""The stage as a widget: shows what the session plays, zooms, and lets people pick cells."""

from time import perf_counter

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.session import Session
from gemmviz.ui.painter import Moment, StagePainter, View, blank
from gemmviz.ui.scene import C, Panel
from gemmviz.ui.theme import THEMES

_CLICK = 4


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
        self.setObjectName("stage")
        self.setAccessibleName("Stage: matrices A, B and C")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 240)
        session.recorded.connect(self._on_recorded)
        session.themed.connect(self._on_recorded_same_view)
        session.stepped.connect(self._refresh)
        session.picked.connect(self._refresh)
        session.chosen.connect(self._refresh)
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
        session, stage = self.session, self._painter_now()
        if stage is None or not session.kernel.recordable:
            blank(painter, self.rect(), THEMES[session.theme], *self._empty_text())
        else:
            moment = Moment(session.step, session.shown_block, session.cell, session.trail, self.view)
            stage.paint(painter, QRectF(self.rect()), moment, self.devicePixelRatioF())
            if session.playable.recording.sha256 != session.kernel.sha256:
                self._draw_outdated(painter)
        painter.end()
        self.frame_seconds.append(perf_counter() - begin)
        del self.frame_seconds[:-2000]

    def _draw_outdated(self, painter: QPainter) -> None:
        """Say that the picture is still of another source than the one beside it."""
        theme, session = THEMES[self.session.theme], self.session
        busy = session.progress["record"]
        text = f"still showing {session.playable.recording.label}" + (f"  ·  {busy[0]}…" if busy else "")
        height = self.fontMetrics().height() * 1.6
        box = QRectF(4, self.height() - height - 2, self.width() - 8, height)
        painter.fillRect(box, QColor(theme.raised))
        painter.setPen(QColor(theme.text))
        painter.drawRect(box)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _empty_text(self) -> tuple[str, str]:
        kernel = self.session.kernel
        if not kernel.recordable:
            return (f"{kernel.title}: a library call",
                    "There is no source to record, so there is nothing to play. It is the reference that the other "
                    "rungs are measured against: press “Measure this” below, or choose a rung with a source.")
        progress = self.session.progress["record"]
        if progress is not None:
            return f"Recording {kernel.alias}…", progress[0]
        return "Nothing recorded yet", "Choose a rung on the left, then press Record (Ctrl+R)."

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        factor = 1.2 ** (event.angleDelta().y() / 120)
        zoom = min(max(self.view.zoom * factor, 0.5), 60.0)
        factor = zoom / self.view.zoom
        at = event.position()
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
            info = playable.recording.arrays[panel.array]
            row, column = cell
            element = column * panel.rows + row if info.column_major else row * panel.columns + column
            block = int(playable.recording.owners[0][row, column]) if panel.array == C else None
            self.session.pick((panel.array, element), block)
            return
        self.session.pick(None)
