"""The colour of each element of C by its owner: hue by block, warpgroup and warp; lightness by lanes."""

from colorsys import hsv_to_rgb, rgb_to_hsv
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import WARP, WARPGROUP, Recording
from gemmviz.ui.look.theme import Rgb, Theme

Colour = npt.NDArray[np.float32]
# How far the warps of a block may stray from its hue (of 1 for the whole circle): less than half the way to the next.
_WARP_HUES = 0.05
# Where warpgroups own the sums: how far the outermost of them stray, and the warps of each from it (of `_WARP_HUES`).
_GROUPS, _IN_GROUP = 0.8, 0.2
LANE_GROUPS = 4
"""Lanes share a lightness by eights."""
_LANE_SHADE = 0.09  # of the way to white (dark theme) or black (light) from one group of lanes to the next
_MOST_WARPS = 32


def owner_colours(recording: Recording, theme: Theme) -> Colour:
    """Return the colour of each element of C once it is written, float32 (m, n, 3); neutral where it never is."""
    table, which = owner_palette(recording, theme)
    return table[which]


def owner_palette(recording: Recording, theme: Theme) -> tuple[Colour, npt.NDArray[np.int64]]:
    """Return the colours of `owner_colours`, float32 (n, 3), and which of them each element has, int64 (m, n)."""
    block, thread = recording.owners
    written, thread = block >= 0, np.maximum(thread, 0)
    if recording.backend != "cuda":
        # A loop alone has no owners worth a hue; threads that share the rows of C have.
        alone = recording.threads == 1
        table = np.array([loop_colour(theme)] if alone else [theme.owner(t, 0) for t in range(recording.threads)])
        colour = thread
    else:
        x, y, _ = recording.grid
        owner = np.maximum(block, 0)
        # As `Theme.owner` has it, for all elements at once.
        base = (owner % x + 3 * (owner // x % y)) % len(theme.owners)
        by_owner = _table(recording, theme)
        _, warps, groups, _ = by_owner.shape
        table = by_owner.reshape(-1, 3)
        colour = (base * warps + thread // WARP % _MOST_WARPS) * groups + thread % WARP * LANE_GROUPS // WARP
    table = np.vstack([table, theme.cell]).astype(np.float32)
    return table, np.where(written, colour, len(table) - 1)


def group_colour(recording: Recording, theme: Theme, block: int, group: int) -> Rgb:
    """Return the colour of a warpgroup's elements of C: that of its second warp."""
    warp = min(group * (WARPGROUP // WARP) + 1, -(-recording.threads // WARP) - 1)
    return _turned(theme.owner(*recording.block_index(block)[:2]), _turns(recording)[warp])


def _table(recording: Recording, theme: Theme) -> Any:
    """Return the colours by base hue, warp and group of lanes: float (hues, warps, groups, 3)."""
    return _table_of(theme, tuple(_turns(recording)[:_MOST_WARPS]))


@lru_cache(maxsize=64)
def _table_of(theme: Theme, turns: tuple[float, ...]) -> Any:
    turned = [[_turned(hue, turn) for turn in turns] for hue in theme.owners]
    return np.array([[[_shaded(theme, one, g) for g in range(LANE_GROUPS)] for one in of_hue] for of_hue in turned])


def _turns(recording: Recording) -> list[float]:
    """Return how far the hue of each warp strays from its block's (of 1 for the whole circle)."""
    warps = -(-recording.threads // WARP)
    owning = distinct(recording.owners[1] // WARPGROUP)
    owning = owning[owning >= 0]
    if recording.together < WARPGROUP or len(owning) < 2:
        return [_WARP_HUES * _apart(w, warps) for w in range(warps)]
    # Elements of one group look alike, and unlike those of the others.
    middle = np.interp(np.arange(warps) * WARP // WARPGROUP, owning, np.linspace(-_GROUPS, _GROUPS, len(owning)))
    of_group = WARPGROUP // WARP
    return [_WARP_HUES * float(m + _IN_GROUP * _apart(w % of_group, of_group)) for w, m in enumerate(middle)]


def _apart(number: int, count: int) -> float:
    """Return one of `count` places between -1 and 1, so that those of numbers that follow each other differ most."""
    place, step, left = 0.0, 1.0, number
    while left:  # 0, 1/2, 1/4, 3/4, 1/8 …
        step /= 2
        place += step * (left & 1)
        left >>= 1
    return 2 * place - (1 - 1 / min(count, 8))


def _turned(colour: Rgb, by: float) -> Rgb:
    """Return a colour with its hue turned by a part of the circle."""
    if not by:
        return colour
    h, s, v = rgb_to_hsv(*(c / 255 for c in colour))
    r, g, b = hsv_to_rgb((h + by) % 1, s, v)
    return round(r * 255), round(g * 255), round(b * 255)


def _shaded(theme: Theme, colour: Rgb, group: int) -> Rgb:
    """Return a colour moved away from the background, so that no group of lanes is harder to see than the first."""
    end, share = 255 if theme.name == "dark" else 0, _LANE_SHADE * group
    r, g, b = (round(c + (end - c) * share) for c in colour)
    return r, g, b


def loop_colour(theme: Theme) -> Rgb:
    """Return the colour of elements of C that a loop without blocks has written."""
    factor = 1.9 if theme.name == "dark" else 0.8
    r, g, b = (min(255, int(channel * factor)) for channel in theme.cell)
    return r, g, b
