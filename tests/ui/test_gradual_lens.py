# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Lenses that are drawn in pieces look as if they were drawn at once, and are shown when they are complete."""

import warnings

import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo, opening
from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QFont, QImage, QPainter
from test_kept_picture import RECT, painter_of, picture
from test_turns import frame, session  # noqa: F401  (a fixture)

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.ui.lenses.by_name import lens_for
from gemmviz.ui.lenses.gradual import GradualLens, Unfinished
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.registry import LENSES
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.kept_picture import KeptPicture
from gemmviz.ui.stage.late_parts import LateParts
from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.turns import Turns

DRAWN = [*("mm", "blocked", "vectorised", "CC", "conflict_free"), *("async_pipeline", "stream_k", "mma_swizzle")]
"""A rung or two for each lens that is drawn in pieces."""


def blank():
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(0x336699)
    return image


def lens_of(name):
    at = opening(name)
    lens = lens_for(find(name, ladder()).demo.lens, at_demo(name))
    return lens, LensMoment(at_demo(name), at.step, at.block or 0, at.warp or 0, at.lane or 0, at.cell)


@pytest.mark.sweep("mm", "async_pipeline")
@pytest.mark.parametrize("name", DRAWN)
def test_pieces_look_as_the_whole_to_the_byte(name, qapp):
    lens, of = lens_of(name)
    font = QFont()
    font.setPixelSize(12)
    whole, image, count, more = blank(), blank(), 0, True
    with QPainter(whole) as into:
        lens.paint(into, RECT, of, THEMES["dark"], font)
    pieces = Unfinished(lens, RECT, of, THEMES["dark"], font)
    while more:
        with QPainter(image) as into:  # a new painter for each piece
            more = pieces.go_on(into)
        count += 1
    assert image == whole and image != blank()
    assert count >= 3, "the heading, and at least two more"


def test_all_slow_lenses_are_drawn_in_pieces():
    assert {lens.name for lens in LENSES if not isinstance(lens, GradualLens)} == {"owners"}


def test_a_picture_that_is_given_up_leaves_no_painter_behind(qapp):
    lens, of = lens_of("async_pipeline")
    image = blank()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pieces = Unfinished(lens, RECT, of, THEMES["dark"], QFont())
        with QPainter(image) as into:
            assert pieces.go_on(into)
        del pieces  # ends the generator, whose painter has ended before
    with QPainter(image) as into:
        assert into.isActive()


def test_a_picture_is_shown_when_it_is_complete(qapp):
    kept, place, left = KeptPicture(), QRectF(0, 0, 20, 10), []

    def begin():
        left[:] = [0, 10]

        def go_on(into):
            into.fillRect(QRectF(left.pop(0), 0, 10, 10), 0xFFFFFFFF)
            return bool(left)

        return go_on

    def fails(into):
        raise AssertionError("it is ready")

    args = place, "key", 1.0, QFont(), begin
    assert not kept.prepare(*args, seconds=0) and kept.painted == 0
    assert kept.prepare(*args, seconds=0) and kept.painted == 1
    assert kept.prepare(*args, seconds=0) and kept.painted == 1
    image = QImage(20, 10, QImage.Format.Format_RGB32)
    with QPainter(image) as into:
        kept.draw(into, place, "key", 1.0, fails)
    assert all(image.pixelColor(x, 5).name() == "#ffffff" for x in (3, 15))
    # All pieces fit into much time; another key begins anew, and gives the unfinished one up.
    assert not kept.prepare(place, "other", 1.0, QFont(), begin, seconds=0)
    assert kept.prepare(place, "third", 1.0, QFont(), begin, seconds=60)


def test_the_stage_draws_a_prepared_lens_as_ever(qapp):
    stage = painter_of("async_pipeline")
    step = stage.playable.timeline.steps // 3
    before, now = (Moment(at, 0, (2, 0), 6, motion="none") for at in (step, step + 9))
    frames = 1
    while not stage.prepare_lens(RECT, now, 1.0):
        frames += 1
        assert frames < 50
    painted = stage.quadrant.lens_picture.painted
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    with QPainter(image) as into:
        stage.paint(into, RECT, now, late=Late(now, now, now))
    assert stage.quadrant.lens_picture.painted == painted, "it was ready"
    assert image == picture(painter_of("async_pipeline"), now.step, 0.0, "none")
    assert image != picture(painter_of("async_pipeline"), before.step, 0.0, "none")


def test_a_lens_shows_the_step_at_which_it_was_begun(session, qapp):  # noqa: F811
    owner = QObject()
    parts = LateParts()
    parts.turns = Turns(session, owner)
    moments = [Moment(step, motion="none") for step in range(12)]
    session.playback.play()
    parts.at(moments[0])
    asked, shown = [], []

    def prepare(moment):
        asked.append(moment.step)
        return asked.count(moment.step) == 3  # three frames for each picture

    for moment in moments[1:]:
        frame(session)
        parts.follow(moment, True, prepare=prepare)
        shown.append(parts.at(moment).lens.step)
    begun = sorted(set(asked))
    assert asked == sorted(asked) and asked.count(begun[0]) == 3 and len(begun) >= 2
    assert set(shown) <= {0, *begun} and shown[-1] > 0, "never a picture that is not complete"


def test_with_gestures_a_new_step_has_its_frame_alone(session, qapp):  # noqa: F811
    owner = QObject()
    parts = LateParts()
    parts.turns = Turns(session, owner)
    session.playback.play()
    parts.at(Moment(0, motion="full"))
    asked = []
    for step, fraction in ((1, 0.0), (1, 0.3), (2, 0.1)):
        frame(session)
        parts.follow(Moment(step, fraction=fraction, motion="full"), True, prepare=lambda m: asked.append(m))
        assert asked == ([] if fraction == 0.0 else [Moment(1, motion="full")])
