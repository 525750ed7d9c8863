# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The findings of the checker beside the source. A kernel with a defect is measured only on request."""

import re

import pytest
from window_driving import RECORDING_MS, edit_as_typed, need_qt, open_trusted, wait_recorded

need_qt()

from PySide6.QtCore import Qt

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
BENCH_MS = 120_000


def rows(window):
    panel = window.source_side.findings.list
    return [panel.item(n).text() for n in range(panel.count())]


def heading(window):
    """Return the line below the source, which has the text of the panel's heading."""
    found, panel = window.source_side.found, window.source_side.findings
    assert panel.heading.text() in found.text() and found.accessibleName() == f"Findings: {panel.heading.text()}"
    return found.accessibleName()


def sign(window):
    return window.source_side.found.text()[0]


def break_it(window, qtbot):
    """Remove the second barrier of the chosen kernel from its text."""
    session = window.session
    between = session.choice.text.split("__syncthreads();")[1]
    edit_as_typed(session, session.choice.text.replace(f"{between}__syncthreads();", between, 1))
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: session.findings.text == session.choice.kernel.text)


def check_sizes(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_R, CTRL | SHIFT)
    assert window.session.findings.checking
    qtbot.waitUntil(lambda: window.session.findings.checked, timeout=RECORDING_MS)


def open_file(window, folder, old, new, name="mine.cu"):
    text, values = window.session.choice.kernel.text, "TS = [16, 8, 32]"
    assert old in text and values in text
    # Each value that is offered would be checked.
    (folder / name).write_text(text.replace(old, new).replace(values, "TS = [4]"))
    open_trusted(window, folder / name)


def test_a_clean_recording_is_reported_with_the_key_of_further_checks(window, qtbot):
    window.session.choice.choose_kernel(next(k for k in window.session.choice.kernels if k.name == "hostmult1"))
    wait_recorded(window, qtbot)
    assert heading(window) == "Findings: Correct" and sign(window) == "✓" and rows(window) == []
    state = window.source_side.findings.state.text()
    assert state == "No defect found in this recording. Check at other sizes: Ctrl+Shift+R."


def test_costs_are_listed_with_their_lines_and_are_no_defects(window):
    assert heading(window).startswith("Findings: Correct; ")
    lines = [site.line for site in window.session.findings.here.costs]
    assert lines and [row.split(":")[0] for row in rows(window)] == [f"! line {line}" for line in lines]
    assert all(re.search(r" moves [\d.]+ sectors where [\d.]+ would do", row) for row in rows(window))
    marks = window.source.marks[lines[0]]
    assert marks[0].kind == "cost" and "uncoalesced" in marks[0].text


def test_a_race_is_listed_marked_and_jumped_to(window, qtbot):
    break_it(window, qtbot)
    panel, source = window.source_side.findings, window.source
    assert "2 defects" in heading(window) and sign(window) == "✗"
    race = rows(window)[0]
    line = int(race.split("line ")[1].split(":")[0])
    assert race.startswith(f"✗ line {line}: race: ") and race.endswith("is missing between them; 64 elements")
    assert any(mark.kind == "error" and mark.text.startswith("race") for mark in source.marks[line])
    assert race.partition(": ")[2].startswith(source.marks[line][0].text)
    window.session.cursor.seek(window.session.cursor.steps - 1)
    qtbot.mouseClick(window.source_side.found, Qt.MouseButton.LeftButton)
    assert panel.list.isVisible() and not source.isVisible()
    qtbot.mouseClick(
        panel.list.viewport(), Qt.MouseButton.LeftButton, pos=panel.list.visualItemRect(panel.list.item(0)).center()
    )
    assert source.textCursor().blockNumber() + 1 == line == window.session.cursor.line
    assert source.isVisible(), "the line is to be seen"


def test_findings_are_reached_and_chosen_by_keys(window, qtbot):
    break_it(window, qtbot)
    qtbot.keyClick(window, Qt.Key.Key_4, CTRL)
    panel = window.source_side.findings.list
    assert panel.hasFocus()
    qtbot.keyClick(panel, Qt.Key.Key_Down)
    qtbot.keyClick(panel, Qt.Key.Key_Return)
    line = int(rows(window)[1].split("line ")[1].split(":")[0])
    assert window.source.textCursor().blockNumber() + 1 == line
    assert window.source.hasFocus(), "keys go on where the line is"


def test_other_sizes_are_checked_and_a_common_finding_is_shown_once(window, qtbot):
    break_it(window, qtbot)
    before = len(rows(window))
    check_sizes(window, qtbot)
    assert len([row for row in rows(window) if "race" in row]) == 2
    assert "; also with gputiled<16>" in rows(window)[0]
    assert len(rows(window)) >= before and window.session.progress["record"] is None


def test_a_defect_that_shows_at_other_sizes_only_is_found_there(window, qtbot):
    text = window.session.choice.text.replace("t + tx < Ax ? A", "true ? A", 1)
    assert text != window.session.choice.text
    edit_as_typed(window.session, text)
    wait_recorded(window, qtbot)
    assert heading(window).startswith("Findings: Correct")
    check_sizes(window, qtbot)
    first = rows(window)[0]
    assert first.startswith("✗") and "; with gputiled<" in first


