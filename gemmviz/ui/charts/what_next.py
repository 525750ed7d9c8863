"""Below the result on the Measure page: the limit of the chosen kernel, and the way to the next chapter."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import ladder_figures
from gemmviz.ui.charts.figures.outlook import outlook
from gemmviz.ui.connections import listen
from gemmviz.ui.shown import show_inside

_INDENT = 8  # of the texts: as the heading


class WhatNext(QWidget):
    """A few sentences, and a button; hidden where nothing is known and nothing follows.

    Parameters
    ----------
    session
        The session with the figures, the recording and the kernels.
    """

    gone = Signal()
    """The first kernel of the next chapter has been chosen: it is to be shown on the stage."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._following: Kernel | None = None
        self.heading, self.text, self.button = QLabel(tr("What next?")), QLabel(), QPushButton()
        self.heading.setObjectName("heading")
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setObjectName("muted")
        self.text.setContentsMargins(_INDENT, 0, 0, 0)
        self.button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.button.clicked.connect(lambda *_: self._go())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 8, 0)
        column.setSpacing(4)
        column.addWidget(self.heading)
        column.addWidget(self.text)
        row = QHBoxLayout()
        row.setContentsMargins(_INDENT, 0, 0, 0)
        row.addWidget(self.button)
        column.addLayout(row)
        results, choice = session.results, session.choice
        for signal in (
            *(results.measured, results.referenced, results.device_changed, results.size_chosen),
            *(choice.chosen, choice.kernels_changed, session.cursor.recorded),
        ):
            listen(self, signal, self._on_changed)
        self.refresh()

    def _on_changed(self, *_: object) -> None:
        around = self.parentWidget()
        if around is None or around.isVisible():  # beside another page it says nothing: see `refresh`
            self.refresh()

    def refresh(self) -> None:
        """Show the limit of the chosen kernel and the next chapter; call it when the widgets around are shown."""
        chosen = ladder_figures(self._session).of("chosen")
        found = outlook(self._session, chosen) if chosen is not None and chosen.gflops else None
        show_inside(self, found is not None and bool(found.text or found.chapter))
        if found is None:
            return
        self._following = found.kernel
        sentences = [found.text]
        if found.chapter is not None and found.kernel is not None:
            sentences.append(tr("The next chapter: {idea}", idea=tr(found.chapter.idea)))
            self.button.setText(tr("Go on: {chapter}  ›", chapter=tr(found.chapter.title)))
            self.button.setToolTip(tr(found.kernel.title))
        self.button.setVisible(found.kernel is not None)
        self.text.setText("\n".join(filter(None, sentences)))

    def _go(self) -> None:
        if self._following is not None:
            self._session.choice.choose_kernel(self._following)
            self.gone.emit()
