# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The chart of all kernels at one size: its bars, pointing at them, and choosing a kernel or a size."""

import pytest
from chart_driving import LADDER, choose, window_of, written
from result_rows import add, add_reference, result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QToolTip

from gemmviz import language
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.language.catalogue import Catalogue
from gemmviz.ui.charts.ladder_drawing import LadderDrawing
from gemmviz.ui.look.figure_text import origin_name, standing_text


def mark_of(chart, name):
    """Return the current mark of a kernel."""
    chart.plot.grab()
    return next(m for m in chart.plot.marks if m.kernel is not None and m.kernel.name == name and m.by_key)


def colour_at(chart, name, right=6):
    """Return the colour inside the bar of a kernel, at a distance in pixels from the axis."""
    area = mark_of(chart, name).area
    image = chart.plot.grab().toImage()
    return QColor(image.pixel(round(chart._drawing._left) + right, round(area.center().y())))


def test_one_element_type_of_one_processor_is_compared_with_its_library(charts, monkeypatch):
    add(window_of(charts), LADDER)
    choose(charts, "gputiled")
    chart = charts.ladder
    assert [name for name, _ in chart.bars()] == ["gpumult0", "gputiled", "cuBLAS"]
    texts = written(chart, monkeypatch)
    share = "\N{NARROW NO-BREAK SPACE}%"
    assert {"of cuBLAS", f"6.2{share}", f"25.0{share}"} <= set(texts)
    assert {"4×", "4× the kernel before"} & set(texts)
    assert {"One element each", "Shared tiles", "Libraries"} <= set(texts)
    assert "cuBLAS 8\N{NARROW NO-BREAK SPACE}000" in texts
    choose(charts, "hostmult0")
    assert [name for name, _ in chart.bars()] == ["hostmult0", "OpenBLAS", "NumPy"]
    choose(charts, "wgmma")
    assert chart.bars() == [] and "measure" in chart.hint.text().lower()


def test_every_kernel_is_drawn_in_its_role(charts):
    add(window_of(charts), LADDER | {"gputiled1": 2100.0, "vectorised": 6000.0})
    choose(charts, "gputiled1")
    roles = {bar.kernel.name: bar.role for bar in charts.ladder.figures.bars}
    assert roles == {
        "gpumult0": "other",
        "gputiled": "before",
        "gputiled1": "chosen",
        "vectorised": "best",
        "cublas": "library",
    }
    theme = charts.ladder.theme
    for name, colour in (("gputiled1", theme.accent), ("gputiled", theme.curves[1]), ("vectorised", theme.good)):
        assert colour_at(charts.ladder, name) == QColor(colour)


def test_at_most_four_jumps_are_shown_and_always_the_chosen_one(charts):
    figures = {"gpumult0": 1.0, "gpumult1": 2.0, "gputiled": 4.0, "RR": 9.0, "vectorised": 20.0, "warp_tiling": 50.0}
    add(window_of(charts), figures | {"stream_k": 52.0})
    choose(charts, "stream_k")
    jumps = {bar.kernel.name: bar.jump for bar in charts.ladder.figures.bars if bar.jump}
    assert len(jumps) == 4 and jumps["stream_k"] == pytest.approx(1.04)
    assert set(jumps) == {"stream_k", "warp_tiling", "RR", "vectorised"}


def test_the_jump_of_a_bar_beyond_the_library_s_line_stands_left_of_this_line(charts, monkeypatch):
    add_reference(window_of(charts), {"l2_swizzle": 7500.0, "stream_k": 8300.0, "cublas": 8000.0})
    choose(charts, "stream_k")
    drawing, boxes, write = charts.ladder._drawing, {}, LadderDrawing._write

    def seen(self, painter, text, box, *rest, **more):
        boxes[text] = box
        write(self, painter, text, box, *rest, **more)

    monkeypatch.setattr(LadderDrawing, "_write", seen)
    charts.ladder.plot.grab()
    (jump,) = (box for text, box in boxes.items() if text.endswith("×") or "the kernel before" in text)
    assert drawing._left < jump.left() and jump.right() < drawing._x(8000.0) < drawing._x(8300.0)


