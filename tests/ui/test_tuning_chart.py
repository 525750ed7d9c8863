# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Tuning in the window: start by a key, one dot per candidate, pointing, use of the result, saving, cancelling."""

import csv
from itertools import combinations

import pytest
from result_rows import add, add_reference, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolTip

from gemmviz.app import new_session
from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.space import space
from gemmviz.catalogue.problem import Problem
from gemmviz.session.rules.rivals import rivals
from gemmviz.ui.charts.chart_export import export
from gemmviz.ui.charts.tuning_chart import TuningChart

TUNE_MS = 120_000
H200 = {"device": {"name": "NVIDIA H200"}, "env": {"cpu": {"model": "abacus", "cores": 2}}}
SIZE = Problem.cube(64)


@pytest.fixture
def charts(charts, qtbot):
    """The charts without an engine, with the tab of tuning visible."""
    charts.setCurrentWidget(charts.tuning)
    qtbot.wait(20)
    return charts


def candidate(number, place, params, gflops, rounds=0, message=""):
    return {
        "number": number,
        "place": place,
        "params": params,
        "status": "ok" if gflops else "wrong",
        "message": message,
        "gflops": gflops,
        "rounds": rounds,
        "of_best": 1.0 if gflops else None,
        "regs": 40,
        "smem": None,
        "local_bytes": 0,
        "flags": [],
    }


def searched(window, figures, finish=True, name="gputiled_more_work"):
    """Let a search of a rung try its candidates in their order: GFLOPS each, None for a wrong one."""
    session = window.session
    kernel, tuning = rung(session, name), session.tuning
    session.choice.choose_kernel(kernel)
    session.choice.choose_bench(problem=SIZE)
    tuning.set_machine(H200)
    found = space(kernel, SIZE, {}, None)
    tuning.start(kernel, SIZE)
    made, best = [], None
    for number, gflops in enumerate(figures):
        made.append(candidate(number, number + 1, found.candidates[number], gflops, message="C is wrong"))
        if gflops and (best is None or gflops > figures[best]):
            best = number
        tuning.take(number, made[-1], best, 0, len(found.candidates))
    if finish:
        document = {
            "candidates": made,
            "params": found.candidates[best],
            "gain": figures[best] / figures[0],
            "untried": 1,
            "left_out": {"TS % WPT == 0": 2},
            "equals": [],
            "flags": ["contended"],
        }
        tuning.finish(document)
    window.charts.refresh()
    return found.candidates


def test_a_sentence_explains_tuning_before_the_first_search(charts):
    chart = charts.tuning
    assert "press “Tune”" in chart.hint.text()
    assert chart.empty.isVisible() and not chart.plot.isVisible()
    assert "gputiled declares 3 combinations" in chart.empty.text() and "TS: 16, 8, 32" in chart.empty.text()
    assert chart.tune.isEnabled() and not chart.use.isVisible()
    charts.session.choice.choose_kernel(rung(charts.session, "hostmult0"))
    charts.refresh()
    chart.refresh()
    assert "declares no parameters" in chart.hint.text()


def test_a_key_tunes_the_chosen_kernel_and_the_result_can_be_used(window, qtbot):
    session = window.session
    session.choice.choose_kernel(rung(session, "hostmult_threads"))
    session.choice.choose_bench(problem=Problem.cube(16))
    session.tuning.seconds = 6
    qtbot.keyClick(window, Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier)
    assert session.tuning.running and not window.charts.tuning.tune.isEnabled()
    assert window.charts.currentWidget() is window.charts.tuning
    qtbot.waitUntil(lambda: len(session.tuning.candidates) > 0, timeout=TUNE_MS)
    assert session.progress["bench"] is not None
    qtbot.waitUntil(lambda: not session.tuning.running, timeout=TUNE_MS)
    assert session.progress["bench"] is None
    found = session.tuning.found
    assert found.keys() == {"THREADS"}
    session.choice.choose_bench(params={"THREADS": 3})
    qtbot.keyClick(window, Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert session.choice.bench_params == found
    assert window.measuring.params.boxes["THREADS"].currentText() == str(found["THREADS"])
    (entry,) = kept.kept()[0]
    assert (entry.kernel, entry.params, entry.M) == ("hostmult_threads", found, 16)


def test_a_cancelled_search_keeps_the_best_so_far(window, qtbot):
    session = window.session
    # It has 72 sets of parameters: the search does not end by itself before the key is pressed.
    session.choice.choose_kernel(rung(session, "packed"))
    session.choice.choose_bench(problem=Problem.cube(16))
    session.tuning.seconds = 600
    window.controller.tuning.start()
    qtbot.waitUntil(lambda: len(session.tuning.candidates) > 0, timeout=TUNE_MS)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not session.tuning.running, timeout=TUNE_MS)
    assert session.tuning.document["cancelled"] and session.tuning.found is not None
    assert session.progress["bench"] is None


