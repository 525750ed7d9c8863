# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The Hopper scene: barriers beside the ring of stages, copies in flight, owners of the sums, boxes under the lens."""

from functools import cache

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.hopper.tma_activity import tma_activity
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.lenses.registry import LENSES_BY_NAME
from gemmviz.ui.look.theme import THEMES, rgb
from gemmviz.ui.stage import legend
from gemmviz.ui.stage.barrier_strip import BarrierStrip
from gemmviz.ui.stage.hues import group_colour, owner_colours
from gemmviz.ui.stage.in_flight import InFlight, rectangles
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter, View
from gemmviz.ui.stage.stage import Stage

DARK = THEMES["dark"]
RECT = QRectF(0, 0, 1000, 640)


@cache
def rung(name: str, problem: Problem, **params: int) -> Playable:
    recording = record(launch(find(name, ladder()), problem, params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


def specialised() -> Playable:
    return rung("warp_specialised", Problem(64, 64, 384), BM=64, BN=64, STAGES=3)


def two_groups() -> Playable:
    return rung("two_consumers", Problem(128, 64, 128), BN=64, STAGES=2)


def image_of(painter: StagePainter, moment: Moment, rect: QRectF = RECT) -> QImage:
    image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    painter.paint(into, rect, moment)
    into.end()
    return image


def when_waiting(playable: Playable, barrier: tuple[str, int]) -> int:
    """Return the first step at which the producer waits for a barrier."""
    number = playable.recording.barriers.index(barrier)
    steps = range(playable.timeline.steps)
    return next(s for s in steps if playable.mbarrier_states.at(s, 0)[number].waiting.tolist() == [0])


# Barriers


@pytest.mark.parametrize("rect", [RECT, QRectF(0, 0, 640, 330), QRectF(0, 0, 1600, 900)], ids=["usual", "low", "large"])
def test_the_barriers_overlap_nothing_else(qapp, rect):
    painter = StagePainter(specialised(), DARK, QFont())
    plan = painter.plan(rect, View())
    placed, aside = plan.panels, plan.aside
    assert aside is not None
    box = QRectF(aside.x, aside.y, aside.width, aside.height)
    assert painter.seen(rect).adjusted(-1, -1, 1, 1).contains(box)
    assert not any(box.intersects(QRectF(p.x, p.y, p.width, p.height)) for p in placed)


def test_a_kernel_without_barriers_has_the_usual_layout(qapp):
    playable = rung("gputiled", Problem.cube(8), TS=4)
    painter = StagePainter(playable, DARK, QFont())
    assert painter.plan(RECT, View()).aside is None and BarrierStrip(playable, DARK).sizes(QFont()) == []


@pytest.mark.parametrize(("rect", "size"), [(RECT, 0), (QRectF(0, 0, 560, 260), 1)], ids=["full", "lamps alone"])
def test_each_barrier_describes_itself(qapp, rect, size):
    playable, font = specialised(), QFont()
    font.setPixelSize(16)
    painter = StagePainter(playable, DARK, font)
    aside = painter.plan(rect, View()).aside
    assert aside is not None and aside.size == size
    step = when_waiting(playable, ("empty", 0))
    text = set()
    for x in np.arange(aside.x, aside.x + aside.width, 4):
        for y in np.arange(aside.y, aside.y + aside.height, 4):
            text.add(painter.about(rect, Moment(step), x, y))
    message = "\n".join(text)
    assert all(f"{name}[{stage}]" in message for name in ("full", "empty") for stage in range(3))
    assert "producer waits for empty[0]" in message and "16\N{NARROW NO-BREAK SPACE}384 of 16" in message


def test_the_lamps_change_with_the_phases(qapp):
    playable = specialised()
    painter = StagePainter(playable, DARK, QFont())
    place = painter.plan(RECT, View()).aside
    box = QRectF(place.x, place.y, place.width, place.height).toRect()
    states = [repr(playable.mbarrier_states.at(step, 0)) for step in range(playable.timeline.steps)]
    pictures = [image_of(painter, Moment(step, motion="none")).copy(box) for step in range(playable.timeline.steps)]
    for step in range(1, len(states)):
        assert (pictures[step] == pictures[step - 1]) == (states[step] == states[step - 1]), step


def test_the_caption_shows_the_waiting_warps_and_their_barriers(qapp):
    playable = specialised()
    painter = StagePainter(playable, DARK, QFont())
    waiting = when_waiting(playable, ("empty", 0))
    assert "producer waits for empty[0]" in painter.sentence(Moment(waiting))
    assert "warpgroup 1 waits for full[0]" in painter.sentence(Moment(0))
    assert "wait" not in painter.sentence(Moment(playable.timeline.steps - 1))


def test_boxes_in_flight_are_counted_as_boxes(qapp):
    painter = StagePainter(specialised(), DARK, QFont())
    # The producer has issued a box of A and one of B for each of three stages, and none has arrived yet.
    step = when_waiting(specialised(), ("empty", 0))
    assert "6 boxes of the block in flight" in painter.sentence(Moment(step))


# Copies in flight


def test_every_cell_that_a_copy_goes_to_is_marked(qapp):
    playable = rung("warp_specialised", Problem(64, 256, 192), BM=64, BN=256, STAGES=3)
    flights, log = playable.async_copies, playable.recording.accesses
    flying = [len(flights.at(step, 0)) for step in range(playable.timeline.steps)]
    step = int(np.argmax(flying))
    assert flying[step] * 8 == 3 * 64 * (64 + 256)  # elements: three stages of a tile of A and one of B
    drawn = InFlight(playable, DARK)
    write = flights.write[flights.at(step, 0)]
    for array in np.unique(log.array[write]).tolist():
        _, elements, _ = playable.recording.covered(write[log.array[write] == array])
        marked = np.zeros(playable.recording.arrays[array].grid, bool)
        for top, bottom, left, right in drawn.areas(Moment(step), array)[0]:
            assert not marked[top:bottom, left:right].any()
            marked[top:bottom, left:right] = True
        assert np.array_equal(np.flatnonzero(marked), np.unique(elements))


def test_cells_are_cut_into_rectangles_without_a_gap():
    random = np.random.default_rng(5)
    for _ in range(20):
        inside = random.random((9, 7)) < 0.6
        drawn = np.zeros_like(inside)
        for top, bottom, left, right in rectangles(inside):
            drawn[top:bottom, left:right] = True
        assert (drawn == inside).all()


@pytest.mark.sweep("4000")
@pytest.mark.parametrize("width", [500, 1000, 4000])
def test_boxes_in_flight_are_visible_at_any_size(qapp, width):
    playable, rect = specialised(), QRectF(0, 0, width, width * 0.64)
    painter = StagePainter(playable, DARK, QFont())
    step = when_waiting(playable, ("empty", 0))
    amber = np.array(rgb(DARK.write))
    panels = {p.name: p for p in painter.panels(rect, View())}
    for moment, expected in ((Moment(step, trail=1), True), (Moment(playable.timeline.steps - 1, trail=1), False)):
        image = image_of(painter, moment, rect)
        for name in ("As", "Bs"):
            panel = panels[name]
            for stage in range(3):
                y = panel.y + panel.height * (stage + 0.5) / 3
                colours = [image.pixelColor(int(panel.x + x), int(y)) for x in np.arange(0, panel.width)]
                near = [np.abs(np.array([c.red(), c.green(), c.blue()]) - amber).max() < 60 for c in colours]
                assert any(near) == expected, (name, stage)


# Sums


def test_the_legend_shows_which_warpgroups_own_sums(qapp):
    texts = [entry.text for entry in legend.entries(two_groups(), DARK, 0)]
    wanted = ["sums of warpgroup 1", "of warpgroup 2", "warpgroup 0: none"]
    assert [text for text in texts if "warpgroup" in text] == wanted
    assert not any("warpgroup" in e.text for e in legend.entries(rung("gputiled", Problem.cube(8), TS=4), DARK, 0))


def test_the_legend_explains_the_marks_of_barriers_where_there_are_any(qapp):
    shown = "barrier: its phase; dots: arrivals; −: bytes missing"
    painter, moment = StagePainter(two_groups(), DARK, QFont()), Moment(0)
    plan = painter.plan(RECT, View())
    assert plan.aside is not None and shown in [entry.text for entry in painter._entries(moment, plan)]
    painter.lens = LENSES_BY_NAME["pipeline"]
    assert shown not in [entry.text for entry in painter._entries(moment, plan)]  # it covers them


def test_each_warpgroup_has_its_own_hue(qapp):
    recording = two_groups().recording
    colours = owner_colours(recording, DARK).astype(int)
    upper, lower = colours[:64].reshape(-1, 3), colours[64:].reshape(-1, 3)
    # No shade of the one is a shade of the other, and the legend's box has one of its group.
    assert not {tuple(c) for c in upper} & {tuple(c) for c in lower}
    for group, shades in ((1, upper), (2, lower)):
        assert np.abs(shades - group_colour(recording, DARK, 0, group)).max(axis=1).min() <= 1


def test_the_sums_are_labelled_at_their_place(qapp, qtbot):
    session = Session(ladder(), "dark")
    stage = Stage(session.staged)
    qtbot.addWidget(stage)
    stage.resize(1000, 640)
    session.choice.choose_kernel(find("two_consumers", ladder()))
    session.cursor.show(two_groups())
    panel = stage.panels()[2]

    def tip(row: int, column: int) -> str:
        return stage.tip(QPointF(panel.x + (column + 0.5) * panel.cell, panel.y + (row + 0.5) * panel.cell))

    assert "warp 4, lane 14" in tip(3, 5) and "warpgroup 1: 32 sums" in tip(3, 5)
    assert "warp 8, lane 14" in tip(67, 5) and "warpgroup 2: 32 sums" in tip(67, 5)


def test_a_chosen_sum_shows_all_sums_of_its_thread(qapp):
    playable = two_groups()
    painter, rect = StagePainter(playable, DARK, QFont()), QRectF(0, 0, 2000, 1400)
    element = 3 * 64 + 5
    image, panel = image_of(painter, Moment(0, cell=(2, element)), rect), painter.panels(rect, View())[2]
    white = np.array(rgb(DARK.selection))

    def lined(row: int, column: int) -> bool:
        """Return whether there is a line between a cell and the cell to its left."""
        x, y = round(panel.x + column * panel.cell), int(panel.y + (row + 0.5) * panel.cell)
        colours = [image.pixelColor(at, y) for at in (x - 1, x, x + 1)]
        return any(np.abs(np.array([c.red(), c.green(), c.blue()]) - white).max() < 60 for c in colours)

    held = {int(c) for c in playable.warpgroups.of_thread(3, 5)}
    # Away from the marks of the chosen cell itself, and from the lines around the groups.
    chosen = [(row, column) for row in (3, 11, 20, 40) for column in range(10, 60)]
    wanted = [(row * 64 + column in held) != (row * 64 + column - 1 in held) for row, column in chosen]
    assert any(wanted) and [lined(*cell) for cell in chosen] == wanted


# The lens


@pytest.fixture
def inspector(make_inspector):
    inspector = make_inspector(700, 320)
    inspector.session.choice.choose_kernel(find("warp_specialised", ladder()))
    inspector.session.cursor.show(specialised())
    inspector.show_panel("warp")
    return inspector


def test_the_lens_shows_the_box_that_the_warp_requested(inspector):
    session, panel = inspector.session, inspector.warp
    playable = specialised()
    (box,) = tma_activity(playable, 0, 0)
    session.cursor.seek(0)
    assert "copy engine reads a box of A" in panel.head.text()
    for text in ("thread 0, warp 0", "64 × 64", "A[0, 0]", "As[0, 0, 0]", "swizzle over 128", "full[0]"):
        assert text in f"{panel.cost.text()} {panel.about_box.text()}", text
    assert panel.box.isVisible() and not panel.view.isVisible()
    session.cursor.seek(box.arrived)
    assert "copy engine writes a box to As" in panel.head.text()


def test_the_lens_of_the_producer_is_never_empty(inspector):
    session, panel = inspector.session, inspector.warp
    for step in range(0, specialised().timeline.steps, 7):
        session.cursor.seek(step)
        assert "copy engine" in panel.head.text() and panel.cost.text()
    assert "last box" in panel.cost.text()


def test_the_lens_of_another_warp_names_the_warp_of_the_box(inspector):
    session, panel = inspector.session, inspector.warp
    session.cursor.choose_warp(4)
    session.cursor.seek(0)
    assert "Warp 4" in panel.head.text() and panel.view.isVisible() and not panel.box.isVisible()
    assert "warp 0 asked for a box" in panel.cost.text()


@pytest.mark.parametrize("theme", list(THEMES))
def test_the_pieces_of_a_box_are_in_swizzled_order(inspector, theme):
    view = inspector.warp.box
    inspector.session.preferences.set_theme(theme)
    inspector.session.cursor.seek(0)
    image = view.grab().toImage()
    line, colour = view._line(), np.array(rgb(THEMES[theme].read))
    found = []
    for row in range(8):
        y = int(2 + (row + 1) * line + 2)
        pixels = [image.pixelColor(x, y) for x in range(image.width())]
        found.append([x for x, c in enumerate(pixels) if np.abs([c.red(), c.green(), c.blue()] - colour).max() < 10])
    # The first piece of each row stands one place further right than the row before it.
    starts = [places[0] for places in found]
    steps = np.diff(starts)
    assert (steps > 20).all() and np.ptp(steps) <= 1
