# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The form for a kernel without front matter, as a person fills it in."""

import multiprocessing
from dataclasses import replace
from pathlib import Path

from pixels import pixel, pixels
from window_driving import need_qt

need_qt()

import pytest
from PySide6.QtCore import Qt, QThread
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QWidget

from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.kernel import parse
from gemmviz.control.guess_reader import guess_file
from gemmviz.session.trust.trust import Trust
from gemmviz.ui.look.theme import DARK
from gemmviz.ui.source.describe_form import DescribeForm
from gemmviz.ui.source.describe_outcome import outcome

TEXT = """__global__ void helper(float *x, int n) { x[threadIdx.x] = n; }
template <int TS>
__global__ void mine(const float *left, const float *right, float *out, int rows, int cols, int inner)
{
    int r = blockIdx.y * TS + threadIdx.y, c = blockIdx.x * TS + threadIdx.x;
    if (r >= rows || c >= cols) return;
    float s = 0;
    for (int i = 0; i < inner; i++) s += left[r * inner + i] * right[i * cols + c];
    out[r * cols + c] = s;
}
"""
TWO = TEXT + TEXT[TEXT.index("template") :].replace("mine", "transposed").replace("inner + i]", "inner + i] * 1")
PATH = Path("mine.cu")


@pytest.fixture
def make_form(qtbot, tmp_path):
    forms = []

    def make(text=TEXT, path=None, **options):
        trust = Trust()
        path = path or tmp_path / PATH  # alone in its folder: the files around a kernel are read for the guess
        trust.allow(path, text)
        form = DescribeForm(guess_file(path, text), trust, **{"try_at_once": False} | options)
        forms.append(form)
        form.show()
        qtbot.waitExposed(form)
        return form

    yield make
    for form in forms:
        form.reject()
        form.deleteLater()


def test_ok_gives_the_file_with_front_matter_and_the_code_untouched(make_form, qtbot):
    form = make_form()
    assert "Valid. At 48 × 32 × 64: blocks 2 × 3, threads of each 16 × 16 = 256." in form.verdict.text()
    qtbot.keyClick(form, Qt.Key.Key_Return)
    assert form.result() == QDialog.DialogCode.Accepted
    text = form.accepted_text()
    assert text.endswith(TEXT)
    kernel = parse(text, PATH)
    assert (kernel.entry, kernel.args) == ("mine<TS>", ("A", "B", "C", "M", "N", "K"))


def test_a_mistake_is_reported_and_disables_ok_until_it_is_corrected(make_form, qtbot):
    form = make_form()
    form.grid.setFocus()
    form.grid.selectAll()
    qtbot.keyClicks(form.grid, "ceil(N / TZ), ceil(M / TS)")
    assert "names 'TZ'" in form.verdict.text()
    assert not form.ok.isEnabled() and not form.attempt.isEnabled()
    form.grid.selectAll()
    qtbot.keyClicks(form.grid, "ceil(min(N, N) / TS), ceil(M / TS)")
    assert form.ok.isEnabled()
    assert [e.text for e in parse(form.accepted_text(), PATH).grid] == ["ceil(min(N, N) / TS)", "ceil(M / TS)"]


def test_a_parameter_without_a_role_is_named(make_form):
    """The message was the front matter's: “args names '?'; known are A, B, C, …”, and in English only."""
    form = make_form(TEXT.replace("int inner)", "int inner, dim3 turned)"))
    assert form.verdict.text() == "✗ Choose what turned is, on the left, in place of “?”."
    assert not form.ok.isEnabled()
    next(b for b in form.findChildren(QComboBox) if b.currentText() == "?").setCurrentText("0")
    assert form.ok.isEnabled()


FLAG = TEXT.replace("int inner)", "int inner, bool negative)").replace("] = s;", "] = negative ? -s : s;")


def test_a_flag_whose_value_is_not_known_is_found_by_a_trial(make_form, qtbot):
    """The form asked for a choice, and offered matrices and tensor maps for it; its trial was disabled."""
    form = make_form(FLAG)
    assert "negative" in form.verdict.text() and "F5" in form.verdict.text() and not form.ok.isEnabled()
    qtbot.mouseClick(form.attempt, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "C is right at" in form.outcome.text(), timeout=60_000)
    assert '"0"]' in form.preview.toPlainText() and form.ok.isEnabled()


def test_a_number_is_offered_numbers_only(make_form):
    form = make_form(FLAG)
    boxes = {box.accessibleName(): box for box in form.findChildren(QComboBox)}
    for name in ("bool negative", "int rows"):
        offered = {boxes[name].itemText(i) for i in range(boxes[name].count())}
        assert {"0", "1", "M", "lda"} <= offered and not {"A", "A.map", "bias"} & offered
    assert boxes["float * left"].findText("A.map") >= 0
    boxes["bool negative"].setCurrentText("1")
    assert form.ok.isEnabled() and '"1"]' in form.preview.toPlainText()


def test_a_role_that_is_chosen_twice_is_reported(make_form, qtbot):
    form = make_form()
    box = next(b for b in form.findChildren(QComboBox) if b.currentText() == "B")
    box.setCurrentText("A")
    assert "lacks B" in form.verdict.text()
    assert '"A", "A", "C"' in form.preview.toPlainText()