def test_the_chart_shows_the_best_candidate_so_far_and_at_the_end(charts_in_window, qtbot):
    charts = charts_in_window
    charts.setCurrentWidget(charts.tuning)
    window, chart = charts.window(), charts.tuning
    searched(window, [100.0, 150.0, None, 120.0], finish=False)
    assert "4 of 6 tried, best so far TS=32 WPT=4: 150 GFLOPS" in chart.hint.text()
    assert not chart.use.isVisible()
    candidates = searched(window, [100.0, 150.0, None, 120.0])
    assert "gputiled_more_work at 64³: best TS=32 WPT=4: 150 GFLOPS, 1.5× the default" in chart.hint.text()
    for text in ("measured here: NVIDIA H200", "no figure", "1 not tried", "2 left out: they break TS % WPT == 0"):
        assert text in chart.legend.text()
    assert "⚑ contended" in chart.legend.text()
    qtbot.mouseClick(chart.use, Qt.MouseButton.LeftButton)
    assert window.session.choice.bench_params == candidates[1]
    qtbot.waitUntil(lambda: not chart.use.isEnabled())


def test_mouse_and_arrow_keys_show_the_facts_about_a_candidate(charts, qtbot):
    chart = charts.tuning
    searched(charts.window(), [100.0, 150.0, None, 120.0])
    qtbot.wait(20)
    qtbot.mouseMove(chart.plot.viewport(), chart.plot.pixel(4, 120.0))
    qtbot.waitUntil(lambda: "TS=16 WPT=8" in QToolTip.text())
    assert "120 GFLOPS, measured once" in QToolTip.text() and "40 registers" in QToolTip.text()
    chart.plot.setFocus()
    texts = []
    chart._point(None)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Up):
        qtbot.keyClick(chart.plot, key)
        texts.append(chart.plot.accessibleDescription())
    assert "TS=32 WPT=4" in texts[0] and "best" in texts[0]
    assert "wrong: C is wrong" in texts[1]
    assert "TS=16 WPT=8" in texts[2] and "TS=32 WPT=4" in texts[3]


def shown_rivals(session):
    return rivals(session.tuning, session.results, session.choice.kernels)


def test_a_library_is_a_line_if_its_figure_is_from_this_device(charts):
    window, chart = charts.window(), charts.tuning
    add_reference(window, {"cublas": 180.0, "numpy": 150.0})
    searched(window, [100.0, 150.0])
    assert [(r.title, r.gflops) for r in shown_rivals(window.session)] == [("cuBLAS", 180.0)]
    texts = [item.toPlainText() for item in chart._items if hasattr(item, "toPlainText")]
    assert "cuBLAS: 180 GFLOPS (reference: NVIDIA H200, 2026-11-21)" in texts
    window.session.tuning.set_machine(H200 | {"device": {"name": "another GPU"}})
    assert shown_rivals(window.session) == []
    add(window, {"cublas": 5000.0})
    chart.refresh()
    assert "cuBLAS: 5\N{NARROW NO-BREAK SPACE}000 GFLOPS, above this axis" in chart.legend.text()
    assert chart.plot.viewRange()[1][1] < 200


def test_candidates_are_saved_as_figures_picture_and_drawing(charts, tmp_path):
    searched(charts.window(), [100.0, None, 120.0])
    for suffix in ("csv", "png", "svg"):
        export(charts.tuning, tmp_path / f"t.{suffix}")
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert [(r["parameters"], r["status"], r["GFLOPS"]) for r in rows] == [
        ("TS=32 WPT=8", "ok", "100.0"),
        ("TS=32 WPT=4", "wrong", ""),
        ("TS=32 WPT=2", "ok", "120.0"),
    ]
    assert ">best<" in (tmp_path / "t.svg").read_text()


