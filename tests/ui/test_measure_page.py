# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The Measure page: the charts side by side, the charts on tabs, and the current chart for keys and Save…."""

from itertools import pairwise

import pytest
from result_rows import result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontInfo, QImage, QPainter
from PySide6.QtWidgets import QLabel

from gemmviz.app import new_session
from gemmviz.bench import reference_results
from gemmviz.session.measurable import reason_and_remedy
from gemmviz.ui.charts.figures.axis import linear_ticks, log_ticks
from gemmviz.ui.charts.measure_page import MeasurePage
from gemmviz.ui.charts.painted import nudged, page_font
from gemmviz.ui.look.style import style_sheet
from gemmviz.ui.look.theme import LIGHT
from gemmviz.ui.panels.controls import MeasureControls
from gemmviz.ui.panels.size_row import SizesBox

WIDE, NARROW, SLIM = (1416, 1040), (804, 760), (560, 500)


@pytest.fixture
def page(qtbot):
    session = new_session("light")
    session.choice.auto = False
    session.results.set_device("a laptop", None, 2)
    session.results.set_references(reference_results.load()[0])
    made = MeasurePage(session)
    qtbot.addWidget(made)
    made.resize(*WIDE)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.stop()


def in_sight(page):
    names = ("ladder", "sizes", "samples", "roofline", "occupancy", "tuning")
    return [name for name in names if getattr(page, name).isVisible()]


@pytest.mark.sweep("size0-*", "size2-*")
@pytest.mark.parametrize(
    ("size", "seen"),
    [
        (WIDE, ["ladder", "sizes", "samples", "roofline"]),
        (NARROW, ["ladder", "sizes"]),
        (SLIM, ["ladder"]),
    ],
)
def test_as_many_charts_as_fit_are_side_by_side(page, qtbot, size, seen):
    page.resize(*size)
    qtbot.waitUntil(lambda: in_sight(page) == seen)
    assert page.width() == size[0]  # no widget makes it wider
    for chart in (page.ladder, page.sizes, page.samples, page.roofline, page.occupancy, page.tuning):
        page.setCurrentWidget(chart)
        assert chart.isVisible() and page.currentWidget() is chart
    assert page.count() == 6 and page.currentIndex() == 5


def test_the_chart_with_the_focus_is_the_one_that_is_saved(page, qtbot):
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.samples.plot.setFocus()
    assert page.currentWidget() is page.samples and page.session.sight.chart == 2
    page.ladder.plot.setFocus()
    assert page.currentWidget() is page.ladder


def test_the_cards_keep_their_height_whatever_chart_the_tabs_show(page, qtbot):
    heights = [card.height() for card in page._cards]
    for chart in (page.occupancy, page.tuning):
        page.setCurrentWidget(chart)
        qtbot.waitUntil(chart.isVisible)
        page.layout().activate()
        assert [card.height() for card in page._cards] == heights


def test_without_a_gpu_the_page_says_so_and_offers_no_measurement_of_the_kernel(page, qtbot):
    session = page.session
    controls = MeasureControls(session)
    qtbot.addWidget(controls)
    session.choice.choose_kernel(rung(session, "gputiled"))
    assert "no GPU" in controls.why.text() and not controls.this.isEnabled() and controls.all.isEnabled()
    page.tuning.refresh()
    assert "no GPU" in page.tuning.hint.text() and not page.tuning.tune.isEnabled()
    session.choice.choose_kernel(rung(session, "blocked"))
    assert controls.why.isHidden() and controls.this.isEnabled()
    page.tuning.refresh()
    assert page.tuning.tune.isEnabled()


def test_until_the_references_are_read_no_chart_says_that_nothing_is_measured(page):
    """At first the page asked to measure, and drew the roof of another device than a moment later."""
    results, charts = page.session.results, (page.ladder, page.sizes, page.samples, page.roofline)
    references = results.references
    results.set_references([])
    results.reading = True
    for chart in charts:
        chart.refresh()
    assert {chart.hint.text() for chart in charts} == {"Reading the results…"}
    assert page.roofline.device.isHidden() and page.roofline.plot.isHidden()
    results.set_references(references)
    assert not results.reading
    for chart in charts:
        chart.refresh()
    assert "Reading the results…" not in {chart.hint.text() for chart in charts}
    assert page.roofline.device.isVisible() and page.roofline.plot.isVisible()


def test_until_the_references_are_read_no_other_device_has_an_occupancy(page):
    """At first the tab said 33 % of an RTX 3080, a moment later 100 % of an H200."""
    results, tab = page.session.results, page.occupancy
    references = results.references
    results.set_references([])
    results.reading = True
    tab.refresh()
    assert tab.headline.text() == "Reading the results…" and tab.device.isHidden() and tab.text.isHidden()
    results.set_references(references)
    tab.refresh()
    assert "H200" in tab.device.currentText() and "100" in tab.headline.text() and not tab.threads.isHidden()


def test_the_page_does_not_send_to_itself(page, qtbot):
    controls = MeasureControls(page.session)
    qtbot.addWidget(controls)
    page.session.choice.choose_kernel(rung(page.session, "gputiled"))
    assert "“Other machines…” above" in controls.why.text() and "page Measure" not in controls.why.text()
    assert "on the page Measure" in reason_and_remedy(page.session)  # a message, on any page


