# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The figure of the chosen kernel on the Measure page: large, with its origin and what stands behind it."""

import pytest
from result_rows import result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtWidgets import QWidget

from gemmviz.app import new_session
from gemmviz.bench import reference_results
from gemmviz.ui.charts.result_card import ResultCard


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
    said = facts(card)
    assert (
        said["C"] == "verified" and said["of cuBLAS"].endswith("%") and said["samples"] == str(shown.row["stats"]["n"])
    )
    assert said["the kernel before"].endswith("× as fast")


def test_a_measurement_takes_the_place_of_the_reference(card):
    session = card._session
    session.results.add_result(result(rung(session, session.choice.kernel.name), 12.3))
    assert card.figure.text() == "12.3" and card.tag.text() == "measured" and not card.tag.dashed
