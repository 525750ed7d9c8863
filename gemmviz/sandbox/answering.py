"""The side of a process that runs a kernel: it answers the engine's questions. The kernel may crash it."""

import ctypes
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gemmviz.language import set_language
from gemmviz.sandbox import result_memory, wire
from gemmviz.sandbox.warden import LENGTH

_shown: list[ctypes.Array[ctypes.c_char]] = []  # the engine reads it in this process's memory


def once(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a function that answers the only question: it calls `function` and returns its result."""
    return lambda name: function(*arguments)


def introduce(token: bytes, before: Callable[[], object] | None, channel: int) -> None:
    """Send the engine this process's number, and an address of the token: it asks while this process is confined.

    Parameters
    ----------
    token
        The secret that marks this process's messages; see `gemmviz.sandbox.wire`.
    before
        Called then.
    channel
        The number of this process's end of the channel.
    """
    shown = ctypes.create_string_buffer(token, len(token))
    _shown.append(shown)
    wire.send(channel, token, (int(Path("/proc/self").readlink().name), ctypes.addressof(shown)))
    if before is not None:
        with suppress(Exception):
            before()


def serve(
    channel: int,
    left_at: int | None,
    token: bytes,
    spoken: str,
    classes: tuple[type, ...],
    answer: Callable[..., Callable[..., Any]],
    given: Any,
) -> None:
    """Answer the engine's questions until it closes the channel.

    Parameters
    ----------
    channel
        The number of this process's end of the channel.
    left_at
        The number of the memory for large arrays, if there is some.
    token
        The secret that marks this process's messages; see `gemmviz.sandbox.wire`.
    spoken
        The language of its messages.
    classes
        The dataclasses and exceptions that an answer may contain.
    answer, given
        Called first; returns the function that answers.
    """
    set_language(spoken)
    if left_at is not None:
        result_memory.use(left_at)
    try:
        answers: Callable[..., Any] = answer(*given)
        failure: Exception | None = None
    except Exception as error:
        failure = error
    while True:
        with os.fdopen(os.dup(channel), "rb", buffering=0) as asked:
            readable, name, arguments = _question(asked.readinto)
        try:
            if failure is not None:
                raise failure
            reply = answers(name, *arguments)
        except Exception as error:
            reply = error if type(error) in classes else _unknown(error)
        try:
            wire.send(channel, token, reply, readable)
        except TypeError as error:
            wire.send(channel, token, _unknown(error))


def _question(read: Callable[[memoryview], int | None]) -> Any:
    head = memoryview(bytearray(LENGTH.size))
    _fill(head, read)
    body = memoryview(bytearray(LENGTH.unpack(head)[0]))
    _fill(body, read)
    return pickle.loads(body)


def _fill(left: memoryview, read: Callable[[memoryview], int | None]) -> None:
    while len(left):
        count = read(left)
        if not count:
            os._exit(0)
        left = left[count:]


def _unknown(error: Exception) -> RuntimeError:
    return RuntimeError(f"{type(error).__name__}: {error}")
