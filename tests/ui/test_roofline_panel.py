# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""The roofline panel, used as a person would."""

import pytest
from window_driving import need_qt

need_qt()

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from gemmviz.app import new_session
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.results import new_row
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.ui.charts.roofline import RooflinePanel

H200 = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}
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


def test_without_figures_the_roofs_are_there_and_it_says_what_is_missing(panel):
    panel.refresh()
    assert "none measured" in panel.hint.text()


def test_a_rung_that_is_not_measured_stands_at_its_modelled_bound(panel, qtbot):
    session = panel.session
    session.choice.choose_bench(problem=Problem.cube(4096), params={"TS": 16})
    panel.refresh()
    (placed,) = panel.placed
    assert placed.place.gflops is None
    assert 10 ** placed.at[1] == pytest.approx(66_908, rel=1e-3)
    assert "not measured on this device; at most 66" in panel.describe(placed)
    panel.record.click()
    qtbot.waitUntil(lambda: not panel.survey.running, timeout=SURVEY_MS)
    panel.refresh()
    assert 10 ** panel.placed[0].at[1] == pytest.approx(4 * 4800, rel=0.01)
    assert "if none did (modelled)" in panel.describe(panel.placed[0])


def test_arrows_go_from_rung_to_rung_and_tell_where_each_stands(panel, qtbot):
    measure(panel.session, "gpumult1", 6900.0)
    measure(panel.session, "gputiled", 8800.0)
    measure(panel.session, "hostmult0", 1.0)
    panel.refresh()
    assert [placed.kernel for placed in panel.placed] == ["gpumult1", "gputiled"]
    panel.plot.setFocus()
    qtbot.keyClick(panel.plot, Qt.Key.Key_Right)
    assert "6\N{NARROW NO-BREAK SPACE}900 GFLOPS, measured here" in panel.plot.accessibleDescription()
    qtbot.keyClick(panel.plot, Qt.Key.Key_Right)
    assert "683 FLOP/byte if each matrix moved once (modelled)" in panel.plot.accessibleDescription()
    assert "8\N{NARROW NO-BREAK SPACE}800" in panel.plot.accessibleDescription()


def test_recording_the_traffic_moves_a_rung_to_what_its_warps_ask_for(panel, qtbot):
    measure(panel.session, "gputiled", 8800.0, TS=16)
    panel.refresh()
    assert panel.placed[0].place.from_global is None
    qtbot.mouseClick(panel.record, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.survey.running, timeout=SURVEY_MS)
    panel.refresh()
    assert panel.placed[0].place.from_global == pytest.approx(4, rel=0.01)
    assert "sectors its warps ask for (recorded" in panel.describe(panel.placed[0])
    assert panel.record.isHidden()
    assert not panel.survey.worker.running


def test_a_measurement_that_starts_ends_the_recording(panel):
    measure(panel.session, "gputiled", 8800.0)
    panel.refresh()
    panel.record.click()
    assert panel.survey.running
    panel.session.progress.set("bench", ("Starting", None))
    assert not panel.survey.running
    assert not panel.record.isEnabled()
    panel.session.progress.set("bench", None)
    assert panel.record.isEnabled()


def test_figures_of_this_machine_never_stand_under_another_device_s_roofs(panel):
    measure(panel.session, "gputiled", 8800.0)
    panel.device.setCurrentText("T4")
    panel.device.activated.emit(panel.device.currentIndex())
    panel.refresh()
    assert not [placed for placed in panel.placed if placed.place.gflops]


def test_references_stand_under_the_roofs_of_the_device_that_they_were_measured_on(panel):
    session = panel.session
    kernel = find("gputiled", session.choice.kernels)
    row = new_row(kernel, Problem.cube(4096), {}) | {"status": "ok", "gflops": 8800.0}
    session.results.set_references([ReferenceResults("NVIDIA H200", "some CPU", "2026-01-01", Figures([row]))])
    session.results.set_device("a CPU", None)
    panel.refresh()
    assert panel.device.currentText() == "H200 SXM"
    (placed,) = panel.placed
    assert "8\N{NARROW NO-BREAK SPACE}800 GFLOPS, reference: NVIDIA H200, 2026-01-01" in panel.describe(placed)
    assert "reference" in panel.hint.text()


def test_every_name_is_whole_and_beside_its_marker(panel, qtbot):
    session = panel.session
    for name, gflops in (
        ("matmul_tc_2d_warp_tiling", 1e5),
        ("matmul_tc", 3e4),
        ("gputiled", 3.2e4),
        ("cublas_fp16", 6e5),
    ):
        measure(session, name, gflops)
    session.choice.choose_kernel(find("matmul_tc", session.choice.kernels))
    panel.refresh()
    qtbot.wait(50)
    items = {i.toPlainText(): i for i in panel.plot.plotItem.items if isinstance(i, pg.TextItem)}
    inside = panel.plot.plotItem.vb.sceneBoundingRect()
    for placed in panel.placed:
        name = items[placed.name].mapRectToScene(items[placed.name].boundingRect())
        assert inside.contains(name)
        assert not any(name.contains(QPointF(panel.plot.pixel(*other.at))) for other in panel.placed)


def test_the_tile_s_bound_and_its_arithmetic_are_said(panel):
    panel.tile.setValue(6)
    panel.refresh()
    assert "64×64: 16 FLOP/byte" in panel.bound.text()
    assert "66\N{NARROW NO-BREAK SPACE}910 GFLOPS" in panel.bound.text()
    assert "2·64·64 / (4·(64+64))" in panel.bound.toolTip()


def test_a_click_on_a_rung_chooses_it(panel, qtbot):
    measure(panel.session, "gpumult1", 500.0)
    panel.refresh()
    at = panel.plot.pixel(*panel.placed[0].at)
    qtbot.mouseClick(panel.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert panel.session.choice.kernel.name == "gpumult1"


def test_the_table_names_where_each_figure_comes_from(panel):
    measure(panel.session, "gputiled", 8800.0)
    panel.refresh()
    table = panel.table()
    assert len(table.rows[0]) == len(table.headings)
    assert table.rows[0][-1] == "measured here, NVIDIA H200"
