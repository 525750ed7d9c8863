"""The stage has the room: texts, questions and choices are on it or beside it, and do not reduce its height."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QApplication
from window_driving import wait_recorded

from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual
from gemmviz.session import Message
from gemmviz.ui.panels.on_stage import OnStage
from gemmviz.ui.source.folding import regions
from gemmviz.ui.stage.painter import View

SMALL = 1000, 640  # a window with room for some of the texts of a lesson on its stage


def cross(window):
    """The box around A, B, C and the free quadrant, in pixels."""
    box = QRectF()
    for panel in window.stage.panels()[:3]:
        box = box.united(QRectF(panel.x, panel.y, panel.width, panel.height))
    return box


@pytest.mark.sweep("(1280, 800)")
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=str)
def test_the_matrices_take_a_third_of_the_window(window, qtbot, size):
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0] and window.stage.width() > size[0] / 2)
    assert window.stage.width() >= 640
    box = cross(window)
    assert box.width() * box.height() >= 0.35 * size[0] * size[1]


def test_no_widget_reduces_the_height_of_the_stage(window, qtbot):
    height, placed = window.stage.height(), cross(window)
    window.session.messages.tell(Message("Something to read.\nAnd more of it.", "warning", lasting=True))
    assert window.message_bar.isVisible() and window.stage.height() == height
    message = window.message_bar
    top = message.mapTo(window, QPoint(0, 0)).y()
    assert top >= window.stage.mapTo(window, window.stage.rect().bottomLeft()).y()  # it covers no matrix
    window.session.messages.tell(None)
    window.session.predict.toggle()
    qtbot.waitUntil(window.predict.isVisible)
    assert window.stage.height() == height and cross(window) == placed
    assert window.inspector.isVisible() and not window.stage.isAncestorOf(window.predict)
    window.session.predict.toggle()
    window.session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: window.session.tour.stop is not None and not window.session.tour.waiting, timeout=20_000)
    qtbot.waitUntil(lambda: window.tour_bar.isVisible() and window.stage.height() == height)
    bar = window.tour_bar
    qtbot.waitUntil(lambda: bar.height() >= bar.heightForWidth(bar.width()))
    assert bar.sentence.text()


def test_the_shared_tiles_keep_their_cells_while_a_question_is_open(window, qtbot):
    """At 1280 x 800 cells of 6 px and less were left of them."""
    window.resize(1280, 800)
    QApplication.processEvents()
    before = [(panel.array, panel.cell) for panel in window.stage.panels()]
    assert len(before) > 3 and min(cell for _, cell in before) > 20
    window.session.predict.toggle()
    qtbot.waitUntil(window.predict.isVisible)
    QApplication.processEvents()
    assert [(panel.array, panel.cell) for panel in window.stage.panels()] == before
    for part in (window.predict.text, *window.predict.answers, window.predict.why):
        assert part.height() >= part.heightForWidth(part.width()) and part.isVisible()


def test_a_lesson_s_text_leaves_the_matrices_as_large_as_without_it(window, qtbot):
    """At 1280 x 800 the text of a lens's stop took up to half of their area. It stands above the source there."""
    session, stage, bar = window.session, window.stage, window.tour_bar
    words = bar.sentence
    window.resize(*SMALL)
    session.guide.start_rung("simd")
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting)
    beside = set()
    for at in range(len(session.tour.stops)):
        session.guide.go(at)
        QApplication.processEvents()
        qtbot.waitUntil(stage.updatesEnabled)  # a stop with another lens: the stage follows in a turn of its own
        beside.add((session.lens.shown, bar.parentWidget() is not stage))
        cells = [panel.cell for panel in stage.panels()[:3]]
        stage.take_words(0.0, 0.0)
        assert [panel.cell for panel in stage.panels()[:3]] == cells
        window._on_stage.arrange()
        qtbot.waitUntil(lambda: words.isVisible() and words.height() >= words.heightForWidth(words.width()))
        assert not any(other.geometry().intersects(bar.geometry()) for other in siblings(bar))
    assert {where for _, where in beside} == {True, False}


