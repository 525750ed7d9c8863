"""Kernel files: opened, and read again when they change; no edit is lost without a question."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QWidget

from gemmviz.catalogue import kernel as kernels
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError, NoFrontMatter
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.source_files import CUDA
from gemmviz.catalogue.user_file import UnreadableFile, read_source, real, why_no_file
from gemmviz.language import mark, tr, trn
from gemmviz.session import Answer, Message, Session
from gemmviz.session.files import state_file
from gemmviz.session.models.two_versions import Side
from gemmviz.session.tour import lesson_file
from gemmviz.session.values.message import MOST_ANSWERS
from gemmviz.ui.connections import listen
from gemmviz.ui.source import pasted
from gemmviz.ui.source.bare_files import BareFiles
from gemmviz.ui.source.file_watch import FileWatch
from gemmviz.ui.source.kernel_saving import PATTERN, KernelSaving

_OPEN_PATTERN = mark("Kernels, lessons and states (*.cu *.c *.toml *.gemmviz)")
_Found = TypeVar("_Found")


class KernelFiles(QObject):
    """Opens and watches kernel files for a session.

    Parameters
    ----------
    window
        The parent of the dialogs.
    session
        The session with the kernels.
    """

    state_wanted = Signal(Path)
    """A state file is to be opened."""

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window = window
        self.session = session
        self._fault: Message | None = None
        self._faults: list[str] | None = None  # why files were not opened, while several are
        self.bare = BareFiles(window, session)
        self.saving = KernelSaving(window, session, self.bare)
        self.watch = FileWatch(self)
        self.watch.changed.connect(self._on_file_changed)
        self.watch.gone.connect(self._on_file_gone)
        listen(self, session.choice.kernels_changed, self._watch_all)
        self._watch_all()

    def close(self) -> None:
        """Stop watching, and close the open dialogs."""
        self.watch.stop()
        self.bare.close()
        for dialog in self._window.findChildren(QDialog):
            dialog.reject()

    # Open

    def ask_file(self) -> None:
        """Let the user choose a kernel file."""
        title = tr("Open a kernel, a lesson or a state")
        path, _ = QFileDialog.getOpenFileName(self._window, title, "", _with_headers(tr(_OPEN_PATTERN)))
        if path:
            self.open(Path(path))

    def paste(self) -> None:
        """Open the kernel whose text is on the clipboard, or the files there."""
        # None where the program that copied has ended.
        copied = QGuiApplication.clipboard().mimeData() or QMimeData()
        files = [Path(url.toLocalFile()) for url in copied.urls() if url.isLocalFile()]
        try:
            self.open_all(files or [pasted.keep(copied.text())])
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error), "info"))

    def open_all(self, paths: Sequence[Path]) -> None:
        """Open files, see `open`; of several, one message names all that could not be opened."""
        self._faults = [] if len(paths) > 1 else None
        for path in paths:
            self.open(path)
        faults, self._faults = self._faults, None
        if faults:
            text = trn(
                "Not opened: {reasons}",
                "{count} files were not opened. {reasons}",
                len(faults),
                reasons="; ".join(faults),
            )
            self.bare.say_too(text)

    def open(self, path: Path) -> None:
        """Put a kernel file on the ladder and choose it; for a file that is no kernel, a message gives the reason.

        A file without front matter is on the ladder when its launch is guessed: see `BareFiles`.
        """

        def start() -> None:
            full = real(path)
            if full.suffix == lesson_file.SUFFIX:
                self.session.guide.open(full)
            elif full.suffix == state_file.SUFFIX:
                self.state_wanted.emit(full)
            else:
                add = self.session.choice.add_kernel
                self.bare.open(full, self._unless_edited(full, add), lambda: self._load(full, add))

        self._attempt(path, start)

    def _load(self, path: Path, take: Callable[[Kernel], object]) -> None:
        """Hand over the kernel of a file with front matter; for another file, a message gives the reason."""
        self._attempt(path, lambda: take(kernels.load(path)))

    def _attempt(self, path: Path, act: Callable[[], object]) -> None:
        """Do something with a file; a message says why it was not possible."""
        try:
            act()
        except FrontMatterError as error:
            self._tell_fault(path, error)
        except UnreadableFile as error:  # it names the file
            self._refuse(str(error))
        except GemmvizError as error:
            self._refuse(_cannot_open(path.name, error))
        except FileNotFoundError:
            self._refuse(why_no_file(path))
        except OSError as error:
            self._refuse(_cannot_open(path, error.strerror or error))

    def _refuse(self, reason: str) -> None:
        if self._faults is not None:
            self._faults.append(reason)
        else:
            self.session.messages.tell(Message(reason, lasting=True))

    def ask_versions(self) -> None:
        """Let the user choose a version and then another one, to be compared."""
        self.ask_version(False, then=lambda: self.ask_version(True, then=self.session.versions.compare))

    def ask_version(self, later: bool, then: Callable[[], None] = lambda: None) -> None:
        """Let the user choose a file as one of two versions.

        Parameters
        ----------
        later
            Whether it is the second one.
        then
            Is called when it is chosen.
        """
        title = tr("The version after") if later else tr("The version before")
        path, _ = QFileDialog.getOpenFileName(self._window, title, "", _with_headers(tr(PATTERN)))
        if path:
            self.open_version(Path(path), later, then)

    def open_version(self, path: Path, later: bool, then: Callable[[], None] = lambda: None) -> None:
        """Take a file as one of two versions; the chosen kernel stays. See `ask_version`."""
        versions = self.session.versions

        def take(kernel: Kernel) -> None:
            side = Side(kernel.path.name, self.session.choice.named(kernel))
            versions.choose(*((versions.before, side) if later else (side, versions.after)))
            then()

        def start() -> None:
            full = real(path)
            self.bare.open_version(full, take, lambda: self._load(full, take))

        self._attempt(path, start)

    def _tell_fault(self, path: Path, error: FrontMatterError) -> None:
        message = str(error) if error.line else tr("Cannot open {file}", file=error)
        source = None
        if error.line:
            with suppress(OSError, UnreadableFile):
                source = (path.name, _text(path))
        if self._faults is not None:
            self._faults.append(message)
            return
        answers = self._instead_of(path) if isinstance(error, NoFrontMatter) else ()
        self._say(Message(message, line=error.line, lasting=True, source=source, answers=answers))

    def _instead_of(self, path: Path) -> tuple[Answer, ...]:
        """Offer to open the files with kernels that the message about a file without one names, if they are few."""
        from gemmviz.catalogue.guessing.undescribed import files_instead  # late: few files need it

        with suppress(OSError, UnreadableFile):
            files = files_instead(_text(path), path)
            if len(files) <= MOST_ANSWERS:
                return tuple(
                    Answer(tr("Open {file}", file=one), partial(self.open, path.parent / one)) for one in files
                )
        return ()

    def _say(self, message: Message) -> None:
        """Show a message about a file, which is outdated as soon as the file is readable again."""
        self._fault = message
        self.session.messages.tell(message)

    def reload(self) -> None:
        """Read the chosen kernel's file again and record it; for edits there is a question first."""
        base = self.session.choice.base
        if self.session.choice.unsaved(base):
            self._ask_which(base, tr("{file} has edits that are not saved.", file=base.path.name))
        else:
            self.open(base.path)

    # Changes on disk

    def _watch_all(self) -> None:
        self.watch.set_paths(k.path for k in self.session.choice.kernels if not self.session.choice.is_shipped_file(k))

    def _base(self, path: Path) -> Kernel | None:
        return next((k for k in self.session.choice.kernels if k.path == path), None)

    def _on_file_changed(self, path: Path) -> None:
        base = self._base(path)
        if base is None:
            return
        try:
            text = kernels.read(path)
        except (OSError, UnreadableFile, FrontMatterError):
            self._on_file_gone(path)
            return
        known = self.session.choice.on_file(base)
        if text in (known, self.session.guesses.code(base, known)):
            if self.session.messages.shows(self._fault):
                self.session.messages.tell(None)  # the file is again as it was before it was damaged or removed
            return
        if self.session.choice.unsaved(base):
            self._ask_both(base)
            return
        self._take(base)

    def _unless_edited(self, path: Path, take: Callable[[_Found], object]) -> Callable[[_Found], bool]:
        """Return a function that takes the text of a file; it asks if the text here was edited after this call.

        The function returns whether the text was taken.
        """

        def edits() -> str | None:
            base = self._base(path)
            return self.session.choice.text_of(base) if base and self.session.choice.unsaved(base) else None

        def hand_over(found: _Found) -> bool:
            base, now = self._base(path), edits()
            if base is None or now in (None, before):
                return take(found) is not False
            self._ask_both(base)
            return False

        before = edits()
        return hand_over

    def _ask_both(self, base: Kernel) -> None:
        what = tr("{file} has changed on disk, and has edits here that are not saved.", file=base.path.name)
        self._ask_which(base, what)

    def _take(self, base: Kernel) -> None:
        """Take the present text of a kernel's file, in the place of the edits here.

        A file without front matter is guessed first. If its text here is edited meanwhile, there is a question.
        """
        choice = self.session.choice

        def take(guessed: Kernel | None) -> None:
            if guessed is None:
                load()
            elif guessed.text != choice.on_file(base) or choice.unsaved(base):
                choice.renew(guessed)

        def load() -> None:
            try:
                choice.renew(kernels.load(base.path))
            except FrontMatterError as error:
                self._tell_fault(base.path, error)
            except (GemmvizError, OSError) as error:
                self._say_unreadable(base.path, error)

        try:
            self.bare.renew(base, self._unless_edited(base.path, take))
        except (GemmvizError, OSError) as error:
            self._say_unreadable(base.path, error)

    def _say_unreadable(self, path: Path, error: Exception) -> None:
        message = tr("Cannot read {file}: {reason}", file=path.name, reason=error)
        self.session.messages.tell(Message(message, lasting=True))

    def _ask_which(self, base: Kernel, what: str) -> None:
        keep = Answer(tr("Keep mine"), lambda: self._keep(base))
        reload = Answer(tr("Reload"), lambda: self._take(base))
        self.session.messages.tell(Message(what, "warning", answers=(reload, keep), lasting=True, asks=True))

    def _keep(self, base: Kernel) -> None:
        """Keep the edits: they are from now on compared with the file's new text."""
        with suppress(OSError, UnreadableFile, FrontMatterError):
            self.session.choice.set_on_file(base, kernels.read(base.path))

    def _on_file_gone(self, path: Path) -> None:
        if self._base(path) is not None:
            text = tr(
                "{file} is gone from disk, or cannot be read. Its last text is kept: save it to have it back.",
                file=path.name,
            )
            self._say(Message(text, "warning", lasting=True))

    # Close

    def may_close(self) -> bool:
        """Show the question about unsaved edits; False when the window is to stay."""
        unsaved = self.session.choice.all_unsaved()
        if not unsaved:
            return True
        names = ", ".join(kernel.shown_file for kernel in unsaved)
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.warning(
            self._window,
            tr("Edits that are not saved"),
            tr("Not saved: {files}.", files=names),
            buttons.Save | buttons.Discard | buttons.Cancel,
            buttons.Save,
        )
        if answer == buttons.Save:
            return all(self._save_one(kernel) for kernel in unsaved)
        return answer == buttons.Discard

    def _save_one(self, kernel: Kernel) -> bool:
        self.session.choice.choose_kernel(kernel)
        return self.saving.save()


def _text(path: Path) -> str:
    """Return the text that a fault's lines count in: with the code of another file, where that can be found."""
    try:
        return kernels.read(path)
    except FrontMatterError:
        return read_source(path)


def _cannot_open(file: object, reason: object) -> str:
    return tr("Cannot open {file}: {reason}", file=file, reason=reason)


def _with_headers(pattern: str) -> str:
    """Return a pattern of files that takes CUDA's headers, too."""
    return pattern.replace("*.cu ", "".join(f"*{suffix} " for suffix in CUDA), 1)
