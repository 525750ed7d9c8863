"""How far each engine is."""

from collections.abc import Iterator

from psygnal import Signal

Share = tuple[str, float | None]
"""What is being done, and how much of it is done (0 to 1; None: unknown)."""


class Progress:
    """How far some engines are.

    Parameters
    ----------
    *engines
        Their names: ``"record"``, ``"bench"``.
    """

    changed = Signal(str)
    """The engine with that name."""

    def __init__(self, *engines: str) -> None:
        self._of: dict[str, Share | None] = dict.fromkeys(engines)

    def __getitem__(self, engine: str) -> Share | None:
        """Return how far an engine is; None when it is idle."""
        return self._of[engine]

    def __iter__(self) -> Iterator[str]:
        """Give the names of the engines."""
        return iter(self._of)

    def set(self, engine: str, progress: Share | None) -> None:
        """Say how far an engine is; None when it is idle."""
        self._of[engine] = progress
        self.changed.emit(engine)
