# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""In a window of 1280 x 800 no text is cut, in each language; doors, keys and minus signs are as people read them."""

from itertools import combinations

import pytest
from demo_recordings import at_demo, opening
from result_rows import add, add_reference
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QTextLayout
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QWidget,
)

from gemmviz.catalogue.matrices import C
from gemmviz.language import LANGUAGES, set_language, tr
from gemmviz.ui.look.theme import DARK
from gemmviz.ui.panels.row_painter import NAME
from gemmviz.ui.stage import words
from gemmviz.ui.stage.block_order import BlockOrder
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.cell_values import in_cell
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.view import View
from gemmviz.ui.window.key_names import key_text

LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)
RECURSIVE = Qt.MatchFlag.MatchRecursive | Qt.MatchFlag.MatchExactly
IGNORED = QSizePolicy.Policy.Ignored


def cut(widget: QWidget) -> bool:
    """Say whether a label, button or box has less room than its text needs."""
    metrics = widget.fontMetrics()
    if isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = widget.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, widget)
        return metrics.horizontalAdvance(widget.currentText()) > room.width()
    if isinstance(widget, QAbstractButton):
        return metrics.horizontalAdvance(widget.text()) > widget.width() - 2
    assert isinstance(widget, QLabel)
    if widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height() + 2
    # Labels that ask for no width choose their text, or its size, by the width that they get.
    chooses = widget.sizePolicy().horizontalPolicy() == IGNORED
    return not chooses and metrics.horizontalAdvance(widget.text()) > widget.contentsRect().width() + 1


def texts(window: QWidget) -> list[QWidget]:
    """Return all that has a text and is seen whole: not what a scrolled area shows a part of."""
    found = [w for kind in (QLabel, QAbstractButton, QComboBox) for w in window.findChildren(kind) if w.isVisible()]
    return [w for w in found if w.visibleRegion().boundingRect() == w.rect()]


@pytest.mark.sweep("es")
@LANGUAGE
def test_no_text_of_the_window_is_cut(make_window, qtbot, language):
    set_language(language)
    window = make_window()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.width() == 1280)
    for page in ("stage", "charts", "claims"):
        window.pages.turn_to(page)
        qtbot.wait(300)
        shown = texts(window)
        assert len(shown) > 10
        assert [w.currentText() if isinstance(w, QComboBox) else w.text() for w in shown if cut(w)] == [], page


@pytest.mark.sweep("ko")
@LANGUAGE
def test_the_titles_of_kernels_are_whole(make_window, qtbot, language):
    set_language(language)
    window = make_window()
    window.resize(1280, 800)
    window.controller.recording.record()
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: window.width() == 1280 and window.stage.title_place().width() > 0)
    room = window.stage.title_place().width() - window.tour_bar.lesson_button.sizeHint().width() - 6
    written = window.stage._painter_now().quadrant.words
    kernels = [kernel for kernel in window.session.choice.kernels if kernel.recordable]
    shown = [written.fitted_title(tr(kernel.title), room)[1] for kernel in kernels]
    assert [title for title in shown if "…" in title] == []
    ladder = window.ladder
    font, width = ladder.font(), ladder.viewport().width()
    titles = [ladder.painter_of_rows.title_lines(kernel.name, font, width)[1] for kernel in kernels]
    lines = [line for title in titles for line in title]
    assert [line for line in lines if line.endswith("…")] == []


@pytest.mark.sweep("ko")
@LANGUAGE
def test_the_figures_of_kernels_are_whole(make_window, qtbot, language):
    """Beside a long alias only "2.97 at 40…" was left of a figure at another size."""
    set_language(language)
    window = make_window()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.width() == 1280)
    add_reference(window, {"gputiled": 8000.0, "gpumult1": 6000.0}, sizes=(256,))
    add(window, {"hostmult1_opt": 0.4321}, n=4096)
    window.session.results.want_size((256, 256, 256))
    ladder = window.ladder
    kept = ladder.rows.figure("hostmult1_opt")
    assert "4096" in kept
    written = []

    class Noting(QPainter):
        def drawText(self, *told):
            written.append(told[-1])

    option, image = QStyleOptionViewItem(), QImage(400, 100, QImage.Format.Format_RGB32)
    option.initFrom(ladder)
    option.rect = QRect(0, 0, ladder.viewport().width(), 60)
    (index,) = ladder.model().match(ladder.model().index(0, 0), NAME, "hostmult1_opt", 1, RECURSIVE)
    painter = Noting(image)
    ladder.painter_of_rows.paint(painter, option, index)
    painter.end()
    assert kept in written


@pytest.mark.sweep("es-*")
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=str)
@LANGUAGE
def test_nothing_in_a_door_stands_on_something_else(make_window, qtbot, language, size):
    set_language(language)
    window = make_window()
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    window.open_doors()
    doors = window.doors
    qtbot.waitUntil(lambda: doors.isVisible() and doors.width() == size[0])
    qtbot.wait(100)
    parts = [w for w in doors.findChildren(QWidget) if w.isVisible() and w.objectName() != "door"]
    parts = [w for w in parts if not w.findChildren(QWidget) and w.width() > 0]
    places = [(w, QRect(w.mapTo(doors, QPoint(0, 0)), w.size())) for w in parts]
    assert len(places) > 12
    assert [(a, b) for (a, one), (b, other) in combinations(places, 2) if one.intersects(other)] == []
    assert [w.text() for w in parts if isinstance(w, QLabel | QAbstractButton) and cut(w)] == []


