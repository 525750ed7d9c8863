# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The inspector: the frozen warp, a thread's registers, origins by click, and recorded beside measured counters."""

import gc
import re
import weakref
from functools import cache
from types import SimpleNamespace

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gemmviz.bench import results
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.proving import proofs
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.value_path import hop_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.inspect import counter_text
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import caption, number
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.value_path import ValuePaths

CTRL = Qt.KeyboardModifier.ControlModifier


def recorded_anew(name: str, size: int, change: str = "", **params: int) -> Playable:
    kernel = find(name, ladder())
    kernel = broken(kernel, [change]) if change else kernel
    recording = record(launch(kernel, Problem.cube(size), params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


playable = cache(recorded_anew)


@pytest.fixture
def inspector(make_inspector):
    return make_inspector(576, 210)


def goto(session: Session, array: str, write: bool = False) -> None:
    timeline = session.cursor.playable.timeline
    names = [a.name for a in session.cursor.playable.recording.arrays]
    mine = (timeline.array == names.index(array)) & (timeline.write == write)
    session.cursor.seek(int(mine.nonzero()[0][0]))


def test_keys_freeze_the_warp_and_step_by_its_requests(window, qtbot):
    session, inspector = window.session, window.inspector
    session.playback.play()
    qtbot.keyClick(window, Qt.Key.Key_W)
    assert session.frozen_warp.on and not session.playback.playing
    assert inspector.panel == "warp"
    assert inspector.warp.head.text().startswith("Warp 0 of block (0, 0) reads A: line ")
    begins = session.cursor.stations("request")
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert session.cursor.step in begins
    assert f"step {session.cursor.step + 1}" in inspector.warp.head.text()
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert session.playback.playing and not session.frozen_warp.on
    session.playback.pause()
    for name in ("thread", "origin", "counters"):
        qtbot.keyClick(window, Qt.Key.Key_I)
        assert inspector.panel == name
    session.inspection.turn_to("origin")
    assert inspector.panel == "origin"
    # The table by keys alone: choose an element, walk through its origins, go to one.
    qtbot.keyClick(window, Qt.Key.Key_X)
    qtbot.keyClick(window, Qt.Key.Key_5, CTRL)
    table = inspector.origin.table
    assert QApplication.focusWidget() is table
    step = session.cursor.step
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(table, key)
    assert session.cursor.step == step, "arrows belong to the table"
    model, at = table.model(), table.currentIndex()
    assert session.inspection.hop == model.hop(at.row())
    assert table.accessibleDescription().startswith(f"{model.index(at.row(), 1).data()}: read at step ")
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert session.cursor.step == model.step(at.row(), at.column())
    assert model.index(at.row(), 0).data().startswith("▶")


def test_the_warp_tab_shows_the_cost_of_a_request(inspector):
    session = inspector.session
    inspector.show_panel("warp")
    assert "Record a kernel" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    said = inspector.warp.cost.text()
    assert said.startswith("32 lanes, 128 bytes asked for, 32 sectors = 1\N{NARROW NO-BREAK SPACE}024 bytes moved")
    goto(session, "As")
    assert "32-way bank conflict: 32 wavefronts" in inspector.warp.cost.text()
    goto(session, "Bs")
    assert "no bank conflict: 1 wavefront" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 8, TS=4))
    assert "16 lanes, 64 bytes" in inspector.warp.cost.text()
    assert "only 16 threads in this block, so half the warp is empty" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 9, TS=3))
    assert "only 9 threads in this block, so 23 of 32 lanes are empty" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 14, TS=7))
    session.cursor.choose_warp(1)
    assert "the block has 49 threads, so 15 lanes of its last warp are empty" in inspector.warp.cost.text()
    session.cursor.show(playable("hostmult1", 4))
    assert "A CPU has no warps" in inspector.warp.cost.text()
    assert not inspector.warp.frozen.isEnabled()


