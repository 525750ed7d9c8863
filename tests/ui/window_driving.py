"""What the tests of the window share: waiting, clicking, reading."""

import pytest

RECORDING_MS = 60_000


def need_qt():
    """Skip the file that calls this, with the reason, where Qt or pytest-qt cannot be imported."""
    for module in ("PySide6.QtWidgets", "pytestqt"):
        pytest.importorskip(
            module, reason=f"{module} cannot be imported: python -m pip install 'gemmviz[test]'", exc_type=ImportError
        )


def open_trusted(window, path):
    """Open a file of somebody who trusts its folder: every file in it may run without a question."""
    window.session.trust.allow_folder(path.parent)
    window.open_file(path)


def edit_as_typed(session, text):
    """Change the chosen kernel's text, as what somebody types in the editor does."""
    session.trust.typed(session.base.path, session.text, text)
    session.edit(text)


def wait_recorded(window, qtbot):
    """Wait until what is chosen is on the stage."""
    session = window.session

    def there():
        assert session.progress["record"] is None
        assert session.playable is not None, session.message
        recording = session.playable.recording
        assert recording.sha256 == session.kernel.sha256, session.message
        assert recording.params == session.params
        assert recording.as_written == session.as_written
        assert (recording.m, recording.n, recording.k) == (session.problem.m, session.problem.n, session.problem.k)
        assert session.playable.timeline.order_by == session.order

    qtbot.waitUntil(there, timeout=RECORDING_MS)
