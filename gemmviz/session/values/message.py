"""Messages for the user, and their possible answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

MOST_ANSWERS = 2
"""How many answers a message may have."""


@dataclass(frozen=True)
class Answer:
    """An answer to a message: the button's text, and its action."""

    title: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Message:
    """A message for the user: ``kind`` is ``"error"``, ``"warning"`` or ``"info"``; ``line`` as in the source.

    ``answers`` are the possible actions. ``lasting``: the message is not about the recording, so that it stays when a
    new recording arrives. ``source`` is the (file name, text) that `line` belongs to, if it is not the chosen kernel's.
    ``asks``: the message stays until it is answered, also during typing. ``anew`` makes the message again, in another
    language; None: its texts are translated again.
    """

    text: str
    kind: str = "error"
    line: int | None = None
    answers: tuple[Answer, ...] = ()
    lasting: bool = False
    source: tuple[str, str] | None = None
    asks: bool = False
    anew: "Callable[[], Message | None] | None" = field(default=None, compare=False)


def told(say: Callable[[], str], lasting: bool = False) -> Message:
    """Return a note whose text `say` writes, now and again in another language."""
    return Message(say(), "info", lasting=lasting, anew=partial(told, say, lasting))
