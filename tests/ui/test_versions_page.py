# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""The page of two versions: files are chosen, asked about, compared, and played on the stage."""

import pytest
from window_driving import edit_as_typed, need_qt, wait_recorded

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from gemmviz.catalogue.ladder import find
from gemmviz.language.numbers import THIN

pytestmark = pytest.mark.new_window  # nearly all of these tests change what cannot be put back

MATTER = """// ---gemmviz
// title = "Mine"
// entry = "mine"
// args  = ["A", "B", "C", "M", "N", "K"]
// ---
"""
FIRST = """void mine(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            C[i * N + j] = 0;
            for (int k = 0; k < K; k++)
                C[i * N + j] = C[i * N + j] + A[i * K + k] * B[k * N + j];
        }
}
"""
SECOND = FIRST.replace("j < N;", "j < N - 1;")


@pytest.fixture
def files(tmp_path):
    made = []
    for name, text in (("first.c", FIRST), ("second.c", SECOND)):
        (tmp_path / name).write_text(MATTER + text)
        made.append(tmp_path / name)
    return made


def compared(window, qtbot):
    versions = window.session.versions
    qtbot.waitUntil(lambda: not versions.busy and (versions.result is not None or bool(versions.fault)))
    assert versions.result is not None, versions.fault


def rows(table):
    """Return the rows below the headings of a tree, cell by cell."""
    tops = [table.topLevelItem(at) for at in range(table.topLevelItemCount())]
    children = [top.child(at) for top in tops for at in range(top.childCount())]
    return [[item.text(column) for column in range(table.columnCount())] for item in children]


def test_two_files_are_compared_after_the_question_and_played_on_the_stage(window, qtbot, files):
    window.pages.turn_to("versions")
    page, chosen = window.versions, window.session.choice.kernel
    assert not page.compare.isEnabled() and "Choose both" in page.message.text()
    for at, path in enumerate(files):
        window.files.open_version(path, bool(at))
    assert [page.before.currentText(), page.after.currentText()] == ["first.c", "second.c"]
    page.extent.setValue(6)
    page.compare.click()
    assert page.question.isVisible() and "first.c, second.c" in page.asked.text() and page.look.hasFocus()
    page.look.click()
    assert not page.question.isVisible() and not window.session.versions.busy
    page.compare.click()
    page.run.click()
    compared(window, qtbot)
    assert window.session.choice.kernel is chosen, "the stage is left as it was"
    assert "first.c and second.c at 6 x 6 x 6" in page.message.text()
    table = {row[0]: row[1:] for row in rows(page.table)}
    assert table["* C"][0] == "right" and table["* C"][1].startswith("WRONG in")
    accesses = table["* accesses"]
    assert int(accesses[0].replace(THIN, "")) > int(accesses[1].replace(THIN, ""))
    texts = [row[0] for row in rows(page.changes)]
    assert texts[0].startswith("+ new: second.c:") and "element of C never written" in texts[0]
    line = window.session.versions.result.changes[0].after.line
    page.changed_only.setChecked(False)
    assert len(rows(page.table)) > len(table)

    page.changes.setCurrentItem(page.changes.topLevelItem(0).child(0))
    page.changes.setFocus()
    QTest.keyClick(page.changes, Qt.Key.Key_Return)
    assert window.pages.name() == "stage"
    wait_recorded(window, qtbot)
    session = window.session
    assert session.choice.kernel.path == files[1] and session.choice.problem.m == 6
    assert session.cursor.line == line
    window.pages.turn_to("versions")
    page.show_before.click()
    wait_recorded(window, qtbot)
    assert session.choice.kernel.path == files[0]


def test_an_edit_is_compared_with_the_text_as_it_was_opened(window, qtbot):
    session = window.session
    QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert "nothing to compare" in session.messages.current.text and window.pages.name() == "stage"
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    edit_as_typed(session, session.choice.text.replace("for (", "for  (", 1))
    session.messages.tell(None)
    QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert session.messages.current is None, session.messages.current
    assert window.pages.name() == "versions"
    compared(window, qtbot)
    page = window.versions
    assert page.before.currentText().endswith("as opened") and page.after.currentText().endswith("edited")
    assert not page.show_before.isEnabled() and page.show_after.isEnabled(), "an edit is never dropped"
    assert rows(page.table) == [], "a space changes nothing"


def test_the_menu_asks_for_both_files_and_compares_them(window, qtbot, files, monkeypatch):
    window.session.permission.trust.allow_folder(files[0].parent)
    answers = iter([(str(path), "") for path in files])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: next(answers))
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    assert window.pages.name() == "versions"
    compared(window, qtbot)
    assert window.session.versions.result.worse


def test_the_users_own_kernel_is_proposed_as_the_version_before(window, files):
    window.pages.turn_to("versions")
    versions = window.session.versions
    assert versions.before is None  # a kernel that gemmviz brings has no version of the user's
    window.pages.turn_to("stage")
    window.open_file(files[0])
    window.pages.turn_to("versions")
    assert (versions.before.name, versions.after) == ("first.c", None)
    assert window.versions.before.currentText() == "first.c"


def test_a_comparison_is_stopped_by_its_button_and_by_escape(window, qtbot, files):
    window.session.permission.trust.allow_folder(files[0].parent)
    window.pages.turn_to("versions")
    for at, path in enumerate(files):
        window.files.open_version(path, bool(at))
    page, versions = window.versions, window.session.versions
    page.compare.click()
    assert versions.busy and page.bar.isVisible() and page.stop.isEnabled()
    page.stop.click()
    assert not versions.busy and not page.bar.isVisible()
    page.compare.click()
    window.controller.engines.cancel()
    assert versions.fault == "The comparison was cancelled." and page.message.text() == versions.fault
    page.compare.click()
    compared(window, qtbot)


def test_the_kernels_of_the_list_are_offered_and_keys_move_through_the_rows(window, qtbot):
    window.pages.turn_to("versions")
    page, session = window.versions, window.session
    for chooser, name in ((page.before, "hostmult0"), (page.after, "hostmult1")):
        chooser.setCurrentIndex(chooser.findText(name))
        chooser.activated.emit(chooser.currentIndex())
    assert [side.kernel.name for side in session.versions.sides] == ["hostmult0", "hostmult1"]
    page.extent.setValue(4)
    page.compare.click()
    compared(window, qtbot)
    step = session.cursor.step
    page.table.setFocus()
    page.table.setCurrentItem(page.table.topLevelItem(0))
    QTest.keyClick(page.table, Qt.Key.Key_Down)
    assert page.table.currentItem() is page.table.topLevelItem(0).child(0) and session.cursor.step == step
    spoken = page.table.currentItem().data(0, Qt.ItemDataRole.AccessibleTextRole)
    assert "before" in spoken and "differs" in spoken
