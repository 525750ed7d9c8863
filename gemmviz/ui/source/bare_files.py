"""Kernel files without front matter: a complete guess opens at once, an incomplete one is asked about in a form."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gemmviz.catalogue import kernel as kernels
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.user_file import read_source
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session


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

    def open(self, path: Path) -> bool:
        """Put a file on the list of kernels; return False if it has front matter, or no code to run.

        A complete guess is taken at once, and a message offers the form. Otherwise the form is shown.
        """

        def corrected(text: str, described: str) -> None:
            """Take the text of the form: the file does not have it yet."""
            self._allow(path, text, described)
            self._done(path, lambda: self._session.choice.add_kernel(kernels.parse(described, path), on_file=text))

        def take(kernel: Kernel) -> None:
            """Say that it was guessed after the kernel is chosen, which takes messages about others away."""
            self._session.choice.add_kernel(kernel)
            self._say_guessed(kernel, corrected)

        return self._open(path, take, corrected)

    def open_version(self, path: Path, take: Callable[[Kernel], None]) -> bool:
        """Hand a file's kernel to `take`; the chosen kernel stays. See `open`."""

        def corrected(text: str, described: str) -> None:
            self._allow(path, text, described)
            self._done(path, lambda: take(kernels.parse(described, path)))

        def take_guessed(kernel: Kernel) -> None:
            """Say that it was guessed before the next file is asked for."""
            self._say_guessed(kernel, corrected)
            take(kernel)

        return self._open(path, take_guessed, corrected)

    def renewed(self, base: Kernel) -> Kernel | None:
        """Return the kernel of a file that has changed and has no front matter; None without a complete guess."""
        text = read_source(base.path)
        kernel = None if _is_described(text) else complete_guess(base.path, text)
        if kernel is not None:
            self._allow(base.path, text, kernel.text)
        return kernel

    def _open(self, path: Path, take: Callable[[Kernel], None], corrected: Callable[[str, str], None]) -> bool:
        # A late import: the window's first paint does not wait for modules that few files need.
        from gemmviz.catalogue.guessing.guess import guess

        text = read_source(path)
        if _is_described(text) or not guess(text, path).entry:
            return False
        kernel = complete_guess(path, text)
        if kernel is None:
            self._ask(path, text, corrected)
            return True
        self._allow(path, text, kernel.text)
        self._done(path, lambda: take(kernel))
        return True

    def _say_guessed(self, kernel: Kernel, corrected: Callable[[str, str], None]) -> None:
        """Offer the form for a guess that was taken at once."""
        text = read_source(kernel.path)
        message = tr(
            "{file} has no front matter: its launch was guessed from the source. The guess is shown on top of the "
            "text, so that line 1 of the file is line {line} here; the file stays as it is.",
            file=kernel.path.name,
            line=kernel.code_line,
        )
        check = Answer(tr("Check the guess…"), lambda: self._ask(kernel.path, text, corrected))
        self._session.messages.tell(Message(message, "info", answers=(check,), lasting=True))

    def _ask(self, path: Path, text: str, corrected: Callable[[str, str], None]) -> None:
        """Show the form with the guess; `corrected` takes the file's text, and that text with its description."""
        from gemmviz.ui.source.describe_form import DescribeForm  # late: only a file without a description needs it

        trust, shown = self._session.permission.trust, self._session.choice.base
        if shown.path == path and _is_text_with_comments(shown.text, text) and trust.allows(path, shown.text):
            trust.allow(path, text)  # the code with its guess may run: so the form does not ask again
        form = DescribeForm(path, text, trust, self._window)
        form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        form.accepted.connect(lambda: corrected(text, form.accepted_text()))
        form.open()

    def _allow(self, path: Path, text: str, described: str) -> None:
        """Let the described text run if the file's text may run: the code is the same."""
        trust = self._session.permission.trust
        if trust.allows(path, text):
            trust.allow_here(path, described)

    def _done(self, path: Path, act: Callable[[], None]) -> None:
        """Do something with a file; a message says why if that was refused."""
        try:
            act()
        except GemmvizError as error:
            message = tr("Cannot open {file}: {reason}", file=path.name, reason=error)
            self._session.messages.tell(Message(message, lasting=True))


def complete_guess(path: Path, text: str) -> Kernel | None:
    """Return the kernel of a file without front matter; None if a point of the guess is missing or in doubt.

    Parameters
    ----------
    path, text
        The file. None of its code runs.
    """
    from gemmviz.backends.surroundings import surroundings  # late: only a file without a description needs these
    from gemmviz.catalogue.guessing.guess import guess
    from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel

    made = guess(text, path, around=surroundings(path, text))
    if made.doubts:
        return None
    try:
        return guessed_kernel(made)
    except FrontMatterError:
        return None


def _is_described(text: str) -> bool:
    from gemmviz.catalogue.guessing.guess import is_described  # late: the window starts sooner without it

    return is_described(text)


def _is_text_with_comments(described: str, text: str) -> bool:
    """Return whether a text is another one with nothing but comment lines before it."""
    head = described.removesuffix(text)
    return len(head) + len(text) == len(described) and all(line.startswith("//") for line in head.splitlines())
