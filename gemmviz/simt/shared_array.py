"""The form of a shared array, in a separate file: the window uses it without the reader of debug information."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SharedArray:
    """A ``__shared__`` array in the compiler's layout: name, offset in bytes from the anchor, shape, dtype."""

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
