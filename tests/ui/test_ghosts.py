# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Gestures on the stage: ghosts between cells, running sums in C, pictures that depend only on the position."""

import re
from functools import cache
from zlib import crc32

import numpy as np
import pytest
from cell_places import cell_of
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.session import Session, picture_params
from gemmviz.session.values.picture_size import picture_problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.look.theme import THEMES, rgb
from gemmviz.ui.stage.cell_values import LIVE, STORED, CellValues
from gemmviz.ui.stage.ghost_places import ends, places
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter, View

RECT = QRectF(0, 0, 1000, 700)
RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and not kernel.exhibit]
THEME = THEMES["dark"]


@cache
def shown(name):
    kernel = find(name, ladder())
    problem = picture_problem(kernel)
    recording = record(launch(kernel, problem, picture_params(kernel, problem)))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


def picture(painter, moment):
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    painter.paint(into, RECT, moment)
    into.end()
    return image


def corner_of(info, panel, element):
    """Return the position of an element's cell, relative to the first cell of its array."""
    row, column = cell_of(info, element)
    return panel.x + column * panel.cell, panel.y + row * panel.cell, panel.cell


@pytest.mark.sweep("packed", "gputiled", "async_pipeline", "wgmma")
@pytest.mark.parametrize("name", RUNGS)
def test_a_ghost_is_between_the_recorded_cells(qapp, name):
    playable = shown(name)
    painter = StagePainter(playable, THEME, QFont())
    panels = painter.panels(RECT, Moment().view)
    arrays = playable.recording.arrays
    random = np.random.default_rng(crc32(name.encode()))
    begins = np.unique(painter._ghosts.flights(Moment(0)).begin)
    block_flights = painter._ghosts._flights[1].all
    assert begins is not None and bool(len(block_flights)) == playable.fills_shared
    for which in random.integers(len(block_flights), size=10).tolist() if len(block_flights) else []:
        begin, end = int(block_flights.begin[which]), int(block_flights.end[which])
        step, fraction = int(random.integers(begin, end)), float(random.random())
        flights = painter._ghosts.flights(Moment(step))
        at = places(flights, ends(playable, panels, flights), step + fraction)
        same = (flights.target == block_flights.target[which]) & (
            flights.target_element == block_flights.target_element[which]
        )
        mine = int(np.flatnonzero(same & (flights.begin == begin) & (flights.end == end))[0])
        # The way: one step, or out during the first and in during the last.
        gesture = fraction if end - begin == 1 else 0.5 * min(step + fraction - begin, 1)
        if end - begin > 1:
            gesture += 0.5 * max(step + fraction - end + 1, 0)
        x = min(max((gesture - 0.15) / 0.75, 0), 1)
        along = 4 * x**3 if x < 0.5 else 1 - (2 - 2 * x) ** 3 / 2
        source, target = (
            corner_of(arrays[array], panels[array], element)
            for array, element in (
                (int(block_flights.source[which]), int(block_flights.source_element[which])),
                (int(block_flights.target[which]), int(block_flights.target_element[which])),
            )
        )
        wanted = [a + (b - a) * along for a, b in zip(source, target, strict=True)]
        assert (at.x[mine], at.y[mine], at.side[mine]) == pytest.approx(wanted)


def test_ghosts_are_painted_at_their_positions(qapp):
    playable = shown("gputiled")
    painter = StagePainter(playable, THEME, QFont())
    panels = painter.panels(RECT, Moment().view)
    step = int(np.flatnonzero((playable.timeline.array == 1) & ~playable.timeline.write)[0])
    hue, seen = QColor(*THEME.owner(0, 0)).rgb(), []
    for fraction in (0.0, 0.5, 0.8):
        moment = Moment(step, fraction=fraction)
        image = picture(painter, moment)
        flights = painter._ghosts.flights(moment)
        at = places(flights, ends(playable, panels, flights), step + fraction)
        # A place of the cell that its figure and its frame leave free, on the arc.
        x = 0.15
        rise = 10 * np.sin(np.pi * float(np.clip(fraction and _along(fraction), 0, 1)))
        inside = [
            image.pixel(round(float(cx + side * x)), round(float(cy - rise + side * 0.5))) == hue
            for cx, cy, side in zip(at.x, at.y, at.side, strict=True)
        ]
        seen.append(sum(inside))
    assert seen[0] == 0 and seen[1] == seen[2] == len(inside)


def _along(fraction):
    x = min(max((fraction - 0.15) / 0.75, 0), 1)
    return 4 * x**3 if x < 0.5 else 1 - (2 - 2 * x) ** 3 / 2


def test_a_picture_does_not_depend_on_the_way_to_its_position(qapp):
    playable = shown("gputiled")
    positions = np.random.default_rng(3).random(14) * (playable.timeline.steps - 1)
    fresh = [picture(StagePainter(playable, THEME, QFont()), at(p)) for p in positions.tolist()]
    painter = StagePainter(playable, THEME, QFont())
    again = [picture(painter, at(p)) for p in [*positions.tolist(), *positions.tolist()[::-1]]]
    assert all(one == other for one, other in zip([*fresh, *fresh[::-1]], again, strict=True))


def at(position, **more):
    return Moment(int(position), fraction=position - int(position), **more)


def test_faster_means_less_motion_and_reduced_motion_none(qapp):
    session = Session([find("gputiled", ladder())], "dark")
    playback = session.playback
    session.cursor.show(shown("gputiled"))
    assert session.player.motion == "full"
    playback.play()
    texts = []
    for speed in (0.5, 1.0, 2.0, 4.0, 8.0):
        playback.set_speed(speed)
        texts.append(session.player.motion)
    assert texts == ["full", "full", "plain", "bare", "none"]
    session.preferences.set_calm(True)
    assert session.player.motion == "line"


