# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Recorded beside measured counters, and the occupancy of a launch."""

import re
from types import SimpleNamespace

import pytest
from window_driving import need_qt

need_qt()

from inspector_driving import playable
from PySide6.QtCore import QPoint

from gemmviz.bench import results
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.proving import proofs
from gemmviz.ui.inspect import counter_text


@pytest.fixture
def inspector(make_inspector):
    return make_inspector(576, 210)


def test_recorded_and_measured_counters_are_side_by_side(inspector):
    session = inspector.session
    inspector.show_panel("counters")
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    text = "occupancy: this machine's GPU is not known yet"
    assert text in inspector.counters.totals.text()
    session.results.set_device("a laptop")
    assert "% modelled (" in inspector.counters.totals.text() and text not in inspector.counters.totals.text()
    assert inspector.counters.heading.text() == "recorded as compiled"
    session.results.set_proofs(proofs.kept())
    session.results.set_references([])
    assert "✓ proved" in inspector.counters.heading.text()
    assert re.search(r"\d of \d counters match a real H200; 1 differs for a known", inspector.counters.totals.text())
    assert not inspector.counters.below.isVisible(), "there is no room"
    inspector.resize(1000, 400)
    lines = inspector.counters.below.text().splitlines()
    assert inspector.counters.below.isVisible()
    assert any(line.startswith("=  global load sectors: ") for line in lines)
    inspector.resize(320, 600)
    below = inspector.counters.below
    assert below.isVisible() and below.height() >= below.heightForWidth(below.width()), "no line is cut"


@pytest.mark.parametrize("size", [(376, 900), (480, 900)], ids=str)
def test_in_a_high_window_the_totals_follow_the_last_row_of_the_table(inspector, size):
    session, panel = inspector.session, inspector.counters
    inspector.show_panel("counters")
    session.cursor.show(playable("gputiled", 8, TS=4))
    inspector.resize(*size)
    panel.layout().activate()
    last = panel.model.rowCount() - 1
    end = panel.view.viewport().mapTo(panel, QPoint(0, panel.view.rowViewportPosition(last))).y()
    end += panel.view.rowHeight(last)
    assert 0 <= panel.totals_area.y() - end <= 4, "neither a gap, nor a row that is cut"
    assert not panel.view.verticalScrollBar().maximum()


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (["equal"] * 7 + ["explained"], "7 of 8 counters match a real H200; 1 differs for a known reason"),
        (["equal"] * 6 + ["explained"] * 2, "6 of 8 counters match a real H200; 2 differ for a known reason"),
        (["equal"] * 7 + ["differs"], "1 of 8 counters differs from a real H200 at 64 × 64 × 64"),
    ],
)
def test_one_sentence_counts_the_counters_that_differ(inspector, monkeypatch, verdicts, text):
    session = inspector.session
    compared = [SimpleNamespace(verdict=v, what="global load sectors", predicted=1, measured=1) for v in verdicts]
    proof = SimpleNamespace(m=64, n=64, k=64, size="64 × 64 × 64", compared=compared)
    file = SimpleNamespace(machine=SimpleNamespace(gpu="NVIDIA H200"))
    monkeypatch.setattr(counter_text, "proof_of", lambda _: (file, [proof]))
    assert text in counter_text.compared(session)[0]


def test_a_click_on_c_shows_the_origin_instead_of_the_counters(inspector):
    session = inspector.session
    session.cursor.show(playable("gputiled", 8, TS=4))
    for panel, cell, expected in (
        ("counters", (2, 9), "origin"),
        ("counters", (0, 3), "counters"),
        ("source", (2, 9), "source"),
        ("warp", (2, 9), "warp"),
    ):
        inspector.show_panel(panel)
        session.cursor.pick(cell)
        assert inspector.panel == panel, "a lesson that picks a cell keeps its tab"
        session.inspection.clicked.emit()
        assert inspector.panel == expected


def test_counters_of_an_older_recording_are_shown_without_measured_ones(inspector):
    session = inspector.session
    session.results.set_proofs(proofs.kept())
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    assert "✓ proved" in inspector.counters.heading.text()
    session.choice.choose_kernel(find("gputiled1", ladder()))
    assert session.staged.outdated
    assert inspector.counters.heading.text() == "recorded as compiled"
    text = inspector.counters.totals.text()
    assert "modelled" not in text and "measured" not in text and not inspector.counters.below.text()


def test_the_occupancy_of_a_measured_launch_names_the_launch(inspector):
    session = inspector.session
    session.results.set_device("a laptop")
    session.choice.choose_kernel(find("gputiled", ladder()))
    session.cursor.show(playable("gputiled", 8, TS=4))
    for side in (16, 4):
        row = results.new_row(session.choice.kernel, Problem.cube(64), {"TS": side})
        results.describe_launch(row, launch(session.choice.kernel, Problem.cube(64), {"TS": side}))
        row |= {"status": "ok", "gflops": 1.0, "regs": 40}
        session.results.add_result(row)
        text = inspector.counters.totals.text()
        assert ("occupancy of gputiled<16>: " in text) == (side == 16)
        assert "% modelled (" in text


def test_the_occupancy_is_that_of_the_recorded_launch_on_a_suitable_gpu(inspector):
    session = inspector.session
    session.results.set_device("a laptop")
    session.choice.choose_kernel(find("wgmma", ladder()))
    size, params = session.choice.problem, session.choice.params
    before = inspector.counters.totals.text()
    session.cursor.show(playable("wgmma", size.m, **params))
    assert not session.staged.outdated
    # 4 warps of 64, 8 KiB for 64 x 64 of A, as much for B, a barrier and the system's own: 13 blocks in 228 KiB.
    assert "occupancy 81.2 % modelled (H" in inspector.counters.totals.text() != before
