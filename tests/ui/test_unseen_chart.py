"""A hidden chart is saved like a visible one, although it gets its new size only while it is painted."""

import pytest
from PySide6.QtGui import QImage
from window_fixtures import new_session

from gemmviz.bench import reference_results
from gemmviz.ui.charts.chart_export import export
from gemmviz.ui.charts.roofline import RooflinePanel


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_chart_that_redraws_itself_while_it_is_painted_is_saved(qapp, tmp_path, monkeypatch, suffix):
    session = new_session()
    session.results.set_references(reference_results.load()[0])
    chart = RooflinePanel(session)
    chart.refresh()
    chart.resize(500, 300)
    drawn = []
    render = chart.render

    def redraw(*args, **kwargs):
        chart.refresh()
        drawn.append(True)
        return render(*args, **kwargs)

    monkeypatch.setattr(chart, "render", redraw)
    export(chart, tmp_path / f"chart{suffix}")
    assert drawn and not QImage(str(tmp_path / f"chart{suffix}")).isNull()
