"""A sheet at the stage's title with the size, the parameters and the order of the recording."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.values.message import told
from gemmviz.ui.panels.controls import RecordControls
from gemmviz.ui.panels.schedule_row import ScheduleRow

_MARGIN = 10


class SizePopover(QFrame):
    """Holds the controls of the recording; a click elsewhere or Esc closes it.

    Parameters
    ----------
    session
        The session with the choices.
    controls
        The controls of size, parameters and order.
    below
        The widgets below the controls.
    window
        The window of the sheet.
    """

    def __init__(self, session: Session, controls: RecordControls, below: Sequence[QWidget], window: QWidget) -> None:
        super().__init__(window, Qt.WindowType.Popup)
        self._session, self._controls = session, controls
        self.setObjectName("popover")
        self.setAccessibleName(tr("Size and parameters of the recording"))
        row = QHBoxLayout()
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
        row.addWidget(QLabel(tr("Recorded")))
        for widget in below:
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, _MARGIN // 2, 0, _MARGIN // 2)
        column.addWidget(controls)
        column.addLayout(row)
        self.schedule = ScheduleRow(session.choice)
        self.schedule.resized.connect(self._fit)
        column.addWidget(self.schedule)

    def open(self, at: QPoint) -> None:
        """Open the sheet below a point of the screen, unless a lesson has chosen the size."""
        if self._session.tour.lesson is not None:
            self._session.messages.tell(
                told(lambda: tr("The lesson has chosen the size. Leave it first (Ctrl+L): then the size is yours."))
            )
            return
        for part in (self, *self.findChildren(QWidget)):
            part.ensurePolished()  # otherwise it first opens with the size of another font
            part.updateGeometry()
        self.adjustSize()
        place = QRect(at + QPoint(-_MARGIN, _MARGIN), self.sizeHint())
        screen = self.screen().availableGeometry()
        place.moveRight(min(place.right(), screen.right()))
        place.moveBottom(min(place.bottom(), screen.bottom()))
        self.move(place.topLeft())
        self.show()
        self._controls.size_row.boxes["M"].setFocus(Qt.FocusReason.PopupFocusReason)

    def _fit(self) -> None:
        if self.isVisible():
            self.adjustSize()
