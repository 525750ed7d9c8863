# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""A thread: its operands, its sums, and the way of its values."""

import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo
from inspector_driving import playable
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter

from gemmviz.trace.origin.value_path import hop_at
from gemmviz.trace.playable import Playable
from gemmviz.ui.inspect.waterfall import Waterfall
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter


@pytest.fixture
def inspector(make_inspector):
    return make_inspector(576, 210)


def test_the_thread_tab_shows_operands_and_sums(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    assert "Record a kernel" in inspector.by_thread.text.text()
    session.cursor.show(playable("narrow_tiles", 16, BLOCK=8, BK=4, TT=4))
    session.cursor.pick((2, 1), 0)
    session.cursor.seek(session.cursor.steps - 1)
    text = inspector.by_thread.text.text()
    assert "k = 15: 4 + 4 values for 16 products" in text
    assert "C[0, 1]: 16 of 16 products" in text
    value = number(float(session.cursor.playable.recording.c[0, 1]))
    assert f"= {value}\n" in text and f"C[0, 1] in memory: {value}" in text
    assert "computed from the recorded operands" in text
    session.cursor.show(playable("hostmult0", 4))
    session.cursor.seek(session.cursor.steps - 1)
    assert inspector.by_thread.head.text() == "The loop"
    assert "C[3, 3]: 4 of 4 products" in inspector.by_thread.text.text()


def test_a_box_has_the_formulas_of_the_chosen_element_with_the_threads_values(inspector):
    session, box = inspector.session, inspector.by_thread.mine
    inspector.show_panel("thread")
    assert box.isHidden()
    session.cursor.show(playable("gputiled", 8, TS=4))
    for row, column in ((2, 1), (5, 6)):
        y, x = row // 4, column // 4
        session.cursor.pick((2, row * 8 + column), 2 * y + x)
        assert box.isVisible() and box.title.text() == "Which element is mine?"
        assert box.row.text() == f"row = blockIdx.y × TS + threadIdx.y = {y} × 4 + {row % 4} = {row}"
        assert box.column.text() == f"col = blockIdx.x × TS + threadIdx.x = {x} × 4 + {column % 4} = {column}"
    for other in (playable("hostmult0", 4), playable("matmul_tc_2d_warp_tiling", 32, WM=2, WN=2)):
        session.cursor.show(other)
        session.cursor.seek(session.cursor.steps - 1)
        assert box.isHidden()


def test_fragments_show_the_elements_of_each_lane_and_the_reuse_of_loads(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    session.cursor.show(playable("matmul_tc_2d_warp_tiling", 32, WM=2, WN=2))
    session.cursor.seek(session.cursor.steps // 2)
    assert "one load is used: A 2×, B 2×" in inspector.by_thread.head.text()
    assert inspector.by_thread.warp.isVisible() and not inspector.by_thread.product.isVisible()
    text = inspector.by_thread.text.text()
    assert "one load of A used 2 times" in text
    assert "lane 0 of A: [0, 16] [0, 17]" in text


def test_a_warp_that_only_copies_is_not_asked_for_another_lane(inspector):
    """At the demos of Hopper kernels, no lane of the first warp had a sum."""
    session = inspector.session
    inspector.show_panel("thread")
    session.cursor.show(at_demo("warp_specialised").prepare())
    session.cursor.seek(session.cursor.steps // 2)
    assert "No thread of this warp stores an element of C" in inspector.by_thread.text.text()
    session.cursor.choose_warp(4)
    assert "No thread of this warp" not in inspector.by_thread.text.text()


def test_the_thread_tab_draws_how_a_sum_grows_and_what_it_has_cost(inspector, monkeypatch):
    session, growth = inspector.session, inspector.by_thread.growth
    inspector.show_panel("thread")
    shown = playable("gputiled", 8, TS=4)
    session.cursor.show(shown)
    session.cursor.pick((2, 2 * 8 + 1), 0)
    session.cursor.seek(session.cursor.steps - 1)
    assert growth.isVisible()
    written = []
    monkeypatch.setattr(type(growth), "_write", lambda self, painter, place, text, *_, **__: written.append(text))
    growth.resize(400, 500)
    growth.grab()
    recording = shown.recording
    products = recording.a[2] * recording.b[:, 1]
    sums = [number(float(value)) for value in products.cumsum()]
    at = written.index("sum") + 1
    rows = [written[at + 5 * k : at + 5 * k + 5] for k in range(8)]
    assert [row[0] for row in rows] == [str(k) for k in range(8)]
    assert [row[4] for row in rows] == sums and sums[-1] == number(float(recording.c[2, 1]))
    # Of two tiles one value of A and one of B from global memory, and four of each from shared memory.
    assert written[at + 40 :][2::2] == ["4", "16", "8", "1"]


def test_in_a_high_window_the_cost_follows_the_sum_and_the_operands_take_no_more_than_they_need(inspector, monkeypatch):
    session, by_thread = inspector.session, inspector.by_thread
    inspector.show_panel("thread")
    session.cursor.show(playable("gputiled", 8, TS=4))
    session.cursor.pick((2, 2 * 8 + 1), 0)
    session.cursor.seek(session.cursor.steps - 1)
    lowest = {}

    def noted(self, painter, place, text, *_, **__):
        lowest[text] = place.bottom()

    monkeypatch.setattr(Waterfall, "_write", noted)
    by_thread.resize(480, 1000)
    by_thread.layout().activate()
    by_thread.growth.grab()
    line = by_thread.fontMetrics().height()
    assert by_thread.scrolled.height() <= max(155, 11 * line) + 10
    assert lowest["What it has cost so far"] < 20 * line < by_thread.growth.height()
    assert lowest["stored in C"] < by_thread.growth.height()
    session.cursor.show(playable("matmul_tc_2d_warp_tiling", 32, WM=2, WN=2))
    session.cursor.seek(session.cursor.steps - 1)
    by_thread.layout().activate()
    assert by_thread.scrolled.height() > 20 * line


def test_only_the_rows_that_changed_are_drawn_again(inspector, monkeypatch):
    session, growth = inspector.session, inspector.by_thread.growth
    inspector.show_panel("thread")
    session.cursor.show(playable("gputiled", 8, TS=4))
    session.cursor.pick((2, 2 * 8 + 1), 0)
    growth.resize(400, 500)
    session.cursor.seek(10)
    growth.grab()
    drawn, row = [], type(growth)._row

    def counted(self, *asked):
        drawn.append(asked)
        return row(self, *asked)

    monkeypatch.setattr(type(growth), "_row", counted)
    for step in range(11, session.cursor.steps):
        before = len(drawn)
        session.cursor.seek(step)
        kept = growth.grab().toImage()
        assert len(drawn) - before <= 2
    growth._rows = None
    assert growth.grab().toImage() == kept


def test_the_origin_tab_lists_every_hop_and_every_access(inspector, qtbot):
    session = inspector.session
    inspector.show_panel("origin")
    assert "Record a kernel" in inspector.origin.head.text()
    shown = playable("gputiled", 8, TS=4)
    session.cursor.show(shown)
    assert "Choose a cell" in inspector.origin.head.text()
    session.cursor.pick((2, 3 * 8 + 5), 1)
    assert "owned by block (1, 0), thread (1, 3), warp 0, lane 13" in inspector.origin.head.text()
    assert "16 values fed it" in inspector.origin.head.text()
    model = inspector.origin.table.model()
    assert model.rowCount() == 16
    row = [model.index(0, column).data() for column in range(model.columnCount())]
    assert row[1] == f"A[3, 0] = {number(float(shown.recording.a[3, 0]))}" and row[4] == "As[3, 0]"
    index = model.index(5, 3)
    inspector.origin.table.doubleClicked.emit(index)
    assert session.cursor.step == model.hop(5).read.step
    session.cursor.pick((3, 0), 1)
    model = inspector.origin.table.model()
    assert model.rowCount() == 10, "eight reads, two writes of this block"
    assert inspector.origin.head.text() == "As[0, 0]  ·  bank 0 of block (1, 0)  ·  read 8×, written 2× in all"
    assert model.index(0, 2).data() == "write"
    session.cursor.show(playable("hostmult1", 4))
    session.cursor.pick((2, 0))
    assert inspector.origin.table.isColumnHidden(4), "nothing went by shared memory"


def test_a_wrong_element_is_labelled_as_wrong(inspector):
    session = inspector.session
    inspector.show_panel("origin")
    session.cursor.show(playable("gpumult0", 8, "zero-never-set"))
    assert session.cursor.playable.recording.wrong
    session.cursor.pick((2, 0), 0)
    assert "WRONG: NaN instead of " in inspector.origin.head.text()


def test_operands_of_a_warpgroup_are_shown_in_shared_memory(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    session.cursor.show(playable("wgmma", 64, BN=64))
    session.cursor.pick((2, 0))
    session.cursor.seek(session.cursor.steps - 1)
    assert "A and B stay in shared memory" in inspector.by_thread.head.text()
    assert "nothing loaded" not in inspector.by_thread.head.text()


def painted(shown: Playable, moment: Moment) -> QImage:
    image = QImage(900, 700, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    StagePainter(shown, THEMES["light"], QFont()).paint(painter, QRectF(0, 0, 900, 700), moment)
    painter.end()
    return image


def test_the_chosen_way_is_drawn_from_cell_to_cell(qapp):
    shown = playable("gputiled", 8, TS=4)
    target, step = (2, 3 * 8 + 5), 0
    hop = hop_at(shown, shown.provenance.operand_paths(3, 5), 0, target)
    panels = StagePainter(shown, THEMES["light"], QFont()).panels(QRectF(0, 0, 900, 700), Moment().view)
    origin, tile, c = panels[0], panels[3], panels[2]
    begin = origin.x + 0.5 * origin.cell, origin.y + 3.5 * origin.cell
    middle = tile.x + 0.5 * tile.cell, tile.y + 3.5 * tile.cell
    end = c.x + 5.5 * c.cell, c.y + 3.5 * c.cell
    without = painted(shown, Moment(step, 1, None))
    drawn = painted(shown, Moment(step, 1, None, hop=hop))
    for (x0, y0), (x1, y1) in ((begin, middle), (middle, end)):
        for share in (0.2, 0.35, 0.7):
            x, y = int(x0 + (x1 - x0) * share), int(y0 + (y1 - y0) * share)
            near = [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            assert any(drawn.pixel(*at) != without.pixel(*at) for at in near)


def test_the_waterfall_of_a_loop_speaks_of_memory_and_of_the_sum_before_and_after(inspector, monkeypatch):
    session, written, write = inspector.session, [], Waterfall._write

    def noted(fall, painter, place, text, *rest, **more):
        written.append(text)
        write(fall, painter, place, text, *rest, **more)

    monkeypatch.setattr(Waterfall, "_write", noted)
    inspector.show_panel("thread")
    session.cursor.show(playable("hostmult1", 4))
    session.cursor.pick((2, 0), 0)
    products = session.cursor.playable.products
    session.cursor.seek([step for step in range(session.cursor.steps) if len(products.at(step))][1])
    fall = inspector.findChild(Waterfall)
    fall.resize(460, 700)
    fall.grab()
    assert "values from memory" in written and "values from global memory" not in written
    assert any(" \N{RIGHTWARDS ARROW} " in text for text in written)
