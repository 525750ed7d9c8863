"""Kernel files without front matter: a complete guess opens at once, an incomplete one is asked about in a form."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gemmviz.catalogue import kernel as kernels
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.matter_table import is_described
from gemmviz.catalogue.user_file import read_source
from gemmviz.control.guess_reader import GuessedFile, GuessReader
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.source.wrong_guesses import WrongGuesses, by_columns
from gemmviz.ui.window.qt_loop import QtLoop

if TYPE_CHECKING:  # late: only a file without a description needs it
    from gemmviz.ui.source.describe_form import DescribeForm

_SLOW_MS = 300


class BareFiles:
    """Opens files that do not describe themselves.

    Parameters
    ----------
    window
        The parent of the form.
    session
        The session with the kernels.
    """

    def __init__(self, window: QWidget, session: Session) -> None:
        self._window, self._session = window, session
        loop = QtLoop()
        self._reader = GuessReader(loop)
        self._slow = loop.later(_SLOW_MS, self._say_reading)
        self._slow_name = ""
        self._reading: Message | None = None
        self._too = ""
        self._corrected: dict[Path, tuple[str, str]] = {}  # with the description of the form, and without
        self._wrong = WrongGuesses(window, session)
        listen(window, session.guesses.asked, self.check)

    @property
    def pending(self) -> bool:
        """Whether there is a file whose guess has not arrived."""
        return self._reader.pending > 0

    def open(self, path: Path, add: Callable[[Kernel], bool], otherwise: Callable[[], None]) -> None:
        """Put a file on the list of kernels, as soon as its launch is guessed.

        A complete guess is taken, and a message offers the form. Otherwise the form is shown.

        Parameters
        ----------
        path
            The file.
        add
            Puts the kernel on the list, and returns whether it did.
        otherwise
            Is called instead if the file has front matter, or no code to run.
        """

        def take(kernel: Kernel, file: GuessedFile) -> None:
            """Say that it was guessed after the kernel is chosen, which takes messages about others away."""
            self._session.guesses.keep(kernel, file, file.text)
            if add(kernel):
                self._say_guessed(kernel, self._session.guesses.asked.emit)

        self._open(path, take, partial(self._correct, path), otherwise)

    def say_too(self, text: str) -> None:
        """Tell something, now or with the messages about the files whose guesses have not arrived."""
        if self.pending:
            self._too = text
        else:
            self._session.messages.tell(Message(text, "warning", lasting=True))

    def open_version(self, path: Path, take: Callable[[Kernel], None], otherwise: Callable[[], None]) -> None:
        """Hand a file's kernel to `take`; the chosen kernel stays. See `open`."""

        def corrected(text: str, described: str) -> None:
            self._allow(path, text, described)
            self._done(path, lambda: take(kernels.parse(described, path)))

        def take_guessed(kernel: Kernel, file: GuessedFile) -> None:
            """Say that it was guessed before the next file is asked for."""
            self._say_guessed(kernel, lambda: self._ask(file, corrected))
            take(kernel)

        self._open(path, take_guessed, corrected, otherwise)

    def renew(self, base: Kernel, take: Callable[[Kernel | None], object]) -> None:
        """Guess a file that has changed; `take` gets None if it has front matter, or no complete guess."""
        text = read_source(base.path)
        if is_described(text):
            take(None)
            return

        def guessed(file: GuessedFile) -> None:
            if file.kernel is not None:
                self._allow(file.path, text, file.kernel.text)
                self._session.guesses.keep(file.kernel, file, text)
            take(file.kernel)

        self._read(base.path, text, guessed)

    def saved(self, kernel: Kernel, file: object, code: str, say: Callable[[Kernel], None]) -> None:
        """Guess a saved text again: its launch may follow the edit.

        Parameters
        ----------
        kernel
            The kernel with the guess from before the edit; it stays if there is no other complete one.
        file
            The file as it was read before the edit.
        code
            The text that was written, without a guess.
        say
            Tells the user that a kernel was saved.
        """
        choice, keep = self._session.choice, self._session.guesses.keep

        def guessed(file: GuessedFile) -> None:
            if kernel not in choice.kernels:
                return  # saved, or read, again
            if file.kernel is None or file.kernel.text == kernel.text or choice.unsaved(kernel):
                keep(kernel, replace(file, kernel=kernel), code)
                return
            self._allow(file.path, code, file.kernel.text)
            keep(file.kernel, file, code)
            choice.renew(file.kernel)
            say(file.kernel)

        if isinstance(file, GuessedFile):
            same = replace(file.guess, path=kernel.path, text=code)
            keep(kernel, replace(file, path=kernel.path, text=code, guess=same, kernel=kernel), code)
            self._reader.read(kernel.path, code, guessed)
        say(kernel)

    def check(self) -> None:
        """Show the form with the guess of the chosen kernel; for another kernel, a message says that there is none.

        A text that the form has described, and nobody has edited since, is asked about again: a file can have several
        kernels.
        """
        kernel = self._session.choice.kernel
        file = self._session.guesses.file(kernel)
        if isinstance(file, GuessedFile):
            self._ask(file, partial(self._correct, file.path))
            return
        described, code = self._corrected.get(kernel.path, ("", ""))
        if kernel.text == described and self._session.choice.on_file(kernel) == code:
            self._read(kernel.path, code, lambda file: self._ask(file, partial(self._correct, file.path)))
            return
        message = tr("{kernel}: its launch is not a guess; front matter in its text describes it.", kernel=kernel.alias)
        self._session.messages.tell(Message(message, "info"))

    def close(self) -> None:
        """Open no further file, and try no further launch."""
        self._wrong.close()
        self._reader.close()
        self._slow.stop()

    def _read(self, path: Path, text: str, then: Callable[[GuessedFile], None]) -> None:
        """Guess in the background; a message says so where it takes long."""

        def guessed(file: GuessedFile) -> None:
            self._unsay_reading()
            then(file)

        self._reader.read(path, text, guessed)
        self._slow_name = path.name
        self._slow.start()

    def _say_reading(self) -> None:
        stop = Answer(tr("Cancel"), self._cancel)
        message = tr("Reading {file}", file=self._slow_name)
        self._reading = Message(message, "info", answers=(stop,), lasting=True)
        self._session.messages.tell(self._reading)

    def _unsay_reading(self) -> None:
        if not self.pending:
            self._slow.stop()
        if self._session.messages.shows(self._reading):
            self._session.messages.tell(None)
        self._reading = None

    def _cancel(self) -> None:
        self._reader.cancel()
        self._unsay_reading()

    def _open(
        self,
        path: Path,
        take: Callable[[Kernel, GuessedFile], None],
        corrected: Callable[[str, str], None],
        otherwise: Callable[[], None],
    ) -> None:
        text = read_source(path)
        if is_described(text):
            otherwise()
            return

        def guessed(file: GuessedFile) -> None:
            kernel = file.kernel
            if not file.guess.entry:
                otherwise()
            elif kernel is None:
                self._ask(file, corrected)
            else:
                self._allow(path, text, kernel.text)
                self._done(path, lambda: take(kernel, file))

        self._read(path, text, guessed)

    def _correct(self, path: Path, text: str, described: str) -> None:
        """Take the text of the form: the file does not have it yet."""
        self._allow(path, text, described)
        self._corrected[path] = described, text
        self._done(path, lambda: self._session.choice.add_kernel(kernels.parse(described, path), on_file=text))

    def _say_guessed(self, kernel: Kernel, ask: Callable[[], object]) -> None:
        """Offer the form for a guess that was taken at once."""
        message = tr(
            "{file} has no front matter, the comment that says how its kernel is called. So the launch was guessed "
            "from the source. The guess is shown below the text; the file stays as it is.",
            file=kernel.path.name,
        )
        message = "\n".join(filter(None, (by_columns(kernel), self._too, message)))
        if not self.pending:
            self._too = ""
        check = Answer(tr("Check the guess…"), ask)
        self._session.messages.tell(Message(message, "info", answers=(check,), lasting=True))

    def _ask(self, file: GuessedFile, corrected: Callable[[str, str], None]) -> None:
        """Show the form with the guess; `corrected` takes the file's text, and that text with its description."""
        path, text = file.path, file.text
        from gemmviz.ui.source.describe_form import DescribeForm  # late: only a file without a description needs it

        trust, shown = self._session.permission.trust, self._session.choice.base
        if shown.path == path and _is_text_with_comments(shown.text, text) and trust.allows(path, shown.text):
            trust.allow(path, text)  # the code with its guess may run: so the form does not ask again
        self._wrong.stop()  # the form tries it
        form = DescribeForm(file, trust, self._window)
        form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        form.accepted.connect(lambda: self._take(form, path, partial(corrected, text)))
        form.open()

    def _take(self, form: "DescribeForm", path: Path, corrected: Callable[[str], None]) -> None:
        described = form.accepted_text()
        if form.is_right():
            self._session.guesses.confirm(path, described)
        corrected(described)

    def _allow(self, path: Path, text: str, described: str) -> None:
        """Let the described text run if the file's text may run: the code is the same."""
        trust = self._session.permission.trust
        if trust.allows(path, text):
            trust.allow_here(path, described)

    def _done(self, path: Path, act: Callable[[], object]) -> None:
        """Do something with a file; a message says why if that was refused."""
        try:
            act()
        except GemmvizError as error:
            message = tr("Cannot open {file}: {reason}", file=path.name, reason=error)
            self._session.messages.tell(Message(message, lasting=True))


def _is_text_with_comments(described: str, text: str) -> bool:
    """Return whether a text is another one with nothing but comment lines before or after it."""
    before, found, after = described.partition(text)
    apart = before[-1:] in ("", "\n") and (not after or "\n" in (text[-1:], after[0]))
    return bool(found) and apart and all(line.startswith("//") for line in f"{before}{after}".split("\n") if line)
