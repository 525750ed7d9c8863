"""The first run: three doors, by mouse and by key, and a window that remembers whether to show them."""

import threading

import pytest
from consenting import AllowsAll
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from remembering_engine import RememberingEngine
from window_driving import wait_recorded

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.control.stage_recorder import request_for
from gemmviz.engine import first_recording
from gemmviz.session.files import preferences_file
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.rules.last_place import keep_place
from gemmviz.session.tour.lessons import find_lesson
from gemmviz.ui.panels import doors as doors_file
from gemmviz.ui.panels.door_file import FilePicture
from gemmviz.ui.panels.door_sectors import SectorsPicture
from gemmviz.ui.panels.doors import Doors
from gemmviz.ui.panels.kernel_chooser import find_kernel
from gemmviz.ui.source import pasted
from gemmviz.ui.stage.stage import Stage


@pytest.fixture
def doors(window, qtbot):
    window.open_doors()
    qtbot.waitUntil(window.doors.isVisible)
    return window.doors


def test_the_doors_cover_the_window_and_the_first_one_has_the_focus(window, doors, qtbot):
    assert doors.geometry() == window.columns.geometry()
    window.resize(1000, 700)
    qtbot.waitUntil(lambda: doors.geometry() == window.columns.geometry())
    assert doors.geometry().bottom() < window.strip.geometry().top()
    assert doors.focusWidget() is doors.buttons[0]


def test_tab_leads_to_nothing_that_the_doors_cover(window, doors, qtbot):
    """The focus went to eleven widgets behind the doors, and could not be seen there."""
    reached = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget() or doors, Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    assert {*doors.buttons, doors.skip, doors.again} <= set(reached)
    assert [widget for widget in reached if widget is not None and window.columns.isAncestorOf(widget)] == []
    qtbot.keyClick(doors, Qt.Key.Key_Escape)
    assert window.columns.isEnabled() and window.stage.hasFocus()


@pytest.mark.sweep("49")  # the key 1
@pytest.mark.parametrize("key", [Qt.Key.Key_1, Qt.Key.Key_Return])
def test_the_first_door_plays_a_tile_that_moves(window, request, qtbot, key):
    session = window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "hostmult1"))
    wait_recorded(window, qtbot)
    doors = request.getfixturevalue("doors")
    qtbot.keyClick(doors.focusWidget(), key)
    assert window.doors is None and session.choice.kernel.name == "gputiled"
    assert session.choice.params == {"TS": 4} and session.choice.problem.m == 8
    wait_recorded(window, qtbot)


def test_the_second_door_starts_the_lesson_of_the_naive_kernel(window, doors, qtbot):
    qtbot.keyClick(doors, Qt.Key.Key_2)
    tour = window.session.tour
    qtbot.waitUntil(lambda: tour.stop is not None and not tour.waiting, timeout=20_000)
    assert window.session.choice.base.name == "matmul_kernel_naive" and window.doors is None


