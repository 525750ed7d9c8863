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
from gemmviz.ui.lenses.registry import lens_for
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.kept_picture import KeptPicture
from gemmviz.ui.stage.painter import Moment, StagePainter

RECT = QRectF(0, 0, 1000, 700)
NAMES = ("gputiled", "CC", "async_pipeline")
FRAMES = (0.0, 0.2, 0.5, 0.9)


def painter_of(name):
    font, playable = QFont(), at_demo(name)
    font.setPixelSize(13)
    made = StagePainter(playable, THEMES["dark"], font)
    made.lens = lens_for(find(name, ladder()).demo.lens, playable)
    return made


def picture(stage, step, fraction, motion="full"):
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    stage.paint(into, RECT, Moment(step, 0, (2, 0), 6, fraction=fraction, motion=motion))
    into.end()
    return image


@pytest.mark.parametrize("name", NAMES)
def test_frames_between_two_steps_paint_nothing_that_rests(name, qapp):
    stage = painter_of(name)
    step = stage.playable.timeline.steps // 3
    for fraction in FRAMES:
        picture(stage, step, fraction)
    assert stage.still.painted == 1 and stage.lens_picture.painted <= 1
    picture(stage, step + 1, 0.5)
    assert stage.still.painted == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_picture_is_the_same_to_the_byte(name, qapp):
    stage = painter_of(name)
    step = stage.playable.timeline.steps // 3
    for at, fraction in ((step, 0.3), *((step, f) for f in FRAMES), (step + 1, 0.5), (step, 0.5)):
        assert picture(stage, at, fraction) == picture(painter_of(name), at, fraction)
    assert picture(stage, step, 0.0, motion="none") == picture(painter_of(name), step, 0.0, motion="none")


def test_a_part_that_is_no_whole_number_of_pixels_leaves_its_edges_clear(qapp):
    place = QRectF(2.5, 3.0, 10.25, 5.5)
    kept, pictures = KeptPicture(), []
    for key in (None, "kept", "kept"):
        image = QImage(20, 12, QImage.Format.Format_RGB32)
        image.fill(QColor("#204060"))
        into = QPainter(image)
        kept.draw(into, place, key, 1.0, lambda painter: painter.fillRect(place, QColor("#ff0000")))
        into.end()
        pictures.append(np.array(image.constBits()).copy())
    assert kept.painted == 2 and (pictures[0] == pictures[1]).all() and (pictures[1] == pictures[2]).all()


def test_between_two_pixels_of_the_screen_nothing_is_kept(qapp):
    kept, image = KeptPicture(), QImage(40, 40, QImage.Format.Format_RGB32)
    into = QPainter(image)
    for _ in range(3):
        kept.draw(into, QRectF(1, 1, 8, 8), "same", 1.25, lambda painter: None)
    into.end()
    assert kept.painted == 3
