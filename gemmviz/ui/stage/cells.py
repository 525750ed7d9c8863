"""The cells of an array as one picture, in which each cell is a pixel."""

from math import ceil

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gemmviz.ui.stage import vector
from gemmviz.ui.stage.colours import Colours
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.palette import Image
from gemmviz.ui.stage.related import Related
from gemmviz.ui.stage.scene import Panel


class Cells:
    """Draws the cells of one recording in one theme.

    Parameters
    ----------
    colours
        Their colours.
    as_vector
        Draw them as rectangles, for a device that keeps them so.
    """

    def __init__(self, colours: Colours, as_vector: bool) -> None:
        self._colours, self._as_vector = colours, as_vector

    def draw(
        self, painter: QPainter, panel: Panel, seen: QRectF, moment: Moment, near: Related | None, ratio: float
    ) -> Image | None:
        """Draw the cells of a panel; return their colours as long as each is seen on its own.

        Parameters
        ----------
        painter, panel, seen
            Where to, the array, and the part of the stage that is not covered.
        moment, near
            The moment, and the cells that are not dimmed at it.
        ratio
            Device pixels per pixel.
        """
        if not QRectF(panel.x, panel.y, panel.width, panel.height).intersects(seen):
            return None
        side = panel.cell * ratio
        shrink = 1 if side >= 1 or self._as_vector else ceil(1 / side)
        step, trail, ringed = moment.step, moment.trail, moment.rings(panel.cell)
        image = self._colours.image(panel.array, step, moment.block, trail, moment.warp, near, shrink, ringed)
        if self._as_vector:
            vector.draw_cells(painter, panel, seen, image)
            return image
        rows, columns = image.shape[:2]
        # At the far edges, cells that share a pixel may reach beyond the array: the picture is that much larger.
        whole = QRectF(panel.x, panel.y, columns * shrink * panel.cell, rows * shrink * panel.cell)
        painter.drawImage(whole, QImage(image.data, columns, rows, columns * 4, QImage.Format.Format_RGBX8888))
        return image if shrink == 1 else None
