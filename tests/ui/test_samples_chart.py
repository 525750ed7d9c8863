# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The chart of samples: of a measurement that runs, of several kernels, and of a reference."""

import pytest
from chart_driving import choose, window_of
from result_rows import add_reference
from window_driving import need_qt

need_qt()

from gemmviz.bench.figures import Turn
from gemmviz.ui.charts.sample_chart import _counts


def turn(name, number, n=64):
    return Turn(name, (n, n, n), number, 3, True)


def test_samples_grow_with_every_batch_in_a_row_per_round(charts, qtbot):
    session, chart = window_of(charts).session, charts.samples
    charts.setCurrentWidget(chart)
    choose(charts, "hostmult1")
    size = "64 × 64 × 64"
    counts = []
    for number, batch in ((1, [1.0, 1.1]), (1, [1.2]), (2, [1.3, 1.4, 1.5])):
        session.results.add_samples("hostmult1", size, batch, 1.2, turn("hostmult1", number))
        charts.refresh()
        counts.append([len(samples) for samples in chart.rows.rounds])
    assert counts == [[2], [3], [3, 3]]
    assert chart.rows.live and chart.tag.text() == "measured"
    assert charts.ladder.bars() == [("hostmult1", 1.2)] and charts.ladder.figures.bars[0].live
    chart.plot.grab()
    assert len(chart.plot.marks) == 6
    session.results.end_samples()
    charts.refresh()
    assert not chart.rows.live and len(chart.rows.all) == 6


def test_samples_of_interleaved_kernels_can_be_chosen(charts):
    session, chart = window_of(charts).session, charts.samples
    charts.setCurrentWidget(chart)
    for number in (1, 2):
        session.results.add_samples("slow", "64 × 64 × 64", [1.0, 1.1], 1.05, turn("hostmult0", number))
        session.results.add_samples("fast", "64 × 64 × 64", [9.0], 9.0, turn("hostmult1", number))
    charts.refresh()
    assert "fast" in chart.hint.text() and chart.rows.rounds == ((9.0,), (9.0,))
    chart.chooser.setCurrentText("slow")
    chart.chooser.activated.emit(1)
    assert chart.rows.rounds == ((1.0, 1.1), (1.0, 1.1)) and "slow" in chart.hint.text()


def test_a_reference_shows_the_samples_that_it_keeps(charts):
    window, chart = window_of(charts), charts.samples
    add_reference(window, {"gputiled": 900.0})
    row = next(iter(window.session.results.references[0].figures))
    row["rounds"] = [{"round": n, "n": count, "median_s": 1.0, "gflops": 900.0} for n, count in ((1, 2), (2, 3))]
    charts.setCurrentWidget(chart)
    choose(charts, "gputiled")
    assert [len(samples) for samples in chart.rows.rounds] == [2, 3]
    assert chart.rows.all == pytest.approx([900.0] * 5)
    assert chart.tag.dashed and "H200" in chart.tag.text()
    assert _counts(chart.rows) == ["2 samples", "3 samples", "5 samples"]
    # Of a long measurement, it keeps a part.
    for entry in row["rounds"]:
        entry["n"] *= 1000
    chart.refresh()
    assert [text.replace("\u202f", " ") for text in _counts(chart.rows)] == [
        "2 of 2 000 samples",
        "3 of 3 000 samples",
        "5 of 5 000 samples",
    ]
