"""The texts of a stage that is empty, or shows another recording than the chosen one; the frame of the focus."""

from math import ceil

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from gemmviz.language import mark, tr
from gemmviz.session.models.permission import Permission
from gemmviz.session.rules.staged import Staged
from gemmviz.ui.known import known
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.caption import BETWEEN


def frame(painter: QPainter, rect: QRect, theme: Theme) -> None:
    """Draw the frame of a stage that the keyboard is at."""
    painter.setPen(QColor(theme.text))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(0, 0, -1, -1))


def blank_text(staged: Staged, permission: Permission | None, presented: bool) -> tuple[str, str]:
    """Return the reason for an empty stage, and the way on.

    Parameters
    ----------
    staged
        The state of the stage.
    permission
        Whether the chosen text may run; None: not shown here.
    presented
        Whether an audience sees it, without the window's buttons.
    """
    kernel = staged.choice.kernel
    if not kernel.recordable:
        title = tr("{kernel}: a library call", kernel=tr(kernel.title))
        if presented:
            return title, tr(
                "There is no source to record, so there is nothing to play. It is the reference that the other "
                "kernels are measured against."
            )
        return title, tr(
            "There is no source to record, so there is nothing to play. It is the reference that the other "
            "kernels are measured against: press “Measure…” below, or choose a kernel with a source."
        )
    if permission is not None and permission.held:
        # In the window the question lies over it: an audience does not see that.
        return tr("{file} is shown, not run", file=staged.choice.base.path.name), tr(
            "This text is not allowed to run. Esc leads back to the window, and Ctrl+Shift+O there asks again."
        )
    progress = staged.progress["record"]
    if progress is not None:
        # The first words of the recorder only repeat the title.
        repeated = progress[0] == tr("Recording {kernel}", kernel=kernel.alias)
        return tr("Recording {kernel}…", kernel=kernel.alias), "" if repeated else progress[0]
    if staged.cursor.failure == (staged.choice.text, "cancelled"):
        return (
            tr("The recording of {kernel} was cancelled", kernel=kernel.alias),
            tr("Esc leads back to the window: press Record (Ctrl+R) there.")
            if presented
            else tr("To record it again, press Record (Ctrl+R)."),
        )
    if presented:
        return tr("Nothing recorded yet"), tr("Esc leads back to the window: choose a kernel there, and record it.")
    if staged.cursor.in_doubt:
        return tr("{kernel} could not be recorded", kernel=kernel.alias), tr(
            "Its launch was guessed: other launches are being tried…"
        )
    if _how_it_failed(staged):
        if _how_it_failed(staged) == "compile":
            return tr("{kernel} does not compile", kernel=kernel.alias), tr(
                "Correct the text, then press Record (Ctrl+R)."
            )
        return tr("{kernel} could not be recorded", kernel=kernel.alias), tr(
            "Correct the text or choose another size, then press Record (Ctrl+R)."
        )
    return tr("Nothing recorded yet"), tr("Choose a kernel on the left, then press Record (Ctrl+R).")


def outdated_text(staged: Staged) -> str:
    """Return the note that the shown recording is of another text or size than the chosen one."""
    busy, shown = staged.progress["record"], known(staged.cursor.playable).recording
    size = f"{shown.m} × {shown.n} × {shown.k}"
    if shown.text != staged.choice.text and shown.kernel.partition("~")[0] == staged.choice.base.name:
        failed = _how_it_failed(staged)
        if failed == "compile":
            return tr("Showing the last version that compiled  ·  {size}", size=size)
        if failed:
            return tr("Showing the last version that compiled and ran  ·  {size}", size=size)
        text = tr("Still showing {kernel} at {size} of the text before", kernel=shown.label, size=size)
    elif shown.text != staged.choice.text and (failed := _how_it_failed(staged)):
        template = mark("This kernel could not be recorded: still showing {kernel} at {size}")
        if failed == "compile":
            template = mark("This kernel does not compile: still showing {kernel} at {size}")
        text = tr(template, kernel=shown.label, size=size)
    else:
        text = tr("Still showing {kernel} at {size}", kernel=shown.label, size=size)
    return text + (f"{BETWEEN}{busy[0]}…" if busy else "")


def _how_it_failed(staged: Staged) -> str:
    """Return "compile" or "run" when the edited text was tried and failed there; else empty."""
    choice, failure = staged.choice, staged.cursor.failure
    if staged.progress["record"] is not None:
        return ""
    if choice.fault is not None:
        return "compile"
    if failure is None or failure[0] != choice.text or failure[1] == "cancelled":
        return ""
    return "compile" if failure[1] == "compile" else "run"


def blank(painter: QPainter, rect: QRect, theme: Theme, title: str, text: str) -> None:
    """Paint an empty stage with a hint."""
    painter.fillRect(rect, QColor(theme.background))
    font = larger(painter.font(), 1.5)
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(theme.text))
    middle, height = rect.center().y(), ceil(QFontMetricsF(font).height() * 2)
    painter.drawText(
        QRect(rect.left() + 20, middle - height - 10, rect.width() - 40, height),
        Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom,
        title,
    )
    font = larger(font, 1 / 1.35)
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    painter.drawText(
        QRect(rect.left() + 40, middle, rect.width() - 80, rect.height() // 2),
        int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap),
        text,
    )


def outdated(painter: QPainter, place: QRectF, taken: float, theme: Theme, text: str) -> None:
    """Paint the note that the picture is of another text or size than the chosen one.

    Parameters
    ----------
    painter, theme
        Where to, and the colours.
    place
        Of the words that name the recording: they are painted over, as the note says the same.
    taken
        Width of something else at the right of it, in pixels.
    text
        The note.
    """
    painter.fillRect(place, QColor(theme.background))
    box = place.adjusted(0, 0, -taken, 0)
    painter.fillRect(box, QColor(theme.raised))
    painter.setPen(QColor(theme.text))
    painter.drawRect(box)
    text = within(text, box, QFontMetricsF(painter.font()))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), text)


def within(text: str, box: QRectF, metrics: QFontMetricsF) -> str:
    """Return a text that fits into a box: in lines, or where that is cut, with each part shortened in its middle.

    The name of a template with its arguments is one long word, which no line breaks.
    """
    for way in (text, text.replace(BETWEEN, "\n")):
        needed = metrics.boundingRect(box, int(Qt.TextFlag.TextWordWrap), way)
        in_one = BETWEEN not in way or needed.height() < 1.5 * metrics.height()
        if in_one and needed.width() <= box.width() and needed.height() <= box.height():
            return way
    parts = text.split(BETWEEN)
    if len(parts) * metrics.height() > box.height():
        parts = [text]
    room = box.width() - 2 * metrics.averageCharWidth()
    return "\n".join(metrics.elidedText(part, Qt.TextElideMode.ElideMiddle, room) for part in parts)
