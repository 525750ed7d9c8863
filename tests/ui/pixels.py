"""The pixels of a picture as numbers: to ask Qt for each pixel takes seconds."""

import numpy as np
from PySide6.QtGui import QColor, QImage


def pixels(image: QImage) -> np.ndarray:
    """Return a picture's colours as 0xffrrggbb: a copy, uint32 (height, width)."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()).copy()


def pixel(colour: str) -> int:
    """Return a colour as `pixels` has it."""
    return QColor(colour).rgb()
