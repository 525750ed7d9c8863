# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The roofline panel, driven like a user."""

import math
from dataclasses import replace

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from gemmviz.app import new_session
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.results import new_row
from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.ui.charts.painted import page_font
from gemmviz.ui.charts.roofline import RooflinePanel
from gemmviz.ui.charts.roofline_drawing import Drawing

H200 = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}
UNCOUNTED = "bytes not counted: these kernels stand where each matrix would move once"
SURVEY_MS = 60_000


@pytest.fixture
def panel(qtbot):
    session = new_session("dark")
    session.results.set_device("NVIDIA H200", H200)
    made = RooflinePanel(session)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.stop()
    assert not made.survey.worker.running


def measure(session, name, gflops, **params):
    kernel = find(name, session.choice.kernels)
    session.results.add_result(new_row(kernel, Problem.cube(4096), params) | {"status": "ok", "gflops": gflops})


def test_without_figures_the_roofs_are_drawn_with_a_hint(panel):
    panel.refresh()
    assert panel.tag.text() == "modelled" and "none measured" in panel.tag.toolTip()


def test_an_unmeasured_rung_is_at_its_modelled_bound(panel):
    session = panel.session
    session.choice.choose_bench(problem=Problem.cube(4096), params={"TS": 16})
    panel.refresh()
    (placed,) = panel.placed
    assert placed.place.gflops is None
    assert placed.height == pytest.approx(4 * 4800, rel=0.01)
    assert "not measured on this device; at most 66" in panel.describe(placed)
    assert "if none did (modelled)" in panel.describe(placed)


def test_arrow_keys_go_from_rung_to_rung_and_show_its_position(panel, qtbot):
    measure(panel.session, "gpumult1", 6900.0)
    measure(panel.session, "gputiled", 8800.0)
    measure(panel.session, "hostmult0", 1.0)
    panel.refresh()
    assert [placed.kernel for placed in panel.placed] == ["gpumult1", "gputiled"]
    panel.plot.grab()  # it is painted now
    panel.plot.setFocus()
    qtbot.keyClick(panel.plot, Qt.Key.Key_Right)
    assert "6\N{NARROW NO-BREAK SPACE}900 GFLOPS, measured here" in panel.plot.accessibleDescription()
    qtbot.keyClick(panel.plot, Qt.Key.Key_Right)
    assert "683 FLOP/byte if each matrix moved once (modelled)" in panel.plot.accessibleDescription()
    assert "8\N{NARROW NO-BREAK SPACE}800" in panel.plot.accessibleDescription()


def test_the_bytes_of_shipped_kernels_are_known_at_once(panel):
    measure(panel.session, "gputiled", 8800.0, TS=16)
    panel.refresh()
    assert panel.placed[0].place.from_global == pytest.approx(4, rel=0.01)
    assert "sectors its warps ask for (recorded" in panel.describe(panel.placed[0])
    assert panel.record.isHidden() and not panel.survey.running


def test_bytes_that_are_not_kept_are_counted_without_a_click(panel, qtbot):
    measure(panel.session, "gputiled", 8800.0, TS=4)
    panel.refresh()
    assert panel.placed[0].place.from_global is None
    assert panel.placed[0].place.compulsory > 600
    qtbot.waitUntil(lambda: panel.survey.running, timeout=SURVEY_MS)
    qtbot.waitUntil(lambda: not panel.survey.running, timeout=SURVEY_MS)
    panel.refresh()
    # A row of a tile is half a sector.
    assert panel.placed[0].place.from_global == pytest.approx(0.5, rel=0.01)
    assert panel.record.isHidden()
    assert not panel.survey.worker.running


def test_a_kernel_that_cannot_be_counted_is_tried_once_and_the_reason_is_said(panel, qtbot):
    session = panel.session
    measure(session, "stream_k", 52_840.0)
    session.choice.choose_kernel(find("stream_k", session.choice.kernels))
    panel.refresh()
    assert panel.record.isVisible()
    panel._count()
    qtbot.waitUntil(panel.record.isHidden)
    assert not panel.survey.running and not panel._counting.isActive()
    assert "no small size is divided by its tiles" in panel.hint.text()


