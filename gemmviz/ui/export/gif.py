"""Writes a GIF: one palette made of the pictures themselves, and of each frame only the changes."""

from pathlib import Path

import numpy as np
from PIL import GifImagePlugin, Image

from gemmviz.ui.export.frames import Pixels
from gemmviz.ui.known import known

# One of the 256 colours means "as it was before".
_COLOURS = 255
_SAME = 255
# The commonest colours, of flat areas and of text, are kept as they are; the others share the rest. Weighed by how
# often they occur, but less than in proportion: a small cell's hue must not drown in the greys of letters' edges.
_EXACT, _WEIGHT = 64, 0.75
_KEEP_BELOW = 1
_TICK_S = 0.01


def palette(samples: list[Pixels]) -> Image.Image:
    """Return an image whose palette suits some pictures: their commonest colours exactly, the others nearly."""
    packed = np.concatenate([(s.reshape(-1, 3).astype(np.uint32) @ (65536, 256, 1)) for s in samples])
    colours, counts = np.unique(packed, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    colours, counts = colours[order], counts[order]
    parts = (colours[:, None] >> np.array([16, 8, 0])).astype(np.uint8)
    chosen = parts[:_COLOURS]
    if len(parts) > _COLOURS:
        weights = np.ceil(counts[_EXACT:] ** _WEIGHT).astype(int)
        rest = Image.fromarray(np.repeat(parts[_EXACT:], weights, axis=0)[None])
        shared = rest.quantize(_COLOURS - _EXACT, Image.Quantize.MEDIANCUT).getpalette()
        chosen = np.concatenate([parts[:_EXACT], np.array(shared, np.uint8).reshape(-1, 3)])[:_COLOURS]
    result = Image.new("P", (1, 1))
    # The places that are left repeat the first colour, so that no other can be taken by mistake.
    filled = np.concatenate([chosen, np.repeat(chosen[:1], 256 - len(chosen), axis=0)])
    result.putpalette(filled.tobytes())
    return result


class GifWriter:
    """Writes a GIF frame by frame; written frames are not kept in memory.

    Parameters
    ----------
    path
        The file.
    samples
        Pictures to make the palette of.
    """

    def __init__(self, path: Path, samples: list[Pixels]) -> None:
        self._palette = palette(samples)
        self._file = path.open("wb")
        self._shown: Pixels | None = None
        self._waiting: tuple[Pixels, tuple[int, int]] | None = None
        self._wait_s = 0.0
        self._clock_s = self._clock_written = 0.0

    def add(self, frame: Pixels, seconds: float) -> None:
        """Add a frame that stands for some time."""
        whole = Image.fromarray(frame)
        indices = np.asarray(whole.quantize(palette=self._palette, dither=Image.Dither.NONE))
        indices = np.where(indices == _SAME, 0, indices).astype(np.uint8)
        if self._shown is None:
            self._start(whole.size)
            self._wait_for(indices, (0, 0), seconds)
        else:
            rows, columns = np.nonzero(indices != self._shown)
            if len(rows):
                self._flush()
                top, left = int(rows.min()), int(columns.min())
                box = np.s_[top : int(rows.max()) + 1, left : int(columns.max()) + 1]
                changed = np.where(indices[box] == self._shown[box], np.uint8(_SAME), indices[box])
                self._wait_for(changed, (left, top), seconds)
            else:
                self._wait_s += seconds
        self._shown = indices

    def close(self) -> None:
        """Write the rest, and end the file."""
        if self._waiting is not None:
            self._flush()
            self._file.write(b";")
        self._file.close()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        self._file.close()

    def _start(self, size: tuple[int, int]) -> None:
        first = Image.new("P", size)
        first.putpalette(known(self._palette.getpalette()))
        head, _ = GifImagePlugin.getheader(first, info={"optimize": False, "background": 0, "loop": 0})
        self._file.write(b"".join(head))

    def _wait_for(self, changed: Pixels, at: tuple[int, int], seconds: float) -> None:
        self._waiting, self._wait_s = (changed, at), seconds

    def _flush(self) -> None:
        """Write the frame that waits: only now it is known for how long it stands."""
        changed, at = known(self._waiting)
        self._clock_s += self._wait_s
        # Times are whole hundredths of a second: the remainder of one frame goes to the next.
        ticks = max(1, round((self._clock_s - self._clock_written) / _TICK_S))
        self._clock_written += ticks * _TICK_S
        part = Image.frombytes("P", changed.shape[::-1], changed.tobytes())
        part.putpalette(known(self._palette.getpalette()))
        data = GifImagePlugin.getdata(
            part,
            at,
            duration=ticks * 10,
            disposal=_KEEP_BELOW,
            transparency=_SAME,
            include_color_table=False,
            interlace=False,
        )
        self._file.write(b"".join(data))
