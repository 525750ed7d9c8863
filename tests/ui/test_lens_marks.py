# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""What a lens marks on the matrices: the tiles of a pipeline, where copies read them, in their stages' states."""

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo, opening
from pixels import pixels
from presenting_driving import presenter_of
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter, QRegion

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session
from gemmviz.trace.lenses.stages import stages
from gemmviz.ui.lenses.registry import LENSES_BY_NAME
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.view import View

RECT = QRectF(0, 0, 1000, 700)
PIPELINE = LENSES_BY_NAME["pipeline"]
A, B = 0, 1


def cells(places, matrix, grid):
    inside = np.zeros(grid, bool)
    for place in places:
        if place.matrix == matrix:
            inside[place.row : place.row + place.rows, place.column : place.column + place.columns] = True
    return inside


def stage(name, theme="dark", lens=PIPELINE):
    font = QFont()
    font.setPixelSize(13)
    made = StagePainter(at_demo(name), THEMES[theme], font)
    made.lens = lens
    return made


def picture(painter, moment):
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    painter.paint(into, RECT, moment)
    into.end()
    return pixels(image)


@pytest.mark.sweep("warp_specialised", "async_pipeline")
@pytest.mark.parametrize("name", ["warp_specialised", "async_pipeline", "mma_pipeline"])
def test_the_marked_tiles_are_the_cells_that_the_block_copies(name):
    playable, block = at_demo(name), opening(name).block
    log, last = playable.recording.accesses, playable.timeline.steps - 1
    places = PIPELINE.places(playable, last, block)
    for matrix in (A, B):
        info = playable.recording.arrays[matrix]
        staged = playable.staged
        mine = (staged.read >= 0) & (log.block[staged.row] == block)
        mine[mine] = log.array[staged.read[mine]] == matrix
        copied = np.zeros(info.grid, bool)
        copied[info.cells(staged.read_element[mine])] = True
        assert copied.any() and (cells(places, matrix, info.grid) == copied).all()


def test_a_tile_has_the_state_of_its_stage():
    playable, at = at_demo("warp_specialised"), opening("warp_specialised")
    held = [filling for filling in stages(playable, at.block).held(at.step) if filling is not None]
    marked = {place.what for place in PIPELINE.places(playable, at.step, at.block)}
    assert len(held) == 3 and {(f.number, f.state(at.step)) for f in held} <= marked
    assert {state for _, state in marked} == {"arriving", "ready", "multiplied", "done"}
    assert PIPELINE.places(playable, 0, at.block) != PIPELINE.places(playable, at.step, at.block)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_tiles_of_different_states_differ_on_the_stage_and_only_with_the_lens(qapp, theme):
    playable, at = at_demo("warp_specialised"), opening("warp_specialised")
    moment = Moment(at.step, at.block, motion="none")
    painter = stage("warp_specialised", theme)
    image, places = picture(painter, moment), PIPELINE.places(playable, at.step, at.block)
    panel = painter.panels(RECT, View())[A]

    def colour(of, place):
        x, y = panel.x + (place.column + 4) * panel.cell, panel.y + (place.row + place.rows - 4) * panel.cell
        return int(of[int(y), int(x)])

    mine = [place for place in places if place.matrix == A]
    seen = {colour(image, place): place.what for place in mine}
    assert len(seen) == len(mine) == 4
    plain = picture(stage("warp_specialised", theme, LENSES_BY_NAME["tensor core"]), moment)
    assert len({colour(plain, place) for place in mine}) < 4


def test_a_step_that_changes_a_mark_paints_its_matrix_again(qapp):
    playable, at = at_demo("warp_specialised"), opening("warp_specialised")
    painter, checked = stage("warp_specialised"), 0
    for step in range(0, playable.timeline.steps - 1, 3):
        one, other = (set(PIPELINE.places(playable, s, at.block)) for s in (step, step + 1))
        picture(painter, Moment(step, at.block, motion="none", trail=1))
        places = painter.changing(RECT, Moment(step + 1, at.block, motion="none", trail=1))
        for matrix in {place.matrix for place in one ^ other} if places is not None else ():
            panel = painter.panels(RECT, View())[matrix]
            assert any(box.contains(int(panel.x) + 5, int(panel.y) + 5) for box in places)
            checked += 1
    assert checked > 5