def test_between_two_steps_a_playing_stage_moves_and_its_values_wait(qapp):
    session = Session([find("gputiled", ladder())], "dark")
    playable = shown("gputiled")
    session.cursor.show(playable)
    moved, stepped = [], []
    session.cursor.moved.connect(lambda: moved.append(session.cursor.fraction))
    session.cursor.stepped.connect(lambda: stepped.append(session.cursor.step))
    session.playback.play()
    for _ in range(70):
        session.advance(0.016)
    assert stepped == [1] and len(moved) > 50
    assert all(0 < fraction < 1 for fraction in moved)


def test_running_sums_are_in_c_and_stored_ones_are_bold(qapp):
    playable = shown("gputiled")
    whole, steps = (slice(0, 8), slice(0, 8)), playable.timeline.steps
    found = CellValues(playable)

    def shown_at(step):
        message = found.at(2, step, 0, whole, summed=True)
        styles = {style for row in message.styles for style in row}
        return [[float(text.replace("–", "-")) for text in row] for row in message.texts], styles

    assert shown_at(steps - 3) == (playable.live_sums.at(steps - 3).tolist(), {LIVE})
    assert shown_at(steps - 1) == (playable.recording.c.tolist(), {STORED})
    assert {text for row in found.at(2, 0, 0, whole, summed=True).texts for text in row} == {""}
    assert shown_at(steps - 3) == (playable.live_sums.at(steps - 3).tolist(), {LIVE})
    assert rgb(THEME.read) != THEME.owner(0, 0)


def test_what_is_added_stands_at_its_sum_while_the_product_is_on_its_way(qapp, monkeypatch):
    painter, moment = StagePainter(shown("gputiled"), THEME, QFont()), at(19.5, motion="full", cell=(2, 17))
    written = []
    monkeypatch.setattr(painter._gestures, "_chip", lambda into, text, *of: written.append(text))
    picture(painter, moment)
    (added, product), known = written[-2:], painter._gestures.products(moment)
    assert product.endswith(f"= {added.lstrip('+')}") and known is not None and len(known) == 1
    written.clear()
    picture(painter, at(19.0, motion="full", cell=(2, 17)))
    assert not written


def test_below_a_lens_copies_are_drawn_inside_their_matrices_only(qapp):
    playable = shown("gputiled")
    step = int(np.flatnonzero((playable.timeline.array == 1) & ~playable.timeline.write)[0])
    stage, moment = StagePainter(playable, THEME, QFont()), at(step + 0.6)
    panels = stage.panels(QRectF(0, 0, 900, 700), View())
    images = []
    for covered in (False, True):
        image = QImage(900, 700, QImage.Format.Format_RGB32)
        image.fill(0)
        into = QPainter(image)
        stage._ghosts.draw(into, panels, moment, 1.0, covered)
        into.end()
        images.append(np.frombuffer(image.constBits(), np.uint32).reshape(700, 900) & 0xFFFFFF)
    outside = np.ones((700, 900), bool)
    for p in panels[:3]:
        box = QRectF(p.x, p.y, p.width, p.height).toRect()
        outside[box.top() : box.bottom() + 1, box.left() : box.right() + 1] = False
    assert (images[0][outside] > 0).any()
    assert not (images[1][outside] > 0).any()


@pytest.mark.parametrize("name", ["gputiled", "wgmma"])
def test_a_label_names_the_recorded_elements_that_move_and_their_array(qapp, name):
    playable = shown(name)
    painter = StagePainter(playable, THEME, QFont())
    panels, ghosts = painter.panels(RECT, Moment().view), painter._ghosts
    ghosts.flights(Moment(0))
    arrays, flights = playable.recording.arrays, ghosts._flights[1].all
    for step in np.unique(flights.begin).tolist()[:3]:
        moment = at(step + 0.5)
        labels = ghosts._labelled(panels, ghosts._at(panels, moment), moment, False)
        assert labels
        mine = (flights.begin == step) | (flights.end == step + 1)
        sources = {arrays[array].name for array in flights.source[mine].tolist()}
        for place, text in labels:
            source, rows, columns, target = re.fullmatch(r"(\w+)\[([\d–]+)\]\[([\d–]+)\] → (\w+)", text).groups()
            assert source in sources
            array = next(number for number, one in enumerate(arrays) if one.name == source)
            at_source = mine & (flights.source == array)
            row, column = arrays[array].cells(flights.source_element[at_source])
            for span, seen in ((rows, row), (columns, column)):
                first, _, last = span.partition("–")
                assert seen.min() <= int(first) <= int(last or first) <= seen.max()
            assert {arrays[t].name for t in flights.target[at_source].tolist()} == {target}
            assert any(area.contains(place) for area in ghosts.areas(panels, moment))
        calm = Moment(step, fraction=0.5, motion="plain")
        assert ghosts._labelled(panels, ghosts._at(panels, calm), calm, False) == []


def test_below_a_lens_labels_are_inside_their_matrices_only(qapp):
    painter = StagePainter(shown("wgmma"), THEME, QFont())
    ghosts, seen = painter._ghosts, []
    ghosts.flights(Moment(0))
    step = int(ghosts._flights[1].all.begin.min())
    for fraction in (0.2, 0.4, 0.6):
        panels, moment = painter.panels(RECT, Moment().view), at(step + fraction)
        labels = ghosts._labelled(panels, ghosts._at(panels, moment), moment, True)
        matrices = [QRectF(p.x, p.y, p.width, p.height) for p in panels[:3]]
        assert all(any(matrix.contains(place) for matrix in matrices) for place, _ in labels)
        seen += labels
    assert seen
