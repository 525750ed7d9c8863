# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The colours of cells as a table: the same image as computed for each cell."""

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from gemmviz.ui.stage import palette
from gemmviz.ui.stage.palette import Glow, Palette, blend


@pytest.fixture
def random():
    return np.random.default_rng(7)


def some_palette(random, count=5):
    colours = (random.random((count, 3)) * 255).astype(np.float32)
    return Palette(colours, random.integers(0, count, (40, 30)))


def test_an_image_has_the_colour_of_each_cell_and_dimmed_ones_where_they_are(random):
    made, near = some_palette(random), random.random((40, 30)) < 0.5
    dimmed = made.colours / 2
    image = made.with_dimmed(dimmed, near).image()
    wanted = np.where(near[..., None], made.colours[made.which], dimmed[made.which])
    assert np.array_equal(image[..., :3], np.rint(wanted)) and (image[..., 3] == 255).all()


def test_a_glow_over_many_cells_is_computed_once_per_colour_and_the_same_as_for_each_cell(random, monkeypatch):
    made, kinds = some_palette(random), 4
    cells = random.permutation(1200)[:700]
    strength = random.random(kinds).astype(np.float32)
    colours = (random.random((kinds, 3)) * 255).astype(np.float32)
    glow = Glow(cells, random.integers(0, kinds, 700), strength, colours)
    slow, fast = made.image(), made.image()
    blend(slow.reshape(-1, 4), cells, strength[glow.kind][:, None], colours[glow.kind])
    monkeypatch.setattr(palette, "blend", None)  # of each cell
    glow.blend(fast, made)
    assert np.array_equal(slow, fast) and not np.array_equal(fast, made.image())


def test_a_glow_over_few_cells_is_blended_into_each(random):
    made = some_palette(random)
    glow = Glow(np.array([3]), np.array([0]), np.ones(1, np.float32), np.array([[1, 2, 3]], np.float32))
    image = made.image()
    glow.blend(image, made)
    assert image.reshape(-1, 4)[3].tolist() == [1, 2, 3, 255]
    assert (image.reshape(-1, 4)[4] == made.image().reshape(-1, 4)[4]).all()
