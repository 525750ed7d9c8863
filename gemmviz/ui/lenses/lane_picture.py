"""A fragment's cells with the lane that holds each, drawn once: most steps show the same."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen

from gemmviz.trace.origin.fragments import Fragment
from gemmviz.ui.look.theme import Rgb, Theme, ink

LEGIBLE = 7.0
"""Pixels of type from which on a lane's number is written."""
_JOINED = 14.0  # pixels of a cell below which neighbours of one lane share a figure
_NO_LANE = -1


def joined(fragment: Fragment, cell: float) -> tuple[int, int]:
    """Return how many cells, down and across, share a figure: in little room pairs that one lane holds."""
    lane = fragment.lane
    if cell < _JOINED:
        if lane.shape[1] % 2 == 0 and (lane[:, ::2] == lane[:, 1::2]).all():
            return 1, 2
        if lane.shape[0] % 2 == 0 and (lane[::2] == lane[1::2]).all():
            return 2, 1
    return 1, 1


def cells(shape: tuple[int, ...], joined: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the first cell of each group that shares a figure."""
    return [(i, j) for i in range(0, shape[0], joined[0]) for j in range(0, shape[1], joined[1])]


@dataclass(frozen=True)
class LanePicture:
    """The key of a picture of lanes.

    Attributes
    ----------
    lanes, shape
        int64 as bytes, and the numbers of rows and columns.
    joined
        The numbers of cells, down and across, that share a figure.
    cell, ratio
        Width and height of a cell in pixels, and device pixels per pixel.
    font
        Of the figures.
    """

    lanes: bytes
    shape: tuple[int, ...]
    joined: tuple[int, int]
    cell: tuple[float, float]
    ratio: float
    font: str


@lru_cache(maxsize=24)
def lane_picture(of: LanePicture, colours: tuple[Rgb, ...], theme: Theme) -> QImage:
    """Return a fragment's cells with their lanes: a picture that is the same at most steps.

    Parameters
    ----------
    of, theme
        The fragment, and the colours of figures.
    colours
        Of each lane, and of cells without one.
    """
    lanes: npt.NDArray[np.int64] = np.frombuffer(of.lanes, np.int64).reshape(of.shape)
    (rows, columns), (wide, high) = of.shape, of.cell
    size = ceil(columns * wide * of.ratio), ceil(rows * high * of.ratio)
    image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(of.ratio)
    image.fill(Qt.GlobalColor.transparent)
    with QPainter(image) as painter:
        font = QFont()
        font.fromString(of.font)
        painter.setFont(font)
        gap = 1.0 if wide >= 6 else 0.0
        down, across = of.joined
        for i, j in cells(of.shape, of.joined):
            lane = int(lanes[i, j])
            box = QRectF(j * wide, i * high, across * wide - gap, down * high - gap)
            painter.fillRect(box, QColor(*colours[lane]))
            if lane == _NO_LANE:
                painter.setPen(QPen(QColor(theme.outline), 1, Qt.PenStyle.DotLine))
                painter.drawRect(box.adjusted(1, 1, -2, -2))
            elif font.pixelSize() >= LEGIBLE:
                dark = ink(theme, colours[lane]) == theme.ink_dark
                painter.setPen(QColor(theme.ink_dark if dark else theme.muted))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(lane))
    return image