def test_the_warp_tab_has_the_bank_or_sector_of_each_lane(inspector, qtbot):
    session, warp = inspector.session, inspector.warp
    inspector.show_panel("warp")
    assert not warp.lanes.isVisible()
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    rows = [[warp.lanes.item(row, column).text() for column in range(5)] for row in range(32)]
    assert rows[0] == ["0", "(0, 0)", "[0, 0]", "0", "0"]
    assert rows[3] == ["3", "(3, 0)", "[3, 0]", "384", "12"]  # 3 rows of 32 floats
    assert warp.figure.text() == "32 sectors" and warp.formula.text().startswith("sector = byte ÷ 32")
    goto(session, "As")  # a column: each word lies in bank 0, and waits for its own wavefront
    rows = [[warp.lanes.item(row, column).text() for column in range(5)] for row in range(32)]
    assert [row[3] for row in rows] == ["0"] * 32
    assert [row[4] for row in rows] == [str(wavefront) for wavefront in range(1, 33)]
    assert warp.figure.text() == "32 wavefronts" and warp.formula.text() == "bank = (32 × row + column) mod 32"
    assert warp.lanes.horizontalHeaderItem(2).text() == "As"
    warp.lanes.setCurrentCell(5, 0)
    assert session.inspection.lane == 5
    session.inspection.choose_lane(9)
    assert warp.lanes.currentRow() == 9
    session.predict.toggle()
    assert not warp.lanes.isVisible() or session.frozen_warp.request().step <= session.cursor.step


def test_a_click_on_a_lane_chooses_it(inspector, qtbot):
    session = inspector.session
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    inspector.show_panel("warp")
    view = inspector.warp.view
    grid = view._grid()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=grid.box(7, 2, 10).center().toPoint())
    assert session.inspection.lane == 7
    inspector.show_panel("thread")
    assert "lane 7" in inspector.by_thread.head.text()
    inspector.by_thread.lane.setValue(3)
    assert session.inspection.lane == 3


def test_the_next_request_is_hidden_while_it_is_predicted(inspector):
    session = inspector.session
    recording = playable("gputiled", 8, TS=4).recording
    timeline = build(recording, "block")
    session.cursor.show(Playable(recording, timeline, measure(recording, timeline)).prepare())
    inspector.show_panel("warp")
    session.cursor.pick((2, 7), 1)
    assert "next request" in inspector.warp.cost.text()
    session.predict.toggle()
    inspector.warp.refresh()
    assert inspector.warp.head.text() == "" and "while you predict it" in inspector.warp.cost.text()


