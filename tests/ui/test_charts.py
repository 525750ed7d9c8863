# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""The charts as a person uses them: looked at, pointed at, chosen from, saved."""

import csv
from itertools import pairwise

import pytest
from result_rows import add, add_reference, result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog, QToolTip

from gemmviz import language
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language.catalogue import Catalogue
from gemmviz.ui.charts.chart_export import export
from gemmviz.ui.look.figure_text import origin_name, standing_text

LADDER = {"hostmult0": 1.0, "numpy": 100.0, "openblas": 200.0, "gpumult0": 500.0, "gputiled": 2000.0, "cublas": 8000.0}


@pytest.fixture
def charts(make_window, qtbot):
    """The charts of a window that is not driven by an engine, on their own page."""
    window = make_window()
    window.resize(1280, 800)
    window.pages.turn_to("charts")
    qtbot.wait(20)
    return window.charts


def window_of(charts):
    return charts.window()


def colour_at(chart, x, row):
    """Return the colour inside the bar of a row, at a place of the axis."""
    plot = chart.plot
    at = plot.pixel(x, -row)
    return QColor(plot.grab().toImage().pixel(at))


def test_columns_say_speed_up_and_share(charts):
    add(window_of(charts), LADDER)
    chart = charts.ladder
    columns = {axis._tickLevels[0][0][1]: [text for _, text in axis._tickLevels[0][1:]] for axis in chart.axes}
    assert columns["GFLOPS"] == [
        "1",
        "200",
        "100",
        "500",
        "2\N{NARROW NO-BREAK SPACE}000",
        "8\N{NARROW NO-BREAK SPACE}000",
    ]
    assert columns["speed-up"] == ["1×", "200×", "100×", "1×", "4×", "16×"]
    assert columns["of library"] == ["0.5%", "–", "–", "6.2%", "25%", "–"]


def test_a_reference_is_named_in_the_language_that_is_spoken(monkeypatch):
    said = {"reference: {device}": "referencia: {device}"}
    monkeypatch.setitem(language._state, "es", Catalogue(said, {}, lambda n: 0))
    monkeypatch.setattr(language, "_code", "es")
    assert origin_name("reference: NVIDIA H200, 2026-11-21") == "referencia: NVIDIA H200, 2026-11-21"


def test_a_reference_is_hollow_and_named_and_a_figure_measured_here_is_solid(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add_reference(window, {"hostmult0": 3.0, "gputiled": 2000.0})
    add(window, {"hostmult0": 2.0, "hostmult1": 4.0})
    qtbot.wait(20)
    assert chart.bars() == [("hostmult0", 2.0), ("hostmult1", 4.0), ("gputiled", 2000.0)]
    assert "■\N{NO-BREAK SPACE}measured here: a laptop" in chart.legend.text()
    assert "□\N{NO-BREAK SPACE}reference: NVIDIA H200, 2026-11-21" in chart.legend.text()
    low = chart.plot.viewRange()[0][0] + 0.05
    assert colour_at(chart, low, 1).green() > 150
    assert colour_at(chart, low, 2).green() < 40
    chart.reference.click()
    charts.refresh()
    assert [name for name, _ in chart.bars()] == ["hostmult0", "hostmult1"]
    assert "H200" not in chart.legend.text()


def test_the_mouse_on_a_bar_tells_all_figures_of_its_row(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER | {"gputiled": 2000.0}, regs=38, flags=["throttled"], host_launch_s=4e-6)
    qtbot.wait(20)
    low = chart.plot.viewRange()[0][0]
    qtbot.mouseMove(chart.plot.viewport(), chart.plot.pixel(low + 0.1, -4))
    qtbot.waitUntil(lambda: "Shared-memory tiles" in QToolTip.text())
    for said in (
        "measured here",
        "cold median of 5 samples",
        "38 registers",
        "host launch 4 µs",
        "⚑ throttled",
        "25% of cuBLAS",
    ):
        assert said in QToolTip.text()


def test_the_copies_of_a_gpu_rung_are_told_apart_from_its_time(charts):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER)
    copies = result(rung(window.session, "cublas"), 1.0, 64, backend="transfer")
    window.session.results.add_result(
        copies | {"kernel": "transfer", "gflops": None, "transfer": {"to_device_s": 0.01, "to_host_s": 0.003}}
    )
    said = [standing_text(s, window.session) for s in chart.standings]
    assert ["copies apart: 10 ms to the device, 3 ms back" in text for text in said] == [False] * 3 + [True] * 3


