"""Keeps what was found in a recording for as long as the recording lives."""

import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from gemmviz.trace.playable import Playable

P = ParamSpec("P")
T = TypeVar("T")
_Of = Callable[Concatenate[Playable, P], T]


def per_recording(most: int) -> Callable[[_Of[P, T]], _Of[P, T]]:
    """Return what gives a function a memory: asked again of the same recording with the same values, it answers at once.

    The function is pure, of a recording and of hashable values; its answer must not refer to the recording.

    Parameters
    ----------
    most
        How many answers about one recording are kept: the latest ones.
    """

    def with_memory(find: _Of[P, T]) -> _Of[P, T]:
        answers: dict[int, tuple[weakref.ref[Playable], dict[Hashable, T]]] = {}

        @wraps(find)
        def found(playable: Playable, *args: P.args, **kwargs: P.kwargs) -> T:
            number = id(playable)
            kept = answers.get(number)
            if kept is None or kept[0]() is not playable:
                kept = answers[number] = weakref.ref(playable, lambda _: answers.pop(number, None)), {}
            key = args, tuple(sorted(kwargs.items()))
            if key not in kept[1]:
                if len(kept[1]) >= most:
                    kept[1].pop(next(iter(kept[1])))
                kept[1][key] = find(playable, *args, **kwargs)
            return kept[1][key]

        return found

    return with_memory