def test_parameters_and_layout_reach_the_front_matter(make_form, qtbot):
    form = make_form()
    line = next(x for x in form.findChildren(QLineEdit) if x.accessibleName() == "TS")
    line.selectAll()
    qtbot.keyClicks(line, "8, 4")
    qtbot.keyClick(form.columns["B"], Qt.Key.Key_Space)
    kernel = parse(form.accepted_text(), PATH)
    assert kernel.params == {"TS": (8, 4)}
    assert kernel.column_major == {"B"}


def test_another_function_of_the_file_gets_a_new_guess(make_form, qtbot):
    form = make_form(TWO)
    assert {form.entry.itemText(i) for i in range(form.entry.count())} == {"mine", "transposed"}
    form.entry.setCurrentText("transposed")
    assert parse(form.accepted_text(), PATH).entry == "transposed<TS>"


def test_a_file_without_a_kernel_is_reported(make_form):
    form = make_form("int main() { return 0; }")
    assert "no function marked __global__" in form.verdict.text()
    assert not form.ok.isEnabled()


def test_every_field_is_reached_with_the_tab_key_in_the_order_of_the_form(make_form, qtbot):
    form = make_form()
    form.activateWindow()
    form.entry.setFocus()
    seen, widget = [], form.entry
    for _ in range(40):
        seen.append(widget)
        widget = widget.nextInFocusChain()
        while not (widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled()):
            widget = widget.nextInFocusChain()
        if widget is form.entry:
            break
    fields = [w for w in seen if isinstance(w, QComboBox | QLineEdit)]
    places = [w.mapTo(form, w.rect().topLeft()).y() for w in fields]
    assert len(fields) == 1 + 6 + 1 + 4 + 3
    assert places == sorted(places)
    assert {form.attempt, form.ok, form.preview} <= set(seen)


def test_the_reason_of_a_guess_is_a_tooltip(make_form):
    form = make_form()
    tips = [box.toolTip() for box in form.findChildren(QComboBox)]
    assert "out is the only matrix that is written" in tips
    assert "blockIdx.y chooses rows of C" in form.grid.toolTip()


def test_all_rows_of_a_wrapped_new_line_are_tinted(make_form, qtbot):
    """Only its first row was tinted, as if the others were the file's own."""
    preview = make_form().preview
    preview.show_text(f"// title\n// {'M % 16 == 0, ' * 40}\ncode")
    preview.tint(2, None, DARK)
    qtbot.wait(20)
    document = preview.document()
    assert document.findBlockByNumber(1).layout().lineCount() > 1
    picture, raised = pixels(preview.viewport().grab().toImage()), pixel(DARK.raised)
    long = preview.blockBoundingGeometry(document.findBlockByNumber(1)).translated(preview.contentOffset())
    right = picture[:, preview.viewport().width() - 4].tolist()  # beyond the texts
    assert set(right[int(long.top()) + 2 : int(long.bottom()) - 2]) == {raised}
    assert raised not in right[int(long.bottom()) + 2 : int(long.bottom()) + 10]


def test_nothing_is_cut_off_in_a_window_for_1280_by_800(make_form):
    form = make_form()
    assert form.width() <= 1280 and form.height() <= 760
    for widget in form.findChildren(QWidget):
        if isinstance(widget, QComboBox) and widget.isVisible():
            assert widget.width() >= widget.minimumSizeHint().width()


def test_the_form_tries_its_guess_and_shows_the_result(make_form, qtbot):
    form = make_form(try_at_once=True)
    qtbot.waitUntil(lambda: "C is right at" in form.outcome.text(), timeout=60_000)
    assert "37 x 45 x 41" in form.outcome.text()
    # A guess that the user has changed is tried without alternatives.
    rows = next(b for b in form.findChildren(QComboBox) if b.currentText() == "A")
    others = next(b for b in form.findChildren(QComboBox) if b.currentText() == "B")
    rows.setCurrentText("B")
    others.setCurrentText("A")
    assert "Not tried yet" in form.outcome.text()
    qtbot.keyClick(form, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: form.outcome.text().startswith("✗"), timeout=60_000)
    assert '"B", "A", "C"' in form.preview.toPlainText()


def test_a_flaw_is_said_once(tmp_path):
    made = guess_file(tmp_path / PATH, TEXT).guess
    flaw = Flaw("not compiled", 7, "no comma")
    for settled, said in (
        ("it cannot be compiled: mine.cu:7: no comma", "✗ it cannot be compiled: mine.cu:7: no comma"),
        ("recorded: C is wrong", "✗ line 7: no comma; recorded: C is wrong"),
    ):
        tried = replace(made, settled=settled, flaws=(flaw,))
        assert outcome(tried, trying=False, may_run=True, theme=DARK) == (said, DARK.bad)


def test_closing_the_form_ends_its_trial_run(make_form, qtbot):
    form = make_form(try_at_once=True)
    form.reject()
    assert not [t for t in form.findChildren(QThread) if t.isRunning()]
    assert not multiprocessing.active_children()