def test_a_copy_that_waits_is_not_drawn_on_other_cells_below_a_lens(qapp):
    at = opening("async_pipeline")
    still = Moment(at.step, at.block, motion="full", fraction=0.5)
    painter, flights = stage("async_pipeline"), stage("async_pipeline")._ghosts.flights(still)
    waiting = (flights.begin != at.step) & (flights.end != at.step + 1)
    assert waiting.any()
    drawn = []
    painter._ghosts._draw_cells = lambda into, boxes, *_: drawn.append(len(boxes))
    picture(painter, still)
    assert sum(drawn) <= (~waiting).sum()
    painter.lens = None
    picture(painter, still)
    assert sum(drawn) >= waiting.sum()


def test_below_a_lens_no_shared_tile_looks_out(qapp):
    painter, at = stage("mma_pipeline"), opening("mma_pipeline")
    drawn = []
    draw = painter._cells.draw
    painter._cells.draw = lambda into, panel, *of: drawn.append(panel.array) or draw(into, panel, *of)
    picture(painter, Moment(at.step, at.block, motion="none"))
    assert drawn == [0, 1, 2]
    drawn.clear()
    picture(painter, Moment(at.step, at.block, motion="none", view=View(1.5, -0.1, -0.1)))
    assert drawn == list(range(len(painter.playable.recording.arrays))), "a zoomed picture has no lens"


def test_beside_a_lens_that_stands_elsewhere_the_shared_tiles_are_drawn(qapp):
    """In a narrow place, the lens stands above all arrays."""
    painter = stage("CC", lens=LENSES_BY_NAME["banks"])
    narrow, drawn, draw = QRectF(0, 0, 430, 630), [], painter._cells.draw
    panels, free = painter.panels(narrow, View()), painter.plan(narrow, View()).free
    assert free is not None and free.bottom < min(panel.y for panel in panels)
    painter._cells.draw = lambda into, panel, *of: drawn.append(panel.array) or draw(into, panel, *of)
    image = QImage(narrow.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    painter.paint(into, narrow, Moment(4, motion="none"))
    into.end()
    assert drawn == list(range(len(panels)))


def test_in_front_of_an_audience_the_lens_beside_the_picture_marks_its_tiles(qtbot):
    at = opening("warp_specialised")
    session = Session(ladder())
    session.choice.choose_kernel(find("warp_specialised", session.choice.kernels))
    session.cursor.show(at_demo("warp_specialised"))
    presenter = presenter_of(session, qtbot)

    def shown():
        painter = presenter.stage._painter_now()
        return painter.lens, {place.what for place in painter.lens_marks._places(None, Moment(at.step, at.block))}

    session.lens.show(None)
    assert shown() == (None, set())
    session.lens.show("pipeline")
    lens, marked = shown()
    assert lens is None and {state for _, state in marked} == {"arriving", "ready", "multiplied", "done"}


@pytest.mark.sweep("1")
@pytest.mark.parametrize("ratio", [1, 2])
def test_of_the_marked_tiles_only_those_that_changed_are_painted_and_the_picture_is_the_same(qapp, ratio):
    at = opening("warp_specialised")
    kept, anew = stage("warp_specialised"), stage("warp_specialised")
    anew.lens_marks._vector = True
    steps = range(at.step - 2, at.step + 3)
    for step in steps:
        moment = Moment(step, at.block, motion="none")
        one, other = (sharp_picture(painter, moment, ratio) for painter in (kept, anew))
        assert np.array_equal(one, other)
    places = [PIPELINE.places(kept.playable, step, at.block) for step in steps]
    assert kept.lens_marks.pictures.painted == len({place for of_step in places for place in of_step})
    assert anew.lens_marks.pictures.painted == sum(len(of_step) for of_step in places)


def test_the_marks_of_one_matrix_are_the_same_when_the_other_is_not_painted(qapp):
    at, painter = opening("warp_specialised"), stage("warp_specialised")
    rect = QRectF(0, 0, 1800, 1100)  # the size of type grows with that of all marks
    moment, panel = Moment(at.step, at.block, motion="none"), painter.panels(rect, View())[A]
    inside = QRectF(panel.x, panel.y, panel.width, panel.height).toRect().adjusted(1, 1, -1, -1)
    images = []
    for part in (None, QRegion(inside)):
        image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
        with QPainter(image) as into:
            painter.paint(into, rect, moment, late=Late(moment, moment), part=part)
        images.append(pixels(image.copy(inside)))
    assert np.array_equal(*images)


def sharp_picture(painter, moment, ratio):
    image = QImage((RECT.size() * ratio).toSize(), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    with QPainter(image) as into:
        painter.paint(into, RECT, moment, ratio)
    return pixels(image)
