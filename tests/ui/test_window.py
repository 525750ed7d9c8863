# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The window, driven like a user."""

import pytest
from window_driving import RECORDING_MS, need_qt, open_trusted, wait_guessed, wait_recorded

need_qt()

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMenu, QToolButton

from gemmviz.catalogue.problem import Problem
from gemmviz.ui.source.source import Source
from gemmviz.ui.stage.stage import Stage

BENCH_MS = 120_000


def pick(window, qtbot, name):
    ladder = window.ladder
    ladder.open(ladder.rows.chapter_of(name))
    ladder.scrollToItem(ladder.item_of(name))
    area = ladder.visualItemRect(ladder.item_of(name))
    qtbot.mouseClick(ladder.viewport(), Qt.MouseButton.LeftButton, pos=area.center())


def click_cell(window, qtbot, array, row, column):
    panel = next(p for p in window.stage.panels() if p.array == array)
    point = QPointF(panel.x + (column + 0.5) * panel.cell, panel.y + (row + 0.5) * panel.cell)
    qtbot.mouseClick(window.stage, Qt.MouseButton.LeftButton, pos=point.toPoint())


def counter(window, array, heading):
    model = window.inspector.counters.model
    headings = [model.headerData(c, Qt.Orientation.Horizontal) for c in range(model.columnCount())]
    rows = [model.data(model.index(r, 0)).split()[0] for r in range(model.rowCount())]
    shown = model.data(model.index(rows.index(array), headings.index(heading)))
    return shown.replace("\n", " ")  # a narrow column has two lines


def test_the_window_opens_with_a_small_tiled_recording(window):
    recording = window.session.cursor.playable.recording
    assert (recording.label, recording.m, recording.blocks, recording.wrong) == ("gputiled<4>", 8, 4, 0)
    assert window.source.executing() == window.session.cursor.line > 0


def test_space_plays_and_pauses(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.session.cursor.step >= 3)
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert not window.session.playback.playing
    assert not window.transport.timer.isActive()


def test_arrows_home_and_end_step(window, qtbot):
    session = window.session
    for key, step in (
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Right, 2),
        (Qt.Key.Key_Left, 1),
        (Qt.Key.Key_End, session.cursor.steps - 1),
        (Qt.Key.Key_Home, 0),
    ):
        qtbot.keyClick(window, key)
        assert session.cursor.step == step
        assert window.transport.slider.value() == step
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert session.cursor.playable.timeline.phase[session.cursor.step] == 1


def test_counters_at_the_last_step_are_the_totals(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_End)
    assert counter(window, "A", "reads") == "128 / 128"
    assert counter(window, "B", "reads") == "128 / 128"
    assert counter(window, "C", "writes") == "64 / 64"
    qtbot.keyClick(window, Qt.Key.Key_Home)
    assert counter(window, "C", "writes") == "0 / 64"


def test_scrubbing_marks_the_line_that_executes(window, qtbot):
    session, slider = window.session, window.transport.slider
    for step in (session.cursor.steps - 1, 5, 0):
        slider.setValue(step)
        assert session.cursor.step == step
        assert window.source.executing() == session.cursor.playable.line(step)
        assert window.transport.where.text() == f"{step + 1} / {session.cursor.steps}"


def test_another_step_lays_out_nothing_anew(window, qtbot):
    laid_out = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.LayoutRequest:
                laid_out.append(watched)
            return False

    watch, transport = Watch(), window.transport
    for step in (3, 8, 21):
        window.session.cursor.seek(step)
        qtbot.wait(20)
        transport.installEventFilter(watch)
    assert transport.where.text().startswith("22 /") and laid_out == []


def place_of(source, line):
    """Scroll a line of the source into view and return its position at the left edge."""
    source.verticalScrollBar().setValue(line - 5)
    block = source.document().findBlockByNumber(line - 1)
    y = source.blockBoundingGeometry(block).translated(source.contentOffset()).center().y()
    return QPoint(40, int(y))


@pytest.mark.parametrize("how", ["number", "ctrl", "twice"])
def test_a_click_on_a_line_goes_to_its_next_execution(window, qtbot, how):
    source: Source = window.source
    line = next(i for i, t in enumerate(window.session.choice.kernel.text.splitlines(), 1) if "] = sum;" in t)
    at = place_of(source, line)
    left = Qt.MouseButton.LeftButton
    if how == "number":
        qtbot.mouseClick(source.gutter, left, pos=QPoint(5, at.y()))
    elif how == "ctrl":
        qtbot.mouseClick(source.viewport(), left, Qt.KeyboardModifier.ControlModifier, pos=at)
    else:
        qtbot.mouseDClick(source.viewport(), left, pos=at)
    assert window.session.cursor.line == line
    assert window.session.cursor.step == window.session.cursor.steps - 1


