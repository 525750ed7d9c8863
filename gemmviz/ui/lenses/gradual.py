"""Lenses that are drawn in pieces: while a recording plays, a picture may be spread over several frames."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.sheet import Sheet
from gemmviz.ui.look.theme import Theme


class GradualLens(ABC):
    """A lens that is drawn in pieces: see `gemmviz.ui.lenses.lens.Lens`."""

    @abstractmethod
    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a moment within a rectangle; after each piece but the last, yield the sheet.

        Until the next piece, the sheet may get another painter: no piece depends on the pen, brush or font of the one
        before. The parameters are those of `gemmviz.ui.lenses.lens.Lens.paint`.
        """

    def paint(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> None:
        """Draw all pieces: see `gemmviz.ui.lenses.lens.Lens`."""
        for sheet in self.pieces(painter, rect, moment, theme, font):
            sheet.rest()
            sheet.resume(painter)


class Unfinished:
    """A picture of a lens that is drawn piece by piece.

    Parameters
    ----------
    lens, rect, moment, theme, font
        The lens, and its arguments: see `GradualLens.pieces`.
    """

    def __init__(self, lens: GradualLens, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> None:
        def begin(painter: QPainter) -> Iterator[Sheet]:
            return lens.pieces(painter, rect, moment, theme, font)

        self._begin = begin
        self._pieces: Iterator[Sheet] | None = None
        self._sheet: Sheet | None = None

    @property
    def begun(self) -> bool:
        """Whether a piece was drawn."""
        return self._pieces is not None

    def go_on(self, painter: QPainter) -> bool:
        """Draw the next piece with a painter, which may be another one each time; return whether there are more."""
        if self._pieces is None:
            self._pieces = self._begin(painter)
        elif self._sheet is not None:
            self._sheet.resume(painter)
        self._sheet = next(self._pieces, None)
        if self._sheet is not None:
            self._sheet.rest()
        return self._sheet is not None
