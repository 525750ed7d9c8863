"""Cells as rectangles, for devices that keep them so."""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gemmviz.ui.stage.palette import Image
from gemmviz.ui.stage.scene import Panel

_RGB = 0xFFFFFF


def draw_cells(painter: QPainter, panel: Panel, seen: QRectF, image: Image) -> None:
    """Draw the cells of a panel, those of equal colour that make a rectangle as one.

    Parameters
    ----------
    painter, panel, seen
        The target and the place; parts outside of `seen` are cut off.
    image
        uint8 (rows, columns, 4), the colours.
    """
    painter.save()
    painter.setPen(Qt.PenStyle.NoPen)
    for top, bottom, left, right in rectangles(image):
        red, green, blue = (int(c) for c in image[top, left, :3])
        box = QRectF(
            panel.x + left * panel.cell,
            panel.y + top * panel.cell,
            (right - left) * panel.cell,
            (bottom - top) * panel.cell,
        ).intersected(seen)
        if not box.isEmpty():
            painter.setBrush(QColor(red, green, blue))
            painter.drawRect(box)
    painter.restore()


def rectangles(image: Image) -> list[tuple[int, int, int, int]]:
    """Cut an image into rectangles of one colour each: (top, bottom, left, right), the ends not included.

    Runs in a row are merged, and equal runs in rows that follow each other.
    """
    colours = image.astype(np.uint32)
    packed = (colours[..., 0] << 16 | colours[..., 1] << 8 | colours[..., 2]) & _RGB
    done: list[tuple[int, int, int, int]] = []
    growing: dict[tuple[int, int, int], int] = {}
    for number, row in enumerate(packed):
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        ends = np.append(starts[1:], len(row))
        runs = list(zip(starts.tolist(), ends.tolist(), row[starts].tolist(), strict=True))
        ended = [run for run in growing if run not in runs]
        done += [(growing.pop(run), number, run[0], run[1]) for run in ended]
        for run in runs:
            growing.setdefault(run, number)
    return done + [(top, len(packed), left, right) for (left, right, _), top in growing.items()]
