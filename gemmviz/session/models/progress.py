"""The progress of each engine."""

from collections.abc import Iterator

from psygnal import Signal

Share = tuple[str, float | None]
"""The text of the current work, and its finished share (0 to 1; None: unknown)."""


class Progress:
    """The progress of some engines.

    Parameters
    ----------
    *engines
        Their names: ``"record"``, ``"bench"``, ``"beside"`` (further devices that measure).
    """

    changed = Signal(str)
    """The progress of the engine with that name has changed."""

    def __init__(self, *engines: str) -> None:
        self._of: dict[str, Share | None] = dict.fromkeys(engines)

    def __getitem__(self, engine: str) -> Share | None:
        """Return the progress of an engine; None when it is idle."""
        return self._of[engine]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the engines."""
        return iter(self._of)

    def is_any(self, *engines: str) -> bool:
        """Return whether any of some engines is at work."""
        return any(self._of[engine] is not None for engine in engines)

    def set(self, engine: str, progress: Share | None) -> None:
        """Set the progress of an engine; None when it is idle."""
        self._of[engine] = progress
        self.changed.emit(engine)

    def end(self, engine: str, shown: Share | None) -> None:
        """Make an engine idle, unless it shows the progress of other work than `shown`."""
        if shown is not None and self._of[engine] is shown:
            self.set(engine, None)
