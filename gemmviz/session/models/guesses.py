"""The kernels whose launch was guessed and not tried."""

from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.kernel import Kernel


class Guesses:
    """Knows which texts have a guessed launch: a wrong C may then be the fault of the guess."""

    asked = Signal()
    """The guess of the chosen kernel is to be shown and tried."""

    def __init__(self) -> None:
        self._files: dict[Path, tuple[str, object]] = {}

    def keep(self, kernel: Kernel, file: object) -> None:
        """Remember the file from whose guess a kernel was made."""
        self._files[kernel.path] = kernel.text, file

    def file(self, kernel: Kernel) -> object | None:
        """Return the file of a kernel's guess; None if the launch in the kernel's text is not a guess."""
        text, file = self._files.get(kernel.path, ("", None))
        return file if text == kernel.text else None
