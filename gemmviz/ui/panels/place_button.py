"""The button *Where*: a menu of the devices that can measure, on this machine and in a cluster."""

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton

from gemmviz.cluster.piece import Seat
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.shown import show_inside

# The least and the largest width of the button, in letters.
_LEAST_LETTERS, _MOST_LETTERS = 16, 34


class PlaceButton(QToolButton):
    """Shows where kernels are measured, and lets the user choose another device.

    Parameters
    ----------
    session
        The session with the places.
    alone
        Whether the button is shown when no cluster is named.
    """

    look_wanted = Signal()
    """The devices of the named cluster are to be looked for again."""
    cluster_wanted = Signal()
    """The user wants to name a cluster."""
    place_wanted = Signal(object)
    """The `Seat` to measure on; None: this machine."""
    beside_wanted = Signal(object, bool)
    """A `Seat` that is to measure the same at the same time, or no longer."""

    def __init__(self, session: Session, *, alone: bool) -> None:
        super().__init__()
        self.session = session
        self._alone = alone
        self.setObjectName("slim")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._text = ""
        self.menu_of_places = QMenu(self)
        self.menu_of_places.setToolTipsVisible(True)
        self.setMenu(self.menu_of_places)
        self.menu_of_others = QMenu(tr("At the same time on"), self)
        self.menu_of_others.setToolTipsVisible(True)
        self._group = QActionGroup(self)
        self.menu_of_places.aboutToShow.connect(self._on_shown)
        for signal in (session.places.changed, session.places.moved, session.results.device_changed):
            listen(self, signal, self._show)
        listen(self, session.progress.changed, lambda _: self._show())
        self._show()

    def _on_shown(self) -> None:
        """Fill the menu, and ask the cluster who is busy."""
        self._fill()
        if self.session.places.scheduler is not None and not self.session.places.looking:
            self.look_wanted.emit()

    def _show(self) -> None:
        places, seat = self.session.places, self.session.places.chosen
        device = seat.device.replace("NVIDIA ", "").partition(" (")[0] if seat is not None else ""
        self._text = tr("this machine") if seat is None else f"{device} · {places.host(seat)}"
        text = tr("Where: {place}", place=self._text)
        if places.beside:
            self._text += f" + {len(places.beside)}"
            others = ", ".join(f"{one.device} · {places.host(one)}" for one in places.beside)
            text = "\n".join([text, tr("At the same time: {places}", places=others)])
        self._fit()
        self.updateGeometry()
        self.setAccessibleName(text)
        tip = tr("The device that measures, here or on another machine. The picture is recorded here.")
        self.setToolTip(f"{text}\n{tip}")
        idle = not self.session.progress.is_any("bench", "beside")
        # The strip needs the room for samples.
        show_inside(self, self._alone or (idle and places.scheduler is not None))
        self.setEnabled(idle)
        if self.menu_of_places.isVisible():
            self._fill()

    def sizeHint(self) -> QSize:
        """Return the size for the whole text."""
        wanted = self._frame() + self.fontMetrics().horizontalAdvance(self._text)
        return QSize(max(min(wanted, self._letters(_MOST_LETTERS)), self._letters(_LEAST_LETTERS)), self._high())

    def minimumSizeHint(self) -> QSize:
        """Return the size for a part of the text: the device's name and its machine's are cut in the middle."""
        return QSize(self._letters(_LEAST_LETTERS), self._high())

    def _high(self) -> int:
        return super().sizeHint().height()

    def _frame(self) -> int:
        """Return the width of all but the text: the frame and the arrow."""
        return super().sizeHint().width() - self.fontMetrics().horizontalAdvance(self.text())

    def _letters(self, count: int) -> int:
        return self.fontMetrics().averageCharWidth() * count

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the text as fits."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - self._frame()
        self.setText(self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideMiddle, room))

    def _fill(self) -> None:
        menu, places = self.menu_of_places, self.session.places
        menu.clear()
        self._add(tr("This machine"), None)
        for seat in places.seats:
            state = tr("busy") if seat.busy else tr("free")
            self._add(f"{seat.device} · {places.host(seat)} · {state}", seat)
        if places.chosen is not None and places.chosen not in places.seats:
            self._add(f"{places.chosen.device} · {places.chosen.host}", places.chosen)
        if places.looking or places.fault:
            line = menu.addAction(tr("Looking for devices…") if places.looking else places.fault)
            line.setEnabled(False)
        self._fill_beside()
        menu.addSeparator()
        more = menu.addAction(tr("Other machines…"))
        more.setToolTip(tr("Name the machines that can measure, for example a server with a GPU"))
        more.triggered.connect(lambda *_: self.cluster_wanted.emit())

    def _fill_beside(self) -> None:
        """Offer the other workers: each can measure the same at the same time."""
        places = self.session.places
        if not places.further:
            return
        self.menu_of_places.addMenu(self.menu_of_others)
        self.menu_of_others.clear()
        for seat in places.further:
            action = self.menu_of_others.addAction(f"{seat.device} · {places.host(seat)}")
            action.setToolTip(tr("Measure the same kernels there, too, and show both figures"))
            action.setCheckable(True)
            action.setChecked(seat in places.beside)
            action.toggled.connect(partial(self._choose_beside, seat))

    def _add(self, text: str, seat: Seat | None) -> None:
        action = QAction(text, self.menu_of_places)
        action.setCheckable(True)
        action.setChecked(seat == self.session.places.chosen)
        action.triggered.connect(partial(self._choose, seat))
        self._group.addAction(action)
        self.menu_of_places.addAction(action)

    def _choose_beside(self, seat: Seat, wanted: bool) -> None:
        self.beside_wanted.emit(seat, wanted)

    def _choose(self, seat: Seat | None, _: bool = False) -> None:
        self.place_wanted.emit(seat)
