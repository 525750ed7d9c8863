# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Colours are distinguishable and texts readable: the contrast ratios of WCAG, computed for every theme."""

import pytest
from window_driving import need_qt

need_qt()

from gemmviz.ui.look.theme import PRESENTED, READ, SEEN, TEXT_COLOURS, THEMES, contrast, for_presenting, ink, rgb

GROUNDS = ("background", "panel", "raised")
THEME = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def test_contrast_is_that_of_wcag():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)


@THEME
@pytest.mark.parametrize("name", TEXT_COLOURS)
def test_text_is_readable_on_each_background(theme, name):
    for ground in GROUNDS:
        assert contrast(rgb(getattr(theme, name)), rgb(getattr(theme, ground))) >= READ, ground


@THEME
def test_text_is_readable_on_selected_and_pressed_parts(theme):
    assert contrast(rgb(theme.background), rgb(theme.accent)) >= READ


@THEME
def test_graphics_stand_out(theme):
    background = rgb(theme.background)
    for colour in (*theme.curves, theme.outline, theme.selection, theme.read, theme.write, theme.amber):
        assert contrast(rgb(colour), background) >= SEEN, colour
    assert contrast(rgb(theme.outline), rgb(theme.panel)) >= SEEN


@THEME
def test_owners_stand_out_from_the_background_from_cells_and_from_the_selection_around_them(theme):
    for owner in theme.owners:
        for other in (rgb(theme.background), theme.cell, rgb(theme.selection)):
            assert contrast(owner, other) >= SEEN, (owner, other)


@THEME
def test_text_in_a_cell_is_readable_on_every_colour(theme):
    shades = range(0, 256, 15)
    assert (
        min(contrast(rgb(ink(theme, c)), c) for c in ((r, g, b) for r in shades for g in shades for b in shades))
        >= READ
    )


@THEME
def test_a_lecture_hall_reads_every_text_and_every_value_in_an_owners_cell(theme):
    shown = for_presenting(theme)
    assert shown.name == theme.name and len(set(shown.owners)) == len(theme.owners)
    for name in TEXT_COLOURS:
        for ground in GROUNDS:
            assert contrast(rgb(getattr(shown, name)), rgb(getattr(shown, ground))) >= PRESENTED, (name, ground)
    for colour in (*shown.owners, shown.cell):
        assert contrast(rgb(ink(shown, colour)), colour) >= PRESENTED, colour
    for colour in shown.owners:
        assert contrast(colour, rgb(shown.background)) >= SEEN
        assert contrast(colour, shown.cell) >= SEEN
