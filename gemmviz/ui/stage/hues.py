"""The colour of each element of C by who owns it: hue by block, then by warp; lightness by group of lanes."""

from colorsys import hsv_to_rgb, rgb_to_hsv
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import WARP, Recording
from gemmviz.ui.theme import Rgb, Theme

Colour = npt.NDArray[np.float32]
# How far the warps of a block may stray from its hue (of 1 for the whole circle): less than half the way to the next.
_WARP_HUES = 0.05
LANE_GROUPS = 4
"""Lanes share a lightness by eights."""
_LANE_SHADE = 0.09  # of the way to white (dark theme) or black (light) from one group of lanes to the next
_MOST_WARPS = 32


def owner_colours(recording: Recording, theme: Theme) -> Colour:
    """Return the colour of each element of C once it is written, float32 (m, n, 3); neutral where nobody writes it."""
    block, thread = recording.owners
    if recording.backend != "cuda":
        # A loop alone has no owners worth a hue; threads that share the rows of C have.
        alone = recording.threads == 1
        hues = np.array([loop_colour(theme)] if alone else [theme.owner(t, 0) for t in range(recording.threads)])
        colours = hues[np.maximum(thread, 0)]
    else:
        x, y, _ = recording.grid
        owner = np.maximum(block, 0)
        # As `Theme.owner` has it, for all elements at once.
        base = (owner % x + 3 * (owner // x % y)) % len(theme.owners)
        lane = np.maximum(thread, 0) % WARP * LANE_GROUPS // WARP
        colours = _table(recording, theme)[base, np.maximum(thread, 0) // WARP % _MOST_WARPS, lane]
    return np.where((block >= 0)[..., None], colours, np.array(theme.cell)).astype(np.float32)


def _table(recording: Recording, theme: Theme) -> Any:
    """Return the colours by base hue, warp and group of lanes: float (hues, warps, groups, 3)."""
    warps = min(-(-recording.threads // WARP), _MOST_WARPS)
    return np.array(
        [
            [[_shaded(theme, _turned(hue, w, warps), g) for g in range(LANE_GROUPS)] for w in range(warps)]
            for hue in theme.owners
        ]
    )


def _turned(colour: Rgb, warp: int, warps: int) -> Rgb:
    """Return a block's colour with the hue of one of its warps; warps that follow each other differ most."""
    if warps == 1:
        return colour
    place, step, left = 0.0, 1.0, warp
    while left:  # 0, 1/2, 1/4, 3/4, 1/8 …
        step /= 2
        place += step * (left & 1)
        left >>= 1
    h, s, v = rgb_to_hsv(*(c / 255 for c in colour))
    r, g, b = hsv_to_rgb((h + _WARP_HUES * (2 * place - (1 - 1 / min(warps, 8)))) % 1, s, v)
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
