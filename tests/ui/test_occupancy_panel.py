# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The occupancy panel, driven like a user."""

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtGui import QFontMetrics

from gemmviz.app import new_session
from gemmviz.bench.results import new_row
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.ui.charts.occupancy import OccupancyPanel

H200 = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}


@pytest.fixture
def panel(qtbot):
    session = new_session("dark")
    made = OccupancyPanel(session)
    qtbot.addWidget(made)
    made.resize(420, 210)
    made.show()
    qtbot.waitExposed(made)
    return made


def percent(panel):
    panel.refresh()
    return float(panel.headline.text().split("<b>")[1].split(" %")[0])


def choose(panel, name, value):
    getattr(panel, name).box.setValue(value)


def measure(session, **known):
    row = new_row(session.choice.kernel, Problem.cube(512), {}) | {"status": "ok", "gflops": 1.0} | known
    session.results.add_result(row)


def test_the_block_sizes_of_the_course_report(panel):
    """S4 on an RTX 3080, the default device on a machine without a GPU."""
    assert panel.device.currentText() == "RTX 3080"
    found = []
    for side in (4, 8, 16, 32):
        choose(panel, "threads", side * side)
        choose(panel, "shared", 2 * side * side * 4)
        found.append(percent(panel))
    assert found == pytest.approx([33.3, 66.7, 100, 66.7], abs=0.1)


def test_the_panel_starts_from_the_launch_and_shows_the_assumptions(panel):
    launch = panel.session.choice.launch()
    assert panel.use.threads == launch.threads
    assert "registers assumed" in panel.text.toolTip()


def test_the_registers_of_a_measured_kernel_are_used_and_labelled(panel):
    measure(panel.session, block=[16, 16, 1], regs=200, smem=2048)
    panel.refresh()
    assert (panel.use.threads, panel.use.registers, panel.use.shared_bytes) == (256, 200, 2048)
    assert "registers" in panel.text.text()
    assert "as compiled (here)" in panel.text.toolTip()


def test_named_barriers_of_a_measured_kernel_limit_it_and_the_text_says_so(panel, qtbot):
    panel.session.results.set_device("NVIDIA H200", H200)
    known = {"block": [256, 1, 1], "regs": 34, "smem": 39_936}
    measure(panel.session, **known, barriers=1)
    assert percent(panel) == 62.5 and "barriers" not in panel.text.text()
    measure(panel.session, **known, barriers=16)
    assert percent(panel) == 50
    assert "Limited by named barriers; one more block per SM needs at most 12 named barriers" in panel.text.text()
    qtbot.waitUntil(lambda: panel.text.height() >= panel.text.heightForWidth(panel.text.width()))
    # Fewer bytes of shared memory change nothing, and the number of barriers stays while a slider moves.
    choose(panel, "shared", 21_504)
    assert percent(panel) == 50 and panel.use.barriers == 16
    panel.session.choice.choose_kernel(find("gpumult1", panel.session.choice.kernels))
    assert panel.use.barriers == 0


def test_new_figures_do_not_move_the_sliders_and_reset_restores_them(panel):
    choose(panel, "registers", 99)
    measure(panel.session, block=[16, 16, 1], regs=40, smem=0)
    assert panel.use.registers == 99
    panel.refresh()
    panel.reset.click()
    assert panel.use.registers == 40
    panel.refresh()
    assert not panel.reset.isEnabled()


def test_another_rung_resets_the_sliders(panel):
    choose(panel, "registers", 99)
    panel.session.choice.choose_kernel(find("gpumult1", panel.session.choice.kernels))
    assert panel.use.threads == panel.session.choice.launch().threads
    assert panel.use.registers != 99


def test_the_slider_and_a_click_work_like_the_box(panel):
    panel.threads.slider.setValue(8)
    assert panel.use.threads == 256
    panel.threads.slider.setValue(0)
    assert panel.use.threads == 1


def test_this_machine_s_gpu_is_chosen_once_it_is_known(panel):
    panel.session.results.set_device("NVIDIA H200", H200)
    assert panel.device.currentText() == "here: NVIDIA H200"
    assert panel.device.is_here
    panel.refresh()
    assert "of 64 warps" in panel.text.text()


def test_the_user_s_device_stays_when_this_machine_becomes_known(panel):
    panel.device.setCurrentText("T4")
    panel.device.activated.emit(panel.device.currentIndex())
    panel.session.results.set_device("NVIDIA H200", H200)
    assert panel.device.currentText() == "T4"


def test_a_gpu_that_is_too_new_to_model_is_not_offered(panel):
    panel.session.results.set_device("X", {"name": "X", "cc": "99.0", "sms": 1})
    assert panel.device.currentText() == "RTX 3080"


def test_a_cpu_kernel_has_no_occupancy_and_the_panel_says_so(panel):
    panel.session.choice.choose_kernel(find("hostmult0", panel.session.choice.kernels))
    panel.refresh()
    assert "hostmult0 runs on the CPU" in panel.text.toolTip()


def test_a_block_that_cannot_run_is_reported(panel):
    choose(panel, "threads", 1024)
    choose(panel, "registers", 200)
    assert percent(panel) == 0
    assert "cannot run" in panel.text.text()


def test_clusters_have_no_occupancy_on_a_device_without_clusters(panel):
    panel.session.choice.choose_kernel(find("cluster", panel.session.choice.kernels))
    panel.device.setCurrentText("A100 SXM 80 GB")
    panel.device.activated.emit(panel.device.currentIndex())
    choose(panel, "shared", 1024)
    assert percent(panel) == 0
    assert "clusters need compute capability 9.0 or higher" in panel.text.text()
    for whatif in (panel.threads, panel.registers, panel.shared):
        assert max(whatif.curve.getData()[1]) == 0


@pytest.mark.sweep("size0")
@pytest.mark.parametrize("size", [(420, 210), (900, 600), (1600, 900)])
def test_no_text_is_cut(panel, qtbot, size):
    panel.resize(*size)
    panel.refresh()
    qtbot.waitUntil(lambda: panel.text.height() >= panel.text.heightForWidth(panel.text.width()))
    for whatif in (panel.threads, panel.registers, panel.shared):
        needed = whatif.box.fontMetrics().horizontalAdvance(whatif.box.text())
        assert whatif.box.width() > needed


@pytest.mark.parametrize("size", [(420, 210), (1200, 700)])
def test_the_axes_label_their_ends(panel, qtbot, size):
    panel.resize(*size)
    qtbot.wait(50)
    plot = panel.threads.plot
    ticks = plot.getAxis("bottom")._tickLevels[0]
    assert [ticks[0], ticks[-1]] == [(0, "0"), (1024, "1024")]
    half = QFontMetrics(panel.threads._font).horizontalAdvance("1024") / 2
    box = plot.plotItem.vb.sceneBoundingRect()
    assert box.left() + half <= plot.pixel(0, 0).x() and plot.pixel(1024, 0).x() <= box.right() - half
    assert plot.pixel(0, 0).y() < box.bottom()


def test_a_number_of_bytes_has_no_comma_which_some_languages_read_as_a_point(panel):
    panel.shared.box.setValue(2048)
    assert panel.shared.box.text() == "2048 B"