def test_a_button_of_the_lesson_keeps_the_keyboard_where_the_text_goes(window, qtbot):
    session, bar = window.session, window.tour_bar
    window.resize(*SMALL)
    session.guide.start_rung("simd")
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting)
    bar.on.setFocus()
    places = set()
    for _ in range(3):
        qtbot.keyClick(bar.on, Qt.Key.Key_Space)
        QApplication.processEvents()
        assert bar.on.hasFocus()
        places.add(bar.parentWidget())
    assert len(places) == 2


def siblings(widget):
    """The visible widgets beside one in its column; none on the stage, which paints behind it."""
    parent = widget.parentWidget()
    if parent.layout() is None:
        return []
    found = [parent.layout().itemAt(at).widget() for at in range(parent.layout().count())]
    return [one for one in found if one is not widget and one.isVisible()]


def test_the_lesson_replaces_the_caption_and_the_tiles_stay_below_it(window, qtbot):
    session = window.session
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=20_000)
    qtbot.waitUntil(window.tour_bar.isVisible)
    bar = QRectF(window.tour_bar.geometry())
    assert QRectF(window.stage.rect()).contains(bar)
    panels = [QRectF(p.x, p.y, p.width, p.height) for p in window.stage.panels()]
    assert not any(bar.intersects(panel) for panel in panels)
    session.guide.leave()
    qtbot.waitUntil(lambda: not window.tour_bar.isVisible())


def test_the_buttons_of_a_lesson_keep_their_place_from_stop_to_stop(window, qtbot):
    session, bar = window.session, window.tour_bar
    session.guide.toggle_lesson()
    places, lenses = set(), set()
    for at in range(3):
        qtbot.waitUntil(lambda at=at: session.tour.at == at and not session.tour.waiting, timeout=20_000)
        window.stage.repaint()
        lenses.add(session.tour.stop.lens)
        places.add(bar.on.mapTo(window, bar.on.rect().center()).toTuple())
        assert bar.on.isVisible() and not bar.lesson_button.isVisible()
        session.guide.next(1)
    assert len(places) == 1 and None in lenses and len(lenses) > 1
    session.guide.leave()
    qtbot.waitUntil(lambda: bar.lesson_button.isVisible() and not bar.on.isVisible())


@pytest.mark.sweep("(1000, 640)")
@pytest.mark.parametrize("size", [SMALL, (1920, 1080)], ids=str)
def test_in_a_duel_the_lesson_stands_beside_both_stages_and_keeps_its_buttons_in_place(window, qtbot, size):
    session, bar = window.session, window.tour_bar
    window.resize(*size)
    session.side_by_side.start()
    qtbot.waitUntil(lambda: session.second.cursor.playable is not None, timeout=20_000)
    session.guide.toggle_lesson()
    places = set()
    for at in range(3):
        qtbot.waitUntil(lambda at=at: session.tour.at == at and not session.tour.waiting, timeout=20_000)
        for _ in range(5):
            QApplication.processEvents()
        assert not window.stage.isAncestorOf(bar) and bar.isVisible() and bar.isAncestorOf(bar.on)
        places.add(bar.on.mapTo(window, bar.on.rect().center()).toTuple())
        session.guide.next(1)
    assert len(places) == 1
    stages = (window.stage, window.arena.second)
    assert not any(
        bar.rect()
        .translated(bar.mapTo(window, bar.rect().topLeft()))
        .intersects(one.rect().translated(one.mapTo(window, one.rect().topLeft())))
        for one in stages
    )


@pytest.mark.sweep("(1280, 800)")
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=str)
def test_the_text_of_a_lesson_with_a_lens_stands_left_of_a(window, qtbot, size):
    """Beside the lens, the text took so much room that the matrices had a sixth of the window."""
    session, bar = window.session, window.tour_bar
    window.resize(*size)
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=20_000)
    qtbot.waitUntil(lambda: bar.isVisible() and bar.geometry() == window.stage.words_place())
    assert window.session.lens.shown == "coalescing"
    box = cross(window)
    assert box.width() * box.height() >= 0.35 * size[0] * size[1]
    a = window.stage.panels()[0]
    assert bar.geometry().right() < a.x and bar.y() > window.stage.title_place().bottom()
    assert bar.height() >= bar.heightForWidth(bar.width())
    qtbot.waitUntil(lambda: bar.title.text() == session.tour.title)  # above the buttons, not cut beside them


