"""A painted chart: heading, sentence, tag, and a surface with marks that mouse and keys can point at."""

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QLabel, QToolTip, QVBoxLayout, QWidget

from gemmviz.catalogue.kernel import Kernel
from gemmviz.session import Session
from gemmviz.ui.charts.chart_widget import ARROWS, TIP_MS, ChartWidget
from gemmviz.ui.charts.tag import Tag
from gemmviz.ui.known import shortcut
from gemmviz.ui.look.style import TYPE_PT, scaled
from gemmviz.ui.look.theme import Theme, rgb

_PALE = 0.42
"""The share of the outline's colour in the colour of context, such as other kernels."""


@dataclass(frozen=True)
class Mark:
    """A drawn object with details: its area, a function for its facts, and the kernel that a click chooses.

    ``reach``: the largest distance of the mouse from ``area``, in pixels; ``by_key``: whether arrow keys go to it.
    """

    area: QRectF
    facts: Callable[[], str]
    kernel: Kernel | None = None
    reach: float = 0.0
    by_key: bool = True


class Surface(QWidget):
    """The surface of a painted chart.

    Parameters
    ----------
    paint
        Paints the chart, and returns its marks in the order of the arrow keys.
    name
        The name for screen readers.
    """

    chosen = Signal(object)
    """A kernel was clicked."""
    scrolled = Signal(int)
    """The wheel was turned, in pixels down."""

    def __init__(self, paint: Callable[[QPainter], list[Mark]], name: str) -> None:
        super().__init__()
        self._paint = paint
        self.marks: list[Mark] = []
        self._at: int | None = None
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumSize(60, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chart, and a frame while it has the focus."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.marks = self._paint(painter)
            if self.hasFocus():
                painter.setPen(QPen(self.palette().text().color(), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def mark_at(self, place: QPointF) -> int | None:
        """Return the number of the nearest mark at a point of this widget; None where there is no mark."""
        near = [(_distance(mark.area, place), number) for number, mark in enumerate(self.marks)]
        reached = [(far, number) for far, number in near if far <= self.marks[number].reach]
        return min(reached)[1] if reached else None

    def point(self, at: int | None) -> None:
        """Show the facts of a mark; None hides them."""
        self._at = at
        text = "" if at is None else self.marks[at].facts()
        if text and at is not None:
            corner = self.marks[at].area.bottomRight().toPoint()
            QToolTip.showText(self.mapToGlobal(corner), text, self, self.rect(), TIP_MS)
        else:
            QToolTip.hideText()
        self.setAccessibleDescription(text)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the facts of the mark under the mouse."""
        at = self.mark_at(event.position())
        if at != self._at:
            self.point(at)
        clickable = at is not None and self.marks[at].kernel is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the kernel under the mouse."""
        super().mousePressEvent(event)
        at = self.mark_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and at is not None and self.marks[at].kernel is not None:
            self.chosen.emit(self.marks[at].kernel)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the facts of the mark that was under the mouse."""
        self.point(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Emit a turn of the wheel."""
        self.scrolled.emit(-event.angleDelta().y() // 2)

    def event(self, event: QEvent) -> bool:
        """Take the arrow keys and Return before the shortcuts."""
        key = shortcut(event)
        if key is not None and (key.key() in ARROWS or key.key() == Qt.Key.Key_Return) and not key.modifiers():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next mark, or choose its kernel (Return)."""
        keyed = [number for number, mark in enumerate(self.marks) if mark.by_key]
        if event.key() in ARROWS and keyed:
            step = sum(ARROWS[Qt.Key(event.key())])
            at = keyed.index(self._at) if self._at in keyed else (-1 if step > 0 else len(keyed))
            self.point(keyed[max(0, min(at + step, len(keyed) - 1))])
        elif event.key() == Qt.Key.Key_Return and self._at is not None and self._at < len(self.marks):
            if self.marks[self._at].kernel is not None:
                self.chosen.emit(self.marks[self._at].kernel)
        else:
            event.ignore()


class PaintedChart(ChartWidget):
    """A heading with a sentence, a tag and choices, above a painted surface.

    Parameters
    ----------
    session
        The session with the figures.
    name
        The heading.
    """

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.setAccessibleName(name)
        self.heading, self.tag = QLabel(name), Tag(session.preferences)
        self.heading.setStyleSheet("font-weight: bold")
        self.hint.setObjectName("muted")
        self.plot = Surface(self.paint_all, name)
        self.plot.chosen.connect(self._on_chosen)
        self.controls.addWidget(self.heading)
        self.controls.addStretch(1)
        self.controls.addWidget(self.tag)
        self.body.addWidget(self.plot, 1)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(10, 6, 10, 4)
        self.column.setSpacing(2)
        self.column.addLayout(self.controls)
        self.column.addWidget(self.hint)
        self.column.addLayout(self.body, 1)

    def paint_all(self, painter: QPainter) -> list[Mark]:
        """Paint the figures of the last `refresh`; return the marks."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Take the theme's colours and the size of type."""
        self.tag.restyle()
        self.refresh()

    def _on_chosen(self, kernel: Kernel) -> None:
        if kernel is not self.session.choice.kernel:
            self.session.choice.choose_kernel(kernel)


def page_font(bold: bool = False) -> QFont:
    """Return the font of all texts on the page, in the user's size of type."""
    font = QFont()
    font.setPointSizeF(scaled(TYPE_PT))
    font.setBold(bold)
    return font


def pale(theme: Theme) -> QColor:
    """Return the colour of context: a mixture of the outline's colour and the background."""
    over, under = rgb(theme.outline), rgb(theme.background)
    return QColor(*(round(o * _PALE + u * (1 - _PALE)) for o, u in zip(over, under, strict=True)))


def role_colour(role: str, theme: Theme) -> QColor:
    """Return the colour of a kernel for its relation to the chosen one (see `ladder_figures.Role`)."""
    if role == "other":
        return pale(theme)
    colours = {"chosen": theme.accent, "before": theme.curves[1], "best": theme.good, "library": theme.text}
    return QColor(colours[role])


def nudged(wanted: list[float], height: float, low: float, high: float) -> list[float]:
    """Return positions close to the wanted ones, at least `height` apart and between `low` and `high` if possible.

    Parameters
    ----------
    wanted
        The preferred centres of labels, in pixels from the top.
    height
        The height of a label in pixels.
    low, high
        The smallest and the largest centre.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [min(max(wanted[i], low), high) for i in order]
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + height)
    # Labels that were pushed below the end move up again and push others up.
    limit = high
    for number in reversed(range(len(places))):
        places[number] = min(places[number], limit)
        limit = places[number] - height
    found = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        found[i] = place
    return found


def share_text(share: float | None) -> str:
    """Return a share as a percentage with one decimal; a dash for None."""
    return "–" if share is None else f"{share:.1%}".replace("%", "\N{NARROW NO-BREAK SPACE}%")


def _distance(area: QRectF, place: QPointF) -> float:
    right = max(area.left() - place.x(), 0.0, place.x() - area.right())
    down = max(area.top() - place.y(), 0.0, place.y() - area.bottom())
    return hypot(right, down)
