# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The demo of a rung in the real window: by its key, by its button, and the findings that small blocks cause."""

from window_driving import RECORDING_MS, need_qt, wait_recorded

need_qt()

from PySide6.QtCore import Qt

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.session.tour.lessons import locate

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def wait_shown(window, qtbot):
    """Wait until the demo's recording is there, and the stage stands at its step."""
    session = window.session

    def there():
        assert not session.staged.outdated and not session.demonstration.waiting
        demo = session.choice.base.demo
        assert session.choice.params == session.choice.base.defaults | demo.params
        assert session.cursor.step == locate(demo, session.cursor.playable).step

    qtbot.waitUntil(lambda: there() is None, timeout=RECORDING_MS)


def test_a_key_shows_the_demo_with_a_tile_on_its_way(window, qtbot):
    session = window.session
    session.choice.choose(problem=Problem.cube(16), params={"TS": 8})
    wait_recorded(window, qtbot)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window.stage, Qt.Key.Key_L, CTRL | SHIFT)
    wait_shown(window, qtbot)
    assert (session.choice.problem, session.choice.params) == (Problem.cube(8), {"TS": 4})
    assert (session.cursor.block, session.cursor.cell) == (0, None)
    assert round(session.cursor.fraction, 6) == session.choice.base.demo.stop["fraction"]
    assert window.inspector.panel == "source"
    assert window.stage.moment().idea.startswith("A block copies one tile of A and one of B into shared memory")
    assert not session.playback.playing


def test_a_button_shows_the_demo_of_the_chosen_rung(window, qtbot):
    session, button = window.session, window.tour_bar.demo_button
    session.choice.choose_kernel(find("mm", session.choice.kernels))
    wait_recorded(window, qtbot)
    assert (session.choice.problem, session.cursor.step) == (Problem.cube(4), 0)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    wait_shown(window, qtbot)
    assert (session.cursor.block, session.inspection.thread, session.cursor.cell) == (1, 2, (2, 1 * 4 + 2))
    assert not button.isChecked()
    session.choice.choose_kernel(find("cublas", session.choice.kernels))
    assert not button.isEnabled()


def test_the_demo_ends_a_lesson(window, qtbot):
    session = window.session
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None, timeout=RECORDING_MS)
    session.demonstration.show()
    wait_shown(window, qtbot)
    assert session.tour.lesson is None and session.choice.problem == Problem.cube(8)


def test_a_demo_that_does_not_compile_shows_the_reason(window, qtbot):
    session = window.session
    session.choice.choose_kernel(find("mm_optimizado_printed", session.choice.kernels))
    qtbot.waitUntil(lambda: "type specifier" in session.messages.current.text, timeout=RECORDING_MS)
    assert "The demo cannot be shown" not in session.messages.current.text
    qtbot.mouseClick(window.tour_bar.demo_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "The demo cannot be shown: " in session.messages.current.text, timeout=RECORDING_MS)
    assert not session.demonstration.waiting


def findings(window):
    shown = window.source_side.findings.list
    return [shown.item(row).text() for row in range(shown.count())]


def test_findings_say_when_only_small_blocks_cause_them(window, qtbot):
    session = window.session
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: len(findings(window)) == 3, timeout=RECORDING_MS)
    assert all(text.endswith("only because blocks are 4 wide here") for text in findings(window))
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    wait_recorded(window, qtbot)
    qtbot.waitUntil(
        lambda: session.findings.text == session.choice.kernel.text and not findings(window), timeout=RECORDING_MS
    )
    session.choice.choose_kernel(find("matmul_kernel_naive", session.choice.kernels))
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: len(findings(window)) == 2, timeout=RECORDING_MS)
    assert not [text for text in findings(window) if "only because" in text]
