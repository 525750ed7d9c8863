"""The interface to an event loop: to call a function in its thread, and to call a function later."""

from collections.abc import Callable
from typing import Protocol


class Later(Protocol):
    """Calls a function once, some time after the last `start`."""

    def start(self) -> None:
        """Start the delay; a delay that runs already starts anew."""

    def stop(self) -> None:
        """Stop the delay."""


class EventLoop(Protocol):
    """The event loop of the thread in which a session lives."""

    def post(self, call: Callable[[], object]) -> None:
        """Call a function soon, in the thread of the loop and in the order of posting; callable from any thread."""

    def later(self, milliseconds: int, call: Callable[[], object]) -> Later:
        """Return a timer that calls a function some milliseconds after each start."""
