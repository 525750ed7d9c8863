"""The score: every step of the recording from left to right, its purpose, and the stage's position. It scrubs.

It is an order of events. Nothing on it is a time.
"""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider, QToolTip

from gemmviz.language import language, tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.trace.order.story import Story
from gemmviz.ui.connections import listen
from gemmviz.ui.known import known
from gemmviz.ui.look.theme import THEMES, Theme
from gemmviz.ui.stage import score_drawing
from gemmviz.ui.stage.score_text import barrier_text, legend, purpose_text

_NEAR = 6  # px by which a handle or a flag may be missed
_NOTCH = 120


class Score(QSlider):
    """A slider over the steps that shows their purposes.

    Parameters
    ----------
    session
        The session with the recording to show and to scrub.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.session = session
        self._picture: QPixmap | None = None
        self._drawn: tuple[object, ...] = ()
        self._placed: tuple[tuple[object, ...], score_drawing.Layout] | None = None
        self._segment = (0, -1)
        self._drag = ""
        self._anchor = 0
        self.setObjectName("score")
        self.setAccessibleName(tr("Step"))
        self.setMinimumWidth(160)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # Reached by Tab; a click leaves the focus where it is, so that Space still plays.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.valueChanged.connect(self._on_value)
        listen(self, session.cursor.recorded, self._on_recorded)
        listen(self, session.cursor.stepped, self._on_step)
        for signal in (session.playback.changed, session.preferences.themed, session.tour.changed, session.tour.moved):
            listen(self, signal, self._refresh)
        self._on_recorded()

    def sizeHint(self) -> QSize:
        """Wide, and as high as its lanes are."""
        return QSize(480, score_drawing.height(self._story(), self.font()))

    def minimumSizeHint(self) -> QSize:
        """Never lower than its lanes are."""
        return QSize(160, score_drawing.height(self._story(), self.font()))

    def changeEvent(self, event: QEvent) -> None:
        """Grow with the type."""
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        super().changeEvent(event)

    # Events of the session

    def _on_recorded(self) -> None:
        self.blockSignals(True)
        self.setRange(0, max(self.session.cursor.steps - 1, 0))
        self.blockSignals(False)
        self._segment, self._placed = (0, -1), None
        self._on_step()
        self.updateGeometry()
        self.update()

    def _on_step(self) -> None:
        step, playable = self.session.cursor.step, self.session.cursor.playable
        self.blockSignals(True)
        self.setValue(step)
        self.blockSignals(False)
        if playable is not None and playable.timeline.steps and not self._segment[0] <= step <= self._segment[1]:
            segment = playable.story.segment_at(step)
            self._segment = segment.first, segment.last
            self.setAccessibleDescription(purpose_text(playable, step))
        self.update()

    def _refresh(self) -> None:
        self.update()

    def _on_value(self, value: int) -> None:
        if value != self.session.cursor.step:
            self.session.playback.pause()
            self.session.cursor.seek(value)

    # Painting

    def _theme(self) -> Theme:
        return THEMES[self.session.preferences.theme]

    def _story(self) -> Story | None:
        playable = self.session.cursor.playable
        return playable.story if playable is not None and playable.timeline.steps else None

    def _layout(self) -> score_drawing.Layout:
        key = self.font().key(), self.width(), self.height(), language()
        if self._placed is None or self._placed[0] != key:
            self._placed = key, score_drawing.layout(self._story(), self.font(), self.width(), self.height())
        return self._placed[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture of the recording, and over it the moving parts."""
        place, theme, playable = self._layout(), self._theme(), self.session.cursor.playable
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), QColor(theme.panel))
            if playable is not None and place.steps:
                painter.drawPixmap(0, 0, self._lanes(place))
                painter.setFont(score_drawing.small(self.font()))
                self._draw_range(painter, place, theme)
                self._draw_flags(painter, place, theme)
                self._draw_playhead(painter, place, theme)
            if self.hasFocus():
                painter.setPen(QColor(theme.text))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
                painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
        finally:
            painter.end()

    def _lanes(self, place: score_drawing.Layout) -> QPixmap:
        story, ratio, theme = known(self._story()), self.devicePixelRatioF(), self._theme()
        key = (id(story), place, theme.name, self.font().toString(), self.size().toTuple(), ratio, language())
        if self._picture is None or key != self._drawn:
            self._drawn = key
            self._picture = score_drawing.draw(story, place, theme, self.font(), self.size().toTuple(), ratio)
        return self._picture

    def _draw_range(self, painter: QPainter, place: score_drawing.Layout, theme: Theme) -> None:
        """Dim the steps that are not played, and draw brackets around the rest."""
        if self.session.playback.loop_range is None:
            return
        first, last = self.session.playback.loop_range
        begin, end = place.x(first), place.x(last + 1)
        dim = QColor(theme.panel)
        dim.setAlpha(190)
        high = self.height()
        painter.fillRect(QRectF(place.left, place.head, begin - place.left, high), dim)
        painter.fillRect(QRectF(end, place.head, place.left + place.width - end, high), dim)
        painter.fillRect(QRectF(begin, 0, end - begin, 3), QColor(theme.accent))
        for x, inwards in ((begin, 1), (end - 3, -1)):
            painter.fillRect(QRectF(x, 0, 3, high), QColor(theme.accent))
            foot = x if inwards > 0 else x - 4
            painter.fillRect(QRectF(foot, high - 3, 7, 3), QColor(theme.accent))

    def _draw_flags(self, painter: QPainter, place: score_drawing.Layout, theme: Theme) -> None:
        """Draw a numbered flag for every stop of the tour; the one that people stand at is filled."""
        for index, box in self._flags(place).items():
            here, step = index == self.session.tour.at, self.session.tour.stops[index].step
            painter.fillRect(QRectF(place.x(step), box.bottom() - 2, 2, self.height()), QColor(theme.good))
            painter.setPen(QColor(theme.good))
            painter.setBrush(QColor(theme.good if here else theme.panel))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
            painter.setPen(QColor(theme.background if here else theme.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(index + 1))

    def _flags(self, place: score_drawing.Layout) -> dict[int, QRectF]:
        """Return where each stop's flag is: right of its step, or beside the flags of the steps close to it."""
        metrics = QFontMetricsF(score_drawing.small(self.font()))
        stops = [(stop.step, index) for index, stop in enumerate(self.session.tour.stops) if stop.step < place.steps]
        found: dict[int, QRectF] = {}
        end = 0.0
        for step, index in sorted(stops):
            wide = metrics.horizontalAdvance(str(index + 1)) + 7
            found[index] = QRectF(max(place.x(step), end), 0, wide, place.head - 1)
            end = found[index].right() + 1
        end = float(self.width())
        for _, index in sorted(stops, reverse=True):
            found[index].moveRight(min(found[index].right(), end))
            end = found[index].left() - 1
        return found

    def _draw_playhead(self, painter: QPainter, place: score_drawing.Layout, theme: Theme) -> None:
        cursor = self.session.cursor
        # While it plays, it moves from step to step: it is not drawn in each frame.
        x = place.x(cursor.step + 0.5 + (0.0 if self.session.playback.playing else cursor.fraction))
        painter.fillRect(QRectF(x - 2.5, place.head - 3, 5, self.height()), QColor(theme.panel))
        painter.fillRect(QRectF(x - 1.5, place.head - 3, 3, self.height()), QColor(theme.selection))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme.panel))
        painter.setBrush(QColor(theme.selection))
        painter.drawPolygon(
            QPolygonF([QPointF(x - 6, place.head - 9), QPointF(x + 6, place.head - 9), QPointF(x, place.head)])
        )

    # Events of the user

    def _flag_at(self, x: float, y: float) -> int | None:
        """Return the stop whose flag is at a place."""
        found = self._flags(self._layout()).items()
        return next((index for index, box in found if box.adjusted(-1, 0, 1, 0).contains(x, y)), None)

    def _handle_at(self, x: float) -> str:
        """Return which end of the played range is at a place: "first", "last" or neither."""
        if self.session.playback.loop_range is None:
            return ""
        place = self._layout()
        ends = {
            "first": place.x(self.session.playback.loop_range[0]),
            "last": place.x(self.session.playback.loop_range[1] + 1),
        }
        nearest = min(ends, key=lambda name: abs(ends[name] - x))
        return nearest if abs(ends[nearest] - x) <= _NEAR else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to a flag's stop, take an end of the range, begin a range (Shift), or scrub."""
        if event.button() != Qt.MouseButton.LeftButton or not self.session.cursor.steps:
            return
        x, y = event.position().x(), event.position().y()
        place = self._layout()
        flag = self._flag_at(x, y)
        if flag is not None:
            self.session.guide.go(flag)
            return
        if x < place.left - _NEAR:
            return
        self._anchor = place.step_at(x)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._drag = "range"
        else:
            self._drag = self._handle_at(x) or "scrub"
        if self._drag == "scrub":
            self.session.playback.pause()
            self.session.cursor.seek(self._anchor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub, or change the range."""
        x, session = event.position().x(), self.session
        if not self._drag:
            over = bool(self._handle_at(x))
            self.setCursor(Qt.CursorShape.SizeHorCursor if over else Qt.CursorShape.ArrowCursor)
            return
        step = self._layout().step_at(x)
        if self._drag == "scrub":
            position = self._layout().position_at(x)
            session.cursor.seek(int(position), position)
            self.update()
        elif self._drag == "range":
            session.playback.set_loop_range(self._anchor, step)
        elif session.playback.loop_range is not None:
            first, last = session.playback.loop_range
            if self._drag == "first":
                session.playback.set_loop_range(min(step, last), last)
            else:
                session.playback.set_loop_range(first, max(step, first))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag."""
        self._drag = ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step by the chosen unit."""
        notches = event.angleDelta().y()
        if abs(notches) >= _NOTCH // 2:
            self.session.step_unit(-1 if notches > 0 else 1)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step by the chosen unit, or to an end: where no window does it."""
        act = {
            Qt.Key.Key_Left: lambda: self.session.step_unit(-1),
            Qt.Key.Key_Right: lambda: self.session.step_unit(1),
            Qt.Key.Key_Home: lambda: self.session.cursor.seek(0),
            Qt.Key.Key_End: lambda: self.session.cursor.seek(self.session.cursor.steps - 1),
        }.get(Qt.Key(event.key()))
        if act is None:
            event.ignore()
        else:
            act()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Be drawn anew."""
        self.update()

    def event(self, event: QEvent) -> bool:
        """Explain the place under the pointer."""
        cursor = self.session.cursor
        explained = cursor.playable is not None and cursor.steps > 0
        if explained and isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(event.pos().x(), event.pos().y()), self)
            return True
        return super().event(event)

    def tip(self, x: float, y: float) -> str:
        """Return the text about a place."""
        place, playable = self._layout(), known(self.session.cursor.playable)
        flag = self._flag_at(x, y)
        if flag is not None:
            sentence = self.session.tour.stops[flag].say
            return (
                tr("Stop {number}: {sentence}", number=flag + 1, sentence=sentence)
                if sentence
                else tr("Stop {number}", number=flag + 1)
            )
        if x < place.left:
            return legend(place.lanes, len(playable.story.barriers) > 0)
        step = place.step_at(x)
        barrier = min(playable.story.barriers.tolist(), key=lambda b: abs(place.x(b) - x), default=None)
        if y < place.head and barrier is not None and abs(place.x(barrier) - x) <= _NEAR:
            return barrier_text(int(playable.story.phases[barrier]))
        place_text = tr("Step {step} of {steps}", step=thousands(step + 1), steps=thousands(place.steps))
        hint = tr("click: go there; Shift+drag: loop a range")
        phase = tr("phase {number}", number=int(playable.story.phases[step]) + 1)
        return f"<b>{place_text}</b><br>{purpose_text(playable, step)}<br>{phase}<br><small>{hint}</small>"
