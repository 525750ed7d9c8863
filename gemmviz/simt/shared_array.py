"""The form of a shared array, in a separate file: the window uses it without the reader of debug information."""

from dataclasses import dataclass

# Used in place of a dtype for an mbarrier of gemmviz/ptx.h, which holds no data.
BARRIER = "barrier"


@dataclass(frozen=True)
class SharedArray:
    """A ``__shared__`` array in the compiler's layout: name, offset in bytes from the anchor, shape, dtype.

    Of an array of packed panels, the shape is (panels, depth, width).
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    panels: bool = False
