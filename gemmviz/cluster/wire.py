"""Messages as bytes: MessagePack with the name of the type, checked against the type when they are read.

Nothing in the bytes is executed, and no other type can result: see `gemmviz.engine.framing`, which does the same for a
pipe. These messages have no arrays.
"""

from typing import Any, TypeVar

import msgspec
import numpy as np

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language.numbers import thousands

Made = TypeVar("Made")
MOST_BYTES = 1 << 28
"""The longest message, in bytes."""


class NotAMessage(Exception):
    """The bytes are not a message of an expected type."""


def pack(message: object) -> bytes:
    """Return a dataclass of texts, numbers, bytes, lists and dictionaries as bytes.

    Raises
    ------
    TypeError
        For other data, or if it is longer than `MOST_BYTES`.
    """
    body = msgspec.msgpack.encode([type(message).__name__, message], enc_hook=_number)
    if len(body) > MOST_BYTES:
        raise TypeError(f"a message of {thousands(len(body))} bytes is too long")
    return body


def _number(found: object) -> Any:
    if isinstance(found, np.generic):
        return found.item()
    raise TypeError(f"a message cannot hold {type(found).__name__}")


def unpack(body: bytes, kinds: tuple[type[Made], ...]) -> Made:
    """Return the message in some bytes.

    Parameters
    ----------
    body
        From `pack`.
    kinds
        The types that may result.

    Raises
    ------
    NotAMessage
        When the bytes are no message of these types.
    """
    if len(body) > MOST_BYTES:
        raise NotAMessage("it is too long")
    try:
        name, plain = msgspec.msgpack.decode(body, type=tuple[str, msgspec.Raw])
        kind = next((kind for kind in kinds if kind.__name__ == name), None)
        if kind is None:
            raise NotAMessage(f"{name[:40]!r} is not expected here")
        return msgspec.msgpack.decode(plain, type=kind)
    except (ValueError, TypeError, RecursionError, OverflowError, MemoryError, GemmvizError) as error:
        raise NotAMessage(str(error) or type(error).__name__) from None
