"""The note on an outdated picture stays within its box, however long the kernel's name is."""

from pixels import pixel, pixels
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from recordings import small_tiled

from gemmviz.app import new_session
from gemmviz.session import Message
from gemmviz.ui.stage.blank import blank_text, outdated_text, within
from gemmviz.ui.stage.caption import BETWEEN


def test_a_long_name_is_shortened_and_the_size_stays(qapp) -> None:
    metrics, box = QFontMetricsF(QFont()), QRectF(0, 0, 240, 40)
    assert within("still showing gpumult0 at 8 × 8 × 8", box, metrics) == "still showing gpumult0 at 8 × 8 × 8"
    shown = within(f"still showing {'hgemm_mma_stages_' * 8}<16, 8> at 8 × 8 × 9", box, metrics)
    needed = metrics.boundingRect(box, int(Qt.TextFlag.TextWordWrap), shown)
    assert needed.width() <= box.width() and needed.height() <= box.height()
    assert shown.startswith("still") and shown.endswith("8 × 9")


def test_how_far_a_recording_is_can_be_read_beside_a_long_name(qapp) -> None:
    """One line had both, and of both only the ends: `Still matmul_kernel<16, ... 7.0 s…`."""
    metrics, name = QFontMetricsF(QFont()), "matmul_kernel<16, 16, 128, 128, 16, 8, 8>"
    second = "Recording 1.4 × 10⁸ accesses…"
    box = QRectF(0, 0, metrics.horizontalAdvance(second) + 4 * metrics.averageCharWidth(), 2.2 * metrics.height())
    first, shown = within(f"Still showing {name} at 256 × 256 × 256{BETWEEN}{second}", box, metrics).split("\n")
    assert shown == second and first.startswith("Still") and first.endswith("256")


def test_a_note_in_two_lines_has_its_size_in_the_second_and_no_dot_between(qapp) -> None:
    metrics, text = QFontMetricsF(QFont()), f"Showing the last version that compiled{BETWEEN}8 × 8 × 8"
    wide, high = metrics.horizontalAdvance(text), metrics.height()
    assert within(text, QRectF(0, 0, wide + 9, 2.2 * high), metrics) == text
    assert within(text, QRectF(0, 0, 0.9 * wide, 2.2 * high), metrics) == text.replace(BETWEEN, "\n")


def test_the_note_covers_all_words_that_name_the_recording(window) -> None:
    """Beside it, the end of the line about the recording was seen below the lesson's button."""
    session, stage = window.session, window.stage
    session.choice.auto = False
    session.choice.draft(session.choice.text + "\n")
    stage.repaint()
    assert session.staged.outdated
    place = stage.title_place()
    picture = pixels(stage.grab().toImage())
    row = picture[place.bottom() - 3, place.left() : place.right()]
    right = place.width() - round(stage._taken[1])
    assert stage._taken[1] > 60 and set(row[right + 3 :].tolist()) == {pixel(stage.theme.background)}


def test_a_message_leaves_no_parts_of_letters_at_its_sides(window, qtbot) -> None:
    window.resize(1280, 800)
    window.session.messages.tell(Message("A message.", "warning", lasting=True))
    qtbot.waitUntil(window.message_bar.isVisible)
    assert window.message_bar.width() >= window.message_bar.parentWidget().width() - 12
    window.session.messages.tell(None)


def test_a_message_covers_no_text_beside_the_bars_of_a_wide_window(window, qtbot) -> None:
    """It covered the beginning of "not measured yet"."""
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: window.strip.width() == 1920)
    window.session.messages.tell(Message("A message.", "warning", lasting=True))
    qtbot.waitUntil(window.message_bar.isVisible)
    bar, strip = window.message_bar, window.strip

    def place(widget):
        return QRect(widget.mapTo(window, QPoint()), widget.size())

    qtbot.waitUntil(lambda: place(bar).left() == place(strip.bars).left())
    beside = (strip.heading, strip.below, strip.headline, strip.detail, strip.tag, strip.note, strip.button)
    assert [one for one in beside if one.isVisible() and place(one).intersects(place(bar))] == []
    assert place(strip.bars).width() == place(bar).width() and place(bar).top() >= place(strip).top()
    window.session.messages.tell(None)


def test_a_long_message_leaves_the_timeline_free_and_can_be_read_whole(window, qtbot) -> None:
    """Four lines of it covered the timeline of a small window."""
    window.resize(1280, 800)
    bar, session = window.message_bar, window.session
    session.messages.tell(Message("Its launch was guessed, and no other one is right. " * 12, "warning", lasting=True))
    qtbot.waitUntil(bar.more.isVisible)

    def top() -> int:
        return bar.mapTo(window, bar.rect().topLeft()).y()

    below = window.transport.mapTo(window, window.transport.rect().bottomLeft()).y()
    assert top() > below and bar.text.height() % bar.text.fontMetrics().lineSpacing() == 0
    assert bar.more.text() == "More"
    qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: top() < below)
    assert bar.text.height() >= bar.text.heightForWidth(bar.text.width()) and bar.more.text() == "Less"
    qtbot.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: top() > below)
    session.messages.tell(Message("Short.", "warning", lasting=True))
    qtbot.waitUntil(lambda: not bar.more.isVisible())
    session.messages.tell(None)


def test_an_empty_stage_says_that_its_recording_was_cancelled() -> None:
    session = new_session()
    session.cursor.failure = session.choice.text, "cancelled"
    assert blank_text(session.staged, session.permission, False) == (
        "The recording of gputiled was cancelled",
        "To record it again, press Record (Ctrl+R).",
    )
    assert "Record (Ctrl+R) there" in blank_text(session.staged, session.permission, True)[1]  # for an audience
    session.progress.set("record", ("Compiling", None))
    assert blank_text(session.staged, session.permission, False) == ("Recording gputiled…", "Compiling")
    session.progress.set("record", ("Recording gputiled", None))  # not the title once more
    assert blank_text(session.staged, session.permission, False) == ("Recording gputiled…", "")
    session.progress.set("record", None)
    session.choice.draft(session.choice.text + "\n")
    assert blank_text(session.staged, session.permission, False)[0] == "Nothing recorded yet"


def test_only_a_kernel_that_a_compiler_refused_is_called_one_that_does_not_compile() -> None:
    """So was one with too many barriers to record."""
    session = new_session()
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "gpumult0"))
    session.cursor.show(small_tiled())
    notes = {"compile": "does not compile", "refused": "could not be recorded", "crash": "could not be recorded"}
    for kind, note in notes.items():
        session.cursor.fail(session.choice.text, kind)
        assert outdated_text(session.staged).startswith(f"This kernel {note}: still showing gputiled<4>")
        session.cursor.playable, shown = None, session.cursor.playable
        assert blank_text(session.staged, None, False)[0].endswith(note)
        session.cursor.playable = shown
