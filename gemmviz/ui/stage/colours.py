"""The colour of each cell at a step: a pure function of recording, theme and step (no drawing here).

Back to front: the cell's value and owner, cells unrelated to a chosen one (dimmed), the sectors that
a request moves, the accesses of the last steps.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import B, C
from gemmviz.trace.cost.wavefronts import BANK_BYTES, BANKS
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme, rgb
from gemmviz.ui.stage.accessed_cells import AccessedCells, as_drawn, strength
from gemmviz.ui.stage.hues import owner_palette
from gemmviz.ui.stage.palette import Glow, Image, Palette, blend
from gemmviz.ui.stage.related import Related

# Shares of an owner's hue in C: nothing done yet, all done but not written. And of a sector's tint.
UNTOUCHED, WORKED = 0.26, 0.55
SECTOR_TINT = 0.3
HELD_TINT = 0.45
WRONG_TINT = 0.4
"""Share of the colour of errors in the wrong cells of C."""
"""Share of the block's hue in the cells of A and B whose values its shared memory holds."""
DIMMED = 0.35
"""The remaining colour of cells, and of a glow, that are unrelated to the choice."""
DIMMED_SUMS = 0.6
"""The same of C: the hue of its sums is faint already, and shows how far they are."""
_DIMMED_GLOW = np.float32(DIMMED)
_PROGRESS_LEVELS = 64
_FEW = 4


