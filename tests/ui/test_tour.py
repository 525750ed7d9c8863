# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The lesson bar and the user's own stops in the real window, by keys."""

from window_driving import RECORDING_MS, need_qt, wait_recorded

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLabel

from gemmviz.catalogue.ladder import find
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.tour.my_stops import MyStops, SentenceBox

_TURNS = 20
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def press(window, qtbot, key, modifiers=Qt.KeyboardModifier.NoModifier):
    window.activateWindow()  # after a box is closed no window is active
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window.stage, key, modifiers)


def wait_at(window, qtbot, index):
    qtbot.waitUntil(
        lambda: window.session.tour.stop is not None and window.session.tour.at == index, timeout=RECORDING_MS
    )


def settled_height(window, qtbot):
    """Return the height of the stage after the layout is complete, which takes some turns of the event loop."""
    heights = []

    def rests():
        heights.append(window.stage.height())
        return len(heights) > _TURNS and len(set(heights[-_TURNS:])) == 1

    qtbot.waitUntil(rests)
    return heights[-1]


def test_a_lesson_is_played_by_keys_and_leaving_it_restores_the_window(window, qtbot):
    session, bar = window.session, window.tour_bar
    before = session.choice.problem, dict(session.choice.params)
    assert not bar.isVisible()
    assert bar.lesson_button.isEnabled()
    press(window, qtbot, Qt.Key.Key_L, CTRL)
    wait_at(window, qtbot, 0)
    assert bar.isVisible()
    press(window, qtbot, Qt.Key.Key_S)
    assert not window.recording.isVisible() and "The lesson has chosen the size" in session.messages.current.text
    session.messages.tell(None)
    assert bar.lesson_button.isChecked()
    assert (bar.where.text(), bar.sentence.text()) == ("1 of 6", session.tour.stops[0].say)
    assert bar.sentence.font().pointSizeF() >= 1.1 * QLabel("x", window).font().pointSizeF()
    stage_height = settled_height(window, qtbot)
    places = window.stage.panels()
    for index in range(1, 6):
        press(window, qtbot, Qt.Key.Key_PageDown, CTRL)
        assert (session.tour.at, session.cursor.step) == (index, session.tour.stops[index].step)
        assert bar.sentence.text() == session.tour.stops[index].say
        assert not session.playback.playing
    assert settled_height(window, qtbot) == stage_height and window.stage.panels() == places
    assert bar.onward.isVisible()
    assert bar.onward.text() == "Next kernel: gputiled1"
    press(window, qtbot, Qt.Key.Key_PageUp, CTRL)
    assert session.tour.at == 4
    assert not bar.onward.isVisible()
    press(window, qtbot, Qt.Key.Key_L, CTRL)
    wait_recorded(window, qtbot)
    assert (session.choice.problem, session.choice.params) == before
    assert not bar.isVisible()
    press(window, qtbot, Qt.Key.Key_S)
    assert window.recording.isVisible()


def is_whole(bar):
    """Say whether the lesson's text, its number and its buttons have the room that they need.

    On the stage it is high enough for all of its texts, so that the tiles stay where they are.
    """
    sentence = bar.sentence
    inside = bar.parentWidget().rect().contains(bar.geometry())
    parts = [bar.where, bar.back, bar.on, bar.close_button, *([bar.onward] if bar.onward.isVisible() else [])]
    return (
        inside
        and (bar.height() >= bar.heightForWidth(bar.width()) or not isinstance(bar.parentWidget(), Stage))
        and sentence.height() >= sentence.heightForWidth(sentence.width())
        and all(part.width() >= part.sizeHint().width() and bar.rect().contains(part.geometry()) for part in parts)
    )


def test_no_text_of_a_lesson_is_cut_at_any_size_of_the_window(window, qtbot):
    session, bar = window.session, window.tour_bar
    window.resize(1280, 800)
    session.guide.start_rung("matmul_kernel_naive")
    wait_at(window, qtbot, 0)
    for size in ((1920, 1080), (1440, 900), (1280, 800), (1000, 800)):
        window.resize(*size)
        for index in range(len(session.tour.stops)):
            session.guide.go(index)
            qtbot.waitUntil(lambda: is_whole(bar))
    assert bar.on.toolTip() == bar.onward.toolTip()
    bar.on.click()
    wait_at(window, qtbot, 0)
    assert session.choice.base.name == "gpumult1" and bar.on.toolTip() != bar.onward.toolTip()
    session.preferences.set_type_scale(1.5)
    qtbot.waitUntil(lambda: is_whole(bar))


def test_a_users_stops_are_set_listed_changed_and_saved_as_a_lesson(window, qtbot, monkeypatch, tmp_path):
    session = window.session

    def set_stop(step, sentence):
        session.cursor.seek(step)
        press(window, qtbot, Qt.Key.Key_B)
        box = window.findChildren(SentenceBox)[-1]
        assert f"Step {step + 1} of" in box.line.text()
        qtbot.keyClicks(box.line, sentence)
        qtbot.keyClick(box.line, Qt.Key.Key_Return)
        qtbot.wait(1)

    set_stop(4, "Here it begins.")
    set_stop(9, "And here it ends.")
    press(window, qtbot, Qt.Key.Key_B)
    qtbot.keyClick(window.findChildren(SentenceBox)[-1], Qt.Key.Key_Escape)
    assert [stop.say for stop in session.own_stops.here] == ["Here it begins.", "And here it ends."]

    # Another rung is chosen while the box is open: the stop still belongs to the rung on which it was set.
    rung, other = session.choice.base, find("hostmult0", session.choice.kernels)
    press(window, qtbot, Qt.Key.Key_B)
    box = window.findChildren(SentenceBox)[-1]
    session.choice.choose_kernel(other)
    qtbot.keyClick(box.line, Qt.Key.Key_Return)
    assert (len(session.own_stops.mine[rung.name]), other.name in session.own_stops.mine) == (3, False)
    session.choice.choose_kernel(rung)
    wait_recorded(window, qtbot)
    session.own_stops.undo()

    press(window, qtbot, Qt.Key.Key_B, CTRL | SHIFT)
    (listed,) = window.findChildren(MyStops)
    assert listed.isVisible()
    assert listed.list.item(0).text() == "1. Step 5: Here it begins."
    listed.list.setCurrentRow(1)
    listed.buttons["up"].click()
    assert [stop.step for stop in session.own_stops.here] == [9, 4]
    listed.buttons["delete"].click()
    assert listed.list.count() == 1
    listed.buttons["undo"].click()
    assert listed.list.count() == 2
    listed.buttons["edit"].click()
    (box,) = listed.findChildren(SentenceBox)
    box.line.setText("It ends here.")
    box.accept()
    assert "It ends here." in listed.list.item(0).text()
    listed.buttons["go"].click()
    assert session.cursor.step == 9
    assert window.tour_bar.sentence.text() == "It ends here."
    assert window.tour_bar.title.text() == "My stops"

    path = tmp_path / "mine.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("Two moments", True))
    listed.buttons["save"].click()
    assert str(path) in session.messages.current.text
    window.open_file(path)
    wait_at(window, qtbot, 0)
    assert window.tour_bar.title.text() == "Two moments"
    assert [stop.step for stop in session.tour.stops] == [9, 4]