def test_an_edit_removes_the_findings_of_the_old_text(window, qtbot):
    break_it(window, qtbot)
    window.session.choice.revert()
    assert "not been recorded" in window.source_side.findings.state.text() and rows(window) == []
    assert heading(window) == "Findings: Not checked yet" and sign(window) == "–"
    wait_recorded(window, qtbot)
    assert heading(window).startswith("Findings: Correct")


def test_a_cancelled_check_is_reported(window, qtbot):
    window.controller.checks.check_sizes()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.session.findings.checking, timeout=RECORDING_MS)
    assert "cancelled" in window.source_side.findings.state.text()
    assert window.session.progress["record"] is None


# Before measuring


def quick(window):
    window.session.choice.protocol = {"timeout_s": 1.0}
    window.measuring.size_row.boxes["M"].setValue(64)


def wait_measured(window, qtbot):
    qtbot.waitUntil(lambda: window.session.progress["bench"] is not None, timeout=RECORDING_MS)
    qtbot.waitUntil(lambda: window.session.progress["bench"] is None, timeout=BENCH_MS)


@pytest.fixture
def loop(window, qtbot):
    """The window with a loop of the CPU, which can be measured everywhere."""
    window.session.choice.choose_kernel(next(k for k in window.session.choice.kernels if k.name == "hostmult1"))
    wait_recorded(window, qtbot)
    quick(window)
    return window


def test_an_edited_kernel_that_is_clean_is_measured_after_a_check(loop, qtbot):
    session = loop.session
    edit_as_typed(session, session.choice.text + "// the same\n")
    wait_recorded(loop, qtbot)
    qtbot.mouseClick(loop.measuring.this, Qt.MouseButton.LeftButton)
    assert session.progress["bench"] is None and "Checking" in session.progress["record"][0]
    wait_measured(loop, qtbot)
    assert session.results.rows["hostmult1~edited"]["status"] == "ok"
    assert "hostmult1" not in session.results.rows
    names = [kernel.name for kernel in session.results.charted]
    assert names[names.index("hostmult1") + 1] == "hostmult1~edited"
    loop.measuring.measure_this.emit()
    assert session.progress["bench"] is not None  # it was found clean before
    loop.controller.engines.cancel()
    session.choice.revert()


def test_a_kernel_with_a_defect_is_measured_only_on_request(loop, qtbot):
    session = loop.session
    text = session.choice.text.replace("k < ", "k + 1 < ", 1)
    assert text != session.choice.text
    edit_as_typed(session, text)
    wait_recorded(loop, qtbot)
    qtbot.mouseClick(loop.measuring.this, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: session.messages.current is not None and "not measured" in session.messages.current.text,
        timeout=RECORDING_MS,
    )
    assert "wrong result" in session.messages.current.text and session.progress["bench"] is None
    anyway = loop.message_bar.answers[0]
    assert anyway.isVisible() and anyway.text() == "Run anyway"
    qtbot.mouseClick(anyway, Qt.MouseButton.LeftButton)
    wait_measured(loop, qtbot)
    assert session.results.rows["hostmult1~edited"]["status"] == "wrong"
    qtbot.waitUntil(lambda: session.messages.current is not None)
    assert "has no GFLOPS. wrong: " in session.messages.current.text
    session.choice.revert()


def test_measuring_all_leaves_out_an_opened_file_with_a_defect(window, qtbot, tmp_path):
    open_file(window, tmp_path, "sum += As", "sum -= As")
    wait_recorded(window, qtbot)
    asked = []
    window.controller.measuring.measure = lambda entries, problems=None: asked.append([e["path"] for e in entries])
    window.controller.measuring.measure_all()
    qtbot.waitUntil(lambda: bool(asked), timeout=RECORDING_MS)
    assert len(asked[0]) == len(window.session.choice.kernels) - 1
    assert not [path for path in asked[0] if path.endswith("mine.cu")]
    assert "mine.cu is not measured: " in window.message_bar.text.text()
    qtbot.mouseClick(window.message_bar.answers[0], Qt.MouseButton.LeftButton)
    assert [path.endswith("mine.cu") for path in asked[1]] == [True]


def test_a_broken_rung_is_labelled_marked_and_restored(window, qtbot):
    session = window.session
    change = session.choice.base.breaks[0]
    session.choice.break_it((change.id,))
    assert session.choice.kernel.name == f"gputiled~{change.id}" and session.choice.title.startswith(
        "30_gputiled.cu, changed: "
    )
    changed = [n for n, marks in window.source.marks.items() if any(m.kind == "changed" for m in marks)]
    before, after = session.choice.base.text.splitlines(), window.source.toPlainText().splitlines()
    assert changed == [n for n, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    assert not session.choice.all_unsaved()
    wait_recorded(window, qtbot)
    qtbot.keyClick(window, Qt.Key.Key_F6)
    assert not session.choice.variant and window.source.toPlainText() == session.choice.base.text
    wait_recorded(window, qtbot)
