"""Asks where to save the results, the stage or a chart, and saves it there."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from gemmviz.bench import results
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.session import Message, Session


class Saver:
    """Files that the user asks for.

    Parameters
    ----------
    parent
        The window that the dialogs belong to.
    session
        Whose results to save, and where messages go.
    """

    def __init__(self, parent: QWidget, session: Session) -> None:
        self._parent = parent
        self._session = session

    def results(self) -> None:
        """Save the result file (JSON) of the last run."""
        if not self._session.document:
            self._session.tell(Message("There are no results to save yet: measure a rung first.", "info"))
            return
        path, _ = QFileDialog.getSaveFileName(self._parent, "Save the results", "results.json", "Results (*.json)")
        if path:
            try:
                results.write(self._session.document, Path(path))
            except GemmvizError as error:
                self._session.tell(Message(str(error)))

    def stage(self, stage: QWidget) -> None:
        """Save the stage as it is now."""
        path, _ = QFileDialog.getSaveFileName(self._parent, "Save the stage", "stage.png", "Pictures (*.png)")
        if path and not stage.grab().save(path):
            self._session.tell(Message(f"Cannot write {path}: check the folder and that the name ends in .png"))

    def chart(self, chart: QWidget) -> None:
        """Save a chart as picture, drawing or figures."""
        from gemmviz.ui.charts.chart_export import FILTERS, export  # late, as the charts are

        name = chart.accessibleName().lower().replace(" ", "-")
        path, kind = QFileDialog.getSaveFileName(self._parent, "Save the chart", f"{name}.png", FILTERS)
        if path:
            suffix = kind.rpartition("*")[2].rstrip(")")
            try:
                export(chart, Path(path) if Path(path).suffix else Path(path + suffix))
            except GemmvizError as error:
                self._session.tell(Message(str(error), lasting=True))