def test_a_click_into_the_text_only_places_the_cursor(window, qtbot):
    at = place_of(window.source, 30)
    qtbot.mouseClick(window.source.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.session.cursor.step == 0
    assert window.source.textCursor().blockNumber() == 29


def test_a_click_on_c_chooses_the_block_that_owns_the_cell(window, qtbot):
    click_cell(window, qtbot, 2, 1, 6)
    assert window.session.cursor.cell == (2, 1 * 8 + 6)
    assert window.session.cursor.playable.recording.block_index(window.session.cursor.block) == (1, 0, 0)
    qtbot.mouseClick(window.stage, Qt.MouseButton.LeftButton, pos=QPoint(2, window.stage.height() // 2))
    assert window.session.cursor.cell is None


def test_the_stage_shows_every_array_without_overlap(window):
    panels = window.stage.panels()
    assert [p.name for p in panels] == ["A", "B", "C", "As", "Bs"]
    for i, p in enumerate(panels):
        assert p.x >= 0 and p.x + p.width <= window.stage.width()
        assert p.y >= 0 and p.y + p.height <= window.stage.height()
        for q in panels[i + 1 :]:
            assert p.x + p.width <= q.x or q.x + q.width <= p.x or p.y + p.height <= q.y or q.y + q.height <= p.y


def test_a_read_glows_blue_and_a_write_has_an_amber_ring(window, qtbot):
    stage: Stage = window.stage
    seen = {}
    for step in (0, window.session.cursor.steps - 1):
        window.session.cursor.seek(step)
        array = int(window.session.cursor.playable.timeline.array[step])
        panel = next(p for p in stage.panels() if p.array == array)
        # A corner of the first cell, beside its value; of what is written, the ring at its edge.
        beside = panel.cell * 0.2
        at = QPoint(
            int(panel.x + (2 if window.session.cursor.playable.timeline.write[step] else beside)), int(panel.y + beside)
        )
        seen[step] = QColor(stage.grab().toImage().pixel(at))
    read, write = seen.values()
    assert read.blue() > read.red() + 60
    assert write.red() > write.blue() + 60


def test_the_wheel_zooms_and_a_key_shows_everything_again(window, qtbot):
    before = window.stage.panels()[0].cell
    window.stage.view = type(window.stage.view)(4.0, -100, -100)
    assert window.stage.panels()[0].cell == pytest.approx(4 * before)
    qtbot.keyClick(window, Qt.Key.Key_0)
    assert window.stage.panels()[0].cell == pytest.approx(before)


def test_the_theme_changes_at_run_time(window, qtbot):
    dark = QColor(window.stage.grab().toImage().pixel(5, window.stage.height() // 2))
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    light = QColor(window.stage.grab().toImage().pixel(5, window.stage.height() // 2))
    assert dark.lightness() < 40 and light.lightness() > 220


def test_picking_a_rung_records_it(window, qtbot):
    pick(window, qtbot, "hostmult0")
    wait_recorded(window, qtbot)
    assert window.session.choice.kernel.name == "hostmult0"
    assert "hostmult0" in window.source.toPlainText()
    assert counter(window, "C", "writes").endswith("576")


def test_a_library_reference_is_labelled_as_without_source(window, qtbot):
    assert window.source.extraSelections()
    pick(window, qtbot, "numpy")
    qtbot.waitUntil(lambda: window.session.cursor.playable is None)
    assert not window.source.extraSelections()
    assert not window.transport.isEnabled()
    assert not window.recording.button.isEnabled()
    assert window.measuring.this.isEnabled()


def test_a_new_parameter_and_order_are_recorded(window, qtbot):
    box = window.recording.params.boxes["TS"]
    box.setEditText("2")
    qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Return)
    wait_recorded(window, qtbot)
    assert window.session.cursor.playable.recording.blocks == 16
    window.recording.order.setCurrentIndex(1)
    window.recording.order.activated.emit(1)
    wait_recorded(window, qtbot)
    assert window.session.cursor.playable.timeline.order_by == "block"


def test_unequal_sides_of_a_rung_release_the_link_and_equal_sides_set_it_again(window, qtbot):
    size, session = window.recording.size_row, window.session
    for name, equal in (("simd", False), ("gputiled", True)):
        session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == name))
        assert size.link.isChecked() == equal
    qtbot.mouseClick(size.link, Qt.MouseButton.LeftButton)  # a link that the user released stays released
    for name in ("simd", "gputiled"):
        session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == name))
        assert not size.link.isChecked()


def test_sizes_stay_square_until_unlinked(window, qtbot):
    size = window.recording.size_row
    size.boxes["M"].setValue(12)
    assert window.session.choice.problem == Problem.cube(12)
    qtbot.mouseClick(size.link, Qt.MouseButton.LeftButton)
    size.boxes["K"].setValue(5)
    assert window.session.choice.problem == Problem(12, 12, 5)
    qtbot.mouseClick(size.link, Qt.MouseButton.LeftButton)  # pressed again, it takes the first side for all
    assert window.session.choice.problem == Problem.cube(12) and size.problem() == Problem.cube(12)
    wait_recorded(window, qtbot)


def test_a_refused_parameter_keeps_the_last_recording(window, qtbot):
    before = window.session.cursor.playable
    window.session.choice.choose(params={"TS": 64})
    qtbot.waitUntil(lambda: window.session.messages.current is not None)
    assert "TS <= 32" in window.message_bar.text.text()
    assert window.message_bar.isVisible()
    assert window.session.cursor.playable is before


def test_a_broken_file_marks_its_line_and_the_next_run_works(window, qtbot, tmp_path):
    kernel = window.session.choice.kernel
    text = kernel.text.replace("float sum = 0;", "float sum = 0")
    line = next(i for i, t in enumerate(text.splitlines(), 1) if "float sum = 0" in t)
    path = tmp_path / "broken.cu"
    path.write_text(text)
    before = window.session.cursor.playable
    open_trusted(window, path)
    qtbot.waitUntil(lambda: window.session.messages.current is not None, timeout=RECORDING_MS)
    message = window.session.messages.current
    assert message.kind == "error" and message.line in (line, line + 1, line + 2)
    assert window.session.cursor.playable is before
    path.write_text(kernel.text)
    qtbot.keyClick(window, Qt.Key.Key_F5)
    wait_recorded(window, qtbot)
    assert window.session.messages.current is None


def test_a_file_that_is_no_kernel_is_reported(window, tmp_path):
    path = tmp_path / "nothing.cu"
    path.write_text("int x;\n")
    window.open_file(path)
    wait_guessed(window)
    assert "front matter" in window.message_bar.text.text()
    assert len(window.session.choice.kernels) == window.ladder.count() - len(window.ladder.rows.chapters)


def test_measuring_a_cpu_rung_fills_ladder_and_charts(window, qtbot):
    pick(window, qtbot, "hostmult1_opt")
    window.session.choice.protocol = {"timeout_s": 1.0}
    window.pages.turn_to("charts")
    window.measuring.size_row.boxes["M"].setValue(64)
    qtbot.mouseClick(window.measuring.this, Qt.MouseButton.LeftButton)
    assert not window.measuring.this.isEnabled()
    qtbot.waitUntil(lambda: window.session.progress["bench"] is None, timeout=BENCH_MS)
    row = window.session.results.rows["hostmult1_opt"]
    assert row["status"] == "ok" and row["gflops"] > 0
    assert window.session.results.samples.gflops
    window.charts.refresh()
    assert [name for name, _ in window.charts.ladder.bars()] == ["hostmult1_opt"]
    assert "GFLOPS" in window.ladder.item_of("hostmult1_opt").toolTip()


def test_cancel_stops_a_run(window, qtbot):
    window.measuring.size_row.boxes["M"].setValue(512)
    qtbot.mouseClick(window.measuring.all, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.progress["bench"] not in (None, ("Starting", None)), timeout=BENCH_MS)
    qtbot.mouseClick(window.measuring.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.progress["bench"] is None, timeout=10_000)
    assert window.measuring.all.isEnabled()


def test_closing_during_a_run_leaves_no_process(window, qtbot):
    window.controller.measuring.measure_all()
    qtbot.waitUntil(lambda: window.session.progress["bench"] not in (None, ("Starting", None)), timeout=BENCH_MS)
    window.close()
    assert not window.controller.engines.bench.running


def test_every_action_has_keys_and_an_entry_in_the_help(window):
    box = window.show_help()
    text = box.text()
    box.close()
    keys = [key for action in window.actions_table for key in action.keys]
    assert len(keys) == len(set(keys))
    for action in window.actions_table:
        assert action.keys and action.title in text


def test_no_menu_has_more_entries_than_can_be_read_at_a_glance(window):
    menus = {menu.title(): [a for a in menu.actions() if not a.isSeparator()] for menu in _menus(window)}
    assert len(menus["View"]) <= 13
    assert {"Go to", "Zoom and shift", "Second kernel", "Type size"} <= set(menus)


def _menus(window):
    return window.menuBar().findChildren(QMenu)


def test_quit_is_the_last_entry_of_its_menu(window):
    (file,) = (action for action in window.menuBar().actions() if action.text() == "File")
    assert file.menu().actions()[-1].objectName() == "quit"


def test_every_button_explains_itself(window):
    for button in window.transport.findChildren(QToolButton):
        assert button.toolTip() and not button.icon().isNull()


def test_the_window_has_an_icon(window):
    assert not window.windowIcon().pixmap(32, 32).isNull()


def test_the_chosen_rung_is_visible(window, qtbot):
    ladder = window.ladder
    window.session.choice.choose_kernel(window.session.choice.kernels[-1])
    window.resize(1280, 700)
    place = ladder.visualItemRect(ladder.item_of(window.session.choice.kernel.name))
    assert ladder.viewport().rect().contains(place)


def test_the_window_fits_the_screen(window):
    from gemmviz.ui.window.application import fit

    fit(window, QSize(1366, 728))
    assert window.isMaximized()
    window.showNormal()
    fit(window, QSize(1920, 1040))
    assert (window.width(), window.height()) == (1728, 936)
    fit(window, QSize(3840, 2160))
    assert (window.width(), window.height()) == (1920, 1200)
