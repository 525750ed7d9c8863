# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Presenter mode and the questions of predict mode, driven by the keys of a keyboard and of a clicker."""

import json
import os
import re
import subprocess
import sys

import pytest
from recordings import small_tiled
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session
from gemmviz.session.tour.stop import OwnStop
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import THEMES, contrast, rgb
from gemmviz.ui.present.predict_panel import PredictPanel
from gemmviz.ui.present.presenter import LABEL, Presenter
from gemmviz.ui.present.source_lines import around

K = Qt.Key
SCREENS = ((1920, 1080), (1280, 720), (1024, 768), (900, 1200))
LEAST_CONTRAST = 7.0


@pytest.fixture
def playable():
    return small_tiled()


@pytest.fixture
def session(playable):
    session = Session(ladder())
    session.choice.choose_kernel(find("gputiled", session.choice.kernels), {"TS": 4})
    session.cursor.show(playable)
    return session


@pytest.fixture
def presenter(session, qtbot):
    presenter = Presenter(session)
    qtbot.addWidget(presenter)
    presenter.resize(1280, 720)
    presenter.show()
    presenter.activateWindow()
    qtbot.waitUntil(presenter.isActiveWindow)
    return presenter


def press(presenter, qtbot, *keys):
    for key in keys:
        qtbot.keyClick(presenter, key)


# Entering and leaving


def test_one_key_starts_presenting_and_another_returns_to_the_same_view(window, qtbot):
    window.ladder.setFocus()
    state, geometry = window.windowState(), window.geometry()
    shift, plain = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier
    for enter, held, leave, step in ((K.Key_F5, shift, K.Key_Escape, 2), (K.Key_F11, plain, K.Key_F11, 4)):
        qtbot.keyClick(window, enter, held)
        presenter = window.presenting.presenter
        assert window.presenting.on and presenter.isFullScreen()
        assert presenter.geometry() == presenter.screen().geometry()
        qtbot.waitUntil(presenter.isActiveWindow)
        press(presenter, qtbot, K.Key_Right, K.Key_Right)
        assert window.session.cursor.step == step
        press(presenter, qtbot, leave)
        assert not window.presenting.on and not presenter.isVisible()
        qtbot.waitUntil(window.isActiveWindow)
        assert window.focusWidget() is window.ladder
        assert (window.windowState(), window.geometry()) == (state, geometry)


def test_the_window_asks_and_accepts_answers_by_keys(window, qtbot):
    session, panel = window.session, window.predict
    assert not panel.isVisible() and window.transport.slider.isVisible()
    qtbot.keyClick(window, K.Key_P)
    assert panel.isVisible()
    assert not window.transport.slider.isVisible()  # it would show the answer
    asked = session.predict.question
    qtbot.keyClick(window, [K.Key_1, K.Key_2, K.Key_3, K.Key_4][asked.right])
    assert session.predict.chosen == asked.right
    qtbot.keyClick(window, K.Key_S)
    box = window.recording.size_row.boxes["M"]
    assert box.hasFocus()
    box.selectAll()
    for key in (K.Key_1, K.Key_2, K.Key_Return):
        qtbot.keyClick(box, key)
    assert session.choice.problem.m == 12
    assert session.predict.chosen == asked.right and not session.predict.revealed
    window.size_popover.close()
    window.stage.setFocus()
    qtbot.keyClick(window, K.Key_Return)
    assert session.predict.revealed and session.cursor.step == asked.step
    assert panel.answers[asked.right].text().startswith("✓")
    assert "1 of 1" in panel.score.text() and asked.why in panel.why.text()
    qtbot.keyClick(window, K.Key_P)
    assert not panel.isVisible() and window.transport.slider.isVisible()


TWO_SCREENS = """
import json, sys
from PySide6.QtWidgets import QApplication, QWidget
from gemmviz.app import new_session
from gemmviz.ui.present import screens
from gemmviz.ui.present.presenting import Presenting

application = QApplication([])
console, projector = application.screens()
window = QWidget()
window.resize(600, 400)
window.show()
presenting = Presenting(window, new_session("dark"))
seen = []
def look():
    for _ in range(5):
        application.processEvents()
    shown = presenting.presenter
    seen.append([shown.screen().name(), shown.isFullScreen(), shown.geometry() == shown.screen().geometry()])
presenting.start()
look()
seen.append(window.screen().name())
every = screens.screens
screens.screens = lambda: [console]
application.screenRemoved.emit(projector)
look()
screens.screens = every
application.screenAdded.emit(projector)
look()
presenting.end()
application.screenRemoved.emit(projector)
application.processEvents()
seen.append(presenting.presenter.isVisible())
print(json.dumps(seen))
"""


