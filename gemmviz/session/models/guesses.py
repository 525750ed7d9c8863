"""The kernels whose launch was guessed and not tried, and how each guess can be checked."""

from collections.abc import Callable
from pathlib import Path

from gemmviz.catalogue.kernel import Kernel


class Guesses:
    """Knows which texts have a guessed launch: a wrong C may then be the fault of the guess."""

    def __init__(self) -> None:
        self._checks: dict[Path, tuple[str, Callable[[], object]]] = {}

    def keep(self, kernel: Kernel, check: Callable[[], object]) -> None:
        """Remember that a kernel's launch was guessed; `check` shows the guess and tries it."""
        self._checks[kernel.path] = kernel.text, check

    def check(self, kernel: Kernel) -> Callable[[], object] | None:
        """Return the function that checks a kernel's guess; None if the launch in its text is not a guess."""
        text, check = self._checks.get(kernel.path, ("", None))
        return check if text == kernel.text else None
