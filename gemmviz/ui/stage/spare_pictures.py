"""The large pictures of a stage whose recording is not shown any more: the next recording is painted over them."""

from typing import TYPE_CHECKING

from PySide6.QtGui import QPixmap

if TYPE_CHECKING:
    from gemmviz.ui.stage.painter import StagePainter


class SparePictures:
    """Pictures without a painter. New memory of this size takes longer than painting into it."""

    def __init__(self) -> None:
        self._labels: QPixmap | None = None
        self._still: QPixmap | None = None

    def take_from(self, painter: "StagePainter | None") -> None:
        """Take the pictures of a painter that paints no more, if there is one."""
        if painter is not None:
            self._labels, self._still = painter.labels.let_go(), painter.still.let_go()

    def given_to(self, painter: "StagePainter") -> "StagePainter":
        """Let a new painter paint over the pictures, and return it."""
        painter.labels.spare, painter.still.spare = self._labels, self._still
        self._labels = self._still = None
        return painter
