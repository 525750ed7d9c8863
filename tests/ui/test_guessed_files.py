# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Files without front matter in the window: their launch is guessed, shown, corrected and saved."""

import re

import pytest
from window_driving import (
    RECORDING_MS,
    bare,
    check_guess,
    edit_as_typed,
    need_qt,
    open_trusted,
    wait_guessed,
    wait_shown,
)

need_qt()

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from gemmviz.ui.look.figure_text import shown_name
from gemmviz.ui.source.bare_files import _is_text_with_comments
from gemmviz.ui.source.describe_form import DescribeForm

pytestmark = pytest.mark.new_window  # nearly all of these tests change what cannot be put back


def test_a_file_whose_launch_is_guessed_without_doubt_opens_at_once(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    code = path.read_text()
    open_trusted(window, path)
    assert window.session.choice.base.name == "bare" and not window.findChildren(DescribeForm)
    # Its title would only repeat the file's name, so its row in the list names the function.
    assert window.ladder.rows.title("bare") == window.session.choice.base.entry.partition("<")[0] == "gputiled"
    described = window.source.toPlainText()
    assert described.startswith(f"{code}// ---gemmviz") and path.read_text() == code
    wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.wrong == 0
    message = window.message_bar.text.text()
    assert "guessed" in message and "below the text" in message
    # The user has edited nothing: closing the window asks nothing.
    assert window.source_heading.whole == "bare.cu" and window.session.choice.all_unsaved() == []
    # And saving writes nothing that the user has not typed.
    assert window.files.saving.save() and path.read_text() == code


def test_an_edit_of_a_guessed_file_is_saved_without_the_guess_unless_asked(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    open_trusted(window, path)
    described = window.source.toPlainText().replace("float sum = 0;", "float sum = 0.0f;")
    code = path.read_text().replace("float sum = 0;", "float sum = 0.0f;")
    edit_as_typed(window.session, described)
    assert window.files.saving.save() and path.read_text() == code
    assert "was not written" in window.message_bar.text.text() and window.source_heading.whole == "bare.cu"
    wait_guessed(window)
    window.files._on_file_changed(path)  # nobody else has written: nothing is read again
    assert window.source.toPlainText() == described and not window.files.bare.pending
    assert window.session.guesses.file(window.session.choice.base) is not None
    press(window, "Write it too")
    assert path.read_text() == described and "has front matter now" in window.message_bar.text.text()
    assert window.session.guesses.file(window.session.choice.base) is None
    press(window, "Undo")
    assert path.read_text() == code and window.source.toPlainText() == described
    assert window.session.choice.all_unsaved() == []


def test_a_launch_that_follows_an_edit_is_guessed_again_when_it_is_saved(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    path.write_text(
        path.read_text().replace("template<int TS>", "#define TS 8").replace("template <int TS>", "#define TS 8")
    )
    open_trusted(window, path)
    before = window.session.choice.base
    edit_as_typed(window.session, window.source.toPlainText().replace("#define TS 8", "#define TS 4", 1))
    assert window.files.saving.save() and "#define TS 4" in path.read_text()
    wait_guessed(window)
    after = window.session.choice.base
    assert before.block != after.block and window.session.guesses.file(after) is not None
    assert "was not written" in window.message_bar.text.text() and window.session.choice.all_unsaved() == []


def test_front_matter_that_was_changed_by_hand_is_saved_and_can_be_taken_out_again(window, tmp_path):
    path = bare(window, tmp_path)
    code = path.read_text()
    open_trusted(window, path)
    changed = window.source.toPlainText().replace("// ---gemmviz\n", '// ---gemmviz\n// idea = "Mine"\n', 1)
    edit_as_typed(window.session, changed)
    assert window.files.saving.save() and path.read_text() == changed
    press(window, "Undo")
    assert path.read_text() == code and window.source.toPlainText() == changed
    assert window.source_heading.whole == "bare.cu, edited" and "as it was" in window.message_bar.text.text()


def test_broken_front_matter_that_was_saved_is_named_and_can_be_taken_out_again(window, tmp_path):
    path = bare(window, tmp_path)
    code = path.read_text()
    open_trusted(window, path)
    changed = window.source.toPlainText().replace("// ---gemmviz\n", "// ---gemmviz\n// idea = [\n", 1)
    edit_as_typed(window.session, changed)
    assert window.files.saving.save() and path.read_text() == changed
    text = window.session.messages.current.text
    assert text.startswith("Saved bare.cu. Its new front matter has a fault:")
    press(window, "Undo")
    assert path.read_text() == code and window.source.toPlainText() == changed
    assert window.source_heading.whole == "bare.cu, edited"


def test_of_several_files_those_that_cannot_be_opened_are_named_with_the_last_guess(window, tmp_path):
    path, gone = bare(window, tmp_path), tmp_path / "gone.cu"
    window.files.open_all([path, gone, tmp_path])
    wait_guessed(window)
    text = window.session.messages.current.text
    assert "2 files were not opened" in text and f"no file {gone}" in text and "is a folder" in text
    assert "bare.cu has no front matter" in text and window.session.choice.base.name == "bare"
    window.files.open_all([gone, tmp_path])
    assert "2 files were not opened" in window.session.messages.current.text


def press(window, title):
    """Give an answer of the message."""
    next(answer for answer in window.session.messages.current.answers if answer.title == title).act()


def test_lines_have_the_numbers_of_the_file_on_disk(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    lines = path.read_text().splitlines()
    number = lines.index("    float sum = 0;") + 1
    open_trusted(window, path)
    wait_shown(window, qtbot)
    assert window.source.toPlainText().splitlines()[: len(lines)] == lines
    cursor = window.session.cursor
    stored = next(n for n, line in enumerate(lines, 1) if "] = sum;" in line)
    assert stored in {cursor.playable.line(step) for step in range(cursor.steps)}
    path.write_text(path.read_text().replace("float sum = 0;", "float sum = 0"))
    window.files._on_file_changed(path)
    qtbot.waitUntil(lambda: window.session.cursor.failure is not None, timeout=RECORDING_MS)
    assert f"bare.cu:{number}" in window.session.messages.current.text


def test_the_first_lines_of_a_guessed_file_are_in_view(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    path.write_text(path.read_text() + "\n// a remark" * 200)
    window.show()
    open_trusted(window, path)
    begin = path.read_text().count("\n") + 2
    assert (
        window.source.toPlainText().splitlines()[begin - 1] == "// ---gemmviz" and begin in window.source.folding.folded
    )
    assert window.source.firstVisibleBlock().blockNumber() == 0
    assert window.source.verticalScrollBar().maximum() > 0


def test_a_kernel_that_does_not_compile_is_not_called_one_to_be_recorded(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    path.write_text(path.read_text().replace("float sum = 0;", "float sum = 0"))
    window.session.cursor.show(None)
    open_trusted(window, path)
    qtbot.waitUntil(lambda: window.session.cursor.failure is not None, timeout=RECORDING_MS)
    assert window.session.cursor.playable is None
    assert window.stage._empty_text() == ("bare does not compile", "Correct the text, then press Record (Ctrl+R).")
    window.session.choice.choose_kernel(window.session.choice.kernels[0])
    assert "compile" not in window.stage._empty_text()[0]


def test_a_guessed_file_is_guessed_again_when_it_changes(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    open_trusted(window, path)
    wait_shown(window, qtbot)
    path.write_text(path.read_text().replace("float sum = 0;", "float sum = 0.f;"))
    window.files._on_file_changed(path)
    wait_guessed(window)
    assert "float sum = 0.f;" in window.source.toPlainText()
    assert window.session.choice.kernel.name == "bare"


def test_an_edit_during_the_guess_is_kept_and_there_is_a_question(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    open_trusted(window, path)
    path.write_text(path.read_text().replace("float sum = 0;", "float sum = 0.f;"))
    window.files._on_file_changed(path)
    mine = window.session.choice.text + "// mine\n"
    edit_as_typed(window.session, mine)
    wait_guessed(window)
    assert window.session.choice.text == mine
    assert window.session.messages.current.asks and "edits here that are not saved" in window.message_bar.text.text()
    window.message_bar.answer(0)  # reload
    wait_guessed(window)
    assert "0.f" in window.session.choice.text and "// mine" not in window.session.choice.text


def test_a_file_that_changes_twice_during_the_guess_asks_nothing(window, tmp_path):
    path = bare(window, tmp_path)
    open_trusted(window, path)
    for old, new in (("sum = 0;", "sum = 0.f;"), ("sum = 0.f;", "sum = 0.0f;")):
        path.write_text(path.read_text().replace(old, new))
        window.files._on_file_changed(path)
    wait_guessed(window)
    assert "0.0f" in window.session.choice.text
    message = window.session.messages.current
    assert message is None or not message.asks


def test_a_cancelled_guess_opens_nothing(window, tmp_path):
    window.open_file(bare(window, tmp_path))
    window.files.bare._say_reading()
    assert window.message_bar.text.text() == "Reading bare.cu"
    window.message_bar.answer(0)
    QTest.qWait(1500)
    assert window.session.choice.base.name != "bare" and window.session.messages.current is None


def test_a_corrected_guess_is_an_edit_and_saving_writes_it(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    code = path.read_text()
    open_trusted(window, path)
    form = check_guess(window)
    qtbot.waitUntil(form.is_right, timeout=RECORDING_MS)
    described = form.accepted_text()
    form.accept()
    assert window.source.toPlainText() == described != code
    assert window.source_heading.whole == "bare.cu, edited" and path.read_text() == code
    # The form has tried it where M, N and K differ.
    assert window.session.guesses.is_confirmed(window.session.choice.kernel)
    assert window.files.saving.save() and path.read_text() == described
    assert window.source_heading.whole == "bare.cu"


def test_a_version_says_that_it_was_guessed_before_the_next_one_is_asked_for(window, tmp_path):
    path, texts = bare(window, tmp_path), []
    window.files.open_version(path, False, then=lambda: texts.append(window.session.messages.current.text))
    wait_guessed(window)
    assert texts and texts[0].startswith("bare.cu has no front matter")
    assert window.session.versions.before.kernel.name == "bare"


def test_closing_the_window_closes_the_form_too(window, tmp_path):
    path = tmp_path / "bare.cu"
    path.write_text("__global__ void f(float *c, const float *a, const float *b, int n) { c[0] = n; }")
    window.open_file(path)
    wait_guessed(window)
    form = window.findChild(DescribeForm)
    assert form.isVisible()
    window.close()
    assert not form.isVisible()


def test_a_permission_holds_for_a_text_only_if_comments_alone_stand_beside_it():
    code = "int f(void) { return 1; }\n"
    assert _is_text_with_comments(f"// ---gemmviz\n// ---\n{code}", code)
    assert _is_text_with_comments(f"{code}// ---gemmviz\n// ---\n", code)
    assert not _is_text_with_comments(f"{code}// ---\nint g;\n", code)
    assert not _is_text_with_comments(f"// a {code}", code)
    assert not _is_text_with_comments(f"#if 0\n{code}", code)
    assert not _is_text_with_comments(f"// ---\n{code}int g;\n", code)


def test_another_kernel_of_the_file_can_be_chosen_later(window, qtbot, tmp_path):
    """The form had described the first one, and a message said that its launch is no guess."""
    one = (
        "__global__ void one(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        "    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (row >= M || col >= N)\n        return;\n    float sum = 0;\n"
        "    for (int k = 0; k < K; k++)\n        sum += A[row * K + k] * B[k * N + col];\n"
        "    C[row * N + col] = sum;\n}\n"
    )
    path = tmp_path / "both.cu"
    path.write_text(one + one.replace("void one", "void other"))
    entries = []
    for wanted in ("other", "one"):
        if not entries:
            window.open_file(path)
        else:
            window.files.bare.check()
        wait_guessed(window)
        form = next(form for form in window.findChildren(DescribeForm) if form.isVisible())
        assert form.findChildren(QLabel)[0].text() == "Kernel to call, of 2"
        form.entry.setCurrentText(wanted)
        qtbot.waitUntil(form.ok.isEnabled, timeout=RECORDING_MS)
        form.accept()
        entries.append(window.session.choice.base.entry)
    assert entries == ["other", "one"]
    edit_as_typed(window.session, window.session.choice.text + "// mine\n")
    window.files.bare.check()
    assert "is not a guess" in window.message_bar.text.text()


def test_the_form_can_be_opened_as_long_as_the_launch_is_a_guess(window, tmp_path):
    window.files.bare.check()
    assert "is not a guess" in window.message_bar.text.text() and not window.findChildren(DescribeForm)
    open_trusted(window, bare(window, tmp_path))
    window.message_bar.dismiss()
    window.files.bare.check()
    form = window.findChild(DescribeForm)
    assert form.isVisible()
    form.reject()
    edit_as_typed(window.session, window.session.choice.text + "// mine\n")
    window.files.bare.check()
    assert "is not a guess" in window.message_bar.text.text()


def test_two_files_with_one_name_are_both_on_the_list_with_their_folders(window, qtbot, tmp_path):
    """`matmul.cu` of a second folder could only take the place of the first one."""
    first = bare(window, tmp_path)
    second = tmp_path / "other" / first.name
    second.parent.mkdir()
    second.write_text(first.read_text().replace("float sum = 0;", "float sum = 0.0f;"))
    open_trusted(window, first)
    wait_shown(window, qtbot)
    open_trusted(window, second)
    wait_shown(window, qtbot)
    session = window.session
    mine = [kernel for kernel in session.choice.kernels if not session.choice.is_shipped_file(kernel)]
    assert [kernel.name for kernel in mine] == ["bare", "bare (other)"]
    assert [shown_name(kernel, session) for kernel in mine] == [f"bare ({tmp_path.name})", "bare (other)"]
    assert [window.ladder.rows.title(kernel.name) for kernel in mine] == ["gputiled", "gputiled"]
    assert window.source_heading.whole == "other/bare.cu" and "0.0f" in window.source.toPlainText()
    # The recording is of the second one, for the list and for the stage.
    assert session.cursor.playable.recording.kernel == session.choice.kernel.name == "bare (other)"
    # Edits are of the right file, and are saved there.
    edit_as_typed(session, session.choice.text.replace("0.0f", "0.00f"))
    assert session.choice.kernel.base_name == "bare (other)"
    assert window.files.saving.save() and "0.00f" in second.read_text() and "0.0f" not in first.read_text()
    wait_guessed(window)
    # Each is opened again in its own place.
    count = len(session.choice.kernels)
    for path, name in ((first, "bare"), (second, "bare (other)")):
        window.open_file(path)
        wait_guessed(window)
        assert session.choice.base.name == name and len(session.choice.kernels) == count
    second.write_text(second.read_text().replace("0.00f", "0.f"))
    window.files._on_file_changed(session.choice.base.path)
    wait_guessed(window)
    assert "0.f" in window.source.toPlainText()
    # A duel records each of them.
    wait_shown(window, qtbot)
    session.side_by_side.start_named("bare")
    qtbot.waitUntil(lambda: session.comparison.match is not None, timeout=RECORDING_MS)
    both = [one.cursor.playable.recording.kernel for one in (session, session.second)]
    assert both == ["bare (other)", "bare"]


def test_files_in_folders_with_one_name_have_the_folder_above_too(window, tmp_path):
    """The names of both were those of the same folder, and nobody could tell them apart."""
    session = window.session
    text = re.sub(r"// alias +=.*\n", "", session.choice.text)
    for above in ("one", "two"):
        path = tmp_path / above / "src" / "mine.cu"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        window.open_file(path)
    mine = [kernel for kernel in session.choice.kernels if kernel.path.name == "mine.cu"]
    assert [kernel.name for kernel in mine] == ["mine", "mine (src)"]
    assert [shown_name(kernel, session) for kernel in mine] == ["mine (one-src)", "mine (src)"]


def test_a_file_with_the_name_of_a_shipped_kernel_can_be_opened(window, tmp_path):
    """A student who copies a kernel into a folder had to rename it."""
    path = tmp_path / "gputiled.cu"
    path.write_text(window.session.choice.text)
    open_trusted(window, path)
    assert window.session.choice.base.name == f"gputiled ({tmp_path.name})"


_DOT_OF_ROWS = """
#define N 64
__global__ void product(const float *A, const float *B, float *C)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[INDEX];
    C[row * N + col] = sum;
}
void host(float *A, float *B, float *C) { product<<<dim3(N / 8, N / 8), dim3(8, 8)>>>(A, B, C); }
"""


@pytest.mark.parametrize(("index", "by_columns"), [("col * N + k", True), ("k * N + col", False)])
def test_a_guess_that_takes_b_to_be_stored_by_columns_says_so(window, tmp_path, index, by_columns):
    """The index may be the mistake that the user looks for: only the front matter said which B makes C right."""
    path = tmp_path / "product.cu"
    path.write_text(_DOT_OF_ROWS.replace("INDEX", index))
    open_trusted(window, path)
    assert window.session.choice.base.column_major == ({"B"} if by_columns else set())
    first, *rest = window.session.messages.current.text.splitlines()
    if by_columns:
        assert first.startswith("The kernel reads B as a matrix that is stored by columns.")
        assert window.message_bar.text.text().startswith(first)
    assert (rest[0] if by_columns else first).startswith("product.cu has no front matter")
