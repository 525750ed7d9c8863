"""Sends results from a process in which a stranger's kernel ran: plain typed data of limited size, never a pickle.

A message is a token, the length of a JSON text, the text, and the bytes of its arrays. If the reader may read the
writer's memory, large arrays are not sent: the message has their addresses, or their places in the result memory that
the writer was given. The writer has no part in that memory any longer when such a message is sent. Without the token a
message is refused. Its content can only affect results of this kernel, and is checked when it is read.
"""

import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import ml_dtypes  # registers bfloat16 and 8-bit floats with NumPy
import numpy as np
import numpy.typing as npt

from gemmviz.sandbox import libc, result_memory
from gemmviz.sandbox.result_memory import ResultMemory

TOKEN_BYTES = 16
_MOST_TEXT = 64 << 20
_CHUNK = 1 << 22
_LARGE, _AT_ONCE = 1 << 16, 1 << 30
_HEAD = struct.Struct("<QQ")
_OURS = {
    kind.name: kind for kind in map(np.dtype, (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
}
Classes = Mapping[str, type]


class Malformed(Exception):
    """The received bytes are not a valid message."""


class Memory:
    """The memory of another process, for reading.

    Parameters
    ----------
    process
        The number of a process that this one may read: see process_vm_readv(2).
    """

    def __init__(self, process: int) -> None:
        self._process = process

    def read(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        """Return a copy of `size` bytes.

        Raises
        ------
        OSError
            When there is no such memory, or Linux allows no process to read it.
        """
        found = np.empty(size, np.uint8)
        at = 0
        while at < size:
            at += libc.read_memory(self._process, address + at, found.ctypes.data + at, min(size - at, _AT_ONCE))
        return found


def send(descriptor: int, token: bytes, value: Any, readable: bool = False) -> None:
    """Send a value: texts, numbers, None, lists, tuples, dictionaries, dataclasses, arrays and exceptions of them.

    Parameters
    ----------
    descriptor
        The descriptor to write to.
    token
        The token with which the message begins.
    value
        The data to send. It must not change until it was received. Its arrays in result memory are lost then.
    readable
        Whether the reader may read this process's memory.

    Raises
    ------
    OSError
        When the other end has closed.
    """
    parts = _Parts(readable)
    text = json.dumps(_packed(value, parts)).encode()
    if parts.from_result:
        result_memory.hand_over()
    _write(descriptor, memoryview(token + _HEAD.pack(len(text), sum(a.nbytes for a in parts.arrays)) + text))
    for array in parts.arrays:
        if array.nbytes:
            _write(descriptor, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def receive(
    descriptor: int,
    token: bytes,
    classes: Classes,
    most: int,
    memory: Memory | None = None,
    left: ResultMemory | None = None,
) -> Any:
    """Receive a value.

    Parameters
    ----------
    descriptor
        The descriptor to read from.
    token
        The token with which a message must begin.
    classes
        The dataclasses and exceptions that may be in it, by name.
    most
        The largest number of bytes of arrays.
    memory
        The writer's memory, if it may be read.
    left
        The result memory that the writer was given.

    Raises
    ------
    EOFError
        When the other end has closed.
    Malformed
        For anything that `send` does not send.
    """
    head = _read(descriptor, TOKEN_BYTES + _HEAD.size)
    length, nbytes = _HEAD.unpack(head[TOKEN_BYTES:].tobytes())
    if head[:TOKEN_BYTES].tobytes() != token or length > _MOST_TEXT or nbytes > most:
        raise Malformed
    text = _read(descriptor, length).tobytes()
    body = _read(descriptor, nbytes)
    try:
        return _Unpacking(classes, body, most, memory, left).value(json.loads(text))
    except Malformed:
        raise
    except Exception:
        raise Malformed from None


@dataclass
class _Parts:
    """What a message needs beside its text.

    `readable`: whether its reader may read this process; `arrays`: those that are sent; `from_result`: whether it has
    some that were in result memory.
    """

    readable: bool
    arrays: list[npt.NDArray[Any]] = field(default_factory=list)
    from_result: bool = False


def _packed(value: Any, parts: _Parts) -> Any:
    def inner(part: Any) -> Any:
        return _packed(part, parts)

    match value:
        case None | bool() | str():
            return value
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return {"float": float(value).hex()}
        case np.bool_():
            return bool(value)
        case list():
            return [inner(part) for part in value]
        case tuple():
            return {"tuple": [inner(part) for part in value]}
        case dict():
            return {"dict": [[inner(key), inner(part)] for key, part in value.items()]}
        case np.ndarray():
            described = {"dtype": _described(value.dtype), "shape": list(value.shape)}
            large, inside = value.nbytes >= _LARGE and value.flags.c_contiguous, result_memory.holds(value)
            parts.from_result |= inside
            place = result_memory.place(value) if large else None
            if place is not None:
                return {"array": described | {"place": place}}
            if large and parts.readable and not inside:
                return {"array": described | {"address": value.ctypes.data}}
            parts.arrays.append(value.copy() if inside else value)
            return {"array": described}
        case BaseException():
            known = {key: inner(part) for key, part in vars(value).items() if isinstance(part, str | int | None)}
            return {"error": type(value).__name__, "text": str(value), "fields": known}
    if is_dataclass(value):
        return {"class": type(value).__name__, "fields": {f.name: inner(getattr(value, f.name)) for f in fields(value)}}
    raise TypeError(f"{type(value).__name__} cannot be sent")


class _Unpacking:
    def __init__(
        self,
        classes: Classes,
        body: npt.NDArray[np.uint8],
        most: int,
        memory: Memory | None,
        left: ResultMemory | None,
    ) -> None:
        self._classes = classes
        self._body = body
        self._most = most
        self._memory = memory
        self._left = left
        self._used = 0

    def value(self, plain: Any) -> Any:
        match plain:
            case None | bool() | str() | int():
                return plain
            case list():
                return [self.value(part) for part in plain]
            case {"float": str(text)}:
                return float.fromhex(text)
            case {"tuple": list(parts)}:
                return tuple(self.value(part) for part in parts)
            case {"dict": list(pairs)}:
                return {self.value(key): self.value(part) for key, part in pairs}
            case {"array": {"dtype": dtype, "shape": list(shape), "address": int(address)}}:
                return self._array(_dtype(dtype), shape, address)
            case {"array": {"dtype": dtype, "shape": list(shape), "place": int(place)}}:
                return self._array(_dtype(dtype), shape, place=place)
            case {"array": {"dtype": dtype, "shape": list(shape)}}:
                return self._array(_dtype(dtype), shape)
            case {"error": str(name), "text": str(text), "fields": dict(known)}:
                return self._error(self._classes[name], text, known)
            case {"class": str(name), "fields": dict(known)}:
                return self._classes[name](**{key: self.value(part) for key, part in known.items()})
        raise Malformed

    def _array(
        self, dtype: np.dtype[Any], shape: Sequence[int], address: int | None = None, place: int | None = None
    ) -> npt.NDArray[Any]:
        if not all(isinstance(n, int) and n >= 0 for n in shape):
            raise Malformed
        nbytes = dtype.itemsize * math.prod(shape)
        self._most -= nbytes
        if self._most < 0:
            raise Malformed
        if place is not None:
            if self._left is None:
                raise Malformed
            return self._left.array(place, nbytes).view(dtype).reshape(shape)
        if address is not None:
            if self._memory is None:
                raise Malformed
            return self._memory.read(address, nbytes).view(dtype).reshape(shape)
        start, self._used = self._used, self._used + nbytes
        if self._used > len(self._body):
            raise Malformed
        # Its address in the message need not be a multiple of its size.
        return self._body[start : self._used].copy().view(dtype).reshape(shape)

    def _error(self, kind: type, text: str, known: Mapping[str, Any]) -> BaseException:
        if not issubclass(kind, Exception):
            raise Malformed
        error: Exception = kind.__new__(kind, text)
        error.args = (text,)
        for key, part in known.items():
            if not isinstance(part, str | int | None):
                raise Malformed
            setattr(error, key, part)
        return error


def _described(dtype: np.dtype[Any]) -> Any:
    if dtype.names:
        return [[name, dtype[name].str] for name in dtype.names]
    return dtype.name if dtype.name in _OURS else dtype.str


def _dtype(plain: Any) -> np.dtype[Any]:
    if isinstance(plain, list):
        return np.dtype([(str(name), _simple(kind, "V")) for name, kind in plain])
    return _simple(plain)


def _simple(plain: Any, padding: str = "") -> np.dtype[Any]:
    dtype = _OURS.get(plain) or np.dtype(str(plain))
    if dtype.kind not in "biuf" + padding and dtype not in _OURS.values():
        raise Malformed
    return dtype


def _write(descriptor: int, part: memoryview) -> None:
    while len(part):
        part = part[os.write(descriptor, part[:_CHUNK]) :]


def _read(descriptor: int, size: int) -> npt.NDArray[np.uint8]:
    found = np.empty(size, np.uint8)
    left = found.data
    while len(left):
        count = os.readv(descriptor, [left[:_CHUNK]])
        if not count:
            raise EOFError
        left = left[count:]
    return found
