"""Saves a chart as a file: a picture (PNG), a drawing (SVG), or its figures (CSV)."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QPoint, QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractButton, QComboBox, QGraphicsView, QScrollBar, QWidget

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import mark, tr
from gemmviz.ui.charts.chart_widget import ChartWidget
from gemmviz.ui.charts.figures.figure_table import CHOICE, FigureTable

FILTERS = mark("Picture (*.png);;Drawing (*.svg);;Figures (*.csv)")
_PICTURE_SCALE = 2


def export(widget: QWidget, path: Path) -> None:
    """Write a chart to a file; the suffix chooses the format.

    Parameters
    ----------
    widget
        The chart, with its content on the screen.
    path
        The file: .png (at twice the resolution of the screen), .svg or .csv.

    Raises
    ------
    GemmvizError
        For another suffix, a chart without figures, or a file that cannot be written.
    """
    try:
        match path.suffix.lower():
            case ".png":
                _png(widget, path)
            case ".svg":
                _svg(widget, path)
            case ".csv":
                _csv(widget, path)
            case _:
                raise GemmvizError(tr("cannot write {file}: a chart is saved as .png, .svg or .csv", file=path.name))
    except OSError as error:
        raise GemmvizError(tr("cannot write {file}: {reason}", file=path, reason=error.strerror)) from None


@contextmanager
def _posed(widget: QWidget) -> Iterator[None]:
    """Give the chart the size of a picture, and hide the parts that are only for clicks."""
    found = [w for kind in (QAbstractButton, QComboBox, QScrollBar) for w in widget.findChildren(kind)]
    # A box that describes the content, such as the device, is a part of the picture; a choice of curves is not.
    hidden = [w for w in found if w.isVisible() and (not isinstance(w, QComboBox) or w.objectName() == CHOICE)]
    size = widget.size()
    parent = widget.parentWidget()
    holder = parent.layout() if parent is not None else None
    if holder is not None:
        holder.setEnabled(False)  # otherwise it undoes the new size
    for w in hidden:
        w.hide()
    wanted = widget.picture_size() if isinstance(widget, ChartWidget) else size
    widget.resize(size.expandedTo(wanted))
    try:
        # A resize changes the layout of the plot through events.
        for _ in range(2):
            QCoreApplication.sendPostedEvents()
        # A hidden chart gets its new size only when it is drawn, and may then draw its figures again.
        widget.grab(QRect(0, 0, 1, 1))
        # On the screen symbols are cached as pixels; in a file they are shapes.
        _export_symbols(widget, True)
        yield
    finally:
        _export_symbols(widget, False)
        for w in hidden:
            w.show()
        widget.resize(size)
        if holder is not None:
            holder.setEnabled(True)


def _export_symbols(widget: QWidget, shapes: bool) -> None:
    """Draw the current symbols of the chart as shapes, or from cached pixels."""
    for view in widget.findChildren(QGraphicsView):
        for item in view.scene().items():
            if isinstance(item, pg.ScatterPlotItem):
                item.setExportMode(shapes)


def _png(widget: QWidget, path: Path) -> None:
    with _posed(widget):
        image = QImage(widget.size() * _PICTURE_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_PICTURE_SCALE)
        image.fill(widget.palette().window().color())
        widget.render(image)
    if not image.save(str(path)):
        raise GemmvizError(tr("cannot write {file}: check the folder", file=path))


def _svg(widget: QWidget, path: Path) -> None:
    with path.open("wb"):  # raises an error with a reason if the file cannot be written; Qt gives no reason
        pass
    drawing = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    drawing.setFileName(str(path))
    drawing.setResolution(widget.logicalDpiX())
    drawing.setTitle(widget.accessibleName())
    with _posed(widget):
        area = QRect(QPoint(0, 0), widget.size())
        drawing.setSize(area.size())
        drawing.setViewBox(area)
        with QPainter(drawing) as painter:
            painter.fillRect(area, widget.palette().window().color())
            widget.render(painter, QPoint(0, 0))


def _csv(widget: QWidget, path: Path) -> None:
    table = getattr(widget, "table", None)
    if table is None:
        name = widget.accessibleName() or tr("this chart")
        raise GemmvizError(tr("{chart} has no figures to save: choose .png or .svg", chart=name))
    content: FigureTable = table()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(content.headings)
        writer.writerows(["" if value is None else value for value in row] for row in content.rows)