class Colours:
    """The base colours of every array of a recording in one theme, and the images at a step.

    Parameters
    ----------
    playable
        The recording on the stage.
    theme
        Its colours.
    touched
        Its accesses.
    """

    def __init__(self, playable: Playable, theme: Theme, touched: AccessedCells) -> None:
        self._playable, self._theme, self._touched = playable, theme, touched
        recording, timeline = playable.recording, playable.timeline
        self._background = np.array(rgb(theme.background), np.float32)
        # Not written yet: the hue grows with the share of the block's work that is done, and jumps when C is written.
        hues, hue = owner_palette(recording, theme)
        kinds, self._kind = _numbered(np.maximum(recording.owners[0], 0) * len(hues) + hue)
        self._owner, kinds = kinds // len(hues), kinds % len(hues)
        self._depth = hues[kinds] - self._background
        self._read = np.array(rgb(theme.read), np.float32)
        self._write = np.array(rgb(theme.amber), np.float32)
        self._wrong = np.array(rgb(theme.bad), np.float32)
        self._write_steps = [
            np.flatnonzero((timeline.array == index) & timeline.write) for index in range(len(recording.arrays))
        ]
        self._feeding = playable.feeding
        self._held: dict[int, tuple[Any, Ints]] = {}
        self._sources: dict[int, tuple[Any, Ints]] = {}
        self._near: dict[int, tuple[Ints, npt.NDArray[np.bool_]]] = {}
        self._bases: dict[int, tuple[Any, Ints | None, Image, Palette | None]] = {}
        self._states: dict[int, Any] = {}
        self._states_at = (-1, -1)

    def image(
        self,
        array: int,
        step: int,
        block: int,
        trail: int,
        warp: int = 0,
        related: Related | None = None,
        shrink: int = 1,
        ringed: bool = False,
    ) -> Image:
        """Return RGBX (rows, columns, 4) of an array at a step, the accesses of the last `trail` steps glowing.

        The image returned is the same object as long as its content is the same and nothing in it glows: nobody changes
        it.

        Parameters
        ----------
        array
            Index into the recording's arrays.
        step
            Position in the timeline.
        block, warp
            The block of the shared memory and of the tinted tiles of A and B, and the warp of the sectors.
        trail
            Steps that an access glows for.
        related
            The cells that are not dimmed; None: nothing is dimmed.
        shrink
            Cells by side that share a pixel, where they are too small to be seen: such a pixel has their mean colour,
            and of their accesses the brightest.
        ringed
            Whether cells that are written keep their colours, as they have rings.
        """
        info = self._playable.recording.arrays[array]
        columns = info.grid[1]
        near = related.cells.get(array) if related is not None else None
        base, palette = self._kept_base(array, step, block, near, shrink)
        if not self._touched.lately(array, step, trail):
            return base
        out = base.copy()
        flat = out.reshape(-1, 4)
        small = -(-columns // shrink)
        write = bool(self._playable.timeline.write[step]) if self._playable.timeline.steps else False

        def at(cells: Ints) -> Ints:
            return cells if shrink == 1 else cells // columns // shrink * small + cells % columns // shrink

        moved = self._touched.sectors(array, step, block, warp)
        if len(moved) and not (write and ringed):
            r, c = info.cells(moved[moved < info.size])
            tinted = np.zeros(len(flat), bool)
            tinted[at(r * columns + c)] = True
            blend(flat, np.flatnonzero(tinted), SECTOR_TINT, self._write if write else self._read)
            palette = None
        glow = self._glow(array, step, block if info.space == "shared" else None, trail, near, ringed)
        if len(glow.cells):
            if shrink > 1:
                order = np.argsort(glow.strength[glow.kind], kind="stable")
                brightest = np.full(len(flat), -1)
                brightest[at(glow.cells[order])] = order  # of several at one place the last one stays
                cells = np.flatnonzero(brightest >= 0)
                glow = replace(glow, cells=cells, kind=glow.kind[brightest[cells]])
            glow.blend(out, palette)
        return out

    def _glow(self, array: int, step: int, block: int | None, trail: int, near: Ints | None, ringed: bool) -> Glow:
        """Return the accesses of the last steps: a kind per number of steps, again if dimmed, and again if wrong."""
        playable, info = self._playable, self._playable.recording.arrays[array]
        cells, kind = self._touched.glow(array, step, block, trail)
        shares, steps = strength(trail), np.maximum(step - np.arange(trail), 0)
        if ringed:
            reads = ~playable.timeline.write[steps][kind]
            cells, kind = cells[reads], kind[reads]
        if not len(cells):
            return Glow(cells, kind, shares, np.zeros((trail, 3), np.float32))
        colours = np.where(playable.timeline.write[steps, None], self._write, self._read)
        if near is not None:
            kind = np.where(self._is_near(array, near, info.size)[cells], kind, kind + trail)
            shares, colours = np.concatenate([shares, shares * _DIMMED_GLOW]), np.concatenate([colours, colours])
        if array == C and playable.wrong_at(step):
            wrong = playable.wrong_from.reshape(-1)[cells] <= step
            kind = kind + len(shares) * wrong
            colours = np.concatenate([colours, np.full_like(colours, self._wrong)])
            shares = np.concatenate([shares, shares])
        return Glow(cells, kind, shares, colours)

    def _is_near(self, array: int, near: Ints, size: int) -> npt.NDArray[np.bool_]:
        """Return which cells of an array are not dimmed; the same object as long as they are the same ones."""
        kept = self._near.get(array)
        if kept is None or kept[0] is not near:
            inside = np.zeros(size, bool)
            inside[near] = True
            kept = self._near[array] = near, inside
        return kept[1]

    def _kept_base(
        self, array: int, step: int, block: int, near: Ints | None, shrink: int
    ) -> tuple[Image, Palette | None]:
        """Return the colours under the accesses; they are worked out again only when something in them changed."""
        state = self.state(array, step, block)
        kept = self._bases.get(array)
        if kept is None or kept[0] != (state, shrink) or kept[1] is not near:
            palette = self._palette(array, step, block)
            if near is not None:
                dimmed = self._dimmed(palette.colours, DIMMED_SUMS if array == C else DIMMED)
                size = self._playable.recording.arrays[array].size
                palette = palette.with_dimmed(dimmed, self._is_near(array, near, size).reshape(palette.which.shape))
            if shrink > 1:
                means = _means(np.take(palette.colours, palette.which, axis=0), shrink)
                base = np.full((*means.shape[:2], 4), 255, np.uint8)
                base[..., :3] = np.rint(means)
                kept = (state, shrink), near, base, None
            else:
                kept = (state, shrink), near, palette.image(), palette
            self._bases[array] = kept
        return kept[2:]

    def _dimmed(self, colours: npt.NDArray[np.float32], share: float) -> npt.NDArray[np.float32]:
        return self._background + (colours - self._background) * np.float32(share)

    def state(self, array: int, step: int, block: int) -> Any:
        """Return all that the colours of an array depend on, besides the accesses of the last steps."""
        if self._states_at != (step, block):
            self._states_at = step, block
            self._states.clear()
        found = self._states.get(array)
        if found is None:
            found = self._states[array] = self._find_state(array, step, block)
        return found

    def _find_state(self, array: int, step: int, block: int) -> Any:
        if array == C:
            written = int(self._playable.first_writes.searchsorted(step, side="right"))
            return written, self._playable.wrong_at(step), self._progress(step).tobytes()
        mine = self._feeding.get(array, [array])
        return block, *(int(self._write_steps[i].searchsorted(step, side="right")) for i in mine)

    def _progress(self, step: int) -> Any:
        """Return, per block, the finished share of its work, in as many levels as an eye can distinguish."""
        if self._playable.recording.backend != "cuda":
            return np.full(self._playable.recording.blocks, _PROGRESS_LEVELS, np.int16)
        return np.rint(self._playable.progress(step) * _PROGRESS_LEVELS).astype(np.int16)

    def _palette(self, array: int, step: int, block: int) -> Palette:
        """Return the colours under the accesses, nothing dimmed."""
        # `np.take` picks whole colours many times faster than an index or `np.where` does.
        playable, theme = self._playable, self._theme
        recording, info = playable.recording, playable.recording.arrays[array]
        if array == C:
            return self._palette_of_sums(step)
        cell = np.array(theme.cell, np.float32)
        hue = np.array(theme.owner(*recording.block_index(block)[:2]), np.float32)
        if info.space == "shared":
            # Lightness steps with the bank, so that a column in one bank is one colour.
            tints = np.linspace(0.42, 0.72, BANKS, dtype=np.float32)
            bank = np.arange(info.size) * info.itemsize // BANK_BYTES % BANKS
            which = info.drawn(np.where(playable.history.last_write(array, step, block) >= 0, 1 + bank, 0))
        else:
            tints = np.array([HELD_TINT], np.float32)
            which = np.zeros(info.grid, np.int64)
            which.flat[self.held(array, step, block)] = 1
        tint = np.concatenate([[np.float32(0)], tints])[:, None]
        return Palette(cell * (1 - tint) + hue * tint, which)

    def _palette_of_sums(self, step: int) -> Palette:
        """Return the colours of C: of each kind of element before and after it is written; again if it is wrong."""
        playable, depth = self._playable, self._depth
        share = UNTOUCHED + (WORKED - UNTOUCHED) / np.float32(_PROGRESS_LEVELS) * self._progress(step)
        waiting = np.take(share.astype(np.float32), self._owner)
        colours = np.concatenate([self._background + depth * waiting[:, None], self._background + depth])
        is_written = playable.recording.arrays[C].drawn(playable.first_write <= step)
        which = np.where(is_written, self._kind + len(depth), self._kind)
        if playable.wrong_at(step):
            which = which + len(colours) * (playable.wrong_from <= step)
            colours = np.concatenate([colours, colours + (self._wrong - colours) * np.float32(WRONG_TINT)])
        return Palette(colours, which)

    def held(self, array: int, step: int, block: int) -> Ints:
        """Return the drawn cells of A or B whose values a block's shared memory holds at a step.

        The array returned is the same object as long as its content is the same.
        """
        if array > B:
            return np.zeros(0, np.int64)
        state, kept = self.state(array, step, block), self._held.get(array)
        if kept is None or kept[0] != state:
            kept = self._held[array] = state, self._find_held(array, step, block)
        return kept[1]

    def _find_held(self, array: int, step: int, block: int) -> Ints:
        playable = self._playable
        info, staged = playable.recording.arrays[array], playable.staged
        found = np.zeros(info.size, bool)
        for index in self._feeding[array]:
            item = self._kept_items(index, step, block)
            mine = item[playable.recording.accesses.array[staged.read[item]] == array]
            found[as_drawn(info, staged.read_element[mine])] = True
        return np.flatnonzero(found)

    def _kept_items(self, index: int, step: int, block: int) -> Ints:
        """Return the items of `Staged` that came from global memory and that a shared array holds at a step."""
        state, kept = self.state(index, step, block), self._sources.get(index)
        if kept is None or kept[0] != state:
            item = self._playable.history.last_item(index, step, block)
            item = item[item >= 0]
            kept = self._sources[index] = state, item[self._playable.staged.read[item] >= 0]
        return kept[1]


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Return the different keys, ascending, and the number of each key among them; keys are not negative."""
    flags = np.zeros(int(keys.max(initial=0)) + 1, bool)
    flags[keys] = True
    return np.flatnonzero(flags), (np.cumsum(flags) - 1)[keys]


def _means(colours: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """Return the mean colour of each square of cells; those at the far edges may be smaller."""
    rows, columns, _ = colours.shape
    if not rows % side and not columns % side and side <= _FEW:
        # The same, many times faster for squares of few cells: whole rows are added, then neighbours in them.
        by_row = colours.reshape(rows // side, side, columns * 3)
        line = sum((by_row[:, i] for i in range(1, side)), by_row[:, 0])
        by_cell = line.reshape(rows // side, columns // side, side * 3)
        total = sum((by_cell[..., 3 * i : 3 * i + 3] for i in range(1, side)), by_cell[..., :3])
        return total / np.float32(side * side)
    for axis in (0, 1):
        length = colours.shape[axis]
        starts = np.arange(0, length, side)
        counts = np.diff(np.append(starts, length)).astype(np.float32)
        sums = np.add.reduceat(colours, starts, axis=axis)
        colours = np.divide(sums, counts.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1)), dtype=np.float32)
    return colours


def values(playable: Playable, array: int, step: int, block: int) -> npt.NDArray[Any]:
    """Return the value of each drawn cell of an array at a step (rows, columns); NaN where nothing was written yet."""
    recording = playable.recording
    if array < C:
        return recording.b if array == B else recording.a
    return recording.arrays[array].drawn(playable.history.values(array, step, block))


def written(playable: Playable, array: int, step: int, block: int) -> npt.NDArray[np.bool_]:
    """Return whether each drawn cell of an array holds anything at a step (rows, columns), be it NaN."""
    info = playable.recording.arrays[array]
    if array < C:
        return np.ones(info.grid, bool)
    held: npt.NDArray[np.bool_] = info.drawn(playable.history.last_write(array, step, block)) >= 0
    return held
