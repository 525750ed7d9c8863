"""The kernels whose launch was guessed."""

from dataclasses import dataclass
from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel


@dataclass(frozen=True)
class _Kept:
    text: str  # of the kernel, with the guess
    added: str  # the part of it that is not in the file
    file: object


class Guesses:
    """Knows which texts have a guessed launch: a wrong C may then be the fault of the guess."""

    asked = Signal()
    """The guess of the chosen kernel is to be shown and tried."""
    noted = Signal(Kernel)
    """`note` was called about this kernel."""
    confirmed = Signal()
    """`confirm` was called about another text."""

    def __init__(self) -> None:
        self._files: dict[Path, _Kept] = {}
        self._outcomes: dict[Path, str] = {}
        self._confirmed: dict[Path, str] = {}

    def keep(self, kernel: Kernel, file: object, code: str) -> None:
        """Remember the file from whose guess a kernel was made.

        Parameters
        ----------
        kernel
            The kernel: its text is the file's with the guess below.
        file
            What is known about the file and its guess.
        code
            The file's text.
        """
        self._files[kernel.path] = _Kept(kernel.text, kernel.text.removeprefix(code), file)
        self._outcomes.pop(kernel.path, None)

    def forget(self, kernel: Kernel) -> None:
        """Take a kernel's launch for one that is no guess any more."""
        self._files.pop(kernel.path, None)

    def file(self, kernel: Kernel) -> object | None:
        """Return the file of a kernel's guess; None if the launch in the kernel's text is not a guess."""
        kept = self._files.get(kernel.path)
        return kept.file if kept is not None and kept.text == kernel.text else None

    def note(self, kernel: Kernel, outcome: str) -> None:
        """Remember what came of the launches that were tried for a kernel, as a sentence about them."""
        self._outcomes[kernel.path] = outcome
        self.noted.emit(kernel)

    def outcome(self, kernel: Kernel) -> str | None:
        """Return what `note` was told about a kernel's guess; None if other launches were not tried."""
        return self._outcomes.get(kernel.path)

    def confirm(self, path: Path, text: str) -> None:
        """Remember that the launch in a kernel's text is right at sizes that differ in M, N and K, too."""
        if self._confirmed.get(path) != text:
            self._confirmed[path] = text
            self.confirmed.emit()

    def is_confirmed(self, kernel: Kernel) -> bool:
        """Return whether `confirm` was told about this text of a kernel."""
        return self._confirmed.get(kernel.path) == kernel.text

    def code(self, base: Kernel, text: str) -> str | None:
        """Return an edited text without the guess; None if its launch is not a guess, or was edited, too.

        Parameters
        ----------
        base
            The kernel that was opened.
        text
            Its text with edits.
        """
        kept = self._files.get(base.path)
        if kept is None or kept.text != base.text:
            return None
        before, found, after = text.rpartition(kept.added)
        return before + after if found else None
