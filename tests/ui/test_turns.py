# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""While a recording plays, the slow parts of the window are drawn in turns; at rest all show the present step."""

from itertools import pairwise

import pytest
from window_driving import need_qt, wait_shown

need_qt()

from demo_recordings import at_demo
from PySide6.QtCore import QObject, QPoint, QRect, QRectF
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtWidgets import QApplication, QWidget
from test_kept_picture import NAMES, RECT, painter_of, picture

from gemmviz.app import new_session
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.ui.stage.late_parts import AHEAD_S, LateParts
from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.turns import InTurn, Turns


@pytest.fixture
def session():
    made = new_session()
    made.cursor.show(at_demo("gputiled"))
    return made


def frame(session):
    session.cursor.seek(session.cursor.step + 1)


def test_one_part_is_drawn_in_each_frame_and_none_is_forgotten(session, qapp):
    owner = QObject()
    turns = Turns(session, owner)
    assert all(turns.may(part) for part in "abc"), "nothing plays"
    session.playback.play()
    drawn = []
    for _ in range(9):
        frame(session)
        drawn.append([part for part in "abc" if turns.may(part)])
    assert all(len(parts) == 1 for parts in drawn)
    assert [part for parts in drawn for part in parts] == list("abc") * 3


def test_a_part_that_comes_seldom_does_not_wait_for_the_others(session, qapp):
    owner = QObject()
    turns = Turns(session, owner)
    session.playback.play()
    frame(session)
    assert turns.may("lens") and not turns.may("words")
    frame(session)
    assert turns.may("tab", at_once=True) and not turns.may("words")
    frame(session)
    assert turns.may("words")


def test_a_view_is_changed_in_its_turn_and_without_playback_at_once(session, qtbot):
    view, calls = QWidget(), []
    qtbot.addWidget(view)
    late = InTurn(view, lambda: calls.append(session.cursor.step))
    late.turns = Turns(session, view)
    view.show()
    late.ask()
    assert calls == [0]
    session.playback.play()
    frame(session)
    assert late.turns.may("another")
    late.ask()
    late.ask()
    assert calls == [0]
    frame(session)
    qtbot.waitUntil(lambda: calls == [0, 2])
    assert late.turns.may("another") is False
    frame(session)
    late.turns.may("another")
    late.ask()
    session.playback.pause()
    qtbot.waitUntil(lambda: calls == [0, 2, 3])


def test_lens_and_sentence_follow_the_steps_in_turns(session, qapp):
    owner = QObject()
    parts = LateParts()
    parts.turns = Turns(session, owner)
    moments = [Moment(step, motion="none") for step in range(5)]
    assert parts.at(moments[0]) is None and parts.follow(moments[0], True) is None, "nothing plays"
    session.playback.play()
    frame(session)
    assert parts.follow(moments[1], True) is None, "all is painted in the first frame"
    assert parts.at(moments[1]) == Late(moments[1], moments[1], moments[1])
    frame(session)
    assert parts.follow(moments[2], True) == ["lens", "cells"]
    assert parts.at(moments[2]) == Late(moments[2], moments[1], moments[2]) and parts.waits
    frame(session)
    assert parts.follow(moments[3], True) == ["words", "cells"]
    assert parts.at(moments[3]) == Late(moments[2], moments[3], moments[3]) and parts.waits
    frame(session)
    assert parts.follow(moments[3], True) == ["lens"]
    assert parts.at(moments[3]) == Late(moments[3], moments[3], moments[3]) and not parts.waits
    frame(session)
    assert parts.follow(moments[4], False) == ["words", "cells"], "there is no lens"
    chosen = Moment(4, cell=(2, 0), motion="none")
    assert parts.follow(chosen, True) is None, "a choice is shown at once"
    assert parts.at(chosen) == Late(chosen, chosen, chosen)
    session.playback.pause()
    assert parts.at(moments[4]) is None


def test_a_slow_lens_has_a_frame_of_its_own_and_the_cells_follow_in_the_next_one(session, qapp):
    owner = QObject()
    parts = LateParts()
    parts.turns = Turns(session, owner)
    moments = [Moment(step, motion="none") for step in range(9)]
    session.playback.play()
    parts.at(moments[0])
    frames = []
    for moment in moments[1:]:
        frame(session)
        frames.append(parts.follow(moment, True, lens_seconds=0.01))
        assert parts.at(moment).cells.step >= moment.step - 1
    assert ["lens"] in frames and not any({"lens", "cells"} <= set(parts) for parts in frames)
    assert not any(one == other == ["lens"] for one, other in pairwise(frames))
    moved = Moment(8, fraction=0.5, motion="none")
    for _ in range(3):  # at the latest then: one part in a frame
        frame(session)
        parts.follow(moved, True, lens_seconds=0.01)
    assert not parts.waits
    gestures = Moment(8, motion="full")
    parts.at(gestures)
    frame(session)
    assert "cells" in parts.follow(Moment(9, motion="full"), True, lens_seconds=0.01), "what flies belongs to the cells"