def test_the_audience_sees_the_second_screen_while_it_is_plugged_in(tmp_path):
    layout = tmp_path / "screens.json"
    size = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1, "y": 0}
    both = [
        {"name": "console", "x": 0, "width": 1280, "height": 800, **size},
        {"name": "projector", "x": 1280, "width": 1920, "height": 1080, **size},
    ]
    layout.write_text(json.dumps({"screens": both}), encoding="utf-8")
    environment = os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={layout}"}
    ran = subprocess.run(
        [sys.executable, "-c", TWO_SCREENS], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    there, window_at, moved, back, after = json.loads(ran.stdout)
    assert there == back == ["projector", True, True]
    assert window_at == "console"
    assert moved == ["console", True, True]
    assert after is False


# Keys


def test_the_clicker_goes_from_barrier_to_barrier_where_there_is_no_tour(presenter, session, qtbot):
    starts = [
        s
        for s in range(1, session.cursor.steps)
        if session.cursor.playable.timeline.phase[s] != session.cursor.playable.timeline.phase[s - 1]
    ]
    press(presenter, qtbot, K.Key_PageDown, K.Key_PageDown)
    assert session.cursor.step == starts[1]
    press(presenter, qtbot, K.Key_PageUp)
    assert session.cursor.step == starts[0]


def test_the_clicker_goes_from_stop_to_stop_of_a_tour_and_the_sentence_is_the_stops(presenter, session, qtbot):
    for step, said in ((3, "The tile comes in."), (9, "The tile is used."), (20, "C is written.")):
        session.own_stops.add(OwnStop(step, said))
    session.tour.show_own(0)
    assert (session.cursor.step, presenter.sentence.text()) == (3, "The tile comes in.")
    press(presenter, qtbot, K.Key_PageDown)
    assert (session.cursor.step, presenter.sentence.text()) == (9, "The tile is used.")
    assert presenter.place.text() == "Stop 2 of 3"
    press(presenter, qtbot, K.Key_PageDown, K.Key_PageUp, K.Key_PageUp)
    assert (session.cursor.step, presenter.sentence.text()) == (3, "The tile comes in.")


def test_other_keys_play_as_in_the_window(presenter, session, qtbot):
    press(presenter, qtbot, K.Key_End)
    assert session.cursor.step == session.cursor.steps - 1
    press(presenter, qtbot, K.Key_Home, K.Key_Right, K.Key_Right, K.Key_Left)
    assert session.cursor.step == 1
    line = session.cursor.line
    press(presenter, qtbot, K.Key_N)
    assert session.cursor.line == line and session.cursor.step > 1
    press(presenter, qtbot, K.Key_Space)
    assert session.playback.playing
    press(presenter, qtbot, K.Key_Space)
    assert not session.playback.playing


def test_no_two_actions_share_a_key(presenter):
    keys = [key for action in presenter.actions_table for key in action.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("key", [K.Key_B, K.Key_Period])
def test_a_key_blackens_the_screen_and_brings_it_back(presenter, session, qtbot, key):
    press(presenter, qtbot, key)
    picture = presenter.grab().toImage()
    assert {picture.pixelColor(x, y).name() for x in range(0, 1280, 40) for y in range(0, 720, 40)} == {"#000000"}
    press(presenter, qtbot, K.Key_Right)
    assert session.cursor.step == 1
    press(presenter, qtbot, key)
    assert not presenter.black.isVisible()


def test_the_keys_are_shown_and_hidden_and_fit(presenter, qtbot):
    press(presenter, qtbot, K.Key_F1)
    assert presenter.keys.isVisible()
    assert presenter.rect().contains(presenter.keys.geometry())
    assert presenter.keys.size() == presenter.keys.sizeHint()
    press(presenter, qtbot, K.Key_F1)
    assert not presenter.keys.isVisible()


def test_escape_closes_the_keys_before_it_ends(presenter, qtbot):
    ended = []
    presenter.left.connect(lambda: ended.append(True))
    press(presenter, qtbot, K.Key_F1, K.Key_Escape)
    assert not presenter.keys.isVisible() and not ended
    press(presenter, qtbot, K.Key_Escape)
    assert ended


def test_the_lesson_the_warp_the_type_and_the_language_have_their_keys(presenter, session, qtbot, monkeypatch):
    ctrl, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    press(presenter, qtbot, K.Key_W)
    assert session.frozen_warp.on
    press(presenter, qtbot, K.Key_W)
    assert not session.frozen_warp.on
    before = presenter.sentence.font().pixelSize()
    qtbot.keyClick(presenter, K.Key_Equal, ctrl | alt)
    assert presenter.sentence.font().pixelSize() > before and session.preferences.type_scale == 1
    qtbot.keyClick(presenter, K.Key_0, ctrl | alt)
    assert presenter.sentence.font().pixelSize() == before
    spoken = []
    monkeypatch.setattr(session.preferences, "speak", spoken.append)
    for key in (K.Key_1, K.Key_2, K.Key_3):
        qtbot.keyClick(presenter, key, ctrl | alt)
    assert spoken == ["en", "ko", "es"]
    press(presenter, qtbot, K.Key_D)
    assert presenter.note.isVisible() and "in the window" in presenter.note.text()
    assert presenter.rect().contains(presenter.note.geometry())
    press(presenter, qtbot, K.Key_Right)
    assert not presenter.note.isVisible()
    qtbot.keyClick(presenter, K.Key_L, ctrl)
    assert session.tour.lesson is not None
    qtbot.keyClick(presenter, K.Key_L, ctrl)
    assert session.tour.lesson is None


def test_a_library_is_presented_with_the_possible_actions(presenter, session, qtbot):
    session.choice.choose_kernel(find("openblas", session.choice.kernels))
    session.cursor.show(None)
    presenter.grab()  # a font of no size would be a warning, and an error here
    _, text = presenter.stage._empty_text()
    assert "no source" in text and "Measure this" not in text
    press(presenter, qtbot, K.Key_P)
    assert "no source" in presenter.predict.text.text()
    press(presenter, qtbot, K.Key_P, K.Key_W)
    assert "no source" in presenter.note.text() and presenter.note.isVisible()


# The texts for the audience


def test_the_executing_line_is_between_its_neighbours():
    text = "int f()\n{\n        a;\n\n        for (;;)\n            b;\n}\n"
    assert around(text, 5) == [(3, "a;"), (5, "for (;;)"), (6, "    b;")]
    assert around(text, 1) == [(1, "int f()"), (2, "{")]
    assert around(text, 0) == []


def test_the_line_and_the_caption_follow_the_step(presenter, session):
    session.cursor.seek(2)
    said = presenter.sentence.text()
    assert [number for number, _ in presenter.source.lines()][1] == session.cursor.line
    session.cursor.seek(session.cursor.steps - 1)
    assert presenter.sentence.text() != said
    assert session.cursor.line in [number for number, _ in presenter.source.lines()]


def test_another_recording_of_the_same_text_is_followed(presenter, session, playable):
    session.cursor.seek(session.cursor.steps - 1)
    last = presenter.source.lines()
    session.cursor.show(Playable(playable.recording, playable.timeline, playable.traffic).prepare())
    assert presenter.source.lines() != last
    assert session.cursor.line in [number for number, _ in presenter.source.lines()]


def test_a_window_that_is_built_during_a_question_shows_no_floating_panel(session, qtbot):
    session.predict.toggle()
    panel = PredictPanel(session)
    qtbot.addWidget(panel)
    assert not panel.isVisible()


@pytest.mark.parametrize("size", SCREENS)
def test_type_is_readable_from_the_back_row(presenter, session, qtbot, size):
    session.preferences.set_type_scale(1.5)  # of the teacher's screen
    presenter.resize(*size)
    QApplication.processEvents()
    height = size[1]
    session.own_stops.add(OwnStop(3, "Look here. " * 30))
    session.tour.show_own(0)
    QApplication.processEvents()
    assert presenter.sentence.font().pixelSize() >= height / 36
    assert presenter.title.font().pixelSize() >= height / 36
    labels = presenter.stage._font().pixelSize()
    assert height / LABEL <= labels <= height / LABEL + 2


@pytest.mark.parametrize("size", SCREENS)
def test_nothing_is_cut_with_a_question_open_and_revealed(presenter, session, qtbot, size):
    presenter.resize(*size)
    session.cursor.seek(1)
    session.predict.toggle()
    for _ in range(6):
        session.predict.answer(0)
        qtbot.waitUntil(lambda: assert_whole(presenter, size))
        session.predict.reveal()
        qtbot.waitUntil(lambda: assert_whole(presenter, size))
        session.predict.reveal()


def assert_whole(presenter, size):
    assert (presenter.width(), presenter.height()) == size
    panel = presenter.predict
    for label in (panel.text, panel.code, panel.why, presenter.title):
        assert label.height() >= label.heightForWidth(label.width()), (label.text(), presenter.size())
    for button in panel.answers:
        assert button.height() >= button.sizeHint().height() and button.width() >= button.sizeHint().width()
    words = presenter.words
    assert words.height() >= words.heightForWidth(words.width())


def test_a_question_does_not_show_its_answer_before_it_is_revealed(presenter, session, qtbot):
    presenter.resize(1800, 720)  # room for the source below the reason
    session.cursor.seek(1)
    press(presenter, qtbot, K.Key_P)
    asked = session.predict.question
    assert presenter.predict.isVisible() and not presenter.sentence.isVisible()
    assert not presenter.source.isVisible()
    assert session.cursor.step < asked.step
    shown = [button.text() for button in presenter.predict.answers]
    assert not [text for text in shown if "✓" in text or "✗" in text]
    assert asked.why not in presenter.predict.why.text()
    press(presenter, qtbot, [K.Key_1, K.Key_2, K.Key_3, K.Key_4][(asked.right + 1) % 4])
    press(presenter, qtbot, K.Key_Return)
    marks = [button.text()[0] for button in presenter.predict.answers]
    assert (marks[asked.right], marks[(asked.right + 1) % 4]) == ("✓", "✗")
    assert presenter.place.text() == "0 of 1 right"
    assert presenter.source.isVisible()
    press(presenter, qtbot, K.Key_P)
    assert presenter.sentence.isVisible() and not presenter.predict.isVisible()


def test_an_answer_is_chosen_with_the_mouse(presenter, session, qtbot):
    session.predict.toggle()
    qtbot.mouseClick(presenter.predict.answers[2], Qt.MouseButton.LeftButton)
    assert session.predict.chosen == 2


@pytest.mark.parametrize("name", list(THEMES))
def test_every_text_has_a_contrast_of_seven_to_one(presenter, session, qtbot, name):
    if session.preferences.theme != name:
        qtbot.keyClick(presenter, K.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert session.preferences.theme == name
    shown = presenter.stage.colours
    for sheet in (presenter.styleSheet(), presenter.predict.styleSheet(), presenter.keys.styleSheet()):
        texts = re.findall(r"[^-]color: (#\w{6})", sheet)
        grounds = {*re.findall(r"background: (#\w{6})", sheet), shown.background}
        assert texts
        assert min(contrast(rgb(t), rgb(g)) for t in texts for g in grounds) >= LEAST_CONTRAST
    for text in (shown.text, shown.muted, shown.accent):  # the painted colours: labels, source lines, marks
        assert min(contrast(rgb(text), rgb(g)) for g in (shown.background, shown.raised)) >= LEAST_CONTRAST
    assert presenter.source.theme is presenter.progress.theme is shown


def test_the_kernels_title_is_beside_the_stage_and_not_also_on_it(presenter, session):
    title = session.choice.kernel.title
    assert presenter.title.text() == title
    painter = presenter.stage._painter_now()
    assert painter is not None and title not in (painter.title or painter.playable.recording.label)


def test_a_lens_stands_beside_the_picture_and_leaves_its_matrices_their_size(presenter, session, qtbot):
    """On the stage it took the place of the shared tiles, and moved A, B and C together to cells without values."""
    presenter.resize(1280, 800)
    session.lens.show(None)
    QApplication.processEvents()
    without = presenter.stage.panels()[2].cell
    assert not presenter.lens.isVisible()
    session.lens.show("reuse")
    QApplication.processEvents()
    assert presenter.lens.isVisible() and presenter.lens.height() > presenter.height() / 4
    assert presenter.stage.panels()[2].cell > 0.85 * without
    picture = presenter.lens.grab().toImage()
    ground = picture.pixel(0, 0)
    assert any(picture.pixel(x, picture.height() // 3) != ground for x in range(0, picture.width(), 2))
    session.predict.toggle()  # the lens could show the answer
    assert not presenter.lens.isVisible()


def test_the_foot_has_the_step_and_the_keys_that_a_teacher_needs(presenter, session, qtbot):
    assert presenter.place.text() == f"Step 1 of {session.cursor.steps}"
    hints = presenter.hints.text().replace("\N{NO-BREAK SPACE}", " ")
    assert all(said in hints for said in ("B black", "P predict", "F1 keys", "Esc end"))
    assert "Step" not in presenter.sentence.text() and "line" not in presenter.sentence.text()


def test_the_keys_of_a_class_stand_first(presenter):
    presenter.show_keys()
    text = presenter.keys.text()
    at = [text.index(heading) for heading in ("In class", "Look", "Play")]
    assert at == sorted(at) and text.index("Page Down") < at[1] < text.index("Larger type") < at[2]
