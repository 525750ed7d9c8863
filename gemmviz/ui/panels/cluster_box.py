"""The dialog that names other machines: the address of their scheduler, and the certificates for another machine."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.cluster.piece import Scheduler, free_seat
from gemmviz.control.elsewhere import Elsewhere
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import close, listen

_LETTERS = 44


class ClusterBox(QDialog):
    """Takes the address of a scheduler, and closes when its devices are found.

    Parameters
    ----------
    session
        The session with the places.
    elsewhere
        Looks for the devices.
    parent
        The window that it belongs to.
    """

    def __init__(self, session: Session, elsewhere: Elsewhere, parent: QWidget) -> None:
        super().__init__(parent)
        self.session, self._elsewhere = session, elsewhere
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Measure on other machines"))
        intro = QLabel(
            tr(
                "On the machine with the GPU, run “gemmviz cluster local”, and write here the address that it prints. "
                "If that is another machine, both sides need certificates: see the manual's page “Several machines”."
            )
        )
        intro.setWordWrap(True)
        before = session.places.scheduler or Scheduler("")
        self.address = QLineEdit(before.address)
        self.address.setPlaceholderText(tr("for example {address}", address="tls://lab:8786"))
        self.address.setMinimumWidth(self.fontMetrics().averageCharWidth() * _LETTERS)
        self.files = {name: QLineEdit(getattr(before, name)) for name in ("ca", "certificate", "key")}
        titles = {"ca": tr("Authority (PEM)"), "certificate": tr("Own certificate"), "key": tr("Its key")}
        form = QFormLayout()
        form.addRow(_label(tr("&Address"), self.address), self.address)
        for name, line in self.files.items():
            line.setAccessibleName(titles[name])
            browse = QPushButton(tr("Choose…"))
            browse.setAutoDefault(False)
            browse.setAccessibleName(tr("Choose: {what}", what=titles[name]))
            browse.clicked.connect(partial(self._browse, line, titles[name]))
            row = QHBoxLayout()
            row.addWidget(line, 1)
            row.addWidget(browse)
            form.addRow(titles[name], row)
        self.status = QLabel()
        self.status.setWordWrap(True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.connect_button = self.buttons.addButton(tr("Connect"), QDialogButtonBox.ButtonRole.ActionRole)
        self.connect_button.setObjectName("primary")
        self.connect_button.setDefault(True)
        self.none = self.buttons.addButton(tr("Use this machine only"), QDialogButtonBox.ButtonRole.ActionRole)
        self.none.setAutoDefault(False)
        self.none.setVisible(session.places.scheduler is not None)
        self.buttons.rejected.connect(self.reject)
        self.connect_button.clicked.connect(self._connect)
        self.none.clicked.connect(self._leave)
        column = QVBoxLayout(self)
        column.addWidget(intro)
        column.addLayout(form)
        column.addWidget(self.status)
        column.addWidget(self.buttons)
        self.address.textChanged.connect(self._show)
        self._asked = False
        listen(self, session.places.changed, self._show)
        self.finished.connect(lambda *_: close(self))
        self._show()

    def _browse(self, line: QLineEdit, title: str, _: bool = False) -> None:
        path, _filter = QFileDialog.getOpenFileName(self, title, line.text())
        if path:
            line.setText(path)

    def _connect(self) -> None:
        given = [line.text().strip() for line in self.files.values()]
        if any(given) and not all(given):
            self.status.setText(tr("TLS needs all three files: the authority, the own certificate, and its key."))
            return
        self._asked = True
        self._elsewhere.use(Scheduler(self.address.text().strip(), *given))

    def _leave(self) -> None:
        self._elsewhere.use(None)
        self.accept()

    def _show(self) -> None:
        places = self.session.places
        self.connect_button.setEnabled(bool(self.address.text().strip()) and not places.looking)
        if places.looking:
            self.status.setText(tr("Looking for devices…"))
        elif self._asked and places.fault:
            self._asked = False
            self.status.setText(places.fault)
        elif self._asked and places.seats:
            self._elsewhere.choose(free_seat(places.seats))  # the first ones have a GPU
            self.accept()


def _label(text: str, buddy: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(buddy)
    return label
