"""The frozen warp: playback pauses, and stepping goes from request to request of the chosen warp."""

from psygnal import Signal


class FrozenWarp:
    """Whether the chosen warp of the chosen block is frozen."""

    changed = Signal()

    def __init__(self) -> None:
        self.on = False

    def freeze(self) -> None:
        """Freeze the warp."""
        self.on = True
        self.changed.emit()

    def release(self) -> None:
        """Release the warp."""
        if self.on:
            self.on = False
            self.changed.emit()
