# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""When the language changes, the new window shows what the window before showed."""

from dataclasses import replace

from window_driving import RECORDING_MS, need_qt

need_qt()

from language_driving import speak
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from gemmviz.session.models.two_versions import Side
from gemmviz.session.rules.setting_stops import stop_here
from gemmviz.ui.known import qt


def test_places_sizes_tabs_and_focus_stay(windows, qtbot):
    window = windows.window
    window.setGeometry(40, 30, 1400, 820)  # room for the texts of each language
    window.columns.setSizes([300, 700, 380])
    window.stage.zoom(1)
    window.charts.setCurrentIndex(2)
    window.measuring.quick.setChecked(True)
    window.recording.auto.setChecked(False)
    window.ladder.setFocus()
    view, sizes, geometry = window.stage.view, window.columns.sizes(), window.geometry()
    speak(windows, qtbot, "es")
    new = windows.window
    assert new is not window
    assert new.geometry() == geometry
    assert new.columns.sizes() == sizes
    assert new.stage.view == view
    assert new.charts.currentIndex() == 2
    assert new.measuring.quick.isChecked() and windows.session.choice.protocol
    assert not new.recording.auto.isChecked() and not windows.session.choice.auto
    assert new.focusWidget() is new.ladder


def test_choices_in_the_panels_stay(windows, qtbot):
    session, window = windows.session, windows.window
    for label in ("one", "other"):
        session.results.add_samples(label, "8 × 8 × 8", [1.0, 2.0], 1.5)
    session.results.end_samples()
    window.source_side.found.click()
    assert window.inspector.panel == "findings"
    window.recording.size_row.link.click()
    window.measuring.sizes.setEditText("32, 16")
    charts = window.charts
    charts.setCurrentWidget(charts.samples)
    charts.refresh()
    boxes = (charts.roofline.device, charts.samples.chooser)
    for box, text in zip(boxes, ("T4", "one"), strict=True):
        box.setCurrentText(text)
        box.activated.emit(box.currentIndex())
    speak(windows, qtbot, "ko")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    speak(windows, qtbot, "es")
    new = windows.window
    assert new is not window
    assert new.inspector.panel == "findings" and new.source_side.findings.list.isVisible()
    assert not new.recording.size_row.link.isChecked() and new.measuring.size_row.link.isChecked()
    assert new.measuring.sizes.sizes() == [16, 32]
    assert new.charts.currentWidget() is new.charts.samples
    new.charts.samples.refresh()
    charts = new.charts
    boxes = (charts.roofline.device, charts.samples.chooser)
    assert [box.currentText() for box in boxes] == ["T4", "one"]
    assert charts.roofline.device.facts["name"] != charts.occupancy.device.facts["name"]


def test_playing_frozen_warp_and_loop_stay(windows, qtbot):
    session, window = windows.session, windows.window
    window.inspector.show_panel("warp")
    session.warp_steps.toggle()
    session.playback.set_loop(not session.playback.loop)
    looping = session.playback.loop
    window.inspector.show_panel("counters")
    speak(windows, qtbot, "es")
    new = windows.window
    assert session.frozen_warp.on and session.playback.loop == looping
    assert new.inspector.warp.frozen.isChecked() and new.transport.loop.isChecked() == looping
    session.playback.play()  # lets the warp go while its tab is not seen
    assert not new.inspector.warp.frozen.isChecked()
    speak(windows, qtbot, "en")
    assert session.playback.playing and not session.frozen_warp.on
    session.playback.pause()


def test_the_list_of_stops_stays_open(windows, qtbot):
    session = windows.session
    for step in (1, 3):
        session.own_stops.add(replace(stop_here(session.staged), step=step, say="Here."))
    listed = windows.window.stops.show_list()
    listed.setGeometry(50, 60, 500, 300)
    listed.list.setCurrentRow(1)
    speak(windows, qtbot, "es")
    shown = windows.window.stops.list_box
    assert shown is not None and shown.isVisible()
    assert shown.list.count() == 2 and shown.list.currentRow() == 1
    assert shown.geometry().getRect() == (50, 60, 500, 300)
    shown.close()
    speak(windows, qtbot, "en")
    assert windows.window.stops.list_box is None


