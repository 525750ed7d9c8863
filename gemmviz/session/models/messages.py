"""The message on the screen."""

from dataclasses import replace

from psygnal import Signal

from gemmviz.language import Language, language, tr_again
from gemmviz.session.values.message import Answer, Message


class Messages:
    """Shows one message at a time; it follows the language."""

    changed = Signal()

    def __init__(self) -> None:
        self.current: Message | None = None
        self._first: Message | None = None  # as it was made, in this language:
        self._made_in: Language = "en"

    def tell(self, message: Message | None) -> None:
        """Show a message; None removes the current one."""
        self.current = self._first = message
        self._made_in = language()
        self.changed.emit()

    def shows(self, message: Message | None) -> bool:
        """Return whether the current message is this one, in any language."""
        return message is not None and message is self._first

    def translate(self) -> None:
        """Show the current message in the language that was chosen: made anew, or its texts are translated again."""
        first, made_in = self._first, self._made_in
        if first is None:
            return
        if first.anew is not None:
            self.tell(first.anew())
            return
        answers = tuple(Answer(tr_again(answer.title, made_in), answer.act) for answer in first.answers)
        self.current = replace(first, text=tr_again(first.text, made_in), answers=answers)
        self.changed.emit()