def test_arrows_tell_the_figures_too(charts, qtbot):
    add(window_of(charts), LADDER)
    plot = charts.ladder.plot
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "hostmult0" in plot.accessibleDescription()
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "OpenBLAS" in plot.accessibleDescription()


def test_a_click_on_a_bar_chooses_its_rung(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, LADDER)
    qtbot.wait(20)
    window.session.choice.auto = False
    qtbot.mouseClick(
        chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=chart.plot.pixel(chart.plot.viewRange()[0][0], -3)
    )
    assert window.session.choice.kernel.name == "gpumult0"


def test_the_size_is_chosen_and_follows_the_last_one_measured_until_then(charts):
    window, chart = window_of(charts), charts.ladder
    add(window, {"hostmult0": 1.0, "hostmult1": 2.0}, n=64)
    add(window, {"hostmult0": 3.0}, n=128)
    assert chart.shown_size() == (128, 128, 128) and chart.bars() == [("hostmult0", 3.0)]
    chart.sizes.setCurrentText("64³")
    chart.sizes.activated.emit(chart.sizes.currentIndex())
    assert [gflops for _, gflops in chart.bars()] == [1.0, 2.0]
    add(window, {"hostmult1": 9.0}, n=128)
    assert chart.shown_size() == (64, 64, 64)


def test_the_list_shows_the_chart_s_size_and_names_every_other(charts):
    window = window_of(charts)
    listed = window.ladder
    add_reference(window, {"gputiled": 2000.0, "gpumult1": 900.0}, sizes=(256,))
    add(window, {"hostmult0": 1.5}, n=64)
    charts.ladder.sizes.setCurrentText("256³")
    charts.ladder.sizes.activated.emit(charts.ladder.sizes.currentIndex())
    assert listed.size_shown == charts.ladder.shown_size() == (256, 256, 256)
    said = {name: listed.figure_text(shown) for name, shown in listed.figures.items()}
    assert said == {"hostmult0": "1.5 at 64", "gpumult1": "900", "gputiled": "2\N{NARROW NO-BREAK SPACE}000"}
    window.session.results.want_size((64, 64, 64))
    assert charts.ladder.sizes.currentText() == "64³" and charts.ladder.bars() == [("hostmult0", 1.5)]
    window.session.results.want_size(None)
    assert listed.figure_text(listed.figures["gpumult1"]) == "900 at 256"


@pytest.mark.parametrize(("slowest", "log"), [(10.0, True), (50.0, False)])
def test_the_axis_is_logarithmic_when_figures_are_far_apart_until_somebody_chooses(charts, slowest, log):
    window, chart = window_of(charts), charts.ladder
    add(window, {"hostmult0": slowest, "gputiled": 2000.0})
    assert chart.log.isChecked() is log
    chart.log.click()
    add(window, {"hostmult1": slowest})
    assert chart.log.isChecked() is not log


def test_one_processor_alone_can_be_shown(charts):
    add(window_of(charts), LADDER)
    box = charts.ladder.places
    box.setCurrentText("GPU")
    box.activated.emit(box.currentIndex())
    assert [name for name, _ in charts.ladder.bars()] == ["gpumult0", "gputiled", "cuBLAS"]


def test_many_bars_scroll_in_a_small_chart(charts, qtbot):
    window, chart = window_of(charts), charts.ladder
    add(window, {k.name: 10.0 for k in window.session.choice.kernels if not k.exhibit})
    window.pages.turn_to("stage")
    qtbot.wait(50)
    assert chart.scroll_bar.isVisible()
    first = [text for _, text in chart.plot.getAxis("left")._tickLevels[0]]
    chart.scroll_bar.setValue(chart.scroll_bar.maximum())
    last = [text for _, text in chart.plot.getAxis("left")._tickLevels[0]]
    assert first[0] == "hostmult0" and last[-1].startswith("cuBLAS")


