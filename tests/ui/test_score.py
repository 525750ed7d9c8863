# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The score under the stage: it paints the content of the recording, and it scrubs, loops and leads to stops."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.session.tour.stop import OwnStop
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.story import COPY, STORE, USE
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.look.theme import THEMES, rgb
from gemmviz.ui.stage.score_drawing import colour
from gemmviz.ui.stage.transport import Transport

LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier


def played(name, size, params):
    recording = record(launch(find(name, ladder()), Problem.cube(size), params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@pytest.fixture(scope="module")
def tiled():
    return played("gputiled", 8, {"TS": 4})


@pytest.fixture
def transport(tiled, qtbot):
    session = Session(ladder())
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.cursor.show(tiled)
    widget = Transport(session)
    qtbot.addWidget(widget)
    widget.resize(900, 120)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


@pytest.fixture
def score(transport):
    return transport.slider


def middle(score, step):
    place = score._layout()
    return round((place.x(step) + place.x(step + 1)) / 2)


def at(score, step, high=0.75):
    return QPoint(middle(score, step), round(score.height() * high))


def near(pixel, wanted):
    return max(abs(a - b) for a, b in zip(pixel, wanted, strict=True)) < 60


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_step_is_in_the_lane_of_its_kind(score, theme):
    session, story = score.session, score.session.cursor.playable.story
    session.preferences.set_theme(theme)
    session.cursor.seek(session.cursor.steps - 1)  # the playhead hides the pixels under it
    image, place = score.grab().toImage().convertToFormat(QImage.Format.Format_RGB888), score._layout()
    assert place.lanes == (COPY, USE, STORE)
    for step in range(session.cursor.steps - 1):
        for kind in place.lanes:
            top = place.top(kind)
            # Numbers, patterns and barriers cover some of a lane, never most of it.
            rows = np.linspace(top + 1, top + place.lane - 3, 8).astype(int)
            columns = np.linspace(place.x(step) + 3, place.x(step + 1) - 3, 9).astype(int)
            filled = [
                not near(image.pixelColor(int(x), int(y)).getRgb()[:3], rgb(THEMES[theme].background))
                for x in columns
                for y in rows
            ]
            assert (np.mean(filled) > 0.5) == (int(story.kinds[step]) == kind), (step, kind)


def test_a_lane_of_uses_is_blue_and_writes_are_amber(score):
    theme = THEMES["dark"]
    assert colour(theme, USE) == rgb(theme.read) and colour(theme, STORE) == rgb(theme.amber)
    assert len({colour(theme, kind) for kind in (COPY, USE, STORE)}) == 3


def test_a_click_and_a_drag_scrub(score, qtbot):
    session = score.session
    session.playback.play()
    qtbot.mousePress(score, LEFT, pos=at(score, 5))
    assert session.cursor.step == 5 and not session.playback.playing
    qtbot.mouseMove(score, at(score, 17))
    assert session.cursor.step == score.value() == 17
    qtbot.mouseMove(score, QPoint(score.width() + 50, 30))
    assert session.cursor.step == session.cursor.steps - 1
    qtbot.mouseRelease(score, LEFT, pos=at(score, 17))
    qtbot.mouseMove(score, at(score, 3))
    assert session.cursor.step == session.cursor.steps - 1


def test_a_drag_between_two_steps_shows_the_middle_of_the_gesture(score, qtbot):
    session, place = score.session, score._layout()
    qtbot.mousePress(score, LEFT, pos=at(score, 14))
    assert session.cursor.fraction == 0
    for x, step in ((place.x(15), 14), (place.x(14), 13)):  # forth and back
        qtbot.mouseMove(score, QPoint(round(x), 30))
        assert session.cursor.step == step and session.cursor.fraction == pytest.approx(0.5, abs=0.1)
    qtbot.mouseMove(score, at(score, 15))
    assert (session.cursor.step, session.cursor.fraction) == (15, 0)
    many = replace(place, steps=10 * int(place.width))
    assert many.position_at(place.left + 3.34) == many.step_at(place.left + 3.34) == 33


def test_shift_and_a_drag_loop_a_range_whose_ends_can_be_dragged(score, qtbot):
    session = score.session
    qtbot.mousePress(score, LEFT, SHIFT, pos=at(score, 12))
    qtbot.mouseMove(score, at(score, 6))
    qtbot.mouseRelease(score, LEFT, pos=at(score, 6))
    assert session.playback.loop_range == (6, 12) and session.cursor.step == 0
    place = score._layout()
    for end, to, expected in ((place.x(13), 18, (6, 18)), (place.x(6), 2, (2, 18)), (place.x(2), 24, (18, 18))):
        qtbot.mousePress(score, LEFT, pos=QPoint(round(end), 40))
        qtbot.mouseMove(score, at(score, to))
        qtbot.mouseRelease(score, LEFT, pos=at(score, to))
        assert session.playback.loop_range == expected


def test_steps_outside_the_loop_are_dimmed(score):
    session = score.session
    session.cursor.seek(0)
    before = score.grab().toImage()
    session.playback.set_loop_range(4, 11)
    after = score.grab().toImage()
    outside, inside = at(score, 20, 0.6), at(score, 6, 0.6)
    assert after.pixelColor(outside) != before.pixelColor(outside)
    assert after.pixelColor(inside) == before.pixelColor(inside)


def test_flags_lead_to_the_stops_of_the_tour_and_show_their_sentences(score, qtbot):
    session = score.session
    tour = session.tour
    for step, say in ((4, "Both tiles are in."), (16, "The second tile.")):
        session.cursor.seek(step)
        session.own_stops.add(OwnStop(step, say))
    session.guide.show_own(0)
    assert session.cursor.step == 4
    flag = QPoint(round(score._layout().x(16)) + 4, 4)
    assert "Stop 2: The second tile." in score.tip(flag.x(), flag.y())
    qtbot.mouseClick(score, LEFT, pos=flag)
    assert session.cursor.step == 16 and tour.at == 1


def test_flags_of_steps_close_to_each_other_stand_beside_each_other(score, qtbot):
    session = score.session
    for step in (3, 4, 5, 6, 23, 24):
        session.cursor.seek(step)
        session.own_stops.add(OwnStop(step, f"Step {step}."))
    session.guide.show_own(0)
    score.resize(150, score.height())
    boxes = list(score._flags(score._layout()).values())
    assert len(boxes) == 6 and all(a.right() < b.left() for a, b in pairwise(boxes))
    assert boxes[0].left() >= 0 and boxes[-1].right() <= score.width()
    qtbot.mouseClick(score, LEFT, pos=boxes[2].center().toPoint())
    assert session.tour.at == 2 and session.cursor.step == 5


def test_a_position_shows_its_step_tile_and_phase_and_the_names_are_a_legend(score):
    spot = at(score, 20)
    text = score.tip(spot.x(), spot.y())
    assert "Step 21 of 25" in text and "tile 2 of 2 (k 4–7) is used" in text and "phase 4" in text
    barrier = int(score.session.cursor.playable.story.barriers[0])
    place = score._layout()
    mark = score.tip(place.x(barrier), place.head - 2)
    assert "Barrier between phase 1 and phase 2" in mark and "wait here for each other" in mark
    assert "Barrier" not in score.tip(place.x(barrier), place.head + 5)
    legend = score.tip(5, 40)
    assert (
        all(word in legend for word in ("copy", "use", "write C", "barrier", "no time")) and "read A, B" not in legend
    )


def test_it_is_a_slider_to_a_screen_reader(score):
    score.session.cursor.seek(20)
    text = QAccessible.queryAccessibleInterface(score)
    assert text.role() == QAccessible.Role.Slider
    assert text.text(QAccessible.Text.Name) == "Step"
    assert text.valueInterface().currentValue() == 20 and text.valueInterface().maximumValue() == 24
    assert "tile 2" in text.text(QAccessible.Text.Description)
    score.session.cursor.seek(24)
    assert "C is written" in text.text(QAccessible.Text.Description)


def test_keys_and_the_wheel_step_by_the_chosen_unit(score, qtbot):
    session = score.session
    session.cursor.choose_unit("tile")
    score.setFocus()
    qtbot.keyClick(score, Qt.Key.Key_Right)
    assert session.cursor.step == 12
    qtbot.keyClick(score, Qt.Key.Key_Home)
    assert session.cursor.step == 0
    down = QWheelEvent(
        QPointF(200, 30),
        score.mapToGlobal(QPointF(200, 30)),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(score, down)
    assert session.cursor.step == 12


def test_the_lanes_are_drawn_once_and_not_at_every_step(score, monkeypatch):
    from gemmviz.ui.stage import score_drawing

    drawn = []
    draw = score_drawing.draw
    score.grab()
    monkeypatch.setattr(score_drawing, "draw", lambda *args: drawn.append(1) or draw(*args))
    for step in range(12):
        score.session.cursor.seek(step)
        score.grab()
    assert not drawn
    score.session.preferences.set_theme("light")
    score.grab()
    assert len(drawn) == 1


def test_the_box_shows_and_chooses_the_unit_and_explains_a_missing_one(transport, qtbot):
    session, box = transport.session, transport.unit
    assert box.currentText() == "step"
    session.cursor.next_unit(-1)
    assert box.currentText() == "tile" and "tile" in transport.forward.toolTip()
    element = box.findData("element")
    assert not box.model().item(element).isEnabled() and "No cell" in box.model().item(element).toolTip()
    session.cursor.pick((2, 0), 0)
    assert box.model().item(element).isEnabled()
    box.setCurrentIndex(element)
    box.activated.emit(element)
    assert session.cursor.unit == "element"
    qtbot.mouseClick(transport.forward, LEFT)
    assert session.cursor.step == session.cursor.stations("element")[1]


def test_a_rung_without_tiles_has_other_lanes(transport, score):
    transport.session.cursor.show(played("gpumult1", 8, {"BX": 4, "BY": 4}))
    assert [lane for lane in ("copy", "use", "read A, B", "write C") if lane in score.tip(5, 40)] == [
        "read A, B",
        "write C",
    ]
    assert "past shared memory" in score.tip(at(score, 3).x(), 30)
    assert not score.grab().isNull()
    transport.session.cursor.show(None)
    assert not transport.isEnabled() and not score.grab().isNull()