def test_a_lesson_in_a_narrow_window_folds_the_kernels_and_leaves_its_lens_room(window, qtbot):
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.width() == 1280)
    tour, stage = window.session.tour, window.stage
    window.session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: tour.stop is not None and not tour.waiting and window.tour_bar.isVisible())
    assert window.rail.folded and window.rail.rings.isVisible()
    painter = stage._painter_now()
    assert painter.lens is not None
    qtbot.waitUntil(
        lambda: painter.plan(stage.rect().toRectF(), stage.view).free.height > 12 * painter.metrics.height()
    )
    window.session.guide.leave()
    qtbot.waitUntil(lambda: not window.rail.folded)


def test_a_click_on_a_ring_opens_its_chapter(window, qtbot):
    window.rail.fold(True)
    rings = window.rail.rings
    qtbot.waitUntil(lambda: rings.isVisible() and rings.height() > rings.sizeHint().height() / 2)
    last = list(window.ladder.rows.chapters)[1]
    qtbot.mouseClick(rings, Qt.MouseButton.LeftButton, pos=rings._row(1).center().toPoint())
    assert not window.rail.folded and window.ladder.open_chapter == last


def test_values_have_a_true_minus_and_in_cells_a_dash_as_wide_as_a_digit():
    assert [number(value) for value in (3.0, -3.0, -0.0, -2.5, float("-inf"))] == ["3", "−3", "0", "−2.5", "−∞"]
    assert (in_cell(-12.0), in_cell(7.0)) == ("–12", "7")


@pytest.mark.parametrize("width", range(80, 400, 20))
def test_no_line_of_a_caption_ends_with_the_point_between_two_parts(qapp, width):
    parts = ["64 threads of 4 blocks read As from shared memory", "1 wavefront", "line 33", "phase 2"]
    metrics = QFontMetricsF(QFont(qapp.font()))
    shown = words.in_lines([words._unbroken(part) for part in parts], metrics, width)
    layout = QTextLayout(shown.replace("\n", "\N{LINE SEPARATOR}"), QFont(qapp.font()))
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        lines.append(shown[line.textStart() : line.textStart() + line.textLength()].strip())
    layout.endLayout()
    assert " ".join(lines).split() == shown.split()
    assert [line for line in lines if line.endswith("·")] == []


def test_a_number_stays_on_the_line_of_what_it_counts():
    shown = words._unbroken("64 threads read As  ·  1 wavefront")
    assert shown.split("\N{NO-BREAK SPACE}") == ["64", "threads read As  ·  1", "wavefront"]


@pytest.mark.parametrize(
    ("key", "language", "name"),
    [
        ("Shift+Left", "en", "Shift+←"),
        ("Ctrl++", "en", "Ctrl++"),
        ("+", "en", "+"),
        ("PgDown", "es", "Av Pág"),
        ("Space", "es", "Espacio"),
        ("Ctrl+Up", "ko", "Ctrl+↑"),
        ("F11", "ko", "F11"),
    ],
)
def test_keys_have_the_names_that_people_know(key, language, name):
    set_language(language)
    assert key_text(key) == name


def test_the_order_of_blocks_is_shown_where_it_is_not_that_of_the_tiles():
    def order(name):
        return BlockOrder(at_demo(name).recording).tiles

    swizzled = order("l2_swizzle")
    assert [tile[0] for tile in swizzled] == list(range(len(swizzled))) and len(swizzled) >= 4
    assert swizzled[1][1] == swizzled[0][1] and swizzled[1][2] > swizzled[0][2]
    assert order("gputiled") == [] and order("matmul_kernel_naive") == []


def test_the_use_of_an_order_of_blocks_is_counted_on_its_tiles():
    order = BlockOrder(at_demo("l2_swizzle").recording)
    count, needed, by_rows = order.shared()
    rows, columns = ({tile[place] for tile in order.tiles[:count]} for place in (2, 1))
    assert (count, needed, by_rows) == (4, len(rows) + len(columns), 5) and needed < by_rows
    assert all(str(needed) in text and str(by_rows) in text for text in order._about())


def test_the_name_of_a_warpgroup_and_the_number_of_its_block_do_not_lie_on_each_other(qapp, monkeypatch):
    at, font, names = opening("panels"), QFont(), []
    font.setPixelSize(13)
    painter = StagePainter(at_demo("panels"), DARK, font)
    write = QPainter.drawText

    def drawn(into, box, *of):
        if of and isinstance(of[-1], str) and of[-1] == tr("warpgroup {number}", number=1):
            names.append(QRectF(box))
        return write(into, box, *of)

    monkeypatch.setattr(QPainter, "drawText", drawn)
    image = QImage(1000, 700, QImage.Format.Format_RGB32)
    with QPainter(image) as into:
        painter.paint(into, QRectF(image.rect()), Moment(at.step, at.block, motion="none"))
    panel = painter.panels(QRectF(image.rect()), View())[C]
    numbers = painter._order.plates(panel, painter._text, font)
    assert names and numbers
    assert not any(name.intersects(number) for name in names for number in numbers)
