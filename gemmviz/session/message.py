"""What is told to people: a message, and what they can do about it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """Something that a user can do about a message: what the button says, and what it does."""

    title: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Message:
    """Something to tell the user: ``kind`` is ``"error"``, ``"warning"`` or ``"info"``; ``line`` as in the source.

    ``answers`` are what can be done about it. ``lasting``: it is not about the recording, so that a new one leaves it
    standing.
    ``source`` is the (file name, text) that `line` belongs to, where that is not the chosen kernel's.
    ``asks``: it stands until it is answered, whatever is typed meanwhile.
    """

    text: str
    kind: str = "error"
    line: int | None = None
    answers: tuple[Answer, ...] = ()
    lasting: bool = False
    source: tuple[str, str] | None = None
    asks: bool = False