def test_sizes_that_stand_close_do_not_write_over_each_other(charts, qtbot):
    window, chart = window_of(charts), charts.sizes
    sizes = range(512, 8193, 512)
    for n in sizes:
        add(window, {"gputiled": 2000.0}, n=n)
    charts.setCurrentWidget(chart)
    for width in (1280, 900):
        window.resize(width, 800)
        qtbot.wait(20)
        axis = chart.plot.getAxis("bottom")
        places = [(chart.plot.pixel(at, 0).x(), text) for at, text in axis._tickLevels[0]]
        assert len(places) == len(sizes)  # each has its tick
        written = [(x, text) for x, text in places if text]
        assert {"512", "1024", "2048", "4096", "8192"} <= {text for _, text in written} < {str(n) for n in sizes}
        broad = QFontMetricsF(axis.style["tickFont"]).horizontalAdvance("8192")
        assert all(b - a > broad for (a, _), (b, _) in pairwise(written))


def test_curves_over_n_have_a_point_at_each_cube_and_can_be_switched_off(charts, qtbot):
    window, chart = window_of(charts), charts.sizes
    charts.setCurrentWidget(chart)
    for n, gflops in ((64, 1.0), (256, 3.0), (128, 2.0)):
        add(window, {"hostmult0": gflops, "numpy": 10 * gflops}, n=n)
    window.session.results.add_result(result(rung(window.session, "hostmult0"), 5.0, 512) | {"K": 7})
    charts.refresh()
    assert {c.name: [r["N"] for r in c.rows] for c in chart.curves} == {
        "hostmult0": [64, 128, 256],
        "NumPy": [64, 128, 256],
    }
    assert chart.list.isVisible()
    chart.list.topLevelItem(0).setCheckState(0, Qt.CheckState.Unchecked)
    assert [c.name for c in chart.drawn()] == ["NumPy"]
    assert {row[0] for row in chart.table().rows} == {"numpy"}


def test_a_reference_continues_a_curve_where_this_machine_has_no_figure(charts):
    window, chart = window_of(charts), charts.sizes
    charts.setCurrentWidget(chart)
    add_reference(window, {"hostmult0": 8.0, "gputiled": 900.0}, sizes=(64, 128))
    add(window, {"hostmult0": 1.0}, n=64)
    charts.refresh()
    found = [(c.kernel.name, bool(c.origin), [r["N"] for r in c.rows]) for c in chart.drawn()]
    assert found == [("hostmult0", False, [64]), ("hostmult0", True, [128]), ("gputiled", True, [64, 128])]


def test_other_parameters_of_a_reference_are_folded_below_their_rung_until_wanted(charts):
    window, chart = window_of(charts), charts.sizes
    charts.setCurrentWidget(chart)
    kernel = rung(window.session, "gputiled")
    add_reference(window, {"gputiled": 900.0, "gpumult1": 500.0})
    for ts in (8, 32):
        window.session.results.references[0].figures.add(result(kernel, 10.0 * ts) | {"params": {"TS": ts}})
    window.session.results.set_references(window.session.results.references)
    charts.refresh()
    assert [c.name for c in chart.drawn()] == ["gpumult1 32,32", "gputiled 16"]
    assert chart.list.topLevelItemCount() == 2
    line = chart.list.topLevelItem(1)
    assert not line.isExpanded()
    assert [line.child(i).text(0) for i in range(line.childCount())] == ["TS=8 ○", "TS=32 ○"]
    line.child(1).setCheckState(0, Qt.CheckState.Checked)
    assert [c.name for c in chart.drawn()] == ["gpumult1 32,32", "gputiled 16", "gputiled 32"]
    line.setCheckState(0, Qt.CheckState.Unchecked)
    assert [c.name for c in chart.drawn()] == ["gpumult1 32,32"]


