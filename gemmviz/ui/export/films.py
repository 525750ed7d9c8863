"""The frames of a film, and the writers of its files."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr
from gemmviz.session.values.film import Film, trail
from gemmviz.trace.playable import Playable
from gemmviz.ui.export.frames import Pixels
from gemmviz.ui.export.gif import GifWriter
from gemmviz.ui.export.mp4 import Mp4Writer, even, need_video
from gemmviz.ui.stage.moment import Moment

STILLS, FILMS = (".png", ".svg"), (".gif", ".mp4")
_SAMPLES = 12


class Writer(Protocol):
    """Writes a film frame by frame."""

    def add(self, frame: Pixels, seconds: float) -> None:
        """Add a frame that stands for some time."""

    def close(self) -> None:
        """End the file."""

    def abandon(self) -> None:
        """Let go of the file as it is."""


def kind_of(path: Path) -> str:
    """Return the suffix that decides a file's kind: one of `STILLS` or `FILMS`.

    Raises
    ------
    ConstraintError
        When it says nothing.
    Unavailable
        When the library that writes such files is not installed.
    """
    kind = path.suffix.lower()
    if kind not in (*STILLS, *FILMS):
        raise ConstraintError(
            tr(
                "{path} does not show the format: its name must end in {kinds}",
                path=path,
                kinds=".png, .svg, .gif, .mp4",
            )
        )
    if kind == ".mp4":
        need_video()
    return kind


def fitting(kind: str, size: tuple[int, int]) -> tuple[int, int]:
    """Return the size that a picture of a kind has when another is asked for: an MP4's sides are even."""
    return even(size) if kind == ".mp4" else size


def moments(playable: Playable, film: Film, moment: Moment) -> list[Moment]:
    """Return the moment of each frame of a film; `moment` holds all that stays."""
    still = replace(moment, trail=trail(playable, film.pace), motion=film.motion)
    return [replace(still, step=int(at), fraction=at - int(at)) for at in film.positions]


def samples(shown: list[Moment]) -> list[Moment]:
    """Return some frames of a film that stand for all: its palette is made of them."""
    count = min(_SAMPLES, len(shown))
    return [shown[i * (len(shown) - 1) // max(count - 1, 1)] for i in range(count)]


def open_writer(kind: str, path: Path, size: tuple[int, int], fps: float, sampled: list[Pixels]) -> Writer:
    """Return the writer of a film of a kind (one of `FILMS`)."""
    return GifWriter(path, sampled) if kind == ".gif" else Mp4Writer(path, size, fps)
