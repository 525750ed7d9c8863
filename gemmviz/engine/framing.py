"""The format of messages between the window's process and the engine's: typed, with a limit on every length.

The engine's process runs kernels of strangers, so none of its messages is trusted. A frame consists of a head of fixed
size (a mark, the length of the body, the number of arrays), the length of each array, the body, and the arrays. The
body is MessagePack and is decoded into one of the dataclasses of `gemmviz.engine.messages`: no other type can result,
and nothing in it is executed. Arrays follow as in memory and are copied into the receiver's memory, so that the sender
cannot change them afterwards. Code that uses their numbers as indices checks them first: see `gemmviz.trace.untrusted`.
"""

import os
import select
import struct
import time
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.engine.messages import Message
from gemmviz.language.numbers import thousands

_HEAD = struct.Struct("<4sII")
_MARK = b"gmv1"
_SIZE = struct.Struct("<Q")
_ARRAY = 1  # the code of MessagePack's extension for an array: [its index in the frame, dtype, shape]
_KINDS = "biuf"  # of elements: bool, integers, floating-point numbers
_CHUNK = 1 << 22  # bytes read or written at once
MOST_BODY = 1 << 28
"""The longest body, in bytes: a result file with all its samples is far below."""
MOST_ARRAYS = 4096
"""The largest number of arrays in one message."""
STALL_S = 20.0
"""The longest pause inside a message, in seconds; a longer one counts as a failure of the sender."""

_TYPES: dict[str, type[Message]] = {t.__name__: t for t in get_args(Message)}


class NotAMessage(Exception):
    """The received bytes are not a message, or a message is incomplete."""


def send(descriptor: int, message: Message, deadline_s: float | None = None) -> None:
    """Send a message with its arrays.

    Parameters
    ----------
    descriptor
        One end of a pipe or of a pair of sockets; only one sender may use it at a time.
    message
        One of `gemmviz.engine.messages`. Its arrays hold numbers.
    deadline_s
        The longest time, in seconds, in which the other end takes no bytes; None: no limit.

    Raises
    ------
    OSError
        When the other end has closed, or takes no more bytes (TimeoutError).
    TypeError
        For a message that contains other data than texts, numbers, lists, dictionaries and arrays of numbers.
    """
    arrays: list[npt.NDArray[Any]] = []

    def outside_msgpack(found: Any) -> Any:
        if isinstance(found, np.generic):
            return found.item()
        if not isinstance(found, np.ndarray) or found.dtype.kind not in _KINDS:
            raise TypeError(f"a message cannot hold {type(found).__name__}")
        arrays.append(np.ascontiguousarray(found))
        entry = [len(arrays) - 1, found.dtype.str, list(found.shape)]
        return msgspec.msgpack.Ext(_ARRAY, msgspec.msgpack.encode(entry))

    body = msgspec.msgpack.encode([type(message).__name__, message], enc_hook=outside_msgpack)
    if len(body) > MOST_BODY or len(arrays) > MOST_ARRAYS:
        raise TypeError(f"a message of {thousands(len(body))} bytes and {thousands(len(arrays))} arrays is too large")
    head = _HEAD.pack(_MARK, len(body), len(arrays)) + b"".join(_SIZE.pack(a.nbytes) for a in arrays)
    _write(descriptor, memoryview(head + body), deadline_s)
    for array in arrays:
        if array.nbytes:
            _write(descriptor, array.reshape(-1).view(np.uint8).data, deadline_s)


def _write(descriptor: int, part: memoryview, deadline_s: float | None) -> None:
    while part:
        try:
            part = part[os.write(descriptor, part[:_CHUNK]) :]
        except BlockingIOError:
            if not _wait(descriptor, select.POLLOUT, deadline_s):
                raise TimeoutError("the other process does not read any more") from None


def _wait(descriptor: int, event: int, timeout_s: float | None) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(None if timeout_s is None else max(timeout_s * 1000, 0)))


