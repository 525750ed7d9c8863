"""The heading of a block's part of C, where that part is large and the matrices are small."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from gemmviz.language import tr
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.stage.scene import Panel

ABOVE, HIGH, APART = 2.6, 1.3, 0.6
"""How far above the cells the heading begins, its height, and its distance from the name, in heights of the font."""


def name_font(font: QFont) -> QFont:
    """Return the font of a matrix's name, for the labels' font."""
    big = QFont(font)
    big.setBold(True)
    big.setPixelSize(round(QFontMetricsF(font).height() * 1.15))
    return big


def block_texts(recording: Recording, part: Panel, block: int) -> list[str]:
    """Name a block and its part of C, from the longest text on."""
    x, y, _ = recording.block_index(block)
    (top, bottom), (left, right) = part.seen_cells
    rows, columns = f"{top}–{bottom - 1}", f"{left}–{right - 1}"
    return [
        tr("block ({x}, {y}): rows {rows}, columns {columns}", x=x, y=y, rows=rows, columns=columns),
        tr("block ({x}, {y})", x=x, y=y),
    ]


def beside_block_name(part: Panel, font: QFont) -> QRectF:
    """Return the place right of the name of a block's part of C, above it, as far as its cells reach."""
    height, place = QFontMetricsF(font).height(), part.place
    left = place.left + QFontMetricsF(name_font(font)).horizontalAdvance(part.name) + APART * height
    return QRectF(left, place.top - ABOVE * height, place.right + 0.5 * height - left, HIGH * height)
