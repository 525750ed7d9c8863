"""The parts of a snapshot, with the limits that are checked when it is read.

``docs/schemas.py`` publishes it as ``resources/schema/state-1.json``.
"""

from typing import Annotated, NotRequired, Required, TypedDict

from msgspec import Meta

from gemmviz.catalogue.problem import Side
from gemmviz.catalogue.typed_reading import FromOne, FromZero
from gemmviz.language import Language
from gemmviz.session.models.preferences import ThemeName, TypeScale
from gemmviz.trace.order.progress import Pace
from gemmviz.trace.order.stepping_units import Unit
from gemmviz.trace.order.timeline import Order

ZOOMS, FURTHEST_SHIFT = (0.1, 100.0), 100.0
"""The limits of a view's zoom and shift (in widths of the stage)."""
Size = Annotated[list[Side], Meta(min_length=3, max_length=3, description="M, N, K")]
AsWritten = Annotated[
    bool,
    Meta(description="Whether every access that the text names is recorded; without it, or false: as compiled"),
]
Shift = Annotated[float, Meta(ge=-FURTHEST_SHIFT, le=FURTHEST_SHIFT)]


class KernelFields(TypedDict, total=False):
    """A shipped kernel by its name, or another kernel by its file; and its text, if it is edited or not shipped."""

    name: str
    path: str
    text: str


class BesideFields(TypedDict):
    """The second of two kernels, and the unit that keeps both in step."""

    kernel: str
    pace: NotRequired[Pace]


class StopFields(TypedDict, total=False):
    """One of the user's own stops."""

    step: Required[FromOne]
    say: str
    cell: Annotated[
        list[FromZero],
        Meta(min_length=2, max_length=2, description="Index of the array, and of the element in memory order"),
    ]
    block: FromZero
    warp: FromZero
    panel: str
    size: Size
    params: dict[str, int]
    order: Order
    as_written: AsWritten


class ViewFields(TypedDict, total=False):
    """The window: the shown page and panel; the stage's zoom, and its shift in widths of the stage."""

    page: str
    panel: str
    zoom: Annotated[float, Meta(ge=ZOOMS[0], le=ZOOMS[1])]
    shift: Annotated[list[Shift], Meta(min_length=2, max_length=2)]


class Snapshot(TypedDict, total=False):
    """The state of the screen. Steps are counted from 1."""

    kernel: KernelFields
    breaks: Annotated[list[str], Meta(description="Ids of the changes that were made")]
    size: Size
    params: dict[str, int]
    order: Annotated[Order, Meta(description="Blocks move together, or one after another")]
    as_written: AsWritten
    speed: float
    unit: Annotated[Unit, Meta(description="How far an arrow key goes")]
    loop: Annotated[bool, Meta(description="Whether playing starts again at the end")]
    theme: ThemeName
    language: Language
    type_scale: TypeScale
    calm: Annotated[bool, Meta(description="Reduced motion")]
    beside: Annotated[BesideFields | None, Meta(description="The second of two kernels; null: none")]
    stops: Annotated[list[StopFields], Meta(description="One's own stops on this kernel")]
    view: ViewFields
    step: FromOne
    loop_range: Annotated[
        Annotated[list[FromOne], Meta(min_length=2, max_length=2)] | None,
        Meta(description="First and last step that are played; null: all"),
    ]
    block: Annotated[list[FromZero], Meta(min_length=1, max_length=3, description="blockIdx x, y, z")]
    warp: FromZero
    lane: FromZero
    frozen: Annotated[bool, Meta(description="Whether the warp is frozen")]
    cell: Annotated[
        tuple[str, FromZero, FromZero] | None, Meta(description="Array, row and column, from 0; null: none")
    ]
