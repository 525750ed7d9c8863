"""The lens in front of an audience: beside the picture, so that A, B, C and the shared tiles keep their size."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.lenses.lens import Lens, LensMoment
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.shown_lens import presented_lens
from gemmviz.ui.stage.stage import Stage


class LensPane(QWidget):
    """Draws the chosen lens at the moment that a stage shows; hidden where there is no lens.

    Parameters
    ----------
    stage
        The stage beside it. It draws no lens itself.
    session
        The session of that stage.
    """

    def __init__(self, stage: Stage, session: Session) -> None:
        super().__init__()
        self._stage, self._session = stage, session
        self.theme: Theme | None = None
        self.base_font = QFont()
        """The font of its text. The widget's own font is the window's as soon as a style sheet is set."""
        self.has_room = True
        """Whether there is room for it: a lens that is cut off shows nothing."""
        self.setAccessibleName(tr("Lens"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        for signal in (session.cursor.stepped, session.cursor.picked, session.inspection.changed):
            listen(self, signal, self._refresh)
        for signal in (session.cursor.recorded, session.lens.changed):
            listen(self, signal, self.appear)
        self.appear()

    @property
    def lens(self) -> Lens | None:
        """The lens that is drawn; None: there is none, or the recording has nothing that it shows."""
        return None if self._session.lens.covered else self._presented()

    @property
    def takes_room(self) -> bool:
        """Whether it has a place: also while a question covers it, so that nothing moves then."""
        return self._session.lens.name is not None or self._presented() is not None

    def _presented(self) -> Lens | None:
        return presented_lens(self._session.lens, self._session.cursor.playable)

    def appear(self) -> None:
        """Be seen only where there is a lens, and room for it."""
        self.setVisible(self.lens is not None and self.has_room)
        self.update()

    def _refresh(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lens."""
        lens, playable, theme = self.lens, self._session.cursor.playable, self.theme
        if lens is None or playable is None or theme is None or not playable.timeline.steps:
            return
        now = self._stage.moment()
        shown = LensMoment(playable, now.step, now.block, now.warp, now.lane, now.cell)
        painter = QPainter(self)
        try:
            lens.paint(painter, QRectF(self.rect()), shown, theme, self.base_font)
        finally:
            painter.end()
