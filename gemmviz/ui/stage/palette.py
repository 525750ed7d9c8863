"""The colours of an array's cells as a table, and which of them each cell has: each colour is computed once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
Colour = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Palette:
    """The colours of one array.

    Attributes
    ----------
    colours
        The different colours, float32 (n, 3), 0 to 255.
    which
        The colour of each cell, int64 (rows, columns).
    """

    colours: Colour
    which: npt.NDArray[np.int64]

    def with_dimmed(self, dimmed: Colour, near: npt.NDArray[np.bool_]) -> "Palette":
        """Return the palette in which all cells but those of a matrix have other colours, (n, 3), in the same order."""
        which = np.where(near, self.which, self.which + len(self.colours))
        return Palette(np.concatenate([self.colours, dimmed]), which)

    def image(self) -> Image:
        """Return RGBX (rows, columns, 4)."""
        return _picked(self.rounded(), self.which)

    def rounded(self) -> Image:
        """Return the colours as an image has them, RGBX (n, 4)."""
        return _rounded(self.colours)


@dataclass(frozen=True, eq=False)
class Glow:
    """A layer over some cells, of few kinds.

    Attributes
    ----------
    cells
        The different cells, numbered row by row.
    kind
        The kind of each.
    strength, colours
        Of each kind: its share, float32 (kinds,), 0 to 1; its colour, float32 (kinds, 3).
    """

    cells: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]
    strength: npt.NDArray[np.float32]
    colours: Colour

    def blend(self, image: Image, under: Palette | None) -> None:
        """Blend the layer into an image, RGBX (rows, columns, 4).

        Parameters
        ----------
        image
            Changed in place.
        under
            The palette of the image; None: it has none.
        """
        strength, colours = self.strength[:, None], self.colours
        if under is None or len(under.colours) * len(strength) > len(self.cells):
            blend(image.reshape(-1, 4), self.cells, strength[self.kind], colours[self.kind])
            return
        # Each kind on each colour: computed once, with the same operations.
        before = under.rounded()[:, :3]
        mixed = np.rint(before * (1 - strength[:, None]) + (colours * strength)[:, None])
        table = _rounded(mixed.reshape(-1, 3))
        of_cell = self.kind * len(before) + under.which.reshape(-1)[self.cells]
        image.view(np.uint32).reshape(-1)[self.cells] = np.take(table.view(np.uint32)[:, 0], of_cell)


def blend(flat: Image, cells: npt.NDArray[np.int64], share: Any, colour: Any) -> None:
    """Blend a colour into cells of an image, RGBX (cells, 4), in place."""
    flat[cells, :3] = np.rint(flat[cells, :3] * (1 - share) + colour * share)


def _rounded(colours: Colour) -> Image:
    whole = np.full((len(colours), 4), 255, np.uint8)
    whole[:, :3] = np.rint(colours)
    return whole


def _picked(whole: Image, which: npt.NDArray[np.int64]) -> Image:
    picked: Image = np.take(whole.view(np.uint32)[:, 0], which).view(np.uint8).reshape(*which.shape, 4)
    return picked
