"""Writes an MP4: H.264 with 4:2:0 colours, which every player and browser takes."""

from fractions import Fraction
from pathlib import Path
from typing import Final

from gemmviz.catalogue.errors import Unavailable
from gemmviz.language import tr
from gemmviz.ui.export.frames import Pixels

_CODEC: Final = "libx264"
# Visually lossless for flat colours and text; "animation" suits both.
_OPTIONS = {"crf": "18", "preset": "medium", "tune": "animation"}
_BT709 = 1


def need_video() -> None:
    """Check that films can be encoded.

    Raises
    ------
    Unavailable
        With the package to install, where they cannot.
    """
    try:
        import av  # late: PyAV is an extra
    except ImportError:
        raise Unavailable(tr("MP4 needs PyAV: {command}", command="pip install 'gemmviz[video]'")) from None
    if _CODEC not in av.codecs_available:
        raise Unavailable(tr("this PyAV has no H.264 encoder: {command}", command="pip install 'gemmviz[video]'"))


def even(size: tuple[int, int]) -> tuple[int, int]:
    """Return the largest size within another that a film can have: both sides even."""
    return size[0] // 2 * 2, size[1] // 2 * 2


class Mp4Writer:
    """Writes an MP4 frame by frame.

    Parameters
    ----------
    path
        The file.
    size
        Width and height in pixels, both even.
    fps
        Frames per second.

    Raises
    ------
    Unavailable
        Where PyAV is not installed.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        need_video()
        import av  # late: PyAV is an extra

        self._av = av
        # The index stands in front, so that a browser can play before all has arrived.
        self._file = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        self._rate = Fraction(fps).limit_denominator(100)
        self._stream = self._file.add_stream(_CODEC, rate=self._rate, options=_OPTIONS)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.colorspace = self._stream.codec_context.color_primaries = _BT709
        self._stream.codec_context.color_trc = _BT709
        self._count = 0

    def add(self, frame: Pixels, seconds: float) -> None:
        """Add a frame that stands for some time: as often as it takes, since not every player can hold one."""
        picture = self._av.VideoFrame.from_ndarray(frame, "rgb24").reformat(
            format="yuv420p", dst_colorspace=self._av.video.reformatter.Colorspace.ITU709
        )
        picture.time_base = 1 / self._rate
        for _ in range(max(1, round(seconds * self._rate))):
            picture.pts = self._count
            self._count += 1
            self._file.mux(self._stream.encode(picture))

    def close(self) -> None:
        """End the file."""
        self._file.mux(self._stream.encode(None))
        self._file.close()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        self._file.close()
