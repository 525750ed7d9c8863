# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""After a barrier is removed, the stage shows the values that the threads really read."""

from functools import cache

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from pixels import pixel, pixels
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.value_path import hop_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.inspect.inspector_text import hop_text
from gemmviz.ui.look.theme import THEMES, rgb
from gemmviz.ui.stage.caption import about_cell, caption, number, wrong_text
from gemmviz.ui.stage.cell_values import CellValues
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.wrong_marks import WrongMarks

THEME = THEMES["light"]


@cache
def playable(name: str, m: int, n: int, k: int, change: str = "", **params: int) -> Playable:
    kernel = find(name, ladder())
    recording = record(launch(broken(kernel, [change]) if change else kernel, Problem(m, n, k), params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


def race() -> tuple[Playable, int, int, int]:
    """Return a race, and the step, array and element of a read in block 0 that got NaN instead of a value."""
    shown = playable("gputiled", 7, 6, 9, "no-first-barrier", TS=4)
    for step in range(shown.timeline.steps):
        lost = shown.stale_reads(step, 0)
        nan = np.flatnonzero(np.isnan(lost.got))
        if len(nan):
            return shown, step, int(shown.timeline.array[step]), int(lost.element[nan[0]])
    raise AssertionError("no thread read an uninitialised element")


@pytest.fixture
def inspector(make_inspector):
    return make_inspector(700, 240)


def painted(shown: Playable, moment: Moment) -> QImage:
    image = QImage(900, 700, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    StagePainter(shown, THEME, QFont()).paint(painter, QRectF(0, 0, 900, 700), moment)
    painter.end()
    return image


def marked_cells(shown: Playable, image: QImage, array: int) -> set[int]:
    """Return the cells of an array with more than a few pixels in the colour of wrong values."""
    panel = StagePainter(shown, THEME, QFont()).panels(QRectF(0, 0, 900, 700), Moment().view)[array]
    bad, found = pixels(image) == pixel(THEME.bad), set()
    for cell in range(panel.rows * panel.columns):
        row, column = divmod(cell, panel.columns)
        across, down = (
            slice(int(begin + at * panel.cell) + 1, int(begin + (at + 1) * panel.cell))
            for begin, at in ((panel.x, column), (panel.y, row))
        )
        if bad[down, across].sum() > panel.cell / 2:
            found.add(cell)
    return found


def test_cells_that_were_read_with_another_value_are_marked(qapp):
    shown, step, array, _ = race()
    wanted = set(shown.stale_reads(step, 0).element.tolist())
    assert marked_cells(shown, painted(shown, Moment(step)), array) == wanted
    whole = playable("gputiled", 7, 6, 9, TS=4)
    assert not marked_cells(whole, painted(whole, Moment(step)), array)


@pytest.mark.sweep("8")
@pytest.mark.parametrize("side", [8, 96])
def test_wrong_elements_of_c_are_tinted_at_every_zoom_and_right_ones_are_not(qapp, side):
    shown = playable("gputiled", side, side, side, "no-second-barrier", TS=4)
    step = shown.timeline.steps - 1
    image, wrong = painted(shown, Moment(step)), shown.wrong_from <= step
    assert wrong.any() and not wrong.all()
    panel = StagePainter(shown, THEME, QFont()).panels(QRectF(0, 0, 900, 700), Moment().view)[2]
    red, amber = (np.array(rgb(colour)) for colour in (THEME.bad, THEME.amber))
    # Away from the chosen warp, and from the edges of the blocks.
    inner = [(row, column) for row in range(side // 2, side) for column in range(side)]
    inner = [(row, column) for row, column in inner if row % 4 in (1, 2) and column % 4 in (1, 2)]
    assert side == 8 or {bool(wrong[cell]) for cell in inner} == {True, False}
    for row, column in inner:
        x, y = panel.x + (column + 0.25) * panel.cell, panel.y + (row + 0.8) * panel.cell
        seen = np.array(image.pixelColor(int(x), int(y)).getRgb()[:3])
        nearer = np.abs(seen - red).sum() < np.abs(seen - amber).sum()
        assert nearer == wrong[row, column], (row, column, seen)


def test_many_wrong_elements_are_one_outline_where_cells_are_small(qapp):
    wrong = np.zeros((100, 100), bool)
    wrong[10:60:2, 20:70:2] = True
    image = QImage(400, 400, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    WrongMarks(THEME).draw(painter, Panel(2, "C", 100, 100, 0, 0, 3), wrong, QRectF(0, 0, 400, 400), 1)
    painter.end()
    marked = {(x // 3, y // 3) for y, x in np.argwhere(pixels(image)[:300, :300] & 0xFFFFFF)}
    assert marked and all(x in (19, 20, 68, 69) or y in (9, 10, 58, 59) for x, y in marked)


def test_the_caption_shows_the_value_that_was_read(qapp):
    shown, step, array, element = race()
    count = len(shown.stale_reads(step, 0).row)
    assert f"{count} reads get OTHER VALUES" in caption(shown, step, 0)
    held = number(float(shown.history.values(array, step, 0)[element]))
    assert about_cell(shown, array, element, step, 0).startswith(f"READ NaN, not {held}")
    whole = playable("gputiled", 7, 6, 9, TS=4)
    assert "OTHER" not in caption(whole, step, 0)
    assert "READ" not in about_cell(whole, array, element, step, 0)


def test_the_arrow_of_a_misread_value_is_drawn_as_wrong(qapp):
    shown, _, _, _ = race()
    fed = shown.provenance.operand_paths(0, 3)
    lost = shown.provenance.stale_reads(fed, 0, 3)
    for place, wrong in ((int(lost.argmax()), True), (int(lost.argmin()), False)):
        hop = hop_at(shown, fed, place, (2, 3))
        without, drawn = (painted(shown, Moment(0, hop=one)) for one in (None, hop))
        drawn, without = pixels(drawn), pixels(without)
        assert bool(((drawn != without) & (drawn == pixel(THEME.bad))).any()) == wrong
        assert ("the thread READ" in hop_text(shown, hop)) == wrong


def test_the_origin_tab_shows_the_value_that_was_read_instead(inspector):
    shown, _, _, _ = race()
    session = inspector.session
    inspector.show_panel("origin")
    session.cursor.show(shown)
    session.cursor.pick((2, 3), 0)
    model = inspector.origin.table.model()
    lost = shown.provenance.stale_reads(model.fed, 0, 3)
    assert f"✗ {int(lost.sum())} READ as other values" in inspector.origin.head.text()
    assert "WRONG: NaN instead of " in inspector.origin.head.text()
    for row, wrong in enumerate(lost.tolist()):
        text = model.texts(row)[1]
        assert ("✗ READ " in text) == wrong
        if wrong:
            hop = model.hop(row)
            assert text.endswith(f"READ {number(hop.use.value)}, not {number(hop.read.value)}")


def test_the_thread_tab_shows_only_operands_that_were_read(inspector):
    shown, step, array, _ = race()
    lost = shown.stale_reads(step, 0)
    session = inspector.session
    session.cursor.show(shown)
    session.cursor.pick(None, 0)
    session.cursor.seek(step)
    inspector.show_panel("thread")
    for row, got, held in zip(lost.row.tolist(), lost.got.tolist(), lost.held.tolist(), strict=True):
        session.inspection.choose_lane(int(shown.recording.accesses.thread[row]))
        name = shown.recording.arrays[array].name
        assert (
            f": READ {number(got)}, not {number(held)}, from {name} at step {step + 1}"
            in inspector.by_thread.text.text()
        )


def test_values_that_do_not_give_the_stored_one_are_reported(inspector):
    shown = playable("mm_optimizado_store_in_loop~sum-per-stage", 8, 8, 8, BLOCK_SIZE=4)
    recording = shown.recording
    row, column = (int(at[0]) for at in np.nonzero(recording.c != recording.a @ recording.b))
    total, stored = number(float(recording.a[row] @ recording.b[:, column])), number(float(recording.c[row, column]))
    element = row * 8 + column
    text = about_cell(shown, 2, element, 0, 0)
    assert f"sum {total}, STORED {stored}" in text and "fed by" not in text
    session = inspector.session
    session.cursor.show(shown)
    session.cursor.pick((2, element), int(recording.owners[0][row, column]))
    inspector.show_panel("origin")
    assert f"do not give the stored value (sum {total}, STORED {stored})" in inspector.origin.head.text()
    inspector.show_panel("thread")
    text = inspector.by_thread.text.text()
    assert f"The thread STORED {stored}, which is not their sum ({total})." in text
    assert "the values read for it give 0 of 8 products" in text
    right = np.argwhere(recording.c == recording.a @ recording.b)[0].tolist()
    session.cursor.pick((2, right[0] * 8 + right[1]), int(recording.owners[0][tuple(right)]))
    assert "STORED" not in inspector.by_thread.text.text()


def test_nan_is_not_written_as_an_empty_text(qapp):
    assert [number(value) for value in (float("nan"), float("inf"), 3.0)] == ["NaN", "∞", "3"]
    shown, *_ = race()
    # The cells of C hold NaN in the end, and nothing before.
    found = CellValues(shown)
    whole = (slice(0, 7), slice(0, 6))
    assert {text for row in found.at(2, 0, 0, whole).texts for text in row} == {""}
    end = found.at(2, shown.timeline.steps - 1, 0, whole).texts
    assert end[0][3] == "NaN" == number(float(shown.recording.c[0, 3]))
    assert wrong_text(shown.recording, 0, 3).startswith("WRONG: NaN instead of ")
    part = record(launch(find("gputiled", ladder()), Problem(7, 6, 9), {"TS": 4}), blocks=(0, 1))
    assert wrong_text(part, 6, 5).startswith("WRONG: no value instead of ")
