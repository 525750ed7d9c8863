"""A recording with all data that its picture needs, step by step."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import C
from gemmviz.trace.cost.memory_levels import Levels, levels
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.hazards.out_of_bounds import OutOfBounds, out_of_bounds
from gemmviz.trace.hopper.async_copies import AsyncCopies, async_copies
from gemmviz.trace.hopper.mbarrier_state import MbarrierStates, mbarrier_states
from gemmviz.trace.hopper.warpgroups import Warpgroups, warpgroups
from gemmviz.trace.motion.live_sums import LiveSums, live_sums
from gemmviz.trace.motion.products import AddedProducts, added_products
from gemmviz.trace.order.participation import Participation, participation
from gemmviz.trace.order.progress import RecordingProgress, progress
from gemmviz.trace.order.story import Story, story
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.array_state import History, history, shared_source
from gemmviz.trace.origin.provenance import Provenance
from gemmviz.trace.origin.staging import Staged, feeding, staged
from gemmviz.trace.origin.stale_reads import StaleReads, stale_reads
from gemmviz.trace.recording.recording import WARP, Recording


@dataclass(frozen=True)
class Playable:
    """A recording with all data that the stage needs, computed once (outside the window's thread)."""

    recording: Recording
    timeline: Timeline
    traffic: Traffic

    @cached_property
    def history(self) -> History:
        """The contents of each array at each step."""
        return history(self.recording, self.timeline)

    @cached_property
    def staged(self) -> Staged:
        """Every element that is written to memory, with the read of its value."""
        return staged(self.recording)

    @cached_property
    def source(self) -> npt.NDArray[np.int64]:
        """Per row that writes shared memory, the row that read the value from global memory; -1 otherwise."""
        return shared_source(self.recording, self.staged)

    @cached_property
    def feeding(self) -> dict[int, list[int]]:
        """For A and B, the shared arrays that ever hold their values."""
        return feeding(self.recording, self.staged)

    @cached_property
    def fills_shared(self) -> bool:
        """Whether any value is copied from global to shared memory."""
        return bool((self.source >= 0).any())

    @cached_property
    def provenance(self) -> Provenance:
        """The origin of elements of C, and the accesses to a cell."""
        return Provenance(self.recording, self.timeline, self.history, self.staged)

    @cached_property
    def products(self) -> AddedProducts | None:
        """Every product that is added to an element of C; None if the recording is too large."""
        return added_products(self.provenance)

    @cached_property
    def live_sums(self) -> LiveSums | None:
        """The running sums of C in registers; None if they are not known."""
        return live_sums(self.recording, self.timeline.steps, self.products)

    @cached_property
    def recording_progress(self) -> RecordingProgress:
        """The progress at each step, to play two recordings in step (not prepared: only a comparison needs it)."""
        return progress(self.recording, self.timeline, self.traffic, self.staged)

    @cached_property
    def story(self) -> Story:
        """The purpose of each step: load a tile, barrier, use, next."""
        return story(self)

    @cached_property
    def async_copies(self) -> AsyncCopies:
        """The steps during which each asynchronous copy is in flight."""
        return async_copies(self.recording, self.timeline)

    @cached_property
    def mbarrier_states(self) -> MbarrierStates:
        """The state of each mbarrier at each step."""
        return mbarrier_states(self.recording, self.timeline)

    @cached_property
    def warpgroups(self) -> Warpgroups:
        """Which warpgroup holds which sums of C, if warpgroups multiply."""
        return warpgroups(self.recording, self.timeline)

    @cached_property
    def participation(self) -> Participation:
        """The number of blocks and warps that are active in each step."""
        return participation(self.recording, self.timeline)

    @cached_property
    def out_of_bounds(self) -> OutOfBounds:
        """The threads that are absent from each step because they accessed memory out of bounds."""
        return out_of_bounds(self.recording, self.timeline)

    @cached_property
    def levels(self) -> Levels:
        """Traffic, reuse and arithmetic intensity per level of memory."""
        return levels(self.recording, self.traffic)

    @cached_property
    def first_write(self) -> npt.NDArray[np.int64]:
        """Per element of C, in memory order, the step that first writes it; the number of steps if none does."""
        log = self.recording.accesses
        rows = np.flatnonzero((log.array == C) & log.write)
        first = np.full(self.recording.arrays[C].size, self.timeline.steps, np.int64)
        position, element = self.recording.elements(rows)
        np.minimum.at(first, element, self.timeline.step_of_row[rows[position]])
        return first

    @cached_property
    def first_writes(self) -> npt.NDArray[np.int64]:
        """`first_write` of all elements, ascending."""
        return np.sort(self.first_write)

    @cached_property
    def wrong_from(self) -> npt.NDArray[np.int64]:
        """Per element of C (m x n), the step from which its value is wrong until the end; the number of steps if right.

        An element that is never written counts as wrong from the last step on, unless it belongs to other blocks.
        """
        recording, steps = self.recording, self.timeline.steps
        info, log = recording.arrays[C], recording.accesses
        rows = np.flatnonzero((log.array == C) & log.write)
        position, element = recording.elements(rows)
        last = np.full(info.size, -1, np.int64)
        np.maximum.at(last, element, self.timeline.step_of_row[rows[position]])
        at = np.full(info.shape, -1, np.int64)
        at[info.cells(np.arange(info.size))] = last
        wrong = ~(recording.c == recording.product)
        if recording.scope is not None:
            wrong &= at >= 0
        from_step: npt.NDArray[np.int64] = np.where(wrong, np.where(at >= 0, at, steps - 1), steps)
        return from_step

    @cached_property
    def _wrong_in_order(self) -> npt.NDArray[np.int64]:
        """`wrong_from` of all elements, ascending."""
        found: npt.NDArray[np.int64] = np.sort(self.wrong_from, axis=None)
        return found

    def wrong_at(self, step: int) -> int:
        """Return the number of elements of C whose value is wrong from a step until the end."""
        return int(np.searchsorted(self._wrong_in_order, step, side="right")) if self.recording.wrong else 0

    @cached_property
    def moved_bytes(self) -> npt.NDArray[np.int64]:
        """Per step, bytes moved between the kernel and global memory up to and with it, in whole sectors."""
        is_global = [a.space == "global" for a in self.recording.arrays]
        sectors: npt.NDArray[np.int64] = self.traffic.running[..., 2][:, is_global].sum(axis=(1, 2))
        return sectors * SECTOR_BYTES

    @cached_property
    def _block_steps(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Sorted (block, step) of every access as one number, and the beginning of each block in this list."""
        blocks = self.recording.blocks
        key = np.sort(self.recording.accesses.block.astype(np.int64) * self.timeline.steps + self.timeline.step_of_row)
        return key, np.searchsorted(key, np.arange(blocks + 1) * self.timeline.steps)

    def progress(self, step: int) -> npt.NDArray[np.float64]:
        """Return, per block, the share of its accesses (0 to 1) up to a step."""
        key, start = self._block_steps
        done = np.searchsorted(key, np.arange(self.recording.blocks) * self.timeline.steps + step, side="right")
        share: npt.NDArray[np.float64] = (done - start[:-1]) / np.maximum(np.diff(start), 1)
        return share

    def warp_rows(self, step: int, block: int, warp: int) -> npt.NDArray[np.int64]:
        """Return the rows of one warp of a block at a step: its request."""
        rows = self.block_rows(step, block)
        mine: npt.NDArray[np.int64] = rows[self.recording.accesses.thread[rows] // WARP == warp]
        return mine

    @cached_property
    def _block_start(self) -> npt.NDArray[np.int64]:
        """The first row of each block, and the end of the last one: a recording is sorted by block."""
        of_row = self.recording.accesses.block
        return np.searchsorted(of_row, np.arange(self.recording.blocks + 1).astype(of_row.dtype))

    def block_rows(self, step: int, block: int) -> npt.NDArray[np.int64]:
        """Return the rows of one block at a step."""
        rows = self.timeline.rows(step)
        first, last = np.searchsorted(rows, self._block_start[block : block + 2])
        return rows[first:last]

    def stale_reads(self, step: int, block: int) -> StaleReads:
        """Return a block's reads of values that differ from its cells: see `gemmviz.trace.origin.stale_reads`."""
        rows = self.block_rows(step, block) if self.timeline.steps else np.zeros(0, np.int64)
        return stale_reads(self.recording, self.history, step, rows)

    def units_per_request(self, step: int) -> float:
        """Return the average number of sectors (global) or wavefronts (shared) per warp request at a step."""
        array, write = int(self.timeline.array[step]), int(self.timeline.write[step])
        units = self.traffic.running[step, array, write, 2]
        if step:
            units = units - self.traffic.running[step - 1, array, write, 2]
        return float(units) / max(int(self.participation.warps[step]), 1)

    def line(self, step: int) -> int:
        """Return the source line that executes at a step (from 1; 0 if unknown)."""
        if not 0 <= step < self.timeline.steps:
            return 0
        return self.recording.sites[int(self.timeline.site[step])].line

    def prepare(self) -> "Playable":
        """Compute the parts that are otherwise computed on demand, and return self."""
        _ = self.history, self.source, self.first_write, self.recording.owners, self.moved_bytes
        _ = self.timeline.step_of_row, self._block_steps, self.provenance, self.story.prepare(), self.async_copies
        _ = self.participation, self._block_start, self.out_of_bounds, self.mbarrier_states, self.warpgroups
        _ = self.live_sums, self.fills_shared, self.feeding, self.first_writes
        if self.recording.wrong:
            _ = self._wrong_in_order
        return self
