"""Who listens to a session: what one window connected is let go when another window takes its place."""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from psygnal import Signal, SignalInstance

_PACKAGE = "gemmviz.session."


class Listening:
    """Everything that listens to a session, split into what was there before and what a package connected since.

    Parameters
    ----------
    session
        Whose signals; those of its parts count, too.
    package
        Only listeners whose code stands in this package are ever let go.
    """

    def __init__(self, session: object, package: str) -> None:
        self._session = session
        self._package = package
        # Kept, so that no later slot gets the identity of one that is gone.
        self._before = [slot for signal in signals(session) for slot in signal._slots]

    def let_go(self, kept: Collection[object] = ()) -> None:
        """Disconnect what the package connected, but for the methods of some objects."""
        for signal in signals(self._session):
            signal._slots = [slot for slot in signal._slots if not self._is_since(slot, kept)]

    def tell(self, signal: SignalInstance, *args: object) -> None:
        """Tell only what the package connected, as if the signal were emitted."""
        for slot in list(signal._slots):
            if self._is_since(slot, ()):
                slot.cb(args)

    def _is_since(self, slot: Any, kept: Collection[object]) -> bool:
        if any(slot is one for one in self._before):
            return False
        called = slot.dereference()
        while isinstance(called, partial):
            called = called.func
        if called is None:  # its object is gone
            return True
        owner = getattr(called, "__self__", None)
        if any(owner is one for one in kept):
            return False
        module = getattr(called, "__module__", None) or type(owner).__module__
        return module == self._package or module.startswith(f"{self._package}.")


def signals(holder: object) -> list[SignalInstance]:
    """Return the signals of an object and of the parts that it holds."""
    return list(_signals(holder, set()))


def _signals(holder: object, seen: set[int]) -> Iterator[SignalInstance]:
    if not type(holder).__module__.startswith(_PACKAGE) or id(holder) in seen:
        return
    seen.add(id(holder))
    for name in _names(type(holder)):
        yield getattr(holder, name)
    for part in list(vars(holder).values()):
        yield from _signals(part, seen)


def _names(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, Signal))