def test_a_click_anywhere_on_a_card_takes_its_door(window, doors, qtbot):
    card = doors.cards[1]
    at = card.mapTo(doors, QPoint(card.width() // 2, card.height() // 4))  # on its picture
    qtbot.mouseClick(doors.childAt(at), Qt.MouseButton.LeftButton)
    assert window.doors is None and window.session.choice.base.name == "matmul_kernel_naive"


def test_the_third_door_asks_for_a_file(window, doors, qtbot, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "PySide6.QtWidgets.QFileDialog.getOpenFileName", lambda *_, **__: (asked.append(True), "")[1:] * 2
    )
    qtbot.keyClick(doors, Qt.Key.Key_3)
    assert asked and window.doors is None


@pytest.mark.parametrize("names", [["mine.cu"], ["mine.cu", "other.cu"]])
def test_dropped_files_are_opened(window, doors, qtbot, monkeypatch, tmp_path, names):
    opened, mine = [], [tmp_path / name for name in names]
    monkeypatch.setattr(window.files, "open", opened.append)
    data = QMimeData()
    data.setUrls([*(QUrl.fromLocalFile(str(path)) for path in mine), QUrl("https://example.org/far.cu")])
    drop = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering = QDragEnterEvent(QPoint(9, 9), *drop)
    window.dragEnterEvent(entering)
    assert entering.isAccepted()
    mark = window.drop_mark
    assert mark.isVisible() and mark.size() == window.size() and str(len(mine) if len(mine) > 1 else "it") in mark.text
    window.dragLeaveEvent(QDragLeaveEvent())
    assert window.drop_mark is None and mark.isHidden()
    window.dragEnterEvent(entering)
    window.dropEvent(QDropEvent(QPointF(9, 9), *drop))
    assert opened == mine and window.doors is None and window.drop_mark is None


def test_a_kernel_that_is_found_by_its_name_is_not_covered(window, doors, qtbot):
    box = find_kernel(window.session, window)
    qtbot.keyClicks(box.box, "RR")
    box.box.returnPressed.emit()  # a key would be the doors', as no window is active here
    assert window.doors is None and window.session.choice.base.name == "RR"


def test_a_drop_without_a_file_of_this_machine_is_refused(window, doors):
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/far.cu")])
    drop = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering = QDragEnterEvent(QPoint(9, 9), *drop)
    window.dragEnterEvent(entering)
    assert not entering.isAccepted() and window.drop_mark is None


@pytest.mark.sweep("charts")
@pytest.mark.parametrize("page", ["charts", "lesson"])
def test_what_is_opened_elsewhere_is_not_covered(window, doors, qtbot, page):
    """The pages' buttons and the menus stay in reach: what they opened was below the doors."""
    if page == "charts":
        qtbot.mouseClick(window.pages.buttons["charts"], Qt.MouseButton.LeftButton)
    else:
        window.session.guide.start_rung("gputiled")
    assert window.doors is None


def test_doors_that_were_left_are_deleted_and_leave_no_listener(window, doors, qtbot):
    """They stayed hidden, with their picture's recording, and went on listening to the session."""
    session, heard = window.session, []

    def listeners():
        return [len(signal) for signal in (session.tour.changed, session.preferences.themed, session.cursor.stepped)]

    qtbot.keyClick(doors, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.findChildren(Doors))
    before = listeners()
    for _ in range(2):
        window.open_doors()
        assert sum(listeners()) > sum(before)
        later = lambda: heard.append("after the doors")  # noqa: E731
        session.tour.changed.connect(later)
        session.tour.changed.emit()  # the doors leave while it is emitted
        session.tour.changed.disconnect(later)
        qtbot.waitUntil(lambda: not window.findChildren(Doors))
        assert listeners() == before and window.doors is None
    assert len(heard) == 2
    session.preferences.themed.emit()  # no listener of a deleted widget ends the emission


def test_esc_leads_to_the_unchanged_stage(window, doors, qtbot):
    before = window.session.choice.kernel
    qtbot.keyClick(doors, Qt.Key.Key_Escape)
    assert window.doors is None and window.session.choice.kernel is before
    assert window.stage.hasFocus()


def test_the_choice_to_show_the_doors_and_the_last_lesson_are_kept(window, doors, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(preferences_file, "file", lambda: tmp_path / "preferences.json")
    preferences = window.session.preferences
    preferences_file.remember(preferences)
    qtbot.mouseClick(doors.again, Qt.MouseButton.LeftButton)
    preferences.note_place("RR")
    preferences.finish("gputiled")
    kept = type(preferences)()
    assert preferences_file.restore(kept) == []
    assert (kept.doors, kept.last_kernel, kept.finished) == (False, "RR", {"gputiled"})
    window.open_doors()
    assert "RR" in window.doors.go_on.text() and not window.doors.again.isChecked()
    qtbot.mouseClick(window.doors.go_on, Qt.MouseButton.LeftButton)
    assert window.session.choice.kernel.name == "RR"


def test_my_own_file_is_offered_again(window, doors, qtbot, tmp_path, monkeypatch):
    """Only kernels of gemmviz were: who had worked on a file had to look for it again."""
    monkeypatch.setattr(preferences_file, "file", lambda: tmp_path / "preferences.json")
    own, preferences = tmp_path / "mine.cu", window.session.preferences
    own.write_text("__global__ void mine(const float *A) {}\n")
    preferences_file.remember(preferences)
    preferences.note_place("mine", file=str(own))
    kept = type(preferences)()
    assert preferences_file.restore(kept) == [] and kept.last_file == str(own)
    opened = []
    monkeypatch.setattr(window, "open_file", opened.append)
    window.open_doors()
    assert window.doors.go_on.text().endswith(": mine.cu")
    qtbot.mouseClick(window.doors.go_on, Qt.MouseButton.LeftButton)
    assert opened == [own] and window.doors is None
    own.unlink()
    window.open_doors()
    assert window.doors.go_on.isHidden()


def test_a_kernel_can_be_pasted_at_the_doors(window, doors, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(pasted, "folder", lambda: tmp_path / "pasted")
    opened = []
    monkeypatch.setattr(window.files, "open", opened.append)
    QGuiApplication.clipboard().setText("__global__ void __launch_bounds__(256) my_sgemm(const float *A) {}")
    qtbot.keyClick(doors, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert opened == [tmp_path / "pasted" / "my_sgemm.cu"] and window.doors is None
    assert opened[0].read_text().startswith("__global__ void __launch_bounds__(256) my_sgemm")
    own = QMimeData()
    own.setUrls([QUrl.fromLocalFile(str(tmp_path / "mine.c"))])
    QGuiApplication.clipboard().setMimeData(own)
    window.paste()
    assert opened[1:] == [tmp_path / "mine.c"]
    QGuiApplication.clipboard().setText(" ")
    window.paste()
    assert "no text to paste" in window.session.messages.current.text and len(opened) == 2


def test_the_doors_grow_with_a_large_screen(window, doors, qtbot):
    """At 1920 x 1080 they were as small as at 1280 x 800, and took 60% of the width."""

    def sizes():
        title = next(label for label in doors.findChildren(QLabel) if label.objectName() == "title")
        card = doors.cards[0]
        return title.font().pointSizeF(), doors.buttons[0].font().pointSizeF(), card.width(), card.height()

    window.resize(1280, 800)
    qtbot.waitUntil(lambda: doors.width() == 1280)
    usual = sizes()
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: doors.width() == 1920)
    QApplication.processEvents()
    assert all(large > 1.15 * small for small, large in zip(usual, sizes(), strict=True))
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: doors.width() == 1280)
    QApplication.processEvents()
    assert sizes() == pytest.approx(usual, abs=3)


def test_going_on_returns_to_the_stop_of_the_lesson(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(preferences_file, "file", lambda: tmp_path / "preferences.json")
    session, preferences = window.session, window.session.preferences
    preferences_file.remember(preferences)
    keep_place(session.choice, session.tour, preferences)
    session.guide.start_rung("gputiled")
    qtbot.waitUntil(lambda: session.tour.at == 0, timeout=20_000)
    session.guide.go(2)
    kept = Preferences()
    assert preferences_file.restore(kept) == []
    assert (kept.last_kernel, kept.last_stop) == ("gputiled", 3)
    session.guide.leave()
    assert (preferences.last_kernel, preferences.last_stop) == ("gputiled", 0)
    preferences.note_place(kept.last_kernel, kept.last_stop)
    window.open_doors()
    assert window.doors.go_on.text().endswith("Shared-memory tiles, stop 3 of its lesson")
    qtbot.mouseClick(window.doors.go_on, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.tour.at is not None, timeout=20_000)
    assert session.tour.at == 2 and window.doors is None
    session.guide.start_rung("gputiled", 99)
    assert session.tour.at == len(session.tour.stops) - 1


def test_doors_that_are_opened_later_show_the_kernel_that_they_name(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(first_recording, "_folder", lambda: tmp_path)
    session = window.session
    request = request_for(session.choice)
    engine = RememberingEngine(AllowsAll())
    first_recording.keep(request, list(engine.run(request, threading.Event()))[-1])
    engine.close()
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    wait_recorded(window, qtbot)
    window.open_doors()
    small = next(stage for stage in window.doors.findChildren(Stage))
    cursor = small.staged.cursor
    assert cursor.playable.recording.kernel == "gputiled" and cursor.fraction > 0
    assert session.cursor.playable.recording.kernel == "hostmult1"


def test_the_small_recording_has_the_names_of_its_arrays_alone(doors):
    """Title, legend and indices took 40% of its height, and were too small to read."""
    small = next(stage for stage in doors.findChildren(Stage))
    names = [panel for panel in small.panels() if panel.array < 3]
    assert max(p.y + p.height for p in names) - min(p.y for p in names) > 0.9 * small.height()


@pytest.mark.parametrize(("width", "height"), [(1152, 720), (1280, 800)])
def test_the_titles_stand_below_the_pictures(window, doors, qtbot, width, height):
    window.showNormal()
    window.resize(width, height)
    qtbot.waitUntil(lambda: window.height() == height)
    QApplication.processEvents()
    headings = [label for label in doors.findChildren(QLabel) if label.objectName() == "heading"]
    pictures = doors.findChild(SectorsPicture), doors.findChild(FilePicture)
    assert len(headings) == 3
    for picture in (*pictures, doors.findChild(Stage)):
        bottom = picture.mapTo(doors, QPoint(0, picture.height())).y()
        assert picture.height() >= 110
        assert all(bottom <= heading.mapTo(doors, QPoint(0, 0)).y() for heading in headings)


def test_a_door_says_what_is_behind_it(doors):
    watched, asked, own = (label.text() for label in doors.findChildren(QLabel) if label.objectName() == "info")
    lesson = find_lesson(find("matmul_kernel_naive", ladder()))
    assert watched == f"{find('gputiled', ladder()).title} · 8 × 8 × 8"
    assert asked == f"{find('matmul_kernel_naive', ladder()).title} · {len(lesson.stops)} stops"
    assert "drop" in own


def test_a_lesson_with_errors_does_not_close_the_doors(window, tmp_path, monkeypatch):
    def refuse(kernel):
        raise GemmvizError("no lesson")

    monkeypatch.setattr(doors_file, "find_lesson", refuse)
    window.open_doors()
    infos = [label.text() for label in window.doors.findChildren(QLabel) if label.objectName() == "info"]
    assert window.doors.isVisible() and infos[0] and not infos[1]


@pytest.mark.parametrize(("width", "height"), [(900, 560), (900, 600), (1000, 700)])
def test_no_text_of_the_doors_is_cut_off_in_a_small_window(window, doors, qtbot, width, height):
    window.showNormal()
    window.resize(width, height)
    qtbot.waitUntil(lambda: window.height() == height)
    QApplication.processEvents()
    for number, card in enumerate(doors.cards):
        place = QRect(card.mapTo(doors, QPoint(0, 0)), card.size())
        texts = [
            w for w in doors.findChildren(QLabel) if w.isVisible() and place.contains(w.mapTo(doors, QPoint(5, 5)))
        ]
        assert {"heading", "body"} <= {text.objectName() for text in texts}, number
        assert all(text.height() >= text.heightForWidth(text.width()) for text in texts)
        parts = [
            *texts,
            *(w for w in doors.findChildren(QWidget) if isinstance(w, Stage | SectorsPicture | FilePicture)),
        ]
        places = [QRect(w.mapTo(doors, QPoint(0, 0)), w.size()) for w in parts if w.isVisible()]
        assert not any(a.intersects(b) for at, a in enumerate(places) for b in places[:at])
    assert max(card.width() for card in doors.cards) - min(card.width() for card in doors.cards) <= 2


def test_the_texts_of_a_door_begin_at_one_edge(doors):
    labels = [one for one in doors.findChildren(QLabel) if one.objectName() in ("heading", "body", "info")]
    assert len(labels) >= 9 and {one.indent() for one in labels if one.wordWrap()} == {0}


def test_the_lines_from_lanes_to_sectors_are_seen_in_a_low_picture(qapp):
    picture = SectorsPicture(Preferences("light"))
    picture.resize(380, 165)
    image = picture.grab().toImage()
    width = 2 * image.width() // 3  # without the figure on the right

    def coloured(x, y):
        return image.pixelColor(x, y).red() - image.pixelColor(x, y).blue() > 60

    shares = [sum(coloured(x, y) for x in range(width)) / width for y in range(image.height() // 2)]
    assert sum(0.05 < share < 0.2 for share in shares) >= 10  # rows with nothing but lines