def test_stop_ends_the_counting_until_it_is_asked_for(panel, qtbot):
    measure(panel.session, "gputiled", 8800.0, TS=4)
    panel.refresh()
    assert panel._counting.isActive()
    panel._count()
    panel.refresh()
    assert panel.record.text() == "Stop"
    qtbot.mouseClick(panel.record, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert not panel.survey.running and not panel._counting.isActive()
    assert panel.record.text() == "Count bytes" and panel.record.isVisible()
    qtbot.mouseClick(panel.record, Qt.MouseButton.LeftButton)
    assert panel.survey.running


def test_a_hidden_chart_counts_nothing(panel):
    measure(panel.session, "gputiled", 8800.0, TS=4)
    panel.refresh()
    panel._count()
    assert panel.survey.running
    panel.hide()
    assert not panel.survey.running and not panel._counting.isActive()


def test_a_text_that_may_not_run_is_not_recorded(panel, tmp_path):
    session = panel.session
    path = tmp_path / "foreign.cu"
    path.write_text(find("gputiled", session.choice.kernels).text.replace("sum = 0", "sum = 0.0f"), encoding="utf-8")
    foreign = load(path)
    session.choice.add_kernel(foreign)
    row = new_row(foreign, Problem.cube(4096), {"TS": 4})
    assert not panel.survey.missing([row])
    session.permission.trust.allow(foreign.path, foreign.text)
    assert panel.survey.missing([row]) == [row]


def test_a_measurement_that_starts_ends_the_recording(panel):
    measure(panel.session, "gputiled", 8800.0, TS=4)
    panel.refresh()
    panel._count()
    assert panel.survey.running
    panel.session.progress.set("bench", ("Starting", None))
    assert not panel.survey.running
    assert not panel.record.isEnabled()
    panel._count()
    assert not panel.survey.running
    panel.session.progress.set("bench", None)
    assert panel.record.isEnabled()
    assert panel._timer.isActive(), "what is not counted yet is counted afterwards"


def test_figures_of_this_machine_are_never_under_another_device_s_roofs(panel):
    measure(panel.session, "gputiled", 8800.0)
    panel.device.setCurrentText("T4")
    panel.device.activated.emit(panel.device.currentIndex())
    panel.refresh()
    assert not [placed for placed in panel.placed if placed.place.gflops]


def test_references_are_under_the_roofs_of_their_own_device(panel):
    session = panel.session
    kernel = find("gputiled", session.choice.kernels)
    row = new_row(kernel, Problem.cube(4096), {}) | {"status": "ok", "gflops": 8800.0}
    session.results.set_references([ReferenceResults("NVIDIA H200", "some CPU", "2026-01-01", Figures([row]))])
    session.results.set_device("a CPU", None)
    panel.refresh()
    assert panel.device.currentText() == "H200 SXM"
    (placed,) = panel.placed
    assert "8\N{NARROW NO-BREAK SPACE}800 GFLOPS, reference: NVIDIA H200, 2026-01-01" in panel.describe(placed)
    assert panel.tag.text() == "reference" and panel.tag.dashed


def painted(panel, width=900, height=500):
    """Return (text, rectangle) of all names that the panel paints, and its drawing."""
    written = []

    class Seen(Drawing):
        def _write(self, painter, text, box, colour, bold=False):
            written.append((text, box))

    drawing = Seen(QSize(width, height), panel.theme, panel._found, panel.placed)
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    drawing.paint(painter, None)
    painter.end()
    return written, drawing


def test_every_name_is_whole_and_beside_its_marker(panel):
    session = panel.session
    for name, gflops in (
        ("matmul_tc_2d_warp_tiling", 1e5),
        ("matmul_tc", 3e4),
        ("wmma_shared", 3.2e4),
        ("cublas_fp16", 6e5),
    ):
        measure(session, name, gflops)
    session.choice.choose_kernel(find("matmul_tc", session.choice.kernels))
    panel.refresh()
    written, drawing = painted(panel)
    assert {placed.kernel for placed in panel.placed} == {
        *("matmul_tc", "matmul_tc_2d_warp_tiling", "wmma_shared", "cublas_fp16")
    }
    boxes = {text: box for text, box in written if text in {placed.name for placed in panel.placed}}
    assert "matmul_tc" in boxes and len(boxes) >= 2
    for box in boxes.values():
        assert drawing.frame.area.contains(box)
        assert not any(box.contains(drawing.at(placed)) for placed in panel.placed)


def test_the_distance_to_the_roof_and_the_share_of_caches_are_written(panel):
    measure(panel.session, "gputiled", 8800.0, TS=16)
    measure(panel.session, "gpumult1", 6900.0, BX=32, BY=32)
    panel.session.choice.choose_kernel(find("gputiled", panel.session.choice.kernels))
    panel.refresh()
    texts = [text for text, _ in painted(panel)[0]]
    assert "room: 2.18×" in texts  # 4 FLOP per byte x 4800 GB/s over 8800
    assert [placed.kernel for placed in panel.placed if placed.served] == ["gpumult1"]
    assert "sectors × 32 B" in panel.hint.text()


def test_a_short_distance_to_the_roof_is_written_below_it(panel):
    """Beside the middle of the distance it covered the roof's line, and the lower half of the roof's name."""
    measure(panel.session, "stream_k", 52_840.0)
    panel.session.choice.choose_kernel(find("stream_k", panel.session.choice.kernels))
    panel.refresh()
    written, drawing = painted(panel)
    (room,) = (box for text, box in written if text.startswith("room"))
    (roof,) = (box for text, box in written if text.startswith("FP32"))
    highest = max(found.value for found in panel._found if found.kind == "compute")
    assert room.top() > drawing.frame.at(1, highest).y() >= roof.bottom()


@pytest.mark.parametrize("wide", [420, 900])
def test_the_reason_for_uncounted_bytes_is_whole_and_on_no_marker(panel, wide):
    """It was cut at its beginning in a narrow chart, and stood on the markers of slow kernels."""
    measure(panel.session, "gputiled", 8e3, TS=4)
    for name, gflops in (("matmul_kernel_naive", 300.0), ("gpumult1", 900.0)):
        measure(panel.session, name, gflops, BX=16, BY=16)
    measure(panel.session, "wmma_shared", 3e4, BM=64, BN=64)
    choice = panel.session.choice
    choice.choose_kernel(find("hostmult0", choice.kernels))  # beside it, kernels of all types are shown
    panel.refresh()
    drawing = Drawing(QSize(wide, 600), panel.theme, panel._found, panel.placed)
    image = QImage(wide, 600, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    marks = [drawing.at(placed) for placed in panel.placed]
    drawing._say_uncounted(painter)
    (used,) = drawing._taken
    painter.end()
    room = QRect(0, 0, round(used.width()) + 2, 600)
    whole = QFontMetrics(page_font()).boundingRect(room, int(Qt.TextFlag.TextWordWrap), tr(UNCOUNTED))
    assert len({round(mark.x()) for mark in marks}) > 1
    assert used.right() < min(mark.x() for mark in marks) - 6 and used.height() >= whole.height() - 1
    assert drawing.frame.area.contains(used)


def test_the_name_of_a_roof_is_on_no_kernel(panel):
    """The markers were drawn over the letters."""

    def name_of_the_roof():
        written, drawing = painted(panel)
        (box,) = (box for text, box in written if text.startswith("memory"))
        return drawing, box

    panel.refresh()
    drawing, usual = name_of_the_roof()
    # A kernel in the middle of the name, where it stands without kernels: below the roof, along its slope.
    foot, ridge = drawing.frame.at(0.1, 480), drawing.frame.at(1, 4800)
    slope = (ridge - foot) / math.hypot(ridge.x() - foot.x(), ridge.y() - foot.y())
    measure(panel.session, "gputiled", 1.0, TS=16)
    panel.refresh()
    (placed,) = panel.placed
    drawing = painted(panel)[1]
    low, high = 1.0, 1e5
    for _ in range(60):  # the GFLOPS at which its marker is as far below the roof as the middle of the name
        middle = math.sqrt(low * high)
        mark = drawing.at(replace(placed, place=replace(placed.place, gflops=middle)))
        on_roof = drawing.frame.at(placed.place.from_global, 4800 * placed.place.from_global)
        beside = -(mark.x() - on_roof.x()) * slope.y() + (mark.y() - on_roof.y()) * slope.x()
        low, high = (middle, high) if beside > usual.center().y() else (low, middle)
    measure(panel.session, "gputiled", low, TS=16)
    panel.refresh()
    _, moved = name_of_the_roof()
    assert moved != usual


def test_the_name_of_the_chosen_kernel_covers_as_little_as_it_can(panel):
    """In a low chart it was written over the name of a roof, beside which there was room."""
    session = panel.session
    measure(session, "matmul_kernel_naive", 498.0, BX=32, BY=32)
    session.choice.choose_kernel(find("matmul_kernel_naive", session.choice.kernels))
    panel.refresh()
    written, drawing = painted(panel, 640, 190)
    box = next(box for text, box in written if text == panel.placed[0].name)
    at = drawing.at(panel.placed[0])
    others = [other for other in drawing._taken if other != box and not other.contains(at)]
    usual = box.translated(0, at.y() - box.center().y())  # beside its marker

    def covered(place):
        return sum(place.intersects(other) for other in others)

    assert covered(box) < covered(usual)


def test_no_title_of_an_axis_overlaps_a_tick(panel):
    area = painted(panel)[1].frame.area
    line = panel.fontMetrics().height()
    assert area.top() >= line and 500 - area.bottom() >= 2 * line


def test_the_bound_of_a_tile_and_its_computation_are_shown(panel):
    panel.tile.setValue(6)
    panel.refresh()
    assert "64×64: 16 FLOP/byte" in panel.bound.text()
    assert "66\N{NARROW NO-BREAK SPACE}910 GFLOPS" in panel.bound.text()
    assert "2·64·64 / (4·(64+64))" in panel.bound.toolTip()


def test_a_click_on_a_rung_chooses_it(panel, qtbot):
    measure(panel.session, "gpumult1", 500.0)
    panel.refresh()
    panel.plot.grab()
    at = panel.plot.marks[0].area.center().toPoint()
    qtbot.mouseClick(panel.plot, Qt.MouseButton.LeftButton, pos=at)
    assert panel.session.choice.kernel.name == "gpumult1"


def test_the_table_has_the_origin_of_each_figure(panel):
    measure(panel.session, "gputiled", 8800.0)
    panel.refresh()
    table = panel.table()
    assert len(table.rows[0]) == len(table.headings)
    assert table.rows[0][-1] == "measured here, NVIDIA H200"
