"""Names of kernels in little room: they differ at their ends, so their first parts are left out."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

_LEFT_OUT = "…"


def shortened(name: str, metrics: QFontMetricsF, width: float) -> str:
    """Return as much of a name as fits into a width in pixels.

    An identifier loses whole parts at its beginning: "matmul_kernel_block_tiling" becomes "…block_tiling". Another
    text, or one whose last part alone is too long, is cut in the middle.
    """
    if metrics.horizontalAdvance(name) <= width:
        return name
    parts = name.split("_")
    if name.isidentifier():
        for first in range(1, len(parts)):
            short = _LEFT_OUT + "_".join(parts[first:])
            if parts[first] and metrics.horizontalAdvance(short) <= width:
                return short
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)
