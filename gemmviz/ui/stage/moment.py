"""Everything that a picture of the stage depends on, besides the recording, the theme and its size."""

from dataclasses import dataclass, field, replace

from gemmviz.trace.motion.gestures import Motion
from gemmviz.trace.origin.value_path import Hop
from gemmviz.ui.stage.view import View

_RINGED = 14.0  # pixels: smaller cells have no figures, and their rings would be thin


@dataclass(frozen=True)
class Moment:
    """The visible state of a recording.

    Attributes
    ----------
    step
        Position in the timeline, from 0.
    block, warp
        The block whose shared memory is shown, and the warp of the sectors and lanes.
    cell
        (array index, element in memory order) that is chosen.
    trail
        For how many steps an access glows.
    view
        Zoom and shift.
    outdated
        Whether the recording is of another text, size or parameters than those that are chosen now.
    in_doubt
        Whether other launches of the kernel are being tried, so that a wrong C is no verdict yet.
    frozen
        Whether the warp is frozen: all that it does not touch is dimmed.
    hop
        The way of a value to an element of C that is drawn; None: the ways that the step takes to the chosen element.
    fraction
        How far it is on the way to the next step, from 0 to less than 1.
    motion
        How much of the gestures is drawn.
    lane
        Of the chosen warp, whose products are shown.
    hovered
        The element of C under the pointer, counted by rows; None: none.
    idea
        The kernel's idea, which is the caption at the moment of its demo; empty elsewhere.
    """

    step: int = 0
    block: int = 0
    cell: tuple[int, int] | None = None
    trail: int = 4
    view: View = field(default_factory=View)
    warp: int = 0
    outdated: bool = False
    in_doubt: bool = False
    frozen: bool = False
    hop: Hop | None = None
    fraction: float = 0.0
    motion: Motion = "full"
    lane: int = 0
    hovered: int | None = None
    idea: str = ""

    def rings(self, cell: float) -> bool:
        """Say whether a written cell of this width has a ring and keeps its hue; otherwise all of it is amber."""
        return self.motion != "none" and cell >= _RINGED

    @property
    def judged(self) -> bool:
        """Whether the recorded C says something about the chosen kernel."""
        return not (self.outdated or self.in_doubt)

    def at_rest(self) -> "Moment":
        """Return the moment of the same step for what neither moves nor is a caption."""
        # Where there are gestures, there are pads.
        return replace(self, fraction=0.0, idea="", motion="none" if self.motion == "none" else "full")


@dataclass(frozen=True)
class Late:
    """The moments that slow parts of the stage show while a recording plays: now, or some frames ago.

    Attributes
    ----------
    lens, words
        The moments of the lens, and of the sentence.
    cells
        That of the arrays, which leave one frame to a slow lens; None: now.
    """

    lens: Moment
    words: Moment
    cells: Moment | None = None
