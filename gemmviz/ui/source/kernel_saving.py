"""Saves kernels: the shown text, without front matter that was guessed and that the user has not asked to write."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from gemmviz.catalogue import kernel as kernels
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.matter_table import is_described
from gemmviz.catalogue.user_file import UnreadableFile, read_source, real, write_source
from gemmviz.language import mark, tr
from gemmviz.session import Answer, Message, Session
from gemmviz.ui.source.bare_files import BareFiles

PATTERN = mark("Kernels (*.cu *.c)")
_MINE = "_mine"


class KernelSaving:
    """Writes the shown text to files.

    Parameters
    ----------
    window
        The parent of the dialog.
    session
        The session with the kernels.
    bare
        Knows the files whose launch was guessed.
    """

    def __init__(self, window: QWidget, session: Session, bare: BareFiles) -> None:
        self._window, self._session, self._bare = window, session, bare

    def save(self) -> bool:
        """Write the shown text to its file; a rung that gemmviz brings is never written: it gets a name instead."""
        choice = self._session.choice
        if choice.is_shipped_file(choice.base) or choice.breaks:
            return self.save_as()
        return self._write(choice.base.path, choice.text)

    def save_as(self) -> bool:
        """Write the shown text to a file that the user chooses, and put that on the ladder."""
        choice = self._session.choice
        path = choice.base.path
        if not choice.kernel.recordable:
            self._session.messages.tell(Message(tr("A library call has no source to save."), "info"))
            return False
        proposed = path.with_stem(path.stem + _MINE).name if choice.is_shipped_file(choice.base) else str(path)
        chosen, _ = QFileDialog.getSaveFileName(self._window, tr("Save the kernel as"), proposed, tr(PATTERN))
        if not chosen:
            return False
        target = Path(chosen)
        target = real(target if target.suffix else target.with_suffix(path.suffix))
        return self._write(target, choice.text)

    def _write(self, path: Path, text: str) -> bool:
        session, before, old = self._session, self._session.choice.base, _on_disk(path)
        code = session.guesses.code(before, text)
        written = text if code is None else code
        try:
            if any(k.path == path and session.choice.is_shipped_file(k) for k in session.choice.kernels):
                raise GemmvizError(tr("that is a kernel that gemmviz brings: choose another name"))
            kernel, fault = _parsed(text, path)
            self._put_on_disk(before.path, path, text, written)
        except GemmvizError as error:
            self._say_not_saved(path, error)
            return False
        if kernel is None:
            # Unfinished work is saved as it is; the message about its fault stays, or has the way back.
            if path == before.path:
                session.choice.set_on_file(before, text)
                if old is not None and is_described(text) and not is_described(old):
                    self._say_with_matter(before, lambda: self._take_out(before, old), fault)
            return True
        file = session.guesses.file(before)
        if path != before.path and not session.choice.breaks:
            session.choice.drop_edits(before)
        kernel = session.choice.named(kernel)
        session.choice.add_kernel(kernel)
        if code is not None:
            self._bare.saved(kernel, file, code, lambda kernel: self._say_without_guess(kernel, code))
        elif old is not None and not is_described(old):
            self._say_with_matter(kernel, lambda: self._take_out(kernel, old))
        else:
            session.messages.tell(Message(tr("Saved {file}.", file=path), "info", lasting=False))
        return True

    def _put_on_disk(self, allowed: Path, path: Path, text: str, written: str) -> None:
        """Write a file; if its text may run here, under the path `allowed`, it may when it is opened again, too."""
        trust = self._session.permission.trust
        mine = trust.allows(allowed, text)
        write_source(path, written)
        if not mine or not trust.allows(path, text):  # not with other headers in that folder
            return
        try:
            trust.allow(path, written)
        except GemmvizError as error:
            self._session.messages.tell(Message(str(error), "warning", lasting=True))
        trust.allow_here(path, text)

    # A file without front matter

    def _say_without_guess(self, kernel: Kernel, code: str) -> None:
        text = tr("Saved {file}. The guessed front matter below the text was not written.", file=kernel.path.name)
        answer = Answer(tr("Write it too"), lambda: self._write_guess(kernel, code))
        self._session.messages.tell(Message(text, "info", answers=(answer,), lasting=True))

    def _write_guess(self, kernel: Kernel, code: str) -> None:
        """Write a saved text with its guess, which is a guess no longer."""
        guesses = self._session.guesses
        file = guesses.file(kernel)

        def undo() -> None:
            self._put_on_disk(kernel.path, kernel.path, kernel.text, code)
            if file is not None:
                guesses.keep(kernel, file, code)

        def write() -> None:
            self._put_on_disk(kernel.path, kernel.path, kernel.text, kernel.text)
            guesses.forget(kernel)
            self._say_with_matter(kernel, undo)

        self._try(kernel.path, write)

    def _take_out(self, kernel: Kernel, old: str) -> None:
        """Write the text that a file had before; the saved text stays on the screen as an edit."""
        write_source(kernel.path, old)
        self._session.choice.set_on_file(kernel, old)

    def _say_with_matter(self, kernel: Kernel, undo: Callable[[], None], fault: str = "") -> None:
        """Say that a file has front matter now, with its fault if it has one, and offer to undo that."""

        def undone() -> None:
            undo()
            text = tr("{file} is as it was, without front matter.", file=kernel.path.name)
            self._session.messages.tell(Message(text, "info", lasting=False))

        text = tr("Saved {file}. It has front matter now.", file=kernel.path.name)
        if fault:
            text = tr("Saved {file}. Its new front matter has a fault: {fault}", file=kernel.path.name, fault=fault)
        answer = Answer(tr("Undo"), lambda: self._try(kernel.path, undone))
        tone = "warning" if fault else "info"
        self._session.messages.tell(Message(text, tone, answers=(answer,), lasting=True))

    def _try(self, path: Path, act: Callable[[], None]) -> None:
        try:
            act()
        except GemmvizError as error:
            self._say_not_saved(path, error)

    def _say_not_saved(self, path: Path, error: GemmvizError) -> None:
        message = tr("Cannot save {file}: {reason}", file=path.name, reason=error)
        self._session.messages.tell(Message(message, lasting=True))


def _parsed(text: str, path: Path) -> tuple[Kernel | None, str]:
    """Return the kernel of a text, or None with the fault of its front matter."""
    try:
        return kernels.parse(text, path), ""
    except FrontMatterError as error:
        return None, str(error)


def _on_disk(path: Path) -> str | None:
    """Return the text of a file, or None if there is none."""
    try:
        return read_source(path)
    except (OSError, UnreadableFile):
        return None
