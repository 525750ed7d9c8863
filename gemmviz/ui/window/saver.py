"""Saves the results, the stage, a film or a chart to a file that the user chooses."""

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.ui.export.states import States
from gemmviz.ui.stage.stage import Stage


class Saver:
    """Files that the user saves.

    Parameters
    ----------
    parent
        The window that the dialogs belong to.
    session
        The session with the results; it takes messages.
    stage
        The stage to export.
    states
        Saves and reopens the state on the screen.
    """

    def __init__(self, parent: QWidget, session: Session, stage: Stage, states: States) -> None:
        self._parent, self._session, self._stage = parent, session, stage
        self.states = states

    def results(self) -> None:
        """Save the result file (JSON) of the last run."""
        if not self._session.results.document:
            self._session.messages.tell(
                Message(tr("There are no results to save yet: measure a kernel first."), "info")
            )
            return
        path, _ = QFileDialog.getSaveFileName(
            self._parent, tr("Save the results"), "results.json", tr("Results (*.json)")
        )
        if path:
            try:
                from gemmviz.bench import results  # late: the first picture needs no result files

                results.write_results(self._session.results.document, Path(path))
            except GemmvizError as error:
                self._session.messages.tell(Message(str(error)))

    def stage(self, stage: QWidget) -> None:
        """Save the stage as it is now."""
        path, _ = QFileDialog.getSaveFileName(self._parent, tr("Save the stage"), "stage.png", tr("Pictures (*.png)"))
        if path and not stage.grab().save(path):
            text = tr(
                "Cannot write {path}: check the folder and that the name ends in {suffix}", path=path, suffix=".png"
            )
            self._session.messages.tell(Message(text))

    def copy(self, shown: QWidget) -> None:
        """Copy the stage, or another view, as a picture."""
        QGuiApplication.clipboard().setPixmap(shown.grab())
        self._session.messages.tell(Message(tr("Copied as a picture."), "info"))

    def export(self) -> QWidget | None:
        """Open the dialog that exports steps as films and pictures; return None without a recording."""
        from gemmviz.ui.export.dialog import ExportDialog  # a late import: Pillow is needed only here

        if self._session.cursor.playable is None:
            self._session.messages.tell(Message(tr("There is nothing to export yet: record a kernel first."), "info"))
            return None
        dialog = ExportDialog(self._parent, self._session, self._stage)
        dialog.show()
        return dialog

    def chart(self, chart: QWidget) -> None:
        """Save a chart as a picture, a drawing or figures."""
        from gemmviz.ui.charts.chart_export import FILTERS, export  # late, as the charts are

        name = chart.accessibleName().lower().replace(" ", "-")
        path, kind = QFileDialog.getSaveFileName(self._parent, tr("Save the chart"), f"{name}.png", tr(FILTERS))
        if path:
            suffix = kind.rpartition("*")[2].rstrip(")")
            try:
                export(chart, Path(path) if Path(path).suffix else Path(path + suffix))
            except GemmvizError as error:
                self._session.messages.tell(Message(str(error), lasting=True))
