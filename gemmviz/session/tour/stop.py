"""A moment of a recording to stop at, and the setting in which its step was taken."""

from dataclasses import dataclass

from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.order.timeline import Order


@dataclass(frozen=True)
class Setting:
    """Size, parameters, order of the blocks and view: a step number has a meaning only with these."""

    problem: Problem
    params: tuple[tuple[str, int], ...]
    order: Order
    as_written: bool = False

    @classmethod
    def of(cls, problem: Problem, params: dict[str, int], order: Order, as_written: bool = False) -> "Setting":
        """Return the setting with its parameters in the order of their names."""
        return cls(problem, tuple(sorted(params.items())), order, as_written)


@dataclass(frozen=True)
class OwnStop:
    """A moment to stop at.

    Attributes
    ----------
    step
        Position in the timeline, from 0.
    say
        The sentence that is shown at the stop.
    cell
        (array index, element in memory order) to choose; None: no cell.
    block, warp
        The block and warp to choose, by their linear indices; None: unchanged.
    panel
        The tab of the inspector to show; None: unchanged.
    setting
        The size, parameters, order and view in which the step was taken; None: those of the tour.
    lane
        The lane of the warp to choose; None: unchanged.
    lens
        The lens that a lesson's stop shows; None: no lens.
    fraction
        The way to the next step that is over, from 0 to less than 1.
    """

    step: int
    say: str = ""
    cell: tuple[int, int] | None = None
    block: int | None = None
    warp: int | None = None
    panel: str | None = None
    setting: Setting | None = None
    lane: int | None = None
    lens: LensName | None = None
    fraction: float = 0.0