def test_presenter_mode_stays_with_its_size_of_type(windows, qtbot):
    windows.window.presenting.start()
    presenter = windows.window.presenting.presenter
    presenter.stage.zoom(1)
    presenter.resize_type(1)
    scale, seen = windows.session.sight.presented_scale, windows.window.stage.view
    assert scale > 1 and seen.zoom == 1
    speak(windows, qtbot, "es")
    assert windows.window.presenting.on and windows.session.sight.presented_scale == scale
    windows.window.presenting.end()
    speak(windows, qtbot, "en")
    assert not windows.window.presenting.on


def test_the_visible_part_of_both_stages_stays(windows, qtbot):
    session = windows.session
    session.side_by_side.start_named("gputiled~no-second-barrier")
    qtbot.waitUntil(lambda: session.comparison.match is not None, timeout=30_000)
    for stage, direction in ((windows.window.stage, 1), (windows.window.arena.second, 2)):
        for _ in range(direction):
            stage.zoom(1)
    seen = windows.window.stage.view, windows.window.arena.second.view
    assert seen[1].zoom > seen[0].zoom > 1
    speak(windows, qtbot, "ko")
    assert (windows.window.stage.view, windows.window.arena.second.view) == seen
    session.side_by_side.stop()


def test_the_visible_page_stays(windows, qtbot):
    windows.window.pages.turn_to("charts")
    speak(windows, qtbot, "ko")
    assert windows.window.pages.name() == "charts"
    assert windows.window.pages.buttons["charts"].text() == "측정"
    assert windows.window.charts.isVisible()


def test_typed_text_can_still_be_undone(windows, qtbot):
    source = windows.window.source
    source.toggle_edit()
    before = source.text()
    source.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(source, "// mine")
    speak(windows, qtbot, "es")
    new = windows.window.source
    assert new.text() == before + "// mine" and not new.locked
    assert new.textCursor().atEnd()
    qtbot.keyClicks(new, "!")
    assert windows.session.choice.text == before + "// mine!"
    for _ in range(8):
        new.undo()
    assert new.text() == before
    assert windows.session.choice.text == before


def test_the_choices_of_the_page_of_two_versions_stay(windows, qtbot):
    session = windows.session
    before, after = (
        Side(name, next(kernel for kernel in session.choice.kernels if kernel.name == name))
        for name in ("mm", "gputiled")
    )
    windows.window.pages.turn_to("versions")
    session.versions.choose(before, after)
    page = windows.window.versions
    page.extent.setValue(24)
    page.measures.setChecked(True)
    page.changed_only.setChecked(False)
    speak(windows, qtbot, "es")
    new = windows.window.versions
    assert new is not page and windows.window.pages.name() == "versions"
    assert (new.before.side, new.after.side, new.extent.value()) == (before, after, 24)
    assert new.measures.isChecked() and not new.changed_only.isChecked()


class _Shown(QObject):
    """Notes every widget that is shown as a window of its own."""

    def __init__(self):
        super().__init__()
        self.kinds = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.kinds.append(type(watched).__name__)
        return False


def test_no_other_window_is_shown_for_a_moment_and_the_list_stays_folded_in_a_lesson(windows, qtbot):
    session = windows.session
    windows.window.resize(1280, 800)
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=RECORDING_MS)
    assert windows.window.rail.folded
    shown = _Shown()
    qt().installEventFilter(shown)
    with qtbot.waitSignal(windows.exchanged):
        session.preferences.speak("es")
    QApplication.processEvents()
    qt().removeEventFilter(shown)
    assert shown.kinds == ["Window"]
    assert windows.window.rail.folded and windows.window.tour_bar.sentence.text() == session.tour.stop.say
    session.guide.leave()
    assert not windows.window.rail.folded