@pytest.mark.sweep("gputiled-False", "async_pipeline-True")
@pytest.mark.parametrize("lens", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_arrays_that_are_not_painted_again_look_the_same(name, lens, qapp):
    stage = painter_of(name)
    if not lens:
        stage.lens = None
    cell = (2, 0) if stage.lens is not None else None  # the ways of its values change without a lens
    first, unchanged = stage.playable.timeline.steps // 3, 0
    panels = stage.plan(RECT, Moment().view).panels
    for step in range(first, first + 8):
        before, now = (Moment(at, 0, cell, 2, motion="none") for at in (step, step + 1))
        changed = stage._changes.arrays(before, now) + stage.lens_marks.changed(stage.lens, before, now)
        one, other = (picture(stage, at, 0.0, "none", trail=2, cell=cell) for at in (step, step + 1))
        for panel in panels if stage.lens is None else panels[:3]:
            place = QRectF(panel.x, panel.y, panel.width, panel.height).adjusted(1, 1, -1, -1).toRect()
            if panel.array not in changed:
                unchanged += 1
                assert one.copy(place) == other.copy(place), (step, panel.name)
    assert unchanged


def test_tiles_below_a_lens_that_leaves_them_free_follow_the_steps(qapp):
    """In a narrow stage, as in a duel, the tiles stand below the lens: they stayed as they were at the first step."""
    stage, rect = painter_of("RR"), QRectF(0, 0, 430, 610)
    assert stage.lens is not None
    plan = stage.plan(rect, Moment().view)
    (tile,) = plan.uncovered(True)[3:]
    inside = QRectF(tile.x, tile.y, tile.width, tile.height).toAlignedRect()
    first = stage.playable.timeline.steps // 3
    image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        stage.paint(painter, rect, Moment(first, motion="none"))
    places = stage.changing(rect, Moment(first + 1, motion="none"))
    assert any(place.contains(inside) for place in places)


def test_nothing_of_a_tile_below_a_lens_is_seen_beside_it(qapp):
    """The outline of an operand at the tile's edge was a blue stroke left of the lens."""
    stage, rect = painter_of("RR"), QRectF(0, 0, 700, 860)
    free = stage.plan(rect, Moment().view).free
    pictures = []
    for motion in ("none", "full"):
        image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            stage.paint(painter, rect, Moment(13, cell=(2, 0), motion=motion))
        pictures.append(image.copy(round(free.left) - 8, round(free.top), 8, round(free.height)))
    assert pictures[0] == pictures[1]


@pytest.mark.sweep("matmul_kernel_naive-True-None", "gputiled-False-C")
@pytest.mark.parametrize(
    ("name", "at_lens", "chosen"),
    [
        ("gputiled", False, None),
        ("gputiled", False, "C"),
        ("CC_V_FINAL", False, "C"),
        ("gputiled", False, "A"),
        ("matmul_kernel_naive", True, None),
        ("stream_k", True, None),
    ],
)
def test_the_window_shows_the_same_as_if_all_of_it_was_painted(name, at_lens, chosen, window, qtbot, monkeypatch):
    """Each frame paints only the places that changed; when no part is late, all of the stage is of this step."""
    session, stage = window.session, window.stage
    session.choice.auto = False
    session.choice.choose_kernel(find(name, session.choice.kernels))
    session.cursor.show(at_demo(name))
    session.lens.show(find(name, ladder()).demo.lens if at_lens else None)
    if chosen is not None:
        session.cursor.pick(("ABC".index(chosen), 18))  # of an element of C, the ways of its values change
    window.transport.timer.timeout.disconnect()
    qtbot.waitUntil(stage.updatesEnabled)  # it is painted after the rest of the window
    QApplication.processEvents()
    session.playback.set_speed(16.0)
    session.playback.play()
    assert session.staged.motion() == "none"
    updated = []
    for _ in range(3):
        updated.clear()
        with monkeypatch.context() as patch:
            patch.setattr(stage, "update", lambda *place: (updated.append(place), QWidget.update(stage, *place)))
            for _ in range(4):
                session.advance(1 / session.playback.rate)
                QApplication.processEvents()
            for _ in range(30):  # a lens is drawn in up to eight pieces, in turn with other parts
                session.advance(0.01 / session.playback.rate)
                QApplication.processEvents()
        assert not stage.late.waits
        assert sum(place == (stage.rect(),) for place in updated) == 1, "the first frame alone is painted whole"
        place = QRect(stage.mapTo(window, QPoint(0, 0)), stage.size())
        shown = window.screen().grabWindow(window.winId()).toImage().copy(place)
        stage.late.turns, turns = None, stage.late.turns
        whole = window.grab().toImage().copy(place)
        stage.late.turns = turns
        assert shown.convertToFormat(whole.format()) == whole
    session.playback.pause()


def late_picture(stage, moment, late, part=RECT, over=None):
    """Paint a part of the stage over a picture, as a widget does it."""
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    stage.paint(into, RECT, moment, late=late, part=QRegion(part.toAlignedRect()))
    into.end()
    if over is None:
        return image
    into = QPainter(over)
    into.drawImage(part.topLeft(), image, part)
    into.end()
    return over


@pytest.mark.sweep("gputiled-False", "async_pipeline-True")
@pytest.mark.parametrize("lens", [True, False])
@pytest.mark.parametrize("name", (*NAMES, "l2_swizzle"))  # its legend has a sign that reaches over the left edge
def test_parts_that_are_not_late_look_as_ever(name, lens, qapp):
    stage = painter_of(name)
    if not lens:
        stage.lens = None
    first = stage.playable.timeline.steps // 3
    before, now = (Moment(first + at, 0, (2, 0), 6, motion="none") for at in (0, 1))
    for moment in (before, now):
        assert late_picture(stage, moment, Late(moment, moment)) == picture(stage, moment.step, 0.0, "none")
    # The lens and the sentence come later: painting their places alone gives the same picture.
    image = late_picture(stage, now, Late(before, before))
    for late, name in ((Late(now, before), "lens"), (Late(now, now), "words")):
        place = QRectF(stage.late_place(RECT, now.view, name).toAlignedRect())
        if not place.isEmpty():
            image = late_picture(stage, now, late, place, image)
    assert image == picture(stage, now.step, 0.0, "none")


def test_pads_go_when_gestures_end_at_the_same_step(qapp):
    stage, steps = painter_of("gputiled"), range(8)
    padded = [step for step in steps if stage._ghosts.padded(Moment(step, motion="full"))]
    assert padded
    for step in padded:
        now = Moment(step, 0, (2, 0), 6, motion="none")
        with_pads = picture(stage, step, 0.0)
        assert late_picture(stage, now, Late(now, now)) == picture(painter_of("gputiled"), step, 0.0, "none")
        assert picture(stage, step, 0.0) == with_pads


def test_a_place_of_its_own_is_painted_without_the_cells(qapp, monkeypatch):
    stage = painter_of("gputiled")
    now = Moment(5, motion="none")
    late = Late(now, now)
    late_picture(stage, now, late)
    painted = []
    monkeypatch.setattr(stage, "_paint_still", lambda *a: painted.append(a))
    late_picture(stage, now, late, stage.late_place(RECT, now.view, "words"))
    assert not painted
    late_picture(stage, now, late, RECT)
    assert painted


def test_a_frame_without_a_new_step_is_between(session, qapp):
    owner = QObject()
    turns = Turns(session, owner)
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.2)
    assert not turns.between, "nothing plays"
    session.playback.play()
    frame(session)
    assert not turns.between, "it has a step"
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.5)
    assert turns.between and turns.may("one") and turns.between
    frame(session)
    assert not turns.between