def test_the_axis_is_linear_from_0(charts):
    add(window_of(charts), {"gputiled": 1000.0, "gpumult0": 10.0})
    choose(charts, "gputiled")
    drawing = charts.ladder._drawing
    charts.ladder.plot.grab()
    assert drawing._x(0) == drawing._left
    assert drawing._x(1000.0) - drawing._left == pytest.approx(100 * (drawing._x(10.0) - drawing._left))


def test_the_name_of_a_reference_is_translated(monkeypatch):
    values = {"reference: {device}": "referencia: {device}"}
    monkeypatch.setitem(language._state, "es", Catalogue(values, {}, lambda n: 0))
    monkeypatch.setattr(language, "_code", "es")
    assert origin_name("reference: NVIDIA H200, 2026-11-21") == "referencia: NVIDIA H200, 2026-11-21"
    xeon = "reference: Intel(R) Xeon(R) Processor (16 cores), 2026-11-21"
    assert origin_name(xeon) == "referencia: Intel Xeon (16 cores), 2026-11-21"


def test_a_reference_is_hollow_with_its_device_and_a_measured_figure_is_solid(charts_in_window):
    charts = charts_in_window
    window, chart = window_of(charts), charts.ladder
    add_reference(window, {"gpumult0": 900.0, "gputiled": 2000.0})
    choose(charts, "gputiled")
    assert (chart.tag.text() == "reference: NVIDIA H200" and chart.tag.dashed) or not chart.legend.isHidden()
    add(window, {"gputiled1": 1800.0})
    choose(charts, "gputiled1")
    assert chart.bars() == [("gpumult0", 900.0), ("gputiled", 2000.0), ("gputiled1", 1800.0)]
    assert "■\N{NO-BREAK SPACE}measured here" in chart.legend.text()
    assert "□\N{NO-BREAK SPACE}reference: NVIDIA H200, 2026-11-21" in chart.legend.text()
    assert colour_at(chart, "gputiled1") == QColor(chart.theme.accent)
    hollow = colour_at(chart, "gputiled", 20)
    assert hollow not in (QColor(chart.theme.accent), QColor(chart.theme.curves[1])) and hollow.lightness() < 40
    chart.reference.click()
    charts.refresh()
    assert [name for name, _ in chart.bars()] == ["gputiled1"]
    assert "H200" not in chart.legend.text() and chart.tag.text() in ("measured", "")


def test_the_name_of_a_reference_is_whole_at_any_width(charts, qtbot):
    chart, session = charts.ladder, window_of(charts).session
    rows = [result(rung(session, name), 700.0, n) for name in ("openblas", "hostmult_threads") for n in (256, 512)]
    origin = "Intel(R) Xeon(R) Platinum 8481C Processor (104 cores)"
    session.results.set_device("a laptop (2 cores)", None, 2)
    session.results.set_references([ReferenceResults("", origin, "2026-11-21", Figures(rows), cores=16)])
    choose(charts, "hostmult1")
    assert len(chart.bars()) == 2 and not chart.sizes.isHidden()
    chart.setParent(None)
    chart.setMinimumSize(1, 1)  # the page, too, makes it narrower than its parts want
    chart.show()
    places = set()
    for width in (475, 485, 500, 900):
        chart.resize(width, 500)
        qtbot.waitUntil(lambda width=width: chart.width() == width)
        QApplication.processEvents()
        assert chart.tag.isHidden() != chart.legend.isHidden()
        places.add(chart.tag.isHidden())
        if not chart.tag.isHidden():
            assert chart.tag.width() >= chart.tag.sizeHint().width() and chart.tag.geometry().right() < width
    assert places == {True, False}
    chart.close()


