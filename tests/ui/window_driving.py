"""Functions that the tests of the window share: waiting, clicking, reading."""

import pytest

RECORDING_MS = 240_000


def need_qt():
    """Skip the file that calls this, with the reason, where Qt or pytest-qt cannot be imported."""
    for module in ("PySide6.QtWidgets", "pytestqt"):
        pytest.importorskip(
            module, reason=f"{module} cannot be imported: python -m pip install 'gemmviz[test]'", exc_type=ImportError
        )


def open_trusted(window, path):
    """Open a file in a trusted folder: every file in it may run without a question."""
    window.session.permission.trust.allow_folder(path.parent)
    window.open_file(path)
    wait_guessed(window)


def wait_guessed(window):
    """Wait until each file that was opened is on the ladder, or its form is shown."""
    from PySide6.QtTest import QTest

    for _ in range(RECORDING_MS // 10):
        if not window.files.bare.pending:
            return
        QTest.qWait(10)
    raise AssertionError("the guess did not arrive")


def check_guess(window):
    """Open the form for a file whose launch was guessed, and return it."""
    from gemmviz.ui.source.describe_form import DescribeForm

    assert window.message_bar.answers[0].text() == "Check the guess…"
    window.message_bar.answer(0)
    return next(form for form in window.findChildren(DescribeForm) if form.isVisible())


def edit_as_typed(session, text):
    """Change the chosen kernel's text, like typing in the editor."""
    session.permission.trust.typed(session.choice.base.path, session.choice.text, text)
    session.choice.edit(text)


def wait_recorded(window, qtbot):
    """Wait until the chosen kernel is on the stage."""
    session = window.session

    def there():
        assert session.progress["record"] is None
        assert session.cursor.playable is not None, session.messages.current
        recording = session.cursor.playable.recording
        assert recording.sha256 == session.choice.kernel.sha256, session.messages.current
        assert recording.kernel == session.choice.kernel.name
        assert recording.params == session.choice.params
        assert recording.as_written == session.choice.as_written
        assert (recording.m, recording.n, recording.k) == (
            session.choice.problem.m,
            session.choice.problem.n,
            session.choice.problem.k,
        )
        assert session.cursor.playable.timeline.order_by == session.choice.order

    qtbot.waitUntil(there, timeout=RECORDING_MS)


def wait_shown(window, qtbot):
    """Wait until the picture belongs to the visible text."""
    session = window.session
    qtbot.waitUntil(lambda: not session.staged.outdated and session.progress["record"] is None, timeout=RECORDING_MS)


def put_cursor(editor, part, *, select=False):
    """Put the cursor before a part of the text, or select it."""
    cursor = editor.textCursor()
    at = editor.toPlainText().index(part)
    cursor.setPosition(at)
    if select:
        cursor.setPosition(at + len(part), cursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


def bare(window, tmp_path):
    """Write a file with the chosen kernel and without front matter."""
    text = window.session.choice.text
    path = tmp_path / "bare.cu"
    path.write_text(text[text.index("template") : text.index("// ---gemmviz breaks")])
    return path
