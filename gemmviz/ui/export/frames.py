"""Draws single frames of a recording: with no window, in any size and theme."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from gemmviz.catalogue.lens_names import LensName
from gemmviz.session.models.preferences import ThemeName
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.by_name import lens_for
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter

# The stage's labels are as large, relative to the picture, as in a window of this size.
_BASE_SIZE, _BASE_FONT, _SMALLEST_FONT = (1000, 640), 13, 8
_SVG_DPI = 96

Pixels = npt.NDArray[np.uint8]
"""height x width x 3: red, green, blue."""


@dataclass(frozen=True)
class Look:
    """How a picture looks: size in pixels, theme, how large type is (1: as in a window of that size), and the lens."""

    size: tuple[int, int]
    theme: ThemeName
    type_scale: float = 1.0
    lens: LensName | None = None

    @property
    def font(self) -> QFont:
        """The base font of the stage."""
        scale = min(self.size[0] / _BASE_SIZE[0], self.size[1] / _BASE_SIZE[1]) * self.type_scale
        font = QFont()
        font.setPixelSize(max(_SMALLEST_FONT, round(_BASE_FONT * scale)))
        return font


class Frames:
    """Draws the stage of one recording.

    Parameters
    ----------
    playable
        The recording to draw.
    look
        Size, theme and size of type.
    """

    def __init__(self, playable: Playable, look: Look) -> None:
        self.playable = playable
        self.look = look
        self._painter = StagePainter(playable, THEMES[look.theme], look.font)
        self._painter.lens = lens_for(look.lens, playable)

    def image(self, moment: Moment) -> QImage:
        """Return the picture of a moment."""
        image = QImage(*self.look.size, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        try:
            self._painter.paint(painter, QRectF(image.rect()), moment)
        finally:
            painter.end()
        return image

    def close(self) -> None:
        """Nothing is open between two pictures."""


def pixels(image: QImage) -> Pixels:
    """Return an image's pixels."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def draw_svg(playable: Playable, look: Look, moment: Moment, path: Path) -> bool:
    """Write the picture of a moment as SVG: cells are rectangles, text is text. False when it cannot be written."""
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(*look.size))
    generator.setViewBox(QRect(0, 0, *look.size))
    generator.setResolution(_SVG_DPI)
    recording = playable.recording
    generator.setTitle(f"{recording.label}, {recording.m} × {recording.n} × {recording.k}")
    painter = QPainter()
    if not painter.begin(generator):
        return False
    try:
        stage = StagePainter(playable, THEMES[look.theme], look.font, vector=True)
        stage.lens = lens_for(look.lens, playable)
        stage.paint(painter, QRectF(0, 0, *look.size), moment)
    finally:
        painter.end()
    return True