def test_every_rung_is_measured_with_the_kept_parameters_on_request(charts, qtbot):
    session, kernel = charts.session, rung(charts.session, "gputiled")
    session.tuning.set_machine(H200)
    kept.keep(
        {
            "kernel": kernel.name,
            "source_sha256": kernel.sha256,
            "tuned_on": "NVIDIA H200",
            "date_utc": "2026-11-21T20:00:00+00:00",
            **dict.fromkeys("MNK", 512),
            **{"params": {"TS": 32}, "gflops": 1.0, "gain": 1.0, "rounds": 3},
        }
    )
    assert session.tuning.params_for(kernel, [SIZE]) == {"TS": 16}
    qtbot.mouseClick(charts.tuning.always, Qt.MouseButton.LeftButton)
    assert session.tuning.wanted and session.choice.bench_params == {"TS": 32}
    assert session.tuning.params_for(kernel, [SIZE]) == {"TS": 32}
    session.choice.choose_kernel(rung(session, "gputiled_more_work"))
    assert session.choice.bench_params == rung(session, "gputiled_more_work").defaults
    session.choice.choose_kernel(kernel)
    assert session.choice.bench_params == {"TS": 32}
    charts.tuning.always.click()
    assert session.choice.bench_params == {"TS": 16}


def test_with_little_height_only_the_plot_and_the_buttons_are_shown(charts, qtbot):
    window, chart = charts.window(), charts.tuning
    searched(window, [100.0, 150.0])
    chart.setMaximumHeight(200)
    qtbot.waitUntil(lambda: chart.height() == 200)
    assert chart.plot.isVisible() and chart.use.isVisible()
    assert not chart.legend.isVisible() and not chart.seconds.isVisible()
    qtbot.waitUntil(lambda: chart.plot.height() > chart.height() / 2)
    assert chart.hint.text().startswith("best TS=32 WPT=4")


@pytest.mark.sweep("charts")
@pytest.mark.parametrize("page", ["stage", "charts"])
def test_many_parameters_are_readable_and_fit_a_small_screen(charts_in_window, qtbot, page):
    charts = charts_in_window
    charts.setCurrentWidget(charts.tuning)
    window, session = charts.window(), charts.session
    session.choice.choose_kernel(max(session.choice.kernels, key=lambda kernel: len(kernel.params)))
    window.pages.turn_to(page)
    row = window.measuring.params
    boxes = list(row.boxes.values())
    assert len(boxes) > 3
    # The layout is updated by the event loop, which takes longer on a busy machine.
    qtbot.waitUntil(lambda: row.height() >= row.minimumSizeHint().height())
    qtbot.waitUntil(lambda: all(box.width() >= box.sizeHint().width() for box in boxes))
    qtbot.waitUntil(lambda: not [1 for a, b in combinations(boxes, 2) if a.geometry().intersects(b.geometry())])
    window.resize(QSize(100, 100))
    qtbot.waitUntil(lambda: window.width() <= 1024 and window.height() <= 800)


def test_a_chart_that_was_never_shown_needs_only_the_height_of_a_plot(qtbot):
    session = new_session("dark")
    session.choice.choose_kernel(max(session.choice.kernels, key=lambda kernel: len(kernel.params)))
    chart = TuningChart(session)
    qtbot.addWidget(chart)
    chart.refresh()
    assert len(chart.empty.text()) > 400
    assert chart.minimumSizeHint().height() <= 180


@pytest.mark.parametrize("name", ["every_shape", "gputiled"])
def test_the_text_before_a_search_is_whole_also_with_many_parameters(charts, qtbot, name):
    """Of twelve lines of parameters the first was cut in two, and why the tile was chosen was not seen at all."""
    session, chart = charts.window().session, charts.tuning
    session.choice.choose_kernel(rung(session, name))
    charts.window().resize(1920, 1080)
    chart.refresh()
    qtbot.wait(20)
    text, empty = chart.empty.text(), chart.empty
    assert all(f"{parameter}:" in text for parameter in session.choice.kernel.params)
    assert ("multiprocessors busy" in text) == (name == "every_shape")
    assert empty.isVisible() and empty.height() >= empty.heightForWidth(empty.width())
