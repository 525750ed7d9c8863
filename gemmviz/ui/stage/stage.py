"""The stage as a widget: shows the playing recording, zooms, and lets people pick cells."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gemmviz.language import tr
from gemmviz.session.models.frozen_warp import FrozenWarp
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.session.models.permission import Permission
from gemmviz.session.models.sight import StageSight
from gemmviz.session.rules.staged import Staged
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import THEMES, Theme
from gemmviz.ui.stage.blank import blank, blank_text, frame, outdated, outdated_text
from gemmviz.ui.stage.drag import Drag
from gemmviz.ui.stage.late_parts import LateParts, changed_places, look_ahead
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.own_moment import own_moment
from gemmviz.ui.stage.own_title import own_title
from gemmviz.ui.stage.picking import Picking
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.shown_lens import shown_lens
from gemmviz.ui.stage.spare_pictures import SparePictures
from gemmviz.ui.stage.view import View, kept_in_sight, point_of_interest
from gemmviz.ui.turns import Turns

if TYPE_CHECKING:
    from gemmviz.ui.stage.painter import StagePainter

_KEY_ZOOM, _WHEEL_ZOOM = 1.4, 1.2
_TO_MIDDLE = 0.5  # part of the way to the middle that the zoomed point moves, with each press of a key
_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class Stage(QWidget):
    """A, B, C and the chosen block's shared memory at a step.

    Parameters
    ----------
    staged
        The state to show.
    frozen_warp, inspection
        The frozen warp and the inspection on it; None: there are none.
    permission
        Whether the chosen text may run; None: not shown here.
    lens
        Which lens is shown, here or beside a stage that is presented; None: none ever is.
    sight
        Keeps the visible part for the next window; None: it is not kept.
    """

    arranged = Signal()
    """The places of the words may have changed."""
    size_wanted = Signal(QPoint)
    """The size or a parameter was clicked, at this point of the screen."""

    def __init__(
        self,
        staged: Staged,
        frozen_warp: FrozenWarp | None = None,
        inspection: Inspection | None = None,
        permission: Permission | None = None,
        lens: LensChoice | None = None,
        sight: StageSight | None = None,
    ) -> None:
        super().__init__()
        self.staged, self.picking, self._sight = staged, Picking(staged.cursor), sight or StageSight()
        self.colours: Theme | None = None
        self.base_font: QFont | None = None
        self.captioned = True
        self.presented = False
        """Whether an audience sees it, without the window's buttons."""
        self._painter: StagePainter | None = None
        self._drag, self._show_focus, self._spare = Drag(), False, SparePictures()
        self._taken, self.late = (0.0, 0.0, False), LateParts()
        self._hovered: int | None = None
        self.setMouseTracking(True)
        self.setObjectName("stage")
        self.setAccessibleName(tr("Stage: matrices A, B and C"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 240)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._freeze, self._inspected, self._permission, self._lens = frozen_warp, inspection, permission, lens
        if lens is not None:
            listen(self, lens.changed, self._on_lens)
        for model in (one for one in (frozen_warp, inspection, permission) if one is not None):
            listen(self, model.changed, lambda: self.update())
        listen(self, staged.cursor.recorded, self._on_recorded)
        listen(self, staged.preferences.themed, self._on_recorded_same_view)
        listen(self, staged.cursor.moved, self._on_moved)
        listen(self, staged.cursor.stepped, self._update_places)
        cursor, choice = staged.cursor, staged.choice
        for change in (cursor.picked, cursor.doubted, choice.chosen, choice.drafted):
            listen(self, change, lambda: self.update())
        listen(self, staged.progress.changed, lambda engine: self._update_note() if engine == "record" else None)

    @property
    def view(self) -> View:
        """The visible part."""
        return View(self._sight.zoom, self._sight.dx, self._sight.dy)

    @view.setter
    def view(self, view: View) -> None:
        self._sight.zoom, self._sight.dx, self._sight.dy = view.zoom, view.dx, view.dy

    def follow(self, turns: Turns) -> None:
        """Draw the slow parts in turns with the other parts of the window."""
        self.late.turns = turns
        listen(self, turns.switched, lambda: self.update())

    def sizeHint(self) -> QSize:
        """Prefer a large square."""
        return QSize(640, 520)

    def paint_in(self, theme: Theme | None) -> None:
        """Paint in a theme; None: in the session's."""
        self.colours = theme
        self._on_recorded_same_view()

    @property
    def theme(self) -> Theme:
        """The theme that is painted in."""
        return self.colours or THEMES[self.staged.preferences.theme]

    def reset_view(self) -> None:
        """Show everything again."""
        self._look(View())

    def panels(self) -> list[Panel]:
        """Return where every array stands now, in the widget's pixels."""
        painter = self._painter_now()
        return painter.panels(QRectF(self.rect()), self.view) if painter else []

    def words_place(self) -> QRect:
        """Return the place of the caption, in pixels: below the title, in the free quadrant where that has room."""
        painter = self._painter_now()
        if painter is None:
            high = self.fontMetrics().height()
            return QRect(high, high // 2, max(self.width() - 2 * high, 1), 0)
        return painter.words_place(QRectF(self.rect()), self.view).toRect()

    def in_quadrant(self) -> bool:
        """Say whether the words stand in the free quadrant, and not in lines above and below the arrays."""
        painter = self._painter_now()
        return painter is not None and not painter.in_lines(painter.plan(QRectF(self.rect()), self.view), self.view)

    def title_place(self) -> QRect:
        """Return the place of the title, in pixels."""
        painter = self._painter_now()
        return painter.title_place(QRectF(self.rect()), self.view).toRect() if painter else QRect()

    def column_width(self) -> float:
        """Return the width in pixels of the panel that replaces the caption: see `StagePainter.column_width`."""
        painter = self._painter_now()
        return painter.column_width(QRectF(self.rect())) if painter is not None else 0.0

    def holds(self, height: float, narrow: bool = False) -> bool:
        """Say whether something has room in the caption's place: see `StagePainter.holds`. A zoomed picture has it."""
        painter = self._painter_now()
        return painter is None or self.view != View() or painter.holds(QRectF(self.rect()), height, narrow)

    def take_words(self, height: float, title_width: float, narrow: bool = False) -> None:
        """Give something else the place of the caption, and a part of the title's, at its right.

        Parameters
        ----------
        height
            The height that it needs, in pixels; 0: the caption stands there.
        title_width
            Of the part of the title's place, in pixels.
        narrow
            Whether it needs that height at `column_width`.
        """
        if (height, title_width, narrow) != self._taken:
            self._taken = height, title_width, narrow
            self._give_words()
            self.update()

    def _give_words(self) -> None:
        if self._painter is not None:
            self._painter.words, self._painter.title_taken, self._painter.narrow = self._taken

    def _on_recorded(self) -> None:
        self._hovered = None
        if self._sight.of is not self.staged.cursor.playable:
            self._sight.of, self.view = self.staged.cursor.playable, View()
        self._on_recorded_same_view()

    def _on_recorded_same_view(self) -> None:
        self._spare.take_from(self._painter)
        self._painter = None
        self.late.forget()
        self.update()
        self.arranged.emit()

    def _update_note(self) -> None:
        self.update(self.rect() if self._painter is None else self.title_place().adjusted(-1, -1, 1, 1))

    def _on_moved(self) -> None:
        if self.staged.motion() not in ("none", "line") or self.late.waits:
            self._update_places()
        else:
            self._look_ahead()

    def _update_places(self) -> None:
        ratio = self.devicePixelRatioF()
        places = changed_places(self.late, self._painter, QRectF(self.rect()), self.moment(), ratio)
        for place in places if places is not None else [self.rect()]:
            self.update(place)
        if places == []:
            self._look_ahead()

    def _look_ahead(self) -> None:
        look_ahead(self.late, self._painter, QRectF(self.rect()), self.moment(ahead=1), self.devicePixelRatioF())

    def _painter_now(self) -> "StagePainter | None":
        shown = self.staged.cursor.playable
        if self._painter is not None and self._painter.playable is not shown:
            self._painter = None  # its recording has gone, and its steps are those of another one
        if self._painter is None and shown is not None and self.staged.choice.kernel.recordable:
            self._painter = self.make_painter(shown)
            self._painter.captioned = self.captioned
            self._painter.title = "" if self.presented else own_title(self.staged)
            self._give_words()
            self._choose_lens(self._painter)
        if self._painter is not None and self.presented:
            self._painter.block = self.staged.cursor.shown_block
        return self._painter

    def make_painter(self, playable: Playable) -> "StagePainter":
        """Return a painter of a recording."""
        from gemmviz.ui.stage.painter import StagePainter  # late: the window is first painted without a recording

        return self._spare.given_to(StagePainter(playable, self.theme, self._font()))

    def _choose_lens(self, painter: "StagePainter") -> None:
        lens = shown_lens(self._lens, painter.playable)
        painter.lens, painter.lens_marks.beside = (None, lens) if self.presented else (lens, None)

    def _on_lens(self) -> None:
        if self._painter is not None:
            self._choose_lens(self._painter)
        self.late.forget()
        self.update()
        self.arranged.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the session's moment."""
        painter = QPainter(self)
        try:
            self._paint(painter, event.region())
        finally:
            painter.end()  # one left open would break every later frame as well
        self._look_ahead()  # in the time that this frame has left

    def _paint(self, painter: QPainter, part: QRegion) -> None:
        staged, stage = self.staged, self._painter_now()
        if stage is None or not staged.choice.kernel.recordable:
            painter.setFont(self._font())
            blank(painter, self.rect(), self.theme, *self._empty_text())
        else:
            moment, ratio = self.moment(), self.devicePixelRatioF()
            stage.paint(painter, QRectF(self.rect()), moment, ratio, self.late.at(moment), part)
            if staged.outdated:
                painter.setFont(self._font())
                place = stage.title_place(QRectF(self.rect()), self.view)
                outdated(painter, place, self._taken[1], self.theme, outdated_text(staged))
        if self._show_focus:
            frame(painter, self.rect(), self.theme)

    def _empty_text(self) -> tuple[str, str]:
        return blank_text(self.staged, self._permission, self.presented)

    def _font(self) -> QFont:
        """Return the font of the labels: the widget's own follows the size of type already, one that was given not."""
        return larger(self.base_font, self.staged.preferences.type_scale) if self.base_font else self.font()

    def moment(self, ahead: int = 0) -> Moment:
        """Return the moment that is shown now, or some steps later."""
        return own_moment(self.staged, self.view, self._hovered, self._freeze, self._inspected, ahead)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep a part of a zoomed picture visible."""
        super().resizeEvent(event)
        if self.view != View():
            self._look(self.view)
        self.arranged.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it was moved with keys; a frame that is always there carries no information."""
        self._show_focus = event.reason() in _BY_KEY
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the frame away."""
        self._show_focus = False
        self.update()

    def zoom(self, direction: int) -> None:
        """Zoom in (1) or out (-1) about the chosen cell; without one about the array that takes most of the stage."""
        at = self._anchor()
        to = at + (QRectF(self.rect()).center() - at) * _TO_MIDDLE if direction > 0 else at
        self._look(self.view.zoomed(_KEY_ZOOM**direction, at, to))

    def shift(self, x: int, y: int) -> None:
        """Move the picture by a tenth of the stage, in the direction given."""
        by = min(self.width(), self.height()) / 10
        self._look(self.view.shifted(x * by, y * by))

    def _anchor(self) -> QPointF:
        """Return the point to zoom about."""
        painter, whole = self._painter_now(), QRectF(self.rect())
        if painter is None:
            return whole.center()
        return point_of_interest(self.panels(), painter.seen(whole, not self.in_quadrant()), self.picking.chosen())

    def _look(self, view: View) -> None:
        """Show another part of the picture; some of it stays visible."""
        painter, whole = self._painter_now(), QRectF(self.rect())
        if painter is not None:
            view = kept_in_sight(view, painter.panels(whole, view), painter.seen(whole))
        changes, self.view = (view == View()) != (self.view == View()), view
        self.update()
        if changes:
            self.arranged.emit()

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        self._look(self.view.zoomed(_WHEEL_ZOOM ** (event.angleDelta().y() / 120), event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        self._drag.press(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shift the picture."""
        if not self._drag.pressed:
            self._hover(event.position())
            return
        moved = self._drag.move(event.position())
        if not moved.isNull():
            self._look(self.view.shifted(moved.x(), moved.y()))

    def leaveEvent(self, event: QEvent) -> None:
        """Show the ownership of no element."""
        self._hover(None)

    def _hover(self, point: QPointF | None) -> None:
        """Show all that the thread owns whose element of C is under the pointer."""
        element = self.picking.element_of_c(self.panels(), point) if point is not None else None
        if element != self._hovered:
            self._hovered = element
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pick the cell under the pointer; a click beside the arrays lets go of it."""
        if not self._drag.release():
            return
        painter = self._painter_now()
        if painter is not None and painter.on_chip(QRectF(self.rect()), self.view, event.position()):
            self.size_wanted.emit(event.globalPosition().toPoint())
            return
        self.picking.pick_at(self.panels(), event.position())
        if self._inspected is not None:
            self._inspected.clicked.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything again."""
        self.reset_view()

    def event(self, event: QEvent) -> bool:
        """Explain the place under the pointer: a barrier, or the owner of a sum of C."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip(self, point: QPointF) -> str:
        """Return the text about a place; empty if nothing has to be explained."""
        painter = self._painter_now()
        return painter.about(QRectF(self.rect()), self.moment(), point.x(), point.y()) if painter else ""
