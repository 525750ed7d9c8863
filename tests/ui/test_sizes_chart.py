# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The chart over sizes: its curves, its ticks, and moving along a curve."""

from itertools import pairwise

import pytest
from chart_driving import choose, window_of, written
from result_rows import add, add_reference, result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF

from gemmviz.language import LANGUAGES, set_language
from gemmviz.ui.charts import size_chart
from gemmviz.ui.charts.painted import page_font


def test_labels_of_close_sizes_do_not_overlap(charts, qtbot):
    window, chart = window_of(charts), charts.sizes
    sizes = range(512, 8193, 512)
    for n in sizes:
        add(window, {"gputiled": 2000.0}, n=n)
    choose(charts, "gputiled")
    for width in (1000, 600):
        frame = chart.frame(QSize(width, 400))
        assert frame.across == list(sizes)  # each has its tick
        texts = frame.written()
        assert {"512", "1024", "2048", "4096", "8192"} <= {text for _, text in texts} < {str(n) for n in sizes}
        broad = QFontMetricsF(page_font()).horizontalAdvance("8192")
        assert all(b - a > broad for (a, _), (b, _) in pairwise(texts))


def test_curves_over_n_have_a_point_at_each_cube_on_two_logarithmic_axes(charts):
    window, chart = window_of(charts), charts.sizes
    choose(charts, "hostmult0")
    for n, gflops in ((64, 1.0), (256, 3.0), (128, 2.0)):
        add(window, {"hostmult0": gflops, "numpy": 10 * gflops}, n=n)
    window.session.results.add_result(result(rung(window.session, "hostmult0"), 5.0, 512) | {"K": 7})
    charts.setCurrentWidget(chart)
    charts.refresh()
    found = {c.kernel.name: (c.role, [r["N"] for r in c.rows]) for c in chart.drawn()}
    assert found == {"hostmult0": ("chosen", [64, 128, 256]), "numpy": ("library", [64, 128, 256])}
    assert [row[0] for row in chart.table().rows] == ["hostmult0"] * 3 + ["numpy"] * 3
    frame = chart.frame(QSize(600, 400))
    low, middle, high = (frame.at(n, g) for n, g in ((64, 1.0), (128, 10.0), (256, 100.0)))
    assert middle.x() - low.x() == pytest.approx(high.x() - middle.x())
    assert low.y() - middle.y() == pytest.approx(middle.y() - high.y())


def test_a_reference_continues_a_curve_where_this_machine_has_no_figure(charts):
    window, chart = window_of(charts), charts.sizes
    add_reference(window, {"gpumult0": 8.0, "gputiled": 900.0}, sizes=(64, 128))
    add(window, {"gpumult0": 1.0}, n=64)
    choose(charts, "gputiled")
    charts.setCurrentWidget(chart)
    charts.refresh()
    found = [(c.kernel.name, bool(c.origin), [r["N"] for r in c.rows]) for c in chart.drawn()]
    assert found == [("gpumult0", False, [64]), ("gpumult0", True, [128]), ("gputiled", True, [64, 128])]


def test_other_parameters_are_drawn_pale_and_only_for_the_chosen_kernel(charts):
    window, chart = window_of(charts), charts.sizes
    kernel = rung(window.session, "gputiled")
    add_reference(window, {"gputiled": 900.0, "gpumult1": 500.0})
    for ts in (8, 32):
        window.session.results.references[0].figures.add(result(kernel, 10.0 * ts) | {"params": {"TS": ts}})
    window.session.results.set_references(window.session.results.references)
    charts.setCurrentWidget(chart)
    choose(charts, "gputiled")
    assert [(c.kernel.name, c.role) for c in chart.drawn()] == [
        *(("gpumult1", "before"), ("gputiled", "chosen"), ("gputiled", "other"), ("gputiled", "other"))
    ]
    choose(charts, "gpumult1")
    assert [c.kernel.name for c in chart.drawn()] == ["gpumult1", "gputiled"]


def test_a_kernel_whose_parameters_follow_from_the_size_has_one_curve_and_a_short_name(charts, monkeypatch):
    window, chart = window_of(charts), charts.sizes
    kernel = rung(window.session, "every_shape_fp32")
    add_reference(window, {"gputiled": 900.0})
    figures = window.session.results.references[0].figures
    for n, stages in ((64, 8), (128, 6), (256, 6)):
        figures.add(result(kernel, 100.0 * n, n) | {"params": kernel.defaults | {"STAGES": stages}})
    window.session.results.set_references(window.session.results.references)
    charts.setCurrentWidget(chart)
    choose(charts, "gputiled")
    found = {c.kernel.name: (c.role, [r["N"] for r in c.rows]) for c in chart.drawn()}
    assert found["every_shape_fp32"] == ("best", [64, 128, 256])
    for n, gflops in ((64, 1.0), (64, 2.0)):  # with other parameters, given by hand
        row = result(kernel, gflops, n) | {"params": kernel.defaults | {"STAGES": 3 + int(gflops)}}
        window.session.results.add_result(row)
    charts.refresh()
    own = {c.origin: [(r["N"], r["gflops"]) for r in c.rows] for c in chart.drawn() if c.kernel is kernel}
    assert own.pop("") == [(64, 2.0)]
    assert list(own.values()) == [[(128, 12800.0), (256, 25600.0)]]
    charts.setCurrentWidget(charts.ladder)
    assert "every_shape_fp32" in written(charts.ladder, monkeypatch)


def test_keys_move_along_a_curve_and_a_pale_line_shows_its_name(charts, qtbot):
    window, chart = window_of(charts), charts.sizes
    add(window, {"hostmult0": 1.0, "hostmult1": 2.0, "hostmult1_opt": 3.0, "hostmult_threads": 9.0}, n=64)
    add(window, {"hostmult0": 2.0, "hostmult1": 3.0, "hostmult1_opt": 4.0, "hostmult_threads": 12.0}, n=128)
    choose(charts, "hostmult1_opt")
    charts.setCurrentWidget(chart)
    charts.refresh()
    chart.plot.grab()
    for key, text in ((Qt.Key.Key_Right, "N = 64"), (Qt.Key.Key_Right, "N = 128"), (Qt.Key.Key_Down, "N = 64")):
        qtbot.keyClick(chart.plot, key)
        assert text in chart.plot.accessibleDescription()
    between = next(m for m in chart.plot.marks if m.kernel.name == "hostmult0" and not m.by_key)
    chart.plot.point(chart.plot.marks.index(between))
    assert chart.plot.accessibleDescription().startswith("hostmult0: ")


@pytest.mark.sweep("ko")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_number_of_pale_curves_says_what_they_are(charts, monkeypatch, language):
    """In a narrow chart it was "+ 30" in the longer languages."""
    window, chart = window_of(charts), charts.sizes
    names = ("gpumult0", "gpumult1", "matrixMulNaive", "RR", "CC", "vectorised")
    for n in (512, 1024):
        add(window, dict.fromkeys(names, 900.0) | {"gputiled": 2000.0}, n=n)
    choose(charts, "gputiled")
    charts.setCurrentWidget(chart)
    set_language(language)
    written = []
    monkeypatch.setattr(size_chart, "shortened", lambda text, *_: written.append(text) or text)
    for width in (390, 600):
        chart.plot.resize(width, 600)
        written.clear()
        chart.plot.grab()
        (about,) = [text for text in written if any(letter.isdigit() for letter in text)]
        assert not about.startswith("+")
