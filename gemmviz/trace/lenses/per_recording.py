"""Keeps results about a recording for the lifetime of the recording."""

import weakref
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from gemmviz.trace.playable import Playable

P = ParamSpec("P")
T = TypeVar("T")
_MOST = 512  # results for one recording: more than the blocks of a large grid


def latest(
    most: int,
) -> Callable[[Callable[Concatenate[Playable, P], T]], Callable[Concatenate[Playable, P], T]]:
    """Return a decorator that keeps a function's latest results: see `per_recording`.

    Parameters
    ----------
    most
        The number of results that are kept for one recording.
    """

    def with_memory(find: Callable[Concatenate[Playable, P], T]) -> Callable[Concatenate[Playable, P], T]:
        answers: dict[int, tuple[weakref.ref[Playable], dict[Hashable, T]]] = {}

        def found(playable: Playable, /, *args: P.args, **kwargs: P.kwargs) -> T:
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

        update_wrapper(found, find)
        return found

    return with_memory


def per_recording(find: Callable[Concatenate[Playable, P], T]) -> Callable[Concatenate[Playable, P], T]:
    """Return the function with a cache: for the same recording and values the result is computed only once.

    Parameters
    ----------
    find
        A pure function of a recording and of hashable values. Its result must not refer to the recording.
    """
    return latest(_MOST)(find)
