"""Connections of a view to signals: kept with the view, and closed with its window, while the session goes on."""

from collections.abc import Callable
from inspect import CO_VARARGS
from types import FunctionType, MethodType
from weakref import WeakMethod

from psygnal import SignalInstance
from PySide6.QtCore import QObject, Qt

Slot = Callable[..., object]


class Connections(QObject):
    """The connections of one view to the signals of a session.

    Parameters
    ----------
    view
        The view that owns the connections.
    """

    def __init__(self, view: QObject) -> None:
        super().__init__(view)
        # A connection does not keep its view alive.
        self._kept: list[tuple[SignalInstance, Callable[[], Slot | None]]] = []

    def add(self, signal: SignalInstance, slot: Slot) -> None:
        """Connect a signal, and keep the connection."""
        signal.connect(slot, max_args=_most_arguments(slot))
        self._kept.append((signal, WeakMethod(slot) if isinstance(slot, MethodType) else lambda: slot))

    def tell(self, signal: SignalInstance, *args: object) -> None:
        """Call this view's slots alone, as if the signal were emitted."""
        for kept, reference in self._kept:
            slot = reference() if kept is signal else None
            if slot is not None:
                slot(*args)

    def close(self) -> None:
        """Disconnect everything."""
        for signal, reference in self._kept:
            slot = reference()
            if slot is not None:
                signal.disconnect(slot, missing_ok=True)
        self._kept.clear()


def _most_arguments(slot: Slot) -> int | None:
    """Return how many arguments of a signal a slot takes; None if psygnal should find it out.

    For the usual methods and functions the code object says it; psygnal inspects signatures, which takes 50 us each.
    """
    function = slot.__func__ if isinstance(slot, MethodType) else slot
    if not isinstance(function, FunctionType) or function.__code__.co_flags & CO_VARARGS:
        return None
    return function.__code__.co_argcount - isinstance(slot, MethodType)


def listen(view: QObject, signal: SignalInstance, slot: Slot) -> None:
    """Connect a view to a signal until its window is closed, or another window takes its place."""
    own = view.findChild(Connections, options=Qt.FindChildOption.FindDirectChildrenOnly)
    (own or Connections(view)).add(signal, slot)


def tell(window: QObject, signal: SignalInstance, *args: object) -> None:
    """Call the slots of one window's views alone, as if a signal were emitted."""
    for connections in window.findChildren(Connections):
        connections.tell(signal, *args)


def close(window: QObject) -> None:
    """Disconnect all views of a window."""
    for connections in window.findChildren(Connections):
        connections.close()
