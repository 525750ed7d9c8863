# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Between two steps only what moves is painted; all else is a picture that is kept, the same to the byte."""

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.ui.lenses.by_name import lens_for
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.kept_picture import KeptPicture
from gemmviz.ui.stage.painter import Moment, StagePainter
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.spare_pictures import SparePictures
from gemmviz.ui.stage.text_layer import Content, TextLayer

RECT = QRectF(0, 0, 1000, 700)
NAMES = ("gputiled", "CC", "async_pipeline")
FRAMES = (0.0, 0.2, 0.5, 0.9)


def painter_of(name):
    font, playable = QFont(), at_demo(name)
    font.setPixelSize(13)
    made = StagePainter(playable, THEMES["dark"], font)
    made.lens = lens_for(find(name, ladder()).demo.lens, playable)
    return made


def picture(stage, step, fraction, motion="full", trail=6, cell=(2, 0)):
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    stage.paint(into, RECT, Moment(step, 0, cell, trail, fraction=fraction, motion=motion))
    into.end()
    return image


@pytest.mark.parametrize("name", NAMES)
def test_frames_between_two_steps_paint_nothing_that_rests(name, qapp):
    stage = painter_of(name)
    step = stage.playable.timeline.steps // 3
    for fraction in FRAMES:
        picture(stage, step, fraction)
    assert stage.still.painted == 1 and stage.quadrant.lens_picture.painted <= 1
    picture(stage, step + 1, 0.5)
    assert stage.still.painted == 2


@pytest.mark.sweep("async_pipeline")
@pytest.mark.parametrize("name", NAMES)
def test_a_kept_picture_is_the_same_to_the_byte(name, qapp):
    stage = painter_of(name)
    step = stage.playable.timeline.steps // 3
    for at, fraction in ((step, 0.3), *((step, f) for f in FRAMES), (step + 1, 0.5), (step, 0.5)):
        assert picture(stage, at, fraction) == picture(painter_of(name), at, fraction)
    assert picture(stage, step, 0.0, motion="none") == picture(painter_of(name), step, 0.0, motion="none")


def test_the_next_recording_is_painted_over_the_pictures_of_the_last_one(qapp):
    stage, spare = painter_of("gputiled"), SparePictures()
    picture(stage, 9, 0.5)
    spare.take_from(stage)
    own = picture(stage, 9, 0.5)  # a painter that goes on gets new pictures
    lent = spare._labels, spare._still
    following = spare.given_to(painter_of("CC"))
    assert picture(following, 12, 0.5) == picture(painter_of("CC"), 12, 0.5)
    assert following.labels.let_go() is lent[0] and following.still.let_go() is lent[1]
    assert own == picture(painter_of("gputiled"), 9, 0.5)


@pytest.mark.sweep("async_pipeline")
@pytest.mark.parametrize("name", NAMES)
def test_steps_in_a_row_look_as_if_each_was_the_first(name, qapp):
    """What one picture keeps for the next (texts, arrows, outlines, sentences) changes nothing in it."""
    stage = painter_of(name)
    stage.lens = None
    first = stage.playable.timeline.steps // 3
    for step in (*range(first, first + 5), first):
        alone = painter_of(name)
        alone.lens = None
        assert picture(stage, step, 0.0, "none") == picture(alone, step, 0.0, "none"), step


@pytest.mark.sweep("gputiled-False", "async_pipeline-True")
@pytest.mark.parametrize("lens", [True, False])
@pytest.mark.parametrize("name", (*NAMES, "warp_specialised", "loop_order"))
def test_a_new_step_with_gestures_paints_only_what_changes(name, lens, qapp, monkeypatch):
    stage, drawn = painter_of(name), []
    stage.lens = stage.lens if lens else None
    draw = stage._cells.draw
    monkeypatch.setattr(
        stage._cells, "draw", lambda into, panel, *a: (drawn.append(panel.name), draw(into, panel, *a))[1]
    )
    panels = len(stage.plan(RECT, Moment().view).uncovered(stage.lens is not None))
    first = stage.playable.timeline.steps // 3
    for step in (*range(first, first + 6), first):
        picture(stage, step, 0.4)
        alone = painter_of(name)
        alone.lens = stage.lens
        assert picture(stage, step, 0.7) == picture(alone, step, 0.7), step
    assert panels < len(drawn) < 7 * panels, "all in the first frame alone"


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_a_view_that_stays_are_drawn_as_rectangles(name, qapp):
    stage = painter_of(name)
    first = picture(stage, 5, 0.0, "none")
    assert picture(stage, 5, 0.0, "none") == first
    _, parts = stage._borders._kept
    assert parts and all(part._rects for _, part in parts)


