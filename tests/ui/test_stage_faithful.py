# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The pixels of the stage, compared with values that are computed from the recording's accesses without its code.

The rules are implemented here a second time, and their inputs are counted from the raw columns.
"""

from colorsys import rgb_to_hsv
from functools import cache
from zlib import crc32

import numpy as np
import pytest
from cell_places import cell_of
from sampled import FEW
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session.values.picture_size import picture_params, picture_problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.look.theme import THEMES, rgb
from gemmviz.ui.stage.painter import Moment, StagePainter, View

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and not kernel.exhibit]
RECT = QRectF(0, 0, 1000, 700)
SAMPLES, TRAIL = 10, 6
AROUND = 8  # pixels around the one that is looked at: only these are painted
LEAST_CELL = 4.0  # pixels
SCALES = (1, 1.2, 1.5, 2, 3, 4, 5, 6)
TOLERANCE = 3  # of 255: colours are rounded, and a block's progress has 64 levels


@cache
def shown(name: str) -> Playable:
    kernel = find(name, ladder())
    problem = picture_problem(kernel, Problem.cube(8))
    # One block row of the largest tiles is enough: each cell that is looked at is searched for in all accesses.
    problem = min(problem, Problem.cube(128), key=lambda size: size.m)
    recording = record(launch(kernel, problem, kernel.defaults | picture_params(kernel, problem)))
    steps = timeline.build(recording)
    return Playable(recording, steps, traffic.measure(recording, steps))


class Raw:
    """The accesses as they were recorded, element by element."""

    def __init__(self, playable):
        self.recording, self.step_of = playable.recording, playable.timeline.step_of_row
        log = self.recording.accesses
        itemsize = np.array([a.itemsize for a in self.recording.arrays])
        spans = np.maximum(log.bytes // itemsize[log.array], 1).astype(int)
        self.row = np.repeat(np.arange(len(log)), spans)
        first = np.cumsum(spans) - spans
        self.element = log.element[self.row].astype(int) + np.arange(len(self.row)) - first[self.row]
        self.array, self.write = log.array[self.row].astype(int), log.write[self.row].astype(bool)
        self.block, self.thread = log.block[self.row].astype(int), log.thread[self.row].astype(int)
        self.step = self.step_of[self.row]
        self.offset = np.arange(len(self.row)) - first[self.row]
        self.wide = spans.max(initial=1) > 1
        self.copied_from = dict(log.copies[:, :2].tolist())
        self.stored = {row for w, n in log.boxes[log.boxes[:, 8] > 0][:, 2:4].tolist() for row in range(w, w + n)}

    def touches(self, array, element, block):
        """Return the accesses to a cell; for a shared array, those of the block."""
        mine = (self.array == array) & (self.element == element)
        if self.recording.arrays[array].space == "shared":
            mine &= self.block == block
        return np.flatnonzero(mine)

    def written(self, array, element, step, block):
        found = self.touches(array, element, block)
        return bool((self.write[found] & (self.step[found] <= step)).any())

    def flash(self, array, element, step, block):
        """Return the strength of a cell's glow, and whether a write caused it."""
        found = self.touches(array, element, block)
        age = step - self.step[found]
        lately = found[(age >= 0) & (age < TRAIL)]
        if not len(lately):
            return 0.0, False
        newest = lately[np.argmax(self.step[lately])]
        share = 0.92 * (1 - (step - self.step[newest]) / TRAIL) ** 1.3
        return share, bool(self.write[newest])

    def done(self, block, step):
        """Return the share of its accesses that a block has made already."""
        log = self.recording.accesses
        mine = self.step_of[log.block == block]
        return (mine <= step).mean()

    def held(self, array, element, step, block):
        """Return whether the block's shared memory holds the value of an element, from the last read before each store.

        Where a thread moves several values at once, a value does not tell which one it was: None, where it may be.
        """
        log, arrays = self.recording.accesses, self.recording.arrays
        shared = [i for i, a in enumerate(arrays) if a.space == "shared"]
        mine = np.flatnonzero(np.isin(self.array, shared) & (self.block == block) & self.write & (self.step <= step))
        last = {}
        for item in mine[np.argsort(self.step[mine], kind="stable")]:
            last[self.array[item], self.element[item]] = item
        reads = np.isin(log.array, (0, 1)) & ~log.write & (log.block == block)
        for item in last.values():
            row = self.row[item]
            if row in self.copied_from:
                read = self.copied_from[row]
                if read >= 0 and (log.array[read], log.element[read] + self.offset[item]) == (array, element):
                    return True
                continue
            if self.wide:
                return None
            before = np.flatnonzero(reads[:row] & (log.thread[:row] == self.thread[item]))
            before = before[log.value[before] == log.value[row]]
            if len(before) and (log.array[before[-1]], log.element[before[-1]]) == (array, element):
                return True
        return False

    def in_sector(self, array, element, step, block, warp):
        """Return whether the warp's request at a step moves the sector of an element."""
        info = self.recording.arrays[array]
        if self.recording.backend != "cuda" or info.space != "global":
            return False
        now = (self.step == step) & (self.array == array) & (self.block == block) & (self.thread // 32 == warp)
        return element * info.itemsize // 32 in set(self.element[now] * info.itemsize // 32)


def mixed(under, over, share):
    return np.array(under, float) * (1 - share) + np.array(over, float) * share


def moments(playable, raw):
    """Draw random (array, element, step, block, warp).

    Of three, one is anything, one was accessed a short while before, one is an element of C that was just written.
    """
    recording = playable.recording
    random = np.random.default_rng(crc32(recording.kernel.encode()))
    warps = max(-(-recording.threads // 32), 1)
    for number in range(SAMPLES):
        step = int(random.integers(playable.timeline.steps))
        block, warp = int(random.integers(recording.blocks)), int(random.integers(warps))
        array = int(random.integers(len(recording.arrays)))
        element = int(random.integers(recording.arrays[array].size))
        near = np.flatnonzero((raw.step <= step) & (raw.step > step - TRAIL))
        if number % 3 == 1 and len(near):
            item = random.choice(near)
            array, element, block = int(raw.array[item]), int(raw.element[item]), int(raw.block[item])
        elif number % 3 == 2:
            item = random.choice(np.flatnonzero((raw.array == 2) & raw.write))
            array, element = 2, int(raw.element[item])
            step = min(int(raw.step[item]) + int(random.integers(3)), playable.timeline.steps - 1)
        yield array, element, step, block, warp


def roomy(painter):
    """Return a rectangle in which cells can be hit, all if possible, and none is so small that its text fills it."""
    rects = [(0, 0, round(RECT.width() * scale), round(RECT.height() * scale)) for scale in SCALES]
    cells = {rect: [panel.cell for panel in painter.panels(QRectF(*rect), View())] for rect in rects}
    fitting = [rect for rect in rects if not any(14 <= cell < 17 for cell in cells[rect])]
    return QRectF(*next((rect for rect in fitting if min(cells[rect]) >= LEAST_CELL), fitting[-1]))


def painted(playable, theme, moments):
    """Paint the stage around each moment's cell, and return the colour of the cell away from its text and its frame."""
    painter = StagePainter(playable, theme, QFont())
    # Overlays on the cells have their own tests.
    painter._in_flight.draw = painter._sums._name = lambda *_: None
    rect = roomy(painter)
    panels = {panel.array: panel for panel in painter.panels(rect, View())}
    image = QImage(2 * AROUND, 2 * AROUND, QImage.Format.Format_RGB32)
    for array, element, step, block, warp in moments:
        panel = panels[array]
        if panel.cell < LEAST_CELL:
            yield None  # too small to be hit
            continue
        row, column = cell_of(playable.recording.arrays[array], element)
        inside = 0.5 if panel.cell < 14 else 0.22 if panel.cell < 24 else 0.16  # a corner is free of text
        x, y = int(panel.x + (column + inside) * panel.cell), int(panel.y + (row + inside) * panel.cell)
        into = QPainter(image)
        into.translate(AROUND - x, AROUND - y)
        painter.paint(into, rect, Moment(step, block, trail=TRAIL, warp=warp, motion="none"))
        into.end()
        colour = image.pixelColor(AROUND, AROUND)
        yield np.array([colour.red(), colour.green(), colour.blue()], float)


@pytest.mark.sweep(*(f"{name}-dark" for name in FEW), "gputiled-light")
@pytest.mark.parametrize(
    ("name", "theme"),
    [(name, "dark") for name in RUNGS]
    + [(name, "light") for name in ("hostmult_threads", "gputiled", "CC", "matmul_tc_2d_warp_tiling")],
)
def test_each_cell_is_painted_as_recorded(qapp, name, theme):
    playable, theme = shown(name), THEMES[theme]
    raw = Raw(playable)
    chosen, hit = list(moments(playable, raw)), 0
    for moment, colour in zip(chosen, painted(playable, theme, chosen), strict=True):
        array, element, step, block, warp = moment
        if colour is None:
            continue
        hit += 1
        share, write = raw.flash(array, element, step, block)
        over = rgb(theme.amber if write else theme.read)
        if array == 2:
            check_c(raw, theme, moment, colour, share, over)
            continue
        bases = expected_bases(raw, theme, array, element, step, block)
        if raw.in_sector(array, element, step, block, warp):
            bases = [mixed(base, rgb(theme.read), 0.3) for base in bases]
        assert min(np.abs(mixed(base, over, share) - colour).max() for base in bases) <= TOLERANCE, moment
    assert hit >= SAMPLES / 3


def expected_bases(raw, theme, array, element, step, block):
    """Return the possible colours of a cell of A, B or a shared array without a recent access."""
    info, recording = raw.recording.arrays[array], raw.recording
    hue = theme.owner(*recording.block_index(block)[:2])
    if info.space == "shared":
        if not raw.written(array, element, step, block):
            return [theme.cell]
        bank = element * info.itemsize // 4 % 32
        return [mixed(theme.cell, hue, 0.42 + 0.3 * bank / 31)]
    tinted, held = mixed(theme.cell, hue, 0.45), raw.held(array, element, step, block)
    return [tinted, theme.cell] if held is None else [tinted if held else theme.cell]


def check_c(raw, theme, moment, colour, share, over):
    """Compare an element of C with the hue of its owner and with the progress of its owner."""
    array, element, step, block, warp = moment
    recording = raw.recording
    cuda = recording.backend == "cuda"
    writes = raw.touches(array, element, block)
    writes = writes[raw.write[writes]]
    owner, thread = (int(column[writes[np.argmax(raw.row[writes])]]) for column in (raw.block, raw.thread))
    state = 1.0 if raw.written(array, element, step, block) else 0.26 + 0.29 * (raw.done(owner, step) if cuda else 1)
    # Remove the flash, the sector and the state: the rest is the colour of the owner.
    under_flash = (colour - np.array(over) * share) / (1 - share)
    sector = raw.in_sector(array, element, step, block, warp)
    if sector:
        now_written = bool(raw.write[(raw.step == step) & (raw.array == 2)].any())
        tint = np.array(rgb(theme.amber if now_written else theme.read))
        under_flash = (under_flash - tint * 0.3) / 0.7
    background = np.array(rgb(theme.background), float)
    full = background + (under_flash - background) / state
    slack = (TOLERANCE / (1 - share)) / (0.7 if sector else 1) / state
    # A thread that stores a box stores values that other threads have computed.
    lanes = range(0, 32, 8) if raw.row[writes[np.argmax(raw.row[writes])]] in raw.stored else [thread]
    wanted = [colour for lane in lanes for colour in owner_colours(recording, theme, owner, lane)]
    off = min(np.abs(full - np.array(one)).max() for one in wanted)
    assert off <= slack, (moment, off, slack)
    if cuda and slack < 8:
        hue = rgb_to_hsv(*(np.clip(full, 0, 255) / 255))[0]
        base = rgb_to_hsv(*(c / 255 for c in theme.owner(*recording.block_index(owner)[:2])))[0]
        assert abs((hue - base + 0.5) % 1 - 0.5) < 0.06 + slack / 255, moment


def owner_colours(recording, theme, block, thread):
    """Return the possible colours of an owner.

    Of a thread of a C kernel, its hue; of a thread of a block, the block's hue or one beside it, the more away from the
    background the higher the group of eight lanes.
    """
    if recording.backend != "cuda":
        if recording.threads > 1:
            return [theme.owner(thread, 0)]
        return [tuple(min(255, int(c * (1.9 if theme.name == "dark" else 0.8))) for c in theme.cell)]
    hue = theme.owner(*recording.block_index(block)[:2])
    group = thread % 32 // 8
    end = (255,) * 3 if theme.name == "dark" else (0,) * 3
    if recording.threads <= 32:
        return [mixed(hue, end, 0.09 * group)]
    return [mixed(turned(hue, turn / 1000), end, 0.09 * group) for turn in range(-52, 53)]


def turned(colour, by):
    """Return a colour with its hue turned by a part of the circle."""
    from colorsys import hsv_to_rgb

    h, s, v = rgb_to_hsv(*(c / 255 for c in colour))
    return [c * 255 for c in hsv_to_rgb((h + by) % 1, s, v)]


def test_the_held_cells_of_a_matrix_by_columns_are_tinted_where_they_are_drawn(qapp):
    playable = shown("fp8_in_turns")
    raw, painter = Raw(playable), StagePainter(playable, THEMES["dark"], QFont())
    info, block, tried = raw.recording.arrays[1], 2, 0
    assert info.column_major
    for step in range(0, playable.timeline.steps, 12):
        tinted = painter._colours._palette(1, step, block).which > 0
        if tinted.all() or not tinted.any():
            continue
        assert (tinted != tinted.T).any()
        edge = [*np.flatnonzero(tinted)[[0, -1]], *np.flatnonzero(~tinted)[[0, -1]]]
        for row, column in (divmod(int(cell), info.grid[1]) for cell in edge):
            assert (raw.held(1, column * info.grid[0] + row, step, block) is True) == tinted[row, column]
            tried += 1
    assert tried >= 8
