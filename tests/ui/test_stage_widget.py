# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The stage in the window: zoom by keys, an outdated picture, calm, separate colours of a second stage."""

import numpy as np
import pytest
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage

from gemmviz.catalogue.problem import Problem
from gemmviz.ui.look.theme import THEMES, for_presenting
from gemmviz.ui.stage.painter import View
from gemmviz.ui.stage.stage import Stage


def pixels(stage):
    """Return the stage as it is painted, uint8 (height, width, 3)."""
    image = stage.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    # A copy, because the memory is freed with the picture.
    return data[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def has(part, colour):
    wanted = QColor(colour)
    return bool((np.abs(part.astype(int) - [wanted.red(), wanted.green(), wanted.blue()]).max(axis=-1) <= 2).any())


def middle_of(stage, cell):
    """Return the position of a cell (array, row, column) on the stage."""
    panel = next(p for p in stage.panels() if p.array == cell[0])
    return panel.x + (cell[2] + 0.5) * panel.cell, panel.y + (cell[1] + 0.5) * panel.cell


def test_keys_zoom_to_the_chosen_cell_and_never_to_an_empty_corner(window, qtbot):
    stage = window.stage
    window.session.cursor.pick((2, 7 * 8 + 6))
    for _ in range(6):
        stage.zoom(1)
    x, y = middle_of(stage, (2, 7, 6))
    seen = QRectF(stage.rect())
    assert abs(x - seen.center().x()) < seen.width() / 8 and abs(y - seen.center().y()) < seen.height() / 8
    window.session.cursor.pick(None)
    stage.reset_view()
    for _ in range(8):
        stage.zoom(1)
    boxes = [QRectF(p.x, p.y, p.width, p.height).intersected(seen) for p in stage.panels()]
    assert max(box.width() * box.height() for box in boxes) > 0.5 * seen.width() * seen.height()
    for _ in range(9):
        stage.zoom(-1)
    assert stage.view == View()


def test_a_picture_of_an_older_text_has_no_green_tick(window, qtbot):
    stage, session, theme = window.stage, window.session, THEMES["dark"]
    window.session.choice.auto = False
    window.message_bar.hide()
    session.playback.pause()

    def head():
        return pixels(stage)[place.top() : place.bottom() + 1, place.left() : place.right() + 1]

    def others():
        picture = pixels(stage).copy()
        picture[place.top() - 1 : place.bottom() + 2, place.left() - 1 : place.right() + 2] = 0  # with its frame
        return picture

    place = stage.title_place()
    assert stage.in_quadrant()
    assert has(head(), theme.good)
    below = others()
    session.choice.choose(problem=Problem.cube(16))
    assert session.staged.outdated
    assert not has(head(), theme.good) and has(head(), theme.raised)
    # The label hides neither the sentence nor the legend.
    assert np.array_equal(others(), below)
    window.controller.recording.record()
    wait_recorded(window, qtbot)
    assert has(head(), theme.good)


def test_calm_shows_the_accesses_of_this_step_only(window, qtbot):
    session = window.session
    session.playback.pause()
    # As is read, and one step before Bs was: with a trail that still glows. What was written has no trail.
    timeline = session.cursor.playable.timeline
    reads = [s for s in range(4, timeline.steps) if timeline.array[s] == 3 and not timeline.write[s - 1]]
    step = next(s for s in reads if timeline.array[s - 1] == 4)
    session.cursor.seek(step)
    panel = window.stage.panels()[4]
    block = (slice(int(panel.y), int(panel.y + panel.height)), slice(int(panel.x), int(panel.x + panel.width)))
    glowing = pixels(window.stage)[block].astype(int)
    session.preferences.set_calm(True)
    calm = pixels(window.stage)[block].astype(int)
    assert np.abs(glowing - calm).max() > 30


@pytest.mark.new_window  # the second stage listens to its session
def test_a_second_stage_has_its_own_colours_and_size_of_type(window, qtbot):
    second = Stage(window.session.staged)
    qtbot.addWidget(second)
    second.resize(900, 600)
    second.show()
    second.paint_in(for_presenting(THEMES["light"]))
    second.base_font = QFont()
    second.base_font.setPixelSize(20)
    assert tuple(pixels(second)[590, 5]) == (255, 255, 255)
    assert tuple(pixels(window.stage)[-5, 5]) == (17, 17, 17)
    before = second.panels()[2].cell
    window.session.preferences.set_type_scale(1.5)
    assert second.panels()[2].cell < before
    window.session.preferences.set_type_scale(1.0)


def test_a_dimmed_stage_is_bright_again_without_a_chosen_cell(window, qtbot):
    session, stage = window.session, window.stage
    session.playback.pause()
    session.cursor.seek(0)
    bright = pixels(stage)[20:-60].astype(int).sum()
    session.cursor.pick((2, 9), 0)
    dimmed = pixels(stage)[20:-60].astype(int).sum()
    stage.picking.let_go()
    assert dimmed < bright == pixels(stage)[20:-60].astype(int).sum()
