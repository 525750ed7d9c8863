# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Between two steps only the places of what moves are painted, and in free frames what the next step will show."""

from dataclasses import replace

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QRegion
from test_kept_picture import NAMES, RECT, painter_of

from gemmviz.catalogue.matrices import C
from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.stage.regions import along

FRACTIONS = (0.0, 0.1, 0.25, 0.5, 0.95, 0.2)
WHOLE = QRegion(RECT.toAlignedRect())


def painted(stage, moment, part=WHOLE, over=None):
    """Paint a part of a stage that plays, over its last frame."""
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32) if over is None else over
    with QPainter(image) as into:
        into.setClipRegion(part)
        stage.paint(into, RECT, moment, 1.0, Late(moment, moment, moment), part)
    return image


def region(rects):
    found = QRegion()
    for rect in rects:
        found += rect
    return found


def area(part):
    return sum(rect.width() * rect.height() for rect in part)


def before_store(playable):
    """Return a step whose next one writes C."""
    timeline = playable.timeline
    return int(np.flatnonzero((timeline.array == C) & timeline.write)[0]) - 1


@pytest.mark.sweep("gputiled-full")
@pytest.mark.parametrize("motion", ["full", "bare"])
@pytest.mark.parametrize("name", NAMES)
def test_the_places_of_what_moves_give_the_whole_frame(name, motion, qapp):
    stage, shares = painter_of(name), []
    steps = stage.playable.timeline.steps
    for step in (steps // 3, 2 * steps // 3, before_store(stage.playable)):
        image = None
        for fraction in FRACTIONS:
            moment = Moment(step, 0, (C, 0), 6, fraction=fraction, motion=motion)
            part = WHOLE
            if image is not None:
                part = region(stage.moving(RECT, moment))
                shares.append(area(part) / area(WHOLE))
            image = painted(stage, moment, part, image)
            assert image == painted(painter_of(name), moment), (step, fraction)
    assert np.mean(shares) < 0.5  # else nothing is gained


def test_where_all_may_have_changed_all_is_painted(qapp):
    stage = painter_of("gputiled")
    assert stage.moving(RECT, Moment(3, motion="line")) is None


def test_boxes_along_a_way_cover_it_and_little_else():
    begin, end = QRectF(0, 0, 30, 20), QRectF(500, 400, 60, 40)
    part = region(box.toAlignedRect() for box in along(begin, end, 2))
    for share in np.linspace(0, 1, 41).tolist():
        left, top, right, bottom = (
            a + (b - a) * share for a, b in zip(begin.getCoords(), end.getCoords(), strict=True)
        )
        at = QRectF(left, top, right - left, bottom - top).toAlignedRect()
        assert (QRegion(at) - part).isEmpty()
    assert area(part) < 0.5 * area(QRegion(begin.united(end).toAlignedRect()))


@pytest.mark.sweep("gputiled-none", "gputiled-full")
@pytest.mark.parametrize("motion", ["none", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_what_was_painted_ahead_is_the_next_step(name, motion, qapp):
    """The picture may be ready, or not; until then the present step is shown."""
    stage = painter_of(name)
    first, fraction = stage.playable.timeline.steps // 3, 0.0 if motion == "none" else 0.4
    for step, pieces in zip(range(first, first + 4), (40, 3, 0, 40), strict=True):
        now = Moment(step, 0, None, 6, motion=motion, fraction=fraction)
        assert painted(stage, now) == painted(painter_of(name), now), step
        for _ in range(pieces):
            stage.look_ahead(RECT, replace(now, step=step + 1, fraction=0.0), 1.0, 0.0)
        assert painted(stage, now) == painted(painter_of(name), now), step


def test_a_step_that_was_painted_ahead_paints_nothing_that_rests(qapp, monkeypatch):
    stage, drawn = painter_of("gputiled"), []
    now = Moment(5, motion="full")
    painted(stage, now)
    for _ in range(40):
        stage.look_ahead(RECT, replace(now, step=6), 1.0, 0.0)
    monkeypatch.setattr(stage._cells, "draw", lambda *a: drawn.append(a))
    painted(stage, replace(now, step=6))
    assert not drawn
    painted(stage, replace(now, step=7))
    assert drawn


def test_one_frame_paints_one_piece_of_the_next_step(qapp, monkeypatch):
    stage, drawn = painter_of("gputiled"), []
    now, draw = Moment(5, motion="full"), stage._cells.draw
    painted(stage, now)
    monkeypatch.setattr(stage._cells, "draw", lambda *a: drawn.append(a) or draw(*a))
    counts = []
    for _ in range(40):
        stage.look_ahead(RECT, replace(now, step=6), 1.0, 0.0)
        counts.append(len(drawn))
    assert counts[0] == 0 and max(np.diff(counts)) == 1 and counts[-1] > 1