def test_a_lens_on_wide_matrices_does_not_make_them_small(window, qtbot):
    """Lens and text stood beside all matrices, which had a twelfth of the window."""
    session, bar = window.session, window.tour_bar
    window.resize(1280, 800)
    session.guide.start_rung("register_buffer")
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=60_000)
    session.guide.go(2)
    qtbot.waitUntil(lambda: session.lens.shown == "thread tile" and bar.geometry() == window.stage.words_place())
    box = cross(window)
    assert box.width() * box.height() >= 0.35 * 1280 * 800
    assert bar.height() >= bar.heightForWidth(bar.width())
    assert not any(
        QRectF(bar.geometry()).intersects(QRectF(p.x, p.y, p.width, p.height)) for p in window.stage.panels()[:3]
    )


def test_a_click_on_the_size_opens_size_and_parameters(window, qtbot):
    stage = window.stage
    plan = stage._painter_now().plan(QRectF(stage.rect()), View())
    text, box = stage._painter_now().quadrant.words.chips(plan.words)[0]
    assert text == "8 × 8 × 8"
    qtbot.mouseClick(stage, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert window.size_popover.isVisible()
    window.recording.size_row.boxes["M"].setValue(12)
    wait_recorded(window, qtbot)
    assert window.session.choice.problem.m == 12
    window.size_popover.close()


def test_a_size_of_five_digits_is_whole_in_its_box(window):
    row = window.recording.size_row
    row.show_problem(Problem(30000, 16384, 20480))
    window.size_popover.open(QPoint(10, 10))
    for box in row.boxes.values():
        line = box.lineEdit()
        # Qt keeps two pixels free at each side of the text.
        assert line.contentsRect().width() >= line.fontMetrics().horizontalAdvance(box.text()) + 4
    window.size_popover.close()
    row.show_problem(window.session.choice.problem)


def test_the_size_says_why_the_schedule_chose_its_tile(window):
    row, choice = window.size_popover.schedule, window.session.choice
    window.size_popover.open(QPoint(10, 10))
    assert not row.isVisible()
    window.size_popover.close()
    choice.kernel = next(kernel for kernel in choice.kernels if kernel.name == "every_shape")
    choice.problem, choice.params = Problem(64, 64, 256), choice.kernel.defaults | choice.kernel.demo.params
    choice.bench_params = usual(choice.kernel, choice.bench_problem)
    choice.bench_chosen.emit()
    window.size_popover.open(QPoint(10, 10))
    shown, measured = row.reason.text().split("\n")
    assert "BM = 8" in shown and "Tiles of 8 x 64 keep 8 of 132 multiprocessors busy" in shown and row.take.isVisible()
    assert measured.startswith("To measure, at 512³: Tiles of") and "of 132 multiprocessors busy" in measured
    window.size_popover.close()


def test_the_parameters_of_the_schedule_are_taken_by_a_click_and_follow_the_size(window, qtbot):
    choice = window.session.choice
    choice.auto = False
    try:
        choice.choose_kernel(next(kernel for kernel in choice.kernels if kernel.name == "tf32"))
        row, demo = window.size_popover.schedule, choice.params
        choice.choose(params={"STAGES": 3})
        choice.choose(Problem(256, 256, 256))
        assert choice.params == demo | {"STAGES": 3}  # the user has chosen one of them
        window.size_popover.open(QPoint(10, 10))
        qtbot.mouseClick(row.take, Qt.MouseButton.LeftButton)
        assert choice.params == usual(choice.kernel, choice.problem) and not row.take.isVisible()
        assert row.reason.text().startswith("The schedule chose these parameters for 256³. Tiles of 64 x 64")
        choice.choose(Problem(512, 512, 640))
        assert choice.params == usual(choice.kernel, Problem(512, 512, 640))
        choice.choose(Problem(128, 128, 192))
        assert choice.params == demo
    finally:
        window.size_popover.close()
        choice.auto = True


def test_a_lesson_keeps_its_size(window, qtbot):
    session = window.session
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=20_000)
    window.size_popover.open(QPoint(10, 10))
    assert not window.size_popover.isVisible() and "Leave it first" in session.messages.current.text