def test_keys_walk_along_a_curve(charts, qtbot):
    window, chart = window_of(charts), charts.sizes
    charts.setCurrentWidget(chart)
    for n in (64, 128):
        add(window, {"hostmult0": n / 10, "gputiled": n}, n=n)
    for key, said in ((Qt.Key.Key_Right, "N = 64"), (Qt.Key.Key_Right, "N = 128"), (Qt.Key.Key_Down, "gputiled")):
        qtbot.keyClick(chart.plot, key)
        assert said in chart.plot.accessibleDescription()


def test_samples_of_kernels_that_take_turns_stand_behind_each_other(charts, qtbot):
    session, chart = window_of(charts).session, charts.samples
    charts.setCurrentWidget(chart)
    for _ in range(2):
        session.results.add_samples("slow", "64 × 64 × 64", [1.0, 1.1], 1.05)
        session.results.add_samples("fast", "64 × 64 × 64", [9.0], 9.0)
    qtbot.waitUntil(lambda: "fast" in chart.hint.text())
    assert len(chart.curve.xData) == 2
    chart.chooser.setCurrentText("slow")
    chart.chooser.activated.emit(1)
    assert len(chart.curve.xData) == 4 and "slow" in chart.hint.text()


@pytest.mark.parametrize("tab", range(5))
def test_every_chart_is_saved_as_picture_and_drawing(charts, qtbot, tmp_path, tab):
    add(window_of(charts), LADDER)
    charts.setCurrentIndex(tab)
    qtbot.wait(30)
    chart, size = charts.currentWidget(), charts.currentWidget().size()
    export(chart, tmp_path / "x.png")
    export(chart, tmp_path / "x.svg")
    picture, drawing = QImage(str(tmp_path / "x.png")), QSvgRenderer(str(tmp_path / "x.svg"))
    assert picture.width() >= 2 * size.width() and drawing.isValid()
    assert drawing.viewBox().size() == picture.size() / 2
    colours = {picture.pixel(x, y) for x in range(0, picture.width(), 5) for y in range(0, picture.height(), 5)}
    assert len(colours) > 3
    assert chart.size() == size


def test_a_saved_ladder_shows_every_bar_however_small_the_window(charts, qtbot, tmp_path):
    window = window_of(charts)
    add(window, {k.name: 10.0 for k in window.session.choice.kernels if not k.exhibit})
    window.pages.turn_to("stage")
    export(charts.ladder, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert ">hostmult0<" in text and ">cuBLAS<" in text and ">RR 16<" in text


def test_the_figures_are_saved_with_their_units_and_origin(charts, tmp_path, monkeypatch):
    window = window_of(charts)
    add_reference(window, {"gputiled": 2000.0})
    add(window, {"hostmult0": 1.5})
    path = tmp_path / "figures"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), "Figures (*.csv)"))
    window.findChild(object, "save_chart").trigger()
    rows = list(csv.DictReader((tmp_path / "figures.csv").read_text(encoding="utf-8").splitlines()))
    assert [(r["kernel"], float(r["GFLOPS (cold median)"]), r["origin"]) for r in rows] == [
        ("hostmult0", 1.5, "measured: a laptop"),
        ("gputiled", 2000.0, "reference: NVIDIA H200, 2026-11-21"),
    ]


def test_what_cannot_be_saved_is_said(charts, tmp_path):
    with pytest.raises(GemmvizError, match=r"png, \.svg or \.csv"):
        export(charts.ladder, tmp_path / "x.gif")
    with pytest.raises(GemmvizError, match="cannot write"):
        export(charts.ladder, tmp_path / "no" / "x.svg")
    with pytest.raises(GemmvizError, match="cannot write"):
        export(charts.ladder, tmp_path / "no" / "x.png")


def test_charts_that_are_empty_say_what_to_do(charts, qtbot):
    for chart in (charts.ladder, charts.sizes, charts.samples):
        charts.setCurrentWidget(chart)
        qtbot.wait(10)
        assert "measure" in chart.hint.text().lower() and chart.hint.isVisible()


def test_every_tab_is_in_sight_in_the_small_place(charts, qtbot):
    window = window_of(charts)
    window.pages.turn_to("stage")
    window.resize(QSize(1280, 800))
    qtbot.wait(30)
    bar = charts.tabBar()
    assert bar.tabRect(bar.count() - 1).right() <= bar.width()
