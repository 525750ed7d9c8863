# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The figure of the chosen kernel on the Measure page: large, with its origin and what stands behind it."""

import pytest
from recordings import small_tiled
from result_rows import result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gemmviz.app import new_session
from gemmviz.bench import reference_results
from gemmviz.bench.figures import Turn
from gemmviz.bench.model.devices import named
from gemmviz.bench.model.peaks import peak_gflops
from gemmviz.ui.charts import result_card, what_next
from gemmviz.ui.charts.figures.ladder_figures import figures_of_chosen, ladder_figures
from gemmviz.ui.charts.painted import share_text
from gemmviz.ui.charts.result_card import ResultCard
from gemmviz.ui.charts.what_next import WhatNext


@pytest.fixture
def card(qtbot):
    session = new_session("light")
    session.choice.auto = False
    session.choice.choose_kernel(rung(session, "gputiled"))
    around = QWidget()
    qtbot.addWidget(around)
    made = ResultCard(session)
    made.setParent(around)
    made.refresh()
    around.show()
    yield made


def facts(card):
    return {left.text(): right.text() for left, right in card.facts if not left.isHidden()}


def test_without_a_figure_there_is_no_card(card):
    assert card.isHidden()


def test_a_reference_says_that_it_is_one(card):
    session = card._session
    session.results.set_device("a laptop", None, 2)
    session.results.set_references(reference_results.load()[0])
    shown = session.results.shown(session.choice.kernel.name)
    assert not card.isHidden() and card.tag.text() == "reference" and card.tag.dashed
    text = facts(card)
    assert (
        text["C"] == "verified" and text["of cuBLAS"].endswith("%") and text["samples"] == str(shown.row["stats"]["n"])
    )
    assert text["the kernel before"].endswith("× as fast")
    facts_of_device = named("NVIDIA H200").facts()
    peak = shown.row["gflops"] / peak_gflops(facts_of_device, "float32", "float32")[0]
    assert text["of the FP32 peak"] == f"{share_text(peak)}, modelled" and 0.05 < peak < 0.5


def test_a_long_value_does_not_cut_the_names_of_the_other_facts(card):
    session = card._session
    session.results.set_device("a laptop", None, 2)
    session.results.set_references(reference_results.load()[0])
    metrics = card.fontMetrics()
    shown = [(left, right) for left, right in card.facts if not left.isHidden()]
    longest = max(right.sizeHint().width() for _, right in shown)
    card.resize(longest + 90, 600)
    card.grab()
    assert len(shown) > 4 and longest > 100
    for left, right in shown:
        needed = metrics.boundingRect(0, 0, left.width(), 1000, Qt.TextFlag.TextWordWrap, left.text())
        assert needed.width() <= left.width() and needed.height() <= left.height(), left.text()
        assert left.geometry().right() < right.geometry().left()


def test_a_measurement_takes_the_place_of_the_reference(card):
    session = card._session
    session.results.add_result(result(rung(session, session.choice.kernel.name), 12.3))
    assert card.figure.text() == "12.3" and card.tag.text() == "measured" and not card.tag.dashed


def test_a_cancelled_measurement_leaves_the_figure_that_was_kept(card):
    """The card kept the median of the samples so far, beside the number of samples of the measurement before."""
    results, kernel = card._session.results, rung(card._session, "gputiled")
    results.add_result(result(kernel, 900.0))
    results.start_samples()
    results.add_samples("gputiled", "64", [700.0, 710.0, 720.0], 710.0, Turn("gputiled", (64, 64, 64), 1, 3, True))
    assert card.figure.text() == "710" and facts(card)["samples"] == "3"
    assert "rounds" not in facts(card) and facts(card)["C"] == "verified"
    results.end_samples()
    assert card.figure.text() == "900" and facts(card)["samples"] == "5"


def test_what_next_counts_from_the_recording_and_leads_to_the_next_chapter(card, qtbot):
    session = card._session
    session.results.set_device("a laptop", None, 2)
    session.results.set_references(reference_results.load()[0])
    following = WhatNext(session)
    qtbot.addWidget(following)
    assert following.text.text().startswith("The arithmetic units would allow 66")
    session.cursor.show(small_tiled())
    following.refresh()
    assert "Recorded at 8 × 8 × 8, reads for each product: 2 of shared memory, 0.5 of global memory." in (
        following.text.text()
    )
    assert following.button.text().startswith("Go on: Banks")
    with qtbot.waitSignal(following.gone):
        following.button.click()
    assert session.choice.kernel.name == "Basic"


def test_what_next_is_hidden_without_a_figure(card):
    following = WhatNext(card._session)
    assert following.isHidden()


def test_what_follows_is_worked_out_only_where_it_is_seen(window, monkeypatch):
    """A list of all kernels for each new figure made the window stand still while others play."""
    cards, following = [], []
    monkeypatch.setattr(result_card, "figures_of_chosen", lambda session: cards.append(1) or figures_of_chosen(session))
    monkeypatch.setattr(what_next, "ladder_figures", lambda session: following.append(1) or ladder_figures(session))
    window.session.results.set_device("a laptop", None, 2)
    assert not cards and not following and not window.measuring.isVisible()
    window.pages.turn_to("charts")
    assert cards and following