def test_the_thread_tab_shows_operands_and_sums(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    assert "Record a kernel" in inspector.by_thread.text.text()
    session.cursor.show(playable("narrow_tiles", 16, BLOCK=8, BK=4, TT=4))
    session.cursor.pick((2, 1), 0)
    session.cursor.seek(session.cursor.steps - 1)
    said = inspector.by_thread.text.text()
    assert "k = 15: 4 + 4 values for 16 products" in said
    assert "C[0, 1]: 16 of 16 products" in said
    value = number(float(session.cursor.playable.recording.c[0, 1]))
    assert f"= {value}\n" in said and f"C[0, 1] in memory: {value}" in said
    assert "computed from the recorded operands" in said
    session.cursor.show(playable("hostmult0", 4))
    session.cursor.seek(session.cursor.steps - 1)
    assert inspector.by_thread.head.text() == "The loop"
    assert "C[3, 3]: 4 of 4 products" in inspector.by_thread.text.text()


def test_fragments_show_the_elements_of_each_lane_and_the_reuse_of_loads(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    session.cursor.show(playable("matmul_tc_2d_warp_tiling", 32, WM=2, WN=2))
    session.cursor.seek(session.cursor.steps // 2)
    assert "one load is used: A 2×, B 2×" in inspector.by_thread.head.text()
    assert inspector.by_thread.warp.isVisible() and not inspector.by_thread.product.isVisible()
    said = inspector.by_thread.text.text()
    assert "one load of A used 2 times" in said
    assert "lane 0 of A: [0, 16] [0, 17]" in said


@pytest.mark.parametrize("tab", ["origin", "warp", "thread"])
@pytest.mark.parametrize("rung", [("gputiled", 8, {"TS": 4}), ("matmul_tc", 32, {}), ("wgmma", 64, {"BN": 64})])
def test_a_tab_keeps_only_the_shown_recording(inspector, qtbot, tab, rung):
    session, (name, size, params) = inspector.session, rung
    inspector.show_panel(tab)
    recordings = []
    for cell in ((2, 5), (0, 3), None, (2, 6)):
        shown = recorded_anew(name, size, **params)
        session.cursor.show(shown)
        session.cursor.pick(cell)
        recordings.append(weakref.ref(shown.recording))
    inspector.show_panel("counters")
    session.cursor.show(None)
    del shown
    qtbot.waitUntil(lambda: gc.collect() >= 0 and not [one for one in recordings if one() is not None])


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


def test_recorded_and_measured_counters_are_side_by_side(inspector):
    session = inspector.session
    inspector.show_panel("counters")
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    said = "occupancy: this machine's GPU is not known yet"
    assert said in inspector.counters.totals.text()
    session.results.set_device("a laptop")
    assert "% modelled (" in inspector.counters.totals.text() and said not in inspector.counters.totals.text()
    assert inspector.counters.heading.text() == "recorded as compiled"
    session.results.set_proofs(proofs.kept())
    session.results.set_references([])
    assert "✓ proved" in inspector.counters.heading.text()
    assert re.search(r"\d of \d counters match a real H200; 1 differs for a known", inspector.counters.totals.text())
    assert not inspector.counters.below.isVisible(), "there is no room"
    inspector.resize(1000, 400)
    lines = inspector.counters.below.text().splitlines()
    assert inspector.counters.below.isVisible()
    assert any(line.startswith("=  global load sectors: ") for line in lines)
    inspector.resize(320, 600)
    below = inspector.counters.below
    assert below.isVisible() and below.height() >= below.heightForWidth(below.width()), "no line is cut"


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (["equal"] * 7 + ["explained"], "7 of 8 counters match a real H200; 1 differs for a known reason"),
        (["equal"] * 6 + ["explained"] * 2, "6 of 8 counters match a real H200; 2 differ for a known reason"),
        (["equal"] * 7 + ["differs"], "1 of 8 counters differs from a real H200 at 64 × 64 × 64"),
    ],
)
def test_one_sentence_counts_the_counters_that_differ(inspector, monkeypatch, verdicts, said):
    session = inspector.session
    compared = [SimpleNamespace(verdict=v, what="global load sectors", predicted=1, measured=1) for v in verdicts]
    proof = SimpleNamespace(m=64, n=64, k=64, size="64 × 64 × 64", compared=compared)
    file = SimpleNamespace(machine=SimpleNamespace(gpu="NVIDIA H200"))
    monkeypatch.setattr(counter_text, "proof_of", lambda _: (file, [proof]))
    assert said in counter_text.compared(session)[0]


def test_a_click_on_c_shows_the_origin_instead_of_the_counters(inspector):
    session = inspector.session
    session.cursor.show(playable("gputiled", 8, TS=4))
    for panel, cell, expected in (
        ("counters", (2, 9), "origin"),
        ("counters", (0, 3), "counters"),
        ("source", (2, 9), "source"),
        ("warp", (2, 9), "warp"),
    ):
        inspector.show_panel(panel)
        session.cursor.pick(cell)
        assert inspector.panel == panel, "a lesson that picks a cell keeps its tab"
        session.inspection.clicked.emit()
        assert inspector.panel == expected


def test_counters_of_an_older_recording_are_shown_without_measured_ones(inspector):
    session = inspector.session
    session.results.set_proofs(proofs.kept())
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    assert "✓ proved" in inspector.counters.heading.text()
    session.choice.choose_kernel(find("gputiled1", ladder()))
    assert session.staged.outdated
    assert inspector.counters.heading.text() == "recorded as compiled"
    said = inspector.counters.totals.text()
    assert "modelled" not in said and "measured" not in said and not inspector.counters.below.text()


def test_the_occupancy_of_a_measured_launch_names_the_launch(inspector):
    session = inspector.session
    session.results.set_device("a laptop")
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    for side in (16, 4):
        row = results.new_row(session.choice.kernel, Problem.cube(64), {"TS": side})
        results.describe_launch(row, launch(session.choice.kernel, Problem.cube(64), {"TS": side}))
        row |= {"status": "ok", "gflops": 1.0, "regs": 40}
        session.results.add_result(row)
        said = inspector.counters.totals.text()
        assert ("occupancy of gputiled<16>: " in said) == (side == 16)
        assert "% modelled (" in said


def test_the_occupancy_is_that_of_the_recorded_launch_on_a_suitable_gpu(inspector):
    session = inspector.session
    session.results.set_device("a laptop")
    session.choice.choose_kernel(find("wgmma", ladder()))
    size, params = session.choice.problem, session.choice.params
    before = inspector.counters.totals.text()
    session.cursor.show(playable("wgmma", size.m, **params))
    assert not session.staged.outdated
    # 4 warps of 64, 8 KiB for 64 x 64 of A, as much for B, a barrier and the system's own: 13 blocks in 228 KiB.
    assert "occupancy 81.2 % modelled (H" in inspector.counters.totals.text() != before


def test_operands_of_a_warpgroup_are_shown_in_shared_memory(inspector):
    session = inspector.session
    inspector.show_panel("thread")
    session.cursor.show(playable("wgmma", 64, BN=64))
    session.cursor.pick((2, 0))
    session.cursor.seek(session.cursor.steps - 1)
    assert "A and B stay in shared memory" in inspector.by_thread.head.text()
    assert "nothing loaded" not in inspector.by_thread.head.text()


def test_pictures_use_the_colours_of_the_theme(inspector):
    session = inspector.session
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    session.cursor.pick((2, 40), 0)
    goto(session, "As")
    for name in ("warp", "thread"):
        inspector.show_panel(name)
        for theme in THEMES.values():
            session.preferences.set_theme(theme.name)
            picture = inspector.grab().toImage()
            colours = {picture.pixelColor(x, y).name() for x in range(0, 576, 3) for y in range(60, 210, 3)}
            assert {theme.background, theme.read} <= colours


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


def test_a_frozen_warps_lanes_are_outlined_on_the_stage(qapp):
    shown, theme = playable("gputiled", 16, TS=8), THEMES["light"]
    panels = StagePainter(shown, theme, QFont()).panels(QRectF(0, 0, 900, 700), Moment().view)
    image = QImage(900, 700, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.magenta)
    painter = QPainter(image)
    ValuePaths(shown, theme, QFont()).draw(painter, panels, Moment(0, 0, None, warp=1))
    assert image.pixelColor(round(panels[0].x + 1), round(panels[0].y + 4.5 * panels[0].cell)) == Qt.GlobalColor.magenta
    ValuePaths(shown, theme, QFont()).draw(painter, panels, Moment(0, 0, None, warp=1, frozen=True))
    painter.end()
    drawn = [(x, y) for x in range(900) for y in range(700) if image.pixelColor(x, y) != Qt.GlobalColor.magenta]
    # Warp 1 reads rows 4 to 7 of the block's tile of A: eight columns, a lane each.
    a = panels[0]
    box = (a.x, a.y + 4 * a.cell, a.x + 8 * a.cell, a.y + 8 * a.cell)
    edges = (min(x for x, _ in drawn), min(y for _, y in drawn), max(x for x, _ in drawn), max(y for _, y in drawn))
    assert edges == pytest.approx(box, abs=3)


def test_lanes_that_missed_the_array_are_not_called_inactive(inspector):
    session = inspector.session
    inspector.show_panel("warp")
    session.cursor.show(playable("gputiled", 7, "no-store-check", TS=4))
    last = session.cursor.steps - 1
    session.cursor.seek(last)
    session.cursor.pick(None, 3)
    asked = session.frozen_warp.request()
    assert asked.step == last and asked.outside
    assert f"{asked.outside} lanes out of bounds" in inspector.warp.cost.text()
    assert "inactive" not in inspector.warp.cost.text()
    most = int(session.cursor.playable.out_of_bounds.most[last])
    assert f"{most} out of bounds, not drawn" in caption(session.cursor.playable, last)
    # With blocks so large whole warps miss: there is nothing to show of them at this step.
    session.cursor.show(playable("gputiled", 7, "no-store-check", TS=16))
    session.cursor.seek(session.cursor.steps - 1)
    session.cursor.choose_warp(session.cursor.warps - 1)
    assert "At this step this warp makes no access within bounds" in inspector.warp.cost.text()


@pytest.mark.parametrize(("name", "panel"), [("CC", "warp"), ("wmma_shared", "thread")])
def test_a_scroll_bar_never_makes_a_picture_need_another_height(inspector, monkeypatch, name, panel):
    """Otherwise the bar and the height change each other endlessly, and the stack of the window overflows."""
    session = inspector.session
    session.cursor.show(playable(name, 32))
    view = inspector.warp.view if panel == "warp" else inspector.by_thread.warp
    turns = []
    take = view._take_height

    def counted():
        turns.append(view.width())
        if len(turns) < 40:  # without a limit a failure would end the process
            take()

    monkeypatch.setattr(view, "_take_height", counted)
    inspector.show_panel(panel)
    session.frozen_warp.toggle()
    for width in range(340, 1300, 160):
        for height in range(90, 420, 5):
            turns.clear()
            inspector.resize(width, height)
            QApplication.processEvents()
            assert len(turns) < 12, (width, height, turns)
    assert view.isVisible()
