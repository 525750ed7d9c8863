"""The start picture of a kernel, from its front matter: the picture of its document, where that has one."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from msgspec import Meta

from gemmviz.catalogue import moment
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.front_matter import read_table
from gemmviz.catalogue.lens_names import LENSES, LensName
from gemmviz.catalogue.moment import Moment
from gemmviz.catalogue.switches import Size
from gemmviz.catalogue.typed_reading import FromOne, FromZero
from gemmviz.language import tr

_EXAMPLE = "demo = { size = 8, params = { TS = 4 } }"


def _wanted() -> dict[str, str]:
    return {
        "size": tr("must be one whole number, or [M, N, K], for example {example}", example="demo = { size = 8 }"),
        "params": tr("must give whole numbers, for example {example}", example=_EXAMPLE),
        "block": tr("must be two whole numbers from 0, for example {example}", example="demo = { block = [1, 0] }"),
        "thread": tr("must be two whole numbers from 0, for example {example}", example="demo = { thread = [1, 0] }"),
        "lens": tr(
            "must be one of {known}, for example {example}",
            known=", ".join(LENSES),
            example='demo = { lens = "banks" }',
        ),
    }


class _DemoTable(TypedDict, total=False):
    size: FromOne | Annotated[list[FromOne], Meta(min_length=3, max_length=3)]
    params: dict[str, int]
    block: tuple[FromZero, FromZero]
    thread: tuple[FromZero, FromZero]
    stop: object
    lens: LensName


KEYS = _DemoTable.__annotations__.keys()


@dataclass(frozen=True)
class Demo:
    """The size, the parameters, the moment and the lens with which the window opens a kernel.

    Attributes
    ----------
    size
        (M, N, K).
    params
        Values of the kernel's parameters; those left out have their defaults.
    block, thread
        The block and the thread to look at: (x, y) in the grid, and in the block. None: none.
    stop
        The moment of the recording, in the form of a lesson's ``at``; None: its beginning.
    lens
        The lens that shows the kernel's idea; None: the tiles themselves do.
    """

    size: Size
    params: dict[str, int] = field(default_factory=dict)
    block: tuple[int, int] | None = None
    thread: tuple[int, int] | None = None
    stop: Moment | None = None
    lens: LensName | None = None

    def to_plain(self) -> dict[str, object]:
        """Return the demo as plain data, with the keys of the front matter; keys without a value are left out."""
        plain = {"size": list(self.size), "params": self.params, "stop": self.stop and dict(self.stop)}
        pairs = {
            "lens": self.lens,
            "block": self.block and list(self.block),
            "thread": self.thread and list(self.thread),
        }
        return {key: value for key, value in (plain | pairs).items() if value is not None and value != {}}


def read_demo(value: object, params: Collection[str], newer: bool = False) -> tuple[Demo, list[str]]:
    """Read a demo of the front matter.

    Parameters
    ----------
    value
        The value of ``demo``.
    params
        The names of the kernel's parameters.
    newer
        Whether the file is written for a newer version: a stop that does not fit is then left out.

    Returns
    -------
    tuple
        The demo, and the keys in it that are unknown here.

    Raises
    ------
    FrontMatterError
        When it does not fit `Demo`.
    """
    if not isinstance(value, dict):
        raise FrontMatterError(tr("demo must be a table, for example {example}", example=_EXAMPLE), about="demo")
    table = read_table({"size": None} | value, _DemoTable, _wanted, "demo.")
    settings, size = table.get("params", {}), table["size"]
    if strange := sorted(settings.keys() - set(params)):
        text = tr(
            "demo.params names {name}; the kernel's parameters are: {known}",
            name=repr(strange[0]),
            known=", ".join(params) or "-",
        )
        raise FrontMatterError(text, about="demo")
    stop, unknown = value.get("stop"), sorted(value.keys() - KEYS)
    try:
        stop = None if stop is None else moment.checked(stop)
    except GemmvizError as error:
        if not newer:
            text = tr("demo.stop is written as a lesson's at: {reason}", reason=error)
            raise FrontMatterError(text, about="demo") from None
        stop, unknown = None, [*unknown, "stop"]
    m, n, k = size if isinstance(size, list) else (size, size, size)
    return Demo((m, n, k), settings, table.get("block"), table.get("thread"), stop, table.get("lens")), unknown


def not_found(demo: Demo | None, text: str, file: str) -> tuple[str, ...]:
    """Return a sentence for people if the line of the demo's stop is not in the kernel's text.

    Parameters
    ----------
    demo
        The demo, or None.
    text
        The kernel's whole text.
    file
        The file's name.
    """
    stop = demo.stop if demo is not None else None
    if stop is None or "line" not in stop:
        return ()
    try:
        moment.line_of(stop["line"], text)
    except GemmvizError as error:
        return (tr("{file}: the demo's step is not found: {reason}.", file=file, reason=error),)
    return ()