def test_references_with_another_number_of_cores_are_left_out_beside_measurements(charts):
    window, chart = window_of(charts), charts.ladder
    session = window.session
    rows = [result(rung(session, name), 700.0, 256) for name in ("openblas", "hostmult_threads")]
    elsewhere = ReferenceResults("", "Xeon (16 cores)", "2026-11-21", Figures(rows), cores=16)
    session.results.set_device("a laptop (2 cores)", None, 2)
    session.results.set_references([elsewhere])
    choose(charts, "hostmult1")
    assert len(chart.bars()) == 2 and "16 cores" in chart.tag.toolTip() + chart.legend.text()
    add(window, {"hostmult1": 3.0}, n=256)
    assert chart.bars() == [("hostmult1", 3.0)]
    assert "16 cores; this one has 2" in chart.hint.text()
    assert [c.kernel.name for c in charts.sizes.drawn()] == ["hostmult1"]
    session.results.set_device("a server (16 cores)", None, 16)
    charts.refresh()
    assert len(chart.bars()) == 3


def test_a_bar_has_a_ring_at_the_figure_of_a_device_that_measures_at_the_same_time(charts):
    window, chart = window_of(charts), charts.ladder
    session = window.session
    session.results.set_device("a desktop / Xeon (8 cores)", None, 8)
    choose(charts, "gputiled")
    add(window, {"gputiled": 1000.0}, n=256)
    session.results.know("GPU-2", "NVIDIA H200", "Xeon (16 cores)", 16, "lab")
    session.results.add_beside("GPU-2", result(rung(session, "gputiled"), 2000.0, 256))
    charts.refresh()
    bar = chart.figures.of("chosen")
    ((origin, gflops),) = bar.elsewhere
    assert (bar.gflops, gflops) == (1000.0, 2000.0) and "NVIDIA H200 (lab)" in origin
    assert "○ measured: NVIDIA H200 (lab)" in chart.hint.text()
    mark_of(chart, "gputiled")  # paints the chart
    drawing = chart._drawing
    assert colour_at(chart, "gputiled", round(drawing._x(2000.0) - drawing._left - 5)).lightness() > 180
    assert colour_at(chart, "gputiled", round(drawing._x(2000.0) - drawing._left)) == QColor(chart.theme.background)
    facts = mark_of(chart, "gputiled").facts()
    assert facts.splitlines()[-1].startswith("measured: NVIDIA H200 (lab)") and facts.endswith(" GFLOPS")


def test_the_mouse_on_a_bar_shows_all_figures_of_its_row(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER | {"gputiled": 2000.0}, regs=38, flags=["throttled"], host_launch_s=4e-6)
    choose(charts, "gputiled")
    qtbot.mouseMove(chart.plot, mark_of(chart, "gputiled").area.center().toPoint())
    qtbot.waitUntil(lambda: "Shared-memory tiles" in QToolTip.text())
    for text in (
        "measured here",
        "cold median of 5 samples",
        "38 registers",
        "host launch 4 µs",
        "⚑ throttled",
        "25% of cuBLAS",
    ):
        assert text in QToolTip.text()
    # Each result of this machine is the newest one: the library's may be of another run.
    assert "in the same run" not in QToolTip.text()


def test_the_time_of_copies_is_separate_from_the_time_of_the_kernel(charts):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER)
    choose(charts, "gputiled")
    copies = result(rung(window.session, "cublas"), 1.0, 64, backend="transfer")
    window.session.results.add_result(
        copies | {"kernel": "transfer", "gflops": None, "transfer": {"to_device_s": 0.01, "to_host_s": 0.003}}
    )
    texts = [standing_text(bar.standing, window.session) for bar in chart.figures.bars]
    assert ["copies apart: 10 ms to the device, 3 ms back" in text for text in texts] == [True] * 3


def test_arrow_keys_show_the_figures_and_return_chooses(charts, qtbot):
    window = window_of(charts)
    add(window, LADDER)
    choose(charts, "hostmult0")
    plot = charts.ladder.plot
    plot.grab()
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "hostmult0" in plot.accessibleDescription()
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "OpenBLAS" in plot.accessibleDescription()
    qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert window.session.choice.kernel.name == "openblas"