def test_only_a_frame_that_was_quick_so_far_paints_the_next_step(session, qapp, monkeypatch):
    owner, late = QObject(), LateParts()
    late.turns = turns = Turns(session, owner)
    clock = [5.0]
    monkeypatch.setattr("gemmviz.ui.turns.thread_time", lambda: clock[0])
    session.playback.play()
    frame(session)
    assert late.spare_seconds == 0, "it has a step"
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.5)
    assert late.spare_seconds == AHEAD_S
    clock[0] += 0.005
    assert turns.spent == pytest.approx(0.005) and 0 < late.spare_seconds < AHEAD_S
    clock[0] += 0.005
    assert late.spare_seconds == 0
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.6)
    assert late.spare_seconds == AHEAD_S


def test_a_stage_paints_the_next_step_after_its_own_places(window, qtbot, monkeypatch):
    wait_shown(window, qtbot)
    session, order = window.session, []
    paint, ahead = StagePainter.paint, StagePainter.look_ahead
    monkeypatch.setattr(StagePainter, "paint", lambda *a, **k: order.append("paint") or paint(*a, **k))
    monkeypatch.setattr(StagePainter, "look_ahead", lambda *a: order.append("ahead") or ahead(*a))
    monkeypatch.setattr(Turns, "spent", 0.0)
    session.cursor.seek(0)
    session.playback.play()
    window.transport.timer.stop()
    QApplication.processEvents()
    for step in range(session.cursor.steps):
        session.cursor.seek(step, step + 0.2)
        QApplication.processEvents()
        order.clear()
        session.cursor.seek(step, step + 0.4)
        QApplication.processEvents()
        if "paint" in order:
            break  # something flies in it
    assert order[-2:] == ["paint", "ahead"]
    monkeypatch.setattr(Turns, "spent", 1.0)
    order.clear()
    session.cursor.seek(step, step + 0.5)
    QApplication.processEvents()
    assert "paint" in order and "ahead" not in order


def test_a_step_after_frames_without_one_has_its_frame_alone(session, qapp):
    owner = QObject()
    turns = Turns(session, owner)
    session.playback.play()
    frame(session)
    assert turns.may("one"), "each frame has a step: there is no other frame"
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.5)
    assert turns.may("one")
    frame(session)
    assert not turns.may("one") and not turns.may("tab", at_once=True) and not turns.between
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.5)
    assert turns.may("one") and not turns.may("tab")
    session.cursor.seek(session.cursor.step, session.cursor.step + 0.7)
    assert turns.may("tab")
    frame(session)
    frame(session)
    assert turns.may("one")