def test_the_folded_kernels_give_their_room_to_the_stage(window, qtbot):
    width = window.stage.width()
    window.rail.toggle()
    qtbot.waitUntil(lambda: window.stage.width() > width + 100)
    assert window.rail.width() <= 60 and not window.ladder.isVisible()
    window.rail.toggle()
    qtbot.waitUntil(lambda: window.stage.width() == width)


def test_one_chapter_is_open_and_shows_its_progress(window, qtbot):
    ladder, session = window.ladder, window.session
    assert ladder.open_chapter == "tiles"
    shown = [name for name in ladder._items if not ladder.item_of(name).isHidden()]
    assert "gputiled" in shown and "CC" not in shown
    done, count = ladder.rows.progress("tiles")
    session.preferences.finish("gputiled")
    assert ladder.rows.progress("tiles") == (done + 1, count)
    ladder.open("banks")
    assert not ladder.item_of("CC").isHidden() and ladder.item_of("gputiled").isHidden()


def test_a_kernel_that_is_added_again_leaves_one_chapter_open(window, tmp_path):
    """After *Check the guess* of an own file, the kernels of all chapters were in the list."""
    ladder, choice = window.ladder, window.session.choice
    for _ in range(2):
        choice.add_kernel(replace(choice.kernel, path=tmp_path / "mine.cu", name="mine"))
        shown = [name for name in ladder._items if not ladder.item_of(name).isHidden()]
        assert shown == ["mine"] and ladder.open_chapter == ladder.rows.chapter_of("mine")


def test_the_arrow_keys_go_on_to_the_next_chapter(window, qtbot):
    ladder, session = window.ladder, window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "tiles_by_columns"))
    qtbot.keyClick(ladder, Qt.Key.Key_Down)
    assert session.choice.kernel.name == "Basic" and ladder.open_chapter == "banks"
    qtbot.keyClick(ladder, Qt.Key.Key_Up)
    assert session.choice.kernel.name == "tiles_by_columns" and ladder.open_chapter == "tiles"


def test_a_lesson_that_reached_its_end_is_finished(window, qtbot):
    session = window.session
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=20_000)
    assert "gputiled" not in session.preferences.finished
    session.guide.go(len(session.tour.stops) - 1)
    assert "gputiled" in session.preferences.finished


def test_descriptions_are_folded_until_they_are_opened(window, qtbot):
    source = window.source
    found = regions(source.text())
    assert [first for first, _ in found] == sorted(source.folding.folded)
    first, last = found[0]
    document = source.document()
    assert not document.findBlockByNumber(last - 1).isVisible() and document.findBlockByNumber(last).isVisible()
    source.click_line(first)
    assert document.findBlockByNumber(last - 1).isVisible()
    source.click_line(first)
    assert not document.findBlockByNumber(last - 1).isVisible()
    source.reveal(last)
    assert document.findBlockByNumber(last - 1).isVisible()
    source.lock(False)
    assert not source.folding.folded
    assert source.text() == window.session.choice.text


def test_each_tab_but_the_source_shows_the_line_that_executes(window, qtbot):
    for panel in ("warp", "thread", "origin", "counters"):
        window.inspector.show_panel(panel)
        qtbot.waitUntil(window.inspector.lines.isVisible)
        assert window.session.cursor.line in [number for number, _ in window.inspector.lines.lines()]
    window.inspector.show_panel("source")
    qtbot.waitUntil(lambda: not window.inspector.lines.isVisible())


def test_the_text_is_placed_again_after_an_exception(window, monkeypatch):
    placer = window.findChild(OnStage)
    monkeypatch.setattr(placer, "_arrange", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        placer.arrange()
    placed = []
    monkeypatch.setattr(placer, "_arrange", lambda: placed.append(True))
    placer.arrange()
    assert placed
