"""The purpose of each step of a recording: load a tile, barrier, use, next.

The kind of a step follows from its array and from the path of its values: a read of global memory is part of a *copy*
if its value goes on to shared memory (see `gemmviz.trace.origin.staging`: exact for asynchronous copies, inferred for
others); otherwise it is a *direct* operand of a product. Tiles are distinguished along K only: accesses of A and B have
positions along K, and the copies, or uses, of a phase are within one tile. The kernel's parameters are not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.position_along_k import UNKNOWN, places_of_reads, ranges, read_together, usual
from gemmviz.trace.order.requests import Ints, changes
from gemmviz.trace.order.step_kinds import (
    COPY,
    DIRECT,
    KINDS,
    OTHER,
    RELOAD,
    STORE,
    USE,
    Followed,
    follow_copies,
    kinds_by_array,
)
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording

__all__ = ["COPY", "DIRECT", "KINDS", "OTHER", "RELOAD", "STORE", "USE", "Segment", "Segments", "Story", "story"]

_BINS = 1 << 14  # the largest number of parts of a recording that are counted: more than pixels of a screen


@dataclass(frozen=True)
class Segment:
    """Adjacent steps of one kind and tile: from `first` to `last`, inclusive.

    ``kind`` is one of `KINDS`, ``tile`` as in `Story.tiles`, ``phase`` the number of barriers before it.
    """

    first: int
    last: int
    kind: str
    tile: int
    phase: int


@dataclass(frozen=True)
class Story:
    """The purpose of each step of a recording.

    Attributes
    ----------
    kinds
        uint8 per step, an index into `KINDS`.
    tiles
        int64 per step, the K tile (k divided by `depth`) that a copy, use or direct read belongs to; -1: none.
    phases
        int64 per step, the number of barriers before it.
    barriers
        int64, sorted: the steps that follow a barrier.
    turns
        int64, sorted: the steps at which another block begins, if blocks run one after another; the first is 0.
    depth
        Elements of a tile along K; 0 for a kernel without tiles, in which each thread goes along K by itself.
    places
        int64 per step, the position along K of its first element; negative: unknown.
    """

    kinds: npt.NDArray[np.uint8]
    tiles: Ints
    phases: Ints
    barriers: Ints
    turns: Ints
    depth: int
    places: Ints

    @cached_property
    def starts(self) -> Ints:
        """The first step of each segment, sorted."""
        begins = np.zeros(len(self.kinds), bool)
        begins[self.turns] = True
        begins[changes(self.kinds, self.tiles, self.phases)] = True
        return np.flatnonzero(begins)

    @property
    def segments(self) -> "Segments":
        """The segments in order; each one is made on demand."""
        return Segments(self)

    def segment_at(self, step: int) -> Segment:
        """Return the segment of a step.

        Raises
        ------
        IndexError
            When there is no such step.
        """
        if not 0 <= step < len(self.kinds):
            raise IndexError(step)
        return self.segments[int(np.searchsorted(self.starts, step, side="right")) - 1]

    @cached_property
    def tile_starts(self) -> Ints:
        """The steps at which a tile is first accessed (by each block, if blocks run one after another), sorted."""
        return self._spans(self._of(None))[:, 1]

    @cached_property
    def spans(self) -> tuple[Ints, ...]:
        """Per kind, int64 (tiles, 4): a tile, the first and the last of its steps of that kind, and their number.

        Sorted by the first steps; if blocks run one after another, a tile has a span for each block. If a tile is
        copied while another one is used, the span of the copy includes the steps of that use: the copy is in flight.
        """
        return tuple(self._spans(self._of(kind)) for kind in range(len(KINDS)))

    def _of(self, kind: int | None) -> Ints:
        """Return the steps that belong to a tile, of one kind or of all kinds."""
        if not self.depth:
            return np.zeros(0, np.int64)  # without reading the millions of steps of a CPU's loops
        belongs = self.tiles >= 0
        return np.flatnonzero(belongs if kind is None else belongs & (self.kinds == kind))

    def _spans(self, steps: Ints) -> Ints:
        """Return the tiles of steps, each with its first step, its last step, and the number of steps."""
        if not len(steps):
            return np.zeros((0, 4), np.int64)
        turn = np.searchsorted(self.turns, steps, side="right")
        key = turn * (int(self.tiles.max()) + 1) + self.tiles[steps]
        _, at, count = np.unique(key, return_index=True, return_counts=True)
        last = len(steps) - 1 - np.unique(key[::-1], return_index=True)[1]
        found = np.stack([self.tiles[steps[at]], steps[at], steps[last], count], axis=1)
        return found[np.argsort(found[:, 1], kind="stable")]

    @cached_property
    def _counts(self) -> Ints:
        """Steps of each kind in each of up to `_BINS` equal parts of the recording: int64 (parts, kinds)."""
        parts = min(len(self.kinds), _BINS)
        part = np.arange(len(self.kinds)) * parts // max(len(self.kinds), 1)
        flat = np.bincount(part * len(KINDS) + self.kinds, minlength=parts * len(KINDS))
        return flat.reshape(parts, len(KINDS))

    @cached_property
    def occurs(self) -> npt.NDArray[np.bool_]:
        """Per kind, whether the recording has such a step."""
        found: npt.NDArray[np.bool_] = self._counts.sum(axis=0) > 0
        return found

    def shares(self, parts: int) -> npt.NDArray[np.float64]:
        """Return the share (0 to 1) of each kind among the steps of equal parts of the recording: (parts, kinds).

        A part that is shorter than a step has the kind of its step.
        """
        counts = self._counts
        edges = np.arange(parts + 1) * len(counts) // parts
        before = np.concatenate([np.zeros((1, len(KINDS)), np.int64), np.cumsum(counts, axis=0)])
        inside = before[np.maximum(edges[1:], edges[:-1] + 1)] - before[edges[:-1]]
        found: npt.NDArray[np.float64] = inside / inside.sum(axis=1, keepdims=True)
        return found

    def prepare(self) -> "Story":
        """Compute everything that is otherwise computed on demand, and return self."""
        _ = self.starts, self.tile_starts, self.spans, self.occurs
        return self


class Segments(Sequence[Segment]):
    """The segments of a story. A CPU makes one access per step, so there may be millions: none is kept."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def __len__(self) -> int:
        return len(self._story.starts)

    @overload
    def __getitem__(self, index: int) -> Segment: ...

    @overload
    def __getitem__(self, index: slice) -> list[Segment]: ...

    def __getitem__(self, index: int | slice) -> Segment | list[Segment]:
        """Return a segment by its number, from 0 or from the end (-1), or several."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        story, starts = self._story, self._story.starts
        at = range(len(starts))[index]
        first = int(starts[at])
        last = int(starts[at + 1]) - 1 if at + 1 < len(starts) else len(story.kinds) - 1
        return Segment(first, last, KINDS[story.kinds[first]], int(story.tiles[first]), int(story.phases[first]))


def story(playable: Followed) -> Story:
    """Return the purpose of each step of a recording.

    Parameters
    ----------
    playable
        The recording and timeline are used; with shared memory also `staged` and `history`.
    """
    recording, timeline = playable.recording, playable.timeline
    kinds = kinds_by_array(recording, timeline)
    place = np.full(timeline.steps, UNKNOWN, np.int64)  # position along K of the first element of a step
    if timeline.steps and any(a.space == "shared" for a in recording.arrays):
        copied = follow_copies(playable, kinds, place)
        used = ranges(timeline.phase[kinds == USE], place[kinds == USE])
        depth = _depth(usual(copied), usual(used))
    else:
        depth = 0
    if not depth:
        depth = read_together(recording, timeline, np.flatnonzero(kinds == DIRECT))
    if depth:
        places_of_reads(recording, timeline, np.flatnonzero((kinds == COPY) | (kinds == DIRECT)), place)
    tiles = np.where(place >= 0, place // depth, -1) if depth else np.full(timeline.steps, -1, np.int64)
    turns = _turns(recording, timeline)
    return Story(kinds, tiles, timeline.phase, _barriers(timeline, turns), turns, depth, place)


def _depth(copied: int, used: int) -> int:
    """Return the depth of a tile: the usual length of copies, and of uses, from one barrier to the next.

    Several tiles may be copied at once before a loop. For a fragment only its first position is known, so that uses
    alone do not give a depth.
    """
    return used if not copied or (used > 1 and copied % used == 0) else copied


def _turns(recording: Recording, timeline: Timeline) -> Ints:
    if not timeline.steps or timeline.order_by != "block":
        return np.zeros(min(timeline.steps, 1), np.int64)
    return changes(recording.accesses.block[timeline.order[timeline.start[:-1]]])


def _barriers(timeline: Timeline, turns: Ints) -> Ints:
    """Return the steps in another phase than the previous step; the first step of a block is not after a barrier."""
    return np.setdiff1d(changes(timeline.phase), turns, assume_unique=True)
