# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The pages of the window, the measuring over N, and the ladder's exhibits and references."""

import json

import pytest
from result_rows import add, add_reference, result, rung
from window_driving import RECORDING_MS, need_qt, wait_recorded

need_qt()

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication

from gemmviz.bench import store
from gemmviz.catalogue.ladder import ladder

pytestmark = pytest.mark.new_window  # nearly all of these tests change what cannot be put back

BENCH_MS = 120_000


def test_keys_and_buttons_change_the_page(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_F3)
    assert window.charts.isVisible() and not window.stage.isVisible() and not window.source.isVisible()
    assert window.measuring.isVisible()
    qtbot.waitUntil(lambda: window.charts.height() > 0.75 * window.height())
    qtbot.mouseClick(window.pages.buttons["claims"], Qt.MouseButton.LeftButton)
    assert window.claims.isVisible() and not window.charts.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_F2)
    assert window.stage.isVisible() and window.source.isVisible()
    assert not window.charts.isVisible() and not window.measuring.isVisible()
    assert window.pages.buttons["stage"].isChecked()


def test_a_page_is_made_when_it_is_first_shown(window):
    others = ("charts", "claims")
    assert not any(window.pages.made(page) for page in others)
    for page in others:
        window.pages.turn_to(page)
        assert window.pages.made(page)
    QApplication.processEvents()
    assert window.isActiveWindow(), "a part of a page was a window for a moment"
    assert window.pages.page("charts") is window.charts and window.charts.parent() is window.pages
    assert window.pages.page("claims") is window.claims


def test_a_page_that_is_opened_later_shows_the_search_for_parameters(window):
    session = window.session
    session.tuning.start(session.choice.kernel, session.choice.bench_problem)
    window.pages.turn_to("charts")
    assert window.charts.currentWidget() is window.charts.tuning
    session.tuning.finish(None)


def test_the_source_gets_its_width_back(window, qtbot):
    width = window.source.width()
    for page in ("charts", "claims", "charts", "stage", "claims", "stage"):
        window.pages.turn_to(page)
        qtbot.wait(10)
        if page == "charts":
            boxes = window.measuring.size_row.boxes
            assert boxes["M"].geometry().right() < boxes["N"].geometry().left()
    assert abs(window.source.width() - width) <= 1


@pytest.mark.sweep("stage")
@pytest.mark.parametrize("page", ["stage", "charts", "claims"])
def test_every_page_fits_an_old_projector(window, qtbot, page):
    names = [k.name for k in window.session.choice.kernels if not k.exhibit]
    add_reference(window, dict.fromkeys(names, 12345.0), sizes=(64, 4096))
    add(window, {"hostmult0": 1.0})
    window.pages.turn_to(page)
    window.resize(QSize(100, 100))
    qtbot.wait(200)
    assert window.width() <= 1024 and window.height() <= 700


def test_a_rung_is_measured_over_n_and_kept(window, qtbot):
    session = window.session
    session.choice.choose_kernel(rung(session, "hostmult1_opt"))
    window.measuring.quick.click()
    session.choice.protocol |= {"timeout_s": 0.5}
    window.measuring.sizes.setEditText("32, 16")
    qtbot.mouseClick(window.measuring.over_this, Qt.MouseButton.LeftButton)
    assert not window.measuring.over_all.isEnabled()
    qtbot.waitUntil(lambda: session.progress["bench"] is None, timeout=BENCH_MS)
    window.charts.setCurrentWidget(window.charts.sizes)
    window.charts.refresh()
    (curve,) = [curve for curve in window.charts.sizes.drawn() if not curve.origin]
    assert curve.kernel.name == "hostmult1_opt" and [row["N"] for row in curve.rows] == [16, 32]
    assert json.loads(store.find("last").read_text(encoding="utf-8"))["run_id"] == session.results.document["run_id"]


def test_sizes_to_measure_over_double_or_are_typed(window):
    box = window.measuring.sizes
    assert box.sizes() == [256, 512, 1024, 2048, 4096]
    for text, sizes in (("128…1024", [128, 256, 512, 1024]), ("500 300;300", [300, 500]), ("7", [7])):
        box.setEditText(text)
        assert box.sizes() == sizes


def test_quick_is_a_separate_protocol(window):
    window.measuring.quick.click()
    assert window.session.choice.protocol["timeout_s"] < 10
    window.measuring.quick.click()
    assert window.session.choice.protocol == {}


def test_an_exhibit_is_explained_when_it_is_chosen_and_after_it_ran(window, qtbot):
    session = window.session
    exhibit = rung(session, "mm_printed")
    session.choice.choose_kernel(exhibit)
    assert window.message_bar.text.text().startswith("Exhibit: ")
    tip = window.ladder.item_of(exhibit.name).toolTip()
    assert exhibit.exhibit in tip
    wait_recorded(window, qtbot)
    assert window.message_bar.text.text().startswith("Exhibit: ") and session.messages.current.kind == "info"


@pytest.mark.sweep("mm_no_bounds")
@pytest.mark.parametrize("name", [kernel.name for kernel in ladder() if kernel.exhibit and kernel.demo.stop])
def test_the_message_about_an_exhibit_leaves_the_timeline_free(window, qtbot, name):
    window.resize(1280, 800)
    window.session.choice.choose_kernel(rung(window.session, name))
    wait_recorded(window, qtbot)
    bar = window.message_bar
    qtbot.waitUntil(lambda: window.width() == 1280 and bar.isVisible(), timeout=5000)
    qtbot.wait(100)
    edge = window.transport.mapTo(window, window.transport.rect().bottomLeft()).y()
    assert bar.mapTo(window, bar.rect().topLeft()).y() >= edge - 8


def test_an_exhibit_that_does_not_compile_is_explained_too(window, qtbot):
    session = window.session
    session.choice.choose_kernel(rung(session, "mm_optimizado_printed"))
    qtbot.waitUntil(lambda: session.messages.current.line is not None, timeout=RECORDING_MS)
    assert session.messages.current.text.startswith("Exhibit: ") and session.messages.current.kind == "info"


def test_an_exhibit_never_gets_a_bar(window):
    session = window.session
    exhibit = rung(session, "mm_printed")
    session.results.want_references(False)
    session.results.add_result(result(exhibit, 9.0, status="wrong", exhibit=True, message="64 elements differ"))
    window.charts.ladder.refresh()
    assert window.charts.ladder.bars() == []
    assert "64 elements differ" in window.ladder.item_of(exhibit.name).toolTip()


def test_the_ladder_shows_the_machine_of_a_reference_until_the_rung_is_measured(window):
    session = window.session

    def tip():
        return window.ladder.item_of("gputiled").toolTip()

    add_reference(window, {"gputiled": 2000.0})
    assert "reference: NVIDIA H200, 2026-11-21" in tip() and "not measured yet" in tip()
    session.results.add_result(result(rung(session, "gputiled"), 5.0))
    assert "measured here" in tip() and "H200" not in tip()


def test_the_measuring_panel_shows_the_machine_as_soon_as_it_is_known(window, qtbot):
    window.session.results.set_device("a laptop", None)
    assert "a laptop" in window.measuring.status.text()