def test_a_click_on_a_bar_chooses_its_kernel(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER)
    choose(charts, "gputiled")
    at = mark_of(chart, "gpumult0").area.center().toPoint()
    qtbot.mouseClick(chart.plot, Qt.MouseButton.LeftButton, pos=at)
    assert window.session.choice.kernel.name == "gpumult0"


def test_the_size_is_chosen_and_follows_the_last_one_measured_until_then(charts):
    window, chart = window_of(charts), charts.ladder
    choose(charts, "hostmult0")
    add(window, {"hostmult0": 1.0, "hostmult1": 2.0}, n=64)
    add(window, {"hostmult0": 3.0}, n=128)
    assert chart.shown_size() == (128, 128, 128) and chart.bars() == [("hostmult0", 3.0)]
    chart.sizes.setCurrentText("64³")
    chart.sizes.activated.emit(chart.sizes.currentIndex())
    assert [gflops for _, gflops in chart.bars()] == [1.0, 2.0]
    add(window, {"hostmult1": 9.0}, n=128)
    assert chart.shown_size() == (64, 64, 64)


def test_the_list_shows_figures_of_the_charts_size_and_labels_other_sizes(charts_in_window):
    charts = charts_in_window
    window = window_of(charts)
    listed = window.ladder.rows
    add_reference(window, {"gputiled": 2000.0, "gpumult1": 900.0}, sizes=(256,))
    add(window, {"hostmult0": 1.5}, n=64)
    choose(charts, "hostmult0")
    charts.ladder.sizes.setCurrentText("256³")
    charts.ladder.sizes.activated.emit(charts.ladder.sizes.currentIndex())
    assert listed.size_shown == charts.ladder.shown_size() == (256, 256, 256)
    values = {name: listed.figure(name) for name in listed.figures}
    assert values == {"hostmult0": "1.5 at 64", "gpumult1": "900", "gputiled": "2\N{NARROW NO-BREAK SPACE}000"}
    window.session.results.want_size((64, 64, 64))
    assert charts.ladder.sizes.currentText() == "64³" and charts.ladder.bars() == [("hostmult0", 1.5)]
    window.session.results.want_size(None)
    assert listed.figure("gpumult1") == "900 at 256"


def test_many_bars_scroll_in_a_low_chart(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, {k.name: 10.0 for k in window.session.choice.kernels if not k.exhibit})
    choose(charts, "gputiled")
    window.resize(1280, 560)
    qtbot.waitUntil(lambda: chart.scroll_bar.isVisible())
    first = mark_of(chart, "gpumult0")
    assert first.area.height() > 0 and mark_of(chart, "cublas").area.height() <= 0
    for at in (0, 3, chart.scroll_bar.maximum() // 2, chart.scroll_bar.maximum()):
        chart.scroll_bar.setValue(at)
        chart.plot.grab()
        heights = [mark.area.height() for mark in chart.plot.marks]
        seen = {round(height, 3) for height in heights if height > 0.01}
        assert seen == {round(first.area.height(), 3)} and len(heights) > sum(height > 0.01 for height in heights)
    assert mark_of(chart, "cublas").area.height() > 0


def test_the_chosen_bar_is_in_view_after_the_choice(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, {k.name: 10.0 for k in window.session.choice.kernels if not k.exhibit})
    window.resize(1280, 560)
    choose(charts, "gputiled")
    qtbot.waitUntil(lambda: chart.scroll_bar.isVisible())
    assert mark_of(chart, "stream_k").area.height() <= 0
    for name in ("stream_k", "gpumult0"):
        choose(charts, name)
        assert mark_of(chart, name).area.height() > 0
    chart.scroll_bar.setValue(chart.scroll_bar.maximum())
    charts.refresh()
    assert mark_of(chart, "gpumult0").area.height() <= 0  # figures that arrive do not scroll


def test_empty_charts_say_how_to_fill_them(charts, qtbot):
    for chart in (charts.ladder, charts.sizes, charts.samples):
        charts.setCurrentWidget(chart)
        qtbot.wait(10)
        charts.refresh()
        assert "measure" in chart.hint.text().lower() and chart.hint.isVisible()