def test_the_panel_of_a_low_window_scrolls_and_squeezes_no_row(page, qtbot):
    """With six parameters the rows of the result overlapped each other."""
    session = page.session
    controls = MeasureControls(session)
    qtbot.addWidget(controls)
    controls.resize(300, 420)
    session.choice.choose_kernel(rung(session, "async_pipeline"))
    session.results.add_result(result(rung(session, "async_pipeline"), 3.0, 64))
    controls.show()
    qtbot.waitExposed(controls)
    labels = [label for label in controls.result.findChildren(QLabel) if label.isVisible() and label.text()]
    assert len(labels) >= 6
    assert all(label.height() >= label.fontMetrics().height() for label in labels)


def test_a_click_on_the_only_tab_of_a_chart_makes_it_the_current_one(page, qtbot):
    bar = page.tabBar()
    assert page.currentWidget() is page.ladder and bar.tabText(0) == "Roofline"
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    assert page.currentWidget() is page.roofline


def test_a_hidden_chart_is_drawn_when_it_is_shown(page):
    page.resize(*NARROW)
    session = page.session
    session.choice.choose_kernel(rung(session, "hostmult1"))
    session.results.add_result(result(rung(session, "hostmult1"), 3.0, 64))
    page.refresh()
    assert not page.samples.isVisible()
    page.setCurrentWidget(page.samples)
    assert page.samples.rows.all == pytest.approx([3.0] * 5, rel=1e-5) and page.samples.tag.text() == "measured"


def test_there_is_one_size_of_type(page):
    page.setStyleSheet(style_sheet(LIGHT))
    page.grab()
    sizes = {QFontInfo(label.font()).pixelSize() for label in page.findChildren(QLabel) if label.isVisible()}
    assert sizes == {QFontInfo(page_font()).pixelSize()}


def test_every_chapter_of_the_reference_is_there_and_the_library_last(page):
    session = page.session
    session.choice.choose_kernel(rung(session, "gputiled"))
    page.refresh()
    chapters = list(dict.fromkeys(bar.chapter.title for bar in page.ladder.figures.bars))
    assert chapters == ["One element each", "Shared tiles", "Banks", "Work per thread", "Copy ahead", "Libraries"]
    assert page.ladder.tag.text() == "reference: NVIDIA H200" and page.ladder.tag.dashed
    assert page.sizes.tag.dashed and page.samples.tag.dashed
    assert {curve.role for curve in page.sizes.drawn()} == {"chosen", "before", "best", "library", "other"}


def test_the_names_beside_the_curves_do_not_overlap(page):
    wanted = [100.0, 101.0, 99.0, 250.0, 299.0]
    places = nudged(wanted, 16, 0, 300)
    ordered = sorted(places)
    assert all(b - a >= 16 - 1e-6 for a, b in pairwise(ordered))
    assert ordered[0] >= 0 and ordered[-1] <= 300
    assert max(abs(place - want) for place, want in zip(places, wanted, strict=True)) < 40


def test_ticks_are_round_and_fit():
    assert linear_ticks(52_806, 6) == [0, 10_000, 20_000, 30_000, 40_000, 50_000]
    assert linear_ticks(8144.2, 4, 8128.1) == [8130, 8135, 8140]
    assert log_ticks(200, 60_000, 10) == [200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
    assert log_ticks(200, 60_000, 4) == [1000, 10_000]
    assert linear_ticks(5.0, 0) == [0.0]


def test_a_wheel_over_nothing_to_scroll_does_nothing(page):
    page.ladder.plot.scrolled.emit(50)
    assert page.ladder.scroll_bar.value() == 0
    assert page.ladder.plot.mark_at(QPointF(-100, -100)) is None


@pytest.mark.sweep("1.7e+308-1.0")
@pytest.mark.parametrize("one", [5e-324, 1e-300, 1.0, 1.7e308])
@pytest.mark.parametrize("other", [5e-324, 1.0, 1.7e308])
def test_figures_of_a_damaged_file_can_be_drawn(page, one, other):
    session = page.session
    session.results.want_references(False)
    for name, gflops in (("gpumult1", one), ("gputiled", other)):
        row = result(rung(session, name), 1.0, 64)
        session.results.add_result(row | {"gflops": gflops, "samples_s": [5e-324, 1e-300, 1e300, 0.0]})
    session.choice.choose_kernel(rung(session, "gputiled"))
    for chart in (page.ladder, page.sizes, page.samples, page.roofline):
        chart.refresh()
        image = QImage(chart.plot.size(), QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            marks = chart.paint_all(painter)
        assert marks and all(mark.facts() for mark in marks)


def test_the_sizes_to_measure_over_are_whole_where_they_have_the_least_room(qtbot):
    """In Spanish, at 1280 pixels, the first figure of "256…4096" was cut off."""
    box = SizesBox(new_session("light").choice)
    qtbot.addWidget(box)
    box.setStyleSheet(style_sheet(LIGHT))
    box.resize(box.minimumWidth(), box.sizeHint().height())
    box.show()
    typed = box.lineEdit()
    assert typed.text() == "256…4096"
    assert typed.width() - 4 >= typed.fontMetrics().horizontalAdvance(typed.text())
