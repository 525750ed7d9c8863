# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Charts as files: pictures, drawings and tables of figures."""

import csv

import numpy as np
import pytest
from chart_driving import LADDER, choose, window_of
from result_rows import add, add_reference
from window_driving import need_qt

need_qt()

from pixels import pixels
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.ui.charts.chart_export import export


@pytest.mark.sweep("0")
@pytest.mark.parametrize("tab", range(5))
def test_every_chart_is_saved_as_picture_and_drawing(charts, qtbot, tmp_path, tab):
    add(window_of(charts), LADDER)
    choose(charts, "gputiled")
    charts.setCurrentIndex(tab)
    qtbot.wait(30)
    chart, size = charts.currentWidget(), charts.currentWidget().size()
    export(chart, tmp_path / "x.png")
    export(chart, tmp_path / "x.svg")
    picture, drawing = QImage(str(tmp_path / "x.png")), QSvgRenderer(str(tmp_path / "x.svg"))
    assert picture.width() >= 2 * size.width() and drawing.isValid()
    assert drawing.viewBox().size() == picture.size() / 2
    assert len(np.unique(pixels(picture)[::5, ::5])) > 3
    assert chart.size() == size


def test_a_saved_ladder_shows_every_bar_even_in_a_small_window(charts, qtbot, tmp_path):
    window = window_of(charts)
    add(window, {k.name: 10.0 for k in window.session.choice.kernels if not k.exhibit})
    choose(charts, "gputiled")
    window.resize(1280, 560)
    export(charts.ladder, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert ">gpumult0<" in text and ">cuBLAS<" in text and ">RR<" in text


def test_the_figures_are_saved_with_their_units_and_origin(charts_in_window, tmp_path, monkeypatch):
    charts = charts_in_window
    window = window_of(charts)
    add_reference(window, {"gputiled": 2000.0})
    add(window, {"gpumult0": 1.5})
    choose(charts, "gputiled")
    charts.setCurrentWidget(charts.ladder)
    path = tmp_path / "figures"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), "Figures (*.csv)"))
    window.findChild(object, "save_chart").trigger()
    rows = list(csv.DictReader((tmp_path / "figures.csv").read_text(encoding="utf-8").splitlines()))
    assert [(r["kernel"], float(r["GFLOPS (cold median)"]), r["origin"]) for r in rows] == [
        ("gpumult0", 1.5, "measured: a laptop"),
        ("gputiled", 2000.0, "reference: NVIDIA H200, 2026-11-21"),
    ]


def test_the_same_key_exports_steps_on_the_stage(window, monkeypatch):
    """It saved a chart that was not shown."""
    asked = []
    monkeypatch.setattr(window.saver, "export", lambda: asked.append("steps"))
    monkeypatch.setattr(window.saver, "chart", lambda chart: asked.append("chart"))
    window.findChild(object, "save_chart").trigger()
    window.pages.turn_to("charts")
    window.findChild(object, "save_chart").trigger()
    assert asked == ["steps", "chart"]


def test_a_chart_that_cannot_be_saved_is_reported(charts, tmp_path):
    with pytest.raises(GemmvizError, match=r"png, \.svg or \.csv"):
        export(charts.ladder, tmp_path / "x.gif")
    with pytest.raises(GemmvizError, match="cannot write"):
        export(charts.ladder, tmp_path / "no" / "x.svg")
    with pytest.raises(GemmvizError, match="cannot write"):
        export(charts.ladder, tmp_path / "no" / "x.png")