class Receiver:
    """Reads messages from one end of a pipe or of a pair of sockets; the end is set to non-blocking mode.

    Parameters
    ----------
    descriptor
        The file descriptor of the end.
    kinds
        The types that may arrive, for example ``get_args(Reply)``.
    room
        Returns the largest number of bytes for the arrays of a message; None, or if it returns None: no limit.
    """

    def __init__(self, descriptor: int, kinds: tuple[type, ...], room: Callable[[], int | None] | None = None) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor, self._room = descriptor, room
        self._kinds = {kind.__name__ for kind in kinds}
        self._begin()

    def _begin(self) -> None:
        self._parts: list[npt.NDArray[np.uint8]] = [np.empty(_HEAD.size, np.uint8)]
        self._part, self._filled, self._stage = 0, 0, "head"
        self._heard = 0.0

    def receive(self, timeout_s: float | None) -> Message | None:
        """Return the next message, or None if it is not complete within `timeout_s` seconds (None: no limit).

        The received part of a message is kept for the next call.

        Raises
        ------
        NotAMessage
            For bytes that are not a message, or a message that pauses for more than `STALL_S`.
        EOFError, OSError
            When the other end has closed, or closes during the call.
        """
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if not self._read():
                return self._take()
            begun = self._stage != "head" or self._filled > 0
            now = time.monotonic()
            if begun and now - self._heard > STALL_S:
                raise NotAMessage(f"no data for {STALL_S:g} s in the middle of a message")
            wait = None if end is None else end - now
            if begun:
                wait = STALL_S if wait is None else min(wait, STALL_S)
            if wait is not None and wait < 0:
                return None
            _wait(self._descriptor, select.POLLIN, wait)
            if end is not None and time.monotonic() >= end and not _wait(self._descriptor, select.POLLIN, 0):
                return None

    def _read(self) -> bool:
        """Read the available bytes; return False if a message is complete."""
        while True:
            part = self._parts[self._part]
            while self._filled < len(part):
                try:
                    count = os.readv(self._descriptor, [part.data[self._filled : self._filled + _CHUNK]])
                except BlockingIOError:
                    return True
                if not count:
                    raise EOFError
                self._filled += count
                self._heard = time.monotonic()
            self._part, self._filled = self._part + 1, 0
            if self._part == len(self._parts) and not self._plan():
                return False

    def _plan(self) -> bool:
        """Allocate the buffer for the next part, after one has arrived; return False if the message is complete."""
        if self._stage == "head":
            mark, body, arrays = _HEAD.unpack(self._parts[0].tobytes())
            if mark != _MARK or body > MOST_BODY or arrays > MOST_ARRAYS:
                raise NotAMessage("the head of a message is wrong")
            self._body, self._arrays, self._stage = body, arrays, "sizes"
            self._parts.append(np.empty(_SIZE.size * arrays, np.uint8))
            return True
        if self._stage == "sizes":
            sizes = [size for (size,) in _SIZE.iter_unpack(self._parts[1].tobytes())]
            room = self._room() if sizes and self._room is not None else None
            if room is not None and sum(sizes) > room:
                raise NotAMessage(f"arrays of {thousands(sum(sizes))} bytes do not fit in memory")
            self._parts += [np.empty(self._body, np.uint8), *(np.empty(size, np.uint8) for size in sizes)]
            self._stage = "rest"
            return True
        return False

    def _take(self) -> Message:
        body, arrays = self._parts[2].tobytes(), self._parts[3:]
        self._begin()
        taken: set[int] = set()

        def array(code: int, data: memoryview) -> npt.NDArray[Any]:
            if code != _ARRAY:
                raise NotAMessage("an unknown extension")
            number, dtype, shape = msgspec.msgpack.decode(data, type=tuple[int, str, tuple[int, ...]])
            kind = np.dtype(dtype)
            if not 0 <= number < len(arrays) or number in taken or kind.kind not in _KINDS or len(shape) > 8:
                raise NotAMessage("a reference to a missing array")
            taken.add(number)
            return arrays[number].view(kind).reshape(shape)

        try:
            name, plain = msgspec.msgpack.decode(body, type=tuple[str, msgspec.Raw])
            if name not in self._kinds:
                raise NotAMessage(f"{name[:40]!r} is not expected here")
            decoder = msgspec.msgpack.Decoder(_TYPES[name], ext_hook=array)
            message: Message = decoder.decode(plain)
        except (ValueError, TypeError, RecursionError, OverflowError, MemoryError, GemmvizError) as error:
            raise NotAMessage(str(error) or type(error).__name__) from None
        return message
