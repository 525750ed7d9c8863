"""The picture that shows a kernel's idea best, as its front matter names it: the document's own, where it has one."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from gemmviz.catalogue import moment
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.moment import Moment
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.switches import Size

KEYS = frozenset(("size", "params", "block", "thread", "stop"))
_EXAMPLE = "demo = { size = 8, params = { TS = 4 } }"


@dataclass(frozen=True)
class Demo:
    """What to open a kernel at.

    Attributes
    ----------
    size
        (M, N, K).
    params
        Values of the kernel's parameters; those left out have their defaults.
    block, thread
        Whose work is looked at: (x, y) of the block in the grid, and of the thread in the block. None: nobody's.
    stop
        At which moment of the recording, in the form of a lesson's ``at``; None: at its beginning.
    """

    size: Size
    params: dict[str, int] = field(default_factory=dict)
    block: tuple[int, int] | None = None
    thread: tuple[int, int] | None = None
    stop: Moment | None = None

    def to_plain(self) -> Plain:
        """Return the demo as plain data, in the words of the front matter; what it does not say is left out."""
        plain = {"size": list(self.size), "params": self.params, "stop": self.stop and dict(self.stop)}
        pairs = {"block": self.block and list(self.block), "thread": self.thread and list(self.thread)}
        return {key: value for key, value in (plain | pairs).items() if value is not None and value != {}}


def read_demo(value: object, params: Collection[str], newer: bool = False) -> tuple[Demo, list[str]]:
    """Read a demo of the front matter.

    Parameters
    ----------
    value
        What stands behind ``demo =``.
    params
        The names of the kernel's parameters.
    newer
        Whether the file is written for a version that is not known here: a stop that is not understood is left out.

    Returns
    -------
    tuple
        The demo, and the keys in it that are unknown here.

    Raises
    ------
    FrontMatterError
        When it is not as `Demo` says.
    """
    if not isinstance(value, dict):
        raise FrontMatterError(f"demo must be a table, for example {_EXAMPLE}")
    settings = value.get("params", {})
    if not isinstance(settings, dict) or not all(type(number) is int for number in settings.values()):
        raise FrontMatterError(f"demo.params must give whole numbers, for example {_EXAMPLE}")
    if strange := sorted(settings.keys() - set(params)):
        known = ", ".join(params) or "none"
        raise FrontMatterError(f"demo.params names {strange[0]!r}; the kernel's parameters are: {known}")
    stop, unknown = value.get("stop"), sorted(value.keys() - KEYS)
    try:
        stop = None if stop is None else moment.checked(stop)
    except GemmvizError as error:
        if not newer:
            raise FrontMatterError(f"demo.stop is written as a lesson's at: {error}") from None
        stop, unknown = None, [*unknown, "stop"]
    block, thread = (_pair(value, key) for key in ("block", "thread"))
    return Demo(_size(value.get("size")), dict(settings), block, thread, stop), unknown


def _size(value: object) -> Size:
    sides: list[Any] = value if isinstance(value, list) else [value] * 3
    if len(sides) != 3 or not all(type(side) is int and side > 0 for side in sides):
        raise FrontMatterError("demo.size must be one whole number, or [M, N, K], for example demo = { size = 8 }")
    m, n, k = sides
    return m, n, k


def _pair(table: Plain, key: str) -> tuple[int, int] | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(type(one) is int and one >= 0 for one in value):
        raise FrontMatterError(f"demo.{key} must be two whole numbers from 0, for example demo = {{ {key} = [1, 0] }}")
    return value[0], value[1]