def cells_of(texts):
    return Content("place", texts, alone=True)


def drawn(layer, texts, inside=True):
    """Draw texts of one row, each with a colour, and return the pixels and the cells that were written."""
    image, asked = QImage(80, 20, QImage.Format.Format_RGB32), []
    image.fill(QColor("#204060"))
    panel, part = Panel(0, "A", 1, len(texts), 0.5, 0.5, 18.3), (slice(0, 1), slice(0, len(texts)))

    def write(painter, cells):
        asked.append(cells)
        for _, column in cells if cells is not None else [(0, column) for column in range(len(texts))]:
            painter.fillRect(QRectF(3 + column * 18, 3, 12, 12), QColor(texts[column]))

    into = QPainter(image)
    layer.draw(into, panel, part, cells_of(texts), 1.0, write, lambda cells: inside)
    into.end()
    return np.array(image.constBits()).copy(), asked


def test_of_texts_that_change_only_these_are_written_anew(qapp):
    layer, texts = TextLayer(), ["#ff0000", "#00ff00", "#0000ff", "#ffff00"]
    assert drawn(layer, texts)[1] == [None]
    assert drawn(layer, texts)[1] == [None]  # the same again: it becomes a picture
    assert drawn(layer, texts)[1] == []
    texts = [*texts[:2], "#ff00ff", texts[3]]
    pixels, asked = drawn(layer, texts)
    assert asked == [[(0, 2)]]
    assert (pixels == drawn(TextLayer(), texts)[0]).all()
    assert drawn(layer, texts[::-1])[1] == [None]  # most of them: all are written


def test_texts_that_leave_their_cells_are_written_as_a_whole(qapp):
    layer, texts = TextLayer(), ["#ff0000", "#00ff00", "#0000ff", "#ffff00"]
    for _ in range(3):
        drawn(layer, texts)
    texts = ["#ffffff", *texts[1:]]
    pixels, asked = drawn(layer, texts, inside=False)
    assert asked[-1] is None and (pixels == drawn(TextLayer(), texts)[0]).all()


def test_a_part_that_is_no_whole_number_of_pixels_leaves_its_edges_clear(qapp):
    place = QRectF(2.5, 3.0, 10.25, 5.5)
    kept, pictures = KeptPicture(), []
    for key in (None, "kept", "kept"):
        image = QImage(20, 12, QImage.Format.Format_RGB32)
        image.fill(QColor("#204060"))
        into = QPainter(image)
        kept.draw(into, place, key, 1.0, lambda painter, _: painter.fillRect(place, QColor("#ff0000")))
        into.end()
        pictures.append(np.array(image.constBits()).copy())
    assert kept.painted == 2 and (pictures[0] == pictures[1]).all() and (pictures[1] == pictures[2]).all()


def test_between_two_pixels_of_the_screen_nothing_is_kept(qapp):
    kept, image = KeptPicture(), QImage(40, 40, QImage.Format.Format_RGB32)
    into = QPainter(image)
    for _ in range(3):
        kept.draw(into, QRectF(1, 1, 8, 8), "same", 1.25, lambda painter, _: None)
    into.end()
    assert kept.painted == 3


def test_a_picture_that_cannot_be_painted_ends_its_painter(qapp):
    """A painter that was still open when its picture was gone ended the program."""
    painters = []

    def fail(into, _):
        painters.append(into)
        raise ValueError("no colours")

    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    with QPainter(image) as painter, pytest.raises(ValueError, match="no colours"):
        KeptPicture().draw(painter, RECT, "state", 1.0, fail)
    assert not painters[0].isActive()
