"""What a snapshot holds, part by part, as ``resources/schema/state-1.json`` publishes it."""

from typing import NotRequired, Required, TypedDict

from gemmviz.trace.order.progress import Pace
from gemmviz.trace.order.timeline import Order


class KernelSaid(TypedDict, total=False):
    """A kernel by its name, or by the path of its file; and its text, where that is another than on file."""

    name: str
    path: str
    text: str


class BesideSaid(TypedDict):
    """The second of two rungs, and what both are in step by."""

    kernel: str
    pace: NotRequired[Pace]


class StopSaid(TypedDict, total=False):
    """One of one's own stops; ``cell`` is (array index, element in memory order)."""

    step: Required[int]
    say: str
    cell: list[int]
    block: int
    warp: int
    panel: str
    size: list[int]
    params: dict[str, int]
    order: Order
    as_written: bool


class ViewSaid(TypedDict, total=False):
    """What the window adds: page and panel in sight; the stage's zoom, and its shift in widths of the stage."""

    page: str
    panel: str
    zoom: float
    shift: list[float]


class Snapshot(TypedDict, total=False):
    """What is on screen. Steps are counted from 1; ``cell`` is [array, row, column], ``block`` is blockIdx."""

    kernel: KernelSaid
    breaks: list[str]
    size: list[int]
    params: dict[str, int]
    order: Order
    as_written: bool
    speed: float
    unit: str
    loop: bool
    theme: str
    language: str
    type_scale: float
    calm: bool
    beside: BesideSaid | None
    stops: list[StopSaid]
    view: ViewSaid
    step: int
    loop_range: list[int] | None
    block: list[int]
    warp: int
    lane: int
    frozen: bool
    cell: list[str | int] | None
