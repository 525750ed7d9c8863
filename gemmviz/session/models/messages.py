"""The message on the screen."""

from psygnal import Signal

from gemmviz.session.values.message import Message


class Messages:
    """Shows one message at a time."""

    changed = Signal()

    def __init__(self) -> None:
        self.current: Message | None = None

    def tell(self, message: Message | None) -> None:
        """Show a message; None removes the current one."""
        self.current = message
        self.changed.emit()

    def translate(self) -> None:
        """Show the current message in another language, where it can be made anew."""
        if self.current is not None and self.current.anew is not None:
            self.tell(self.current.anew())
