# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The texts of presenter mode: they follow the step, are large, whole, and have contrast."""

import re

import pytest
from presenting_driving import presenter_of, tiled_session
from recordings import small_tiled
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gemmviz.session.tour.stop import OwnStop
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.coalescing import CoalescingLens
from gemmviz.ui.look.style import style_sheet
from gemmviz.ui.look.theme import LIGHT, THEMES, contrast, rgb
from gemmviz.ui.present.presenter import LABEL, Presenter
from gemmviz.ui.present.source_lines import around

K = Qt.Key


@pytest.fixture
def session():
    return tiled_session()


@pytest.fixture
def presenter(session, qtbot):
    return presenter_of(session, qtbot)


SCREENS = ((1920, 1080), (1280, 720), (1024, 768), (900, 1200))
LEAST_CONTRAST = 7.0


def test_the_executing_line_is_between_its_neighbours():
    text = "int f()\n{\n        a;\n\n        for (;;)\n            b;\n}\n"
    assert around(text, 5) == [(3, "a;"), (5, "for (;;)"), (6, "    b;")]
    assert around(text, 1) == [(1, "int f()"), (2, "{")]
    assert around(text, 0) == []


def test_the_line_and_the_caption_follow_the_step(presenter, session):
    session.cursor.seek(2)
    text = presenter.sentence.text()
    assert [number for number, _ in presenter.source.lines()][1] == session.cursor.line
    session.cursor.seek(session.cursor.steps - 1)
    assert presenter.sentence.text() != text
    assert session.cursor.line in [number for number, _ in presenter.source.lines()]


def test_another_recording_of_the_same_text_is_followed(presenter, session):
    playable = small_tiled()
    session.cursor.seek(session.cursor.steps - 1)
    last = presenter.source.lines()
    session.cursor.show(Playable(playable.recording, playable.timeline, playable.traffic).prepare())
    assert presenter.source.lines() != last
    assert session.cursor.line in [number for number, _ in presenter.source.lines()]


@pytest.mark.sweep("size0", "size3")
@pytest.mark.parametrize("size", SCREENS)
def test_type_is_readable_from_the_back_row(presenter, session, qtbot, size):
    session.preferences.set_type_scale(1.5)  # of the teacher's screen
    presenter.resize(*size)
    QApplication.processEvents()
    height = size[1]
    session.own_stops.add(OwnStop(3, "Look here. " * 30))
    session.guide.show_own(0)
    QApplication.processEvents()
    assert presenter.sentence.font().pixelSize() >= height / 36
    assert presenter.title.font().pixelSize() >= height / 36
    labels = presenter.stage._font().pixelSize()
    assert height / LABEL <= labels <= height / LABEL + 2


@pytest.mark.sweep("size0", "size3")
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


@pytest.mark.parametrize("name", list(THEMES))
def test_every_text_has_a_contrast_of_seven_to_one(presenter, session, qtbot, name):
    if session.preferences.theme != name:
        qtbot.keyClick(presenter, K.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert session.preferences.theme == name
    presenter.show_keys()
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
    assert painter is not None and title not in (painter.title or painter.playable.recording.kernel)


def test_a_kernel_without_a_lens_has_the_products_of_a_thread_beside_it(presenter, session, monkeypatch):
    """More than half of the column beside the picture was empty."""
    presenter.resize(1280, 800)
    QApplication.processEvents()
    assert session.lens.name is None and session.lens.own() is None
    assert presenter.lens.isVisible() and presenter.lens.lens.name == "thread tile"
    assert presenter.source.isVisible()
    session.predict.toggle()
    assert not presenter.lens.isVisible() and presenter.lens.takes_room
    session.predict.toggle()
    assert presenter.lens.isVisible()
    monkeypatch.setattr(session.lens, "own", lambda: "reuse")  # the kernel's own lens was put away
    presenter.lens.appear()
    assert not presenter.lens.isVisible() and not presenter.lens.takes_room


def test_a_lens_stands_beside_the_picture_and_leaves_its_matrices_their_size(presenter, session, qtbot, monkeypatch):
    """On the stage it took the place of the shared tiles, and moved A, B and C together to cells without values."""
    presenter.resize(1280, 800)
    monkeypatch.setattr(session.lens, "own", lambda: "reuse")  # it was put away
    presenter.refresh()
    presenter.lens.appear()
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
    assert all(text in hints for text in ("B black", "P predict", "F1 keys", "Esc end"))
    presenter.hints.linkActivated.emit("present_black")
    assert presenter.black.isVisible()
    qtbot.mouseClick(presenter.black, Qt.MouseButton.LeftButton)
    assert not presenter.black.isVisible()
    presenter.hints.linkActivated.emit("present_predict")
    assert presenter.session.predict.on
    presenter.hints.linkActivated.emit("present_predict")
    assert not presenter.session.predict.on
    assert "Step" not in presenter.sentence.text() and "line" not in presenter.sentence.text()


def test_the_keys_of_a_class_stand_first(presenter):
    presenter.show_keys()
    text = presenter.keys.text()
    at = [text.index(heading) for heading in ("In class", "Look", "Play")]
    assert at == sorted(at) and text.index("Page Down") < at[1] < text.index("Larger type") < at[2]


def test_a_long_line_of_code_does_not_press_a_question_together(presenter, session, qtbot, monkeypatch):
    line = r'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(B + (bn + row) * K + k0 + at));'
    monkeypatch.setattr(presenter.predict, "_code", lambda: f"line 25:  {line}")
    session.predict.toggle()
    QApplication.processEvents()
    code = presenter.predict.code
    assert code.isVisible() and code.text().endswith("…") and len(code.text()) > 30
    assert code.height() <= 2.5 * code.fontMetrics().height()
    qtbot.waitUntil(lambda: assert_whole(presenter, (1280, 720)))


def test_a_lens_has_large_type_from_the_first_picture_on(qtbot, monkeypatch):
    """Until the next stop it had the type of the window: no last row could read that."""
    session, fonts = tiled_session(), []
    session.lens.show("coalescing")
    monkeypatch.setattr(
        CoalescingLens, "paint", lambda self, painter, rect, shown, theme, font: fonts.append(font.pixelSize())
    )
    qtbot.addWidget(presenter := Presenter(session))
    application, before = QApplication.instance(), QApplication.instance().styleSheet()
    application.setStyleSheet(style_sheet(LIGHT))
    presenter.resize(1920, 1080)
    presenter.show()
    qtbot.waitUntil(lambda: bool(fonts))
    application.setStyleSheet(before)
    assert set(fonts) == {24}
