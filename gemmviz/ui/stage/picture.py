"""Draws the stage, or the whole window, to a picture file with no display."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Recorded
from gemmviz.session import Session
from gemmviz.trace.playable import Playable
from gemmviz.ui.application import application
from gemmviz.ui.stage.painter import Moment, StagePainter
from gemmviz.ui.theme import THEMES
from gemmviz.ui.worker import playable_of

# The stage's labels are as large, relative to the picture, as in a window of this size.
_BASE_SIZE, _BASE_FONT = (1000, 640), 13


@dataclass(frozen=True)
class Picture:
    """What to draw: a recording at a step (from 1; None: 40% of the way), size, theme, window or stage."""

    kernel: Kernel
    reply: Recorded
    step: int | None
    resolution: tuple[int, int]
    theme: str
    window: bool


def draw(picture: Picture, path: Path) -> None:
    """Write a picture file.

    Parameters
    ----------
    picture
        What to draw.
    path
        The file; its suffix says the format (``.png``).

    Raises
    ------
    GemmvizError
        When the step does not exist, or the file cannot be written.
    """
    application()
    playable = playable_of(picture.reply)
    steps = playable.timeline.steps
    step = int(steps * 0.4) if picture.step is None else picture.step - 1
    if not 0 <= step < max(steps, 1):
        raise GemmvizError(f"step {picture.step} does not exist: this recording has the steps 1 to {steps}")
    image = _window(picture, playable, step) if picture.window else _stage(picture, playable, step)
    if not image.save(str(path)):
        raise GemmvizError(f"cannot write {path}: check the folder and that the name ends in .png")


def _stage(picture: Picture, playable: Playable, step: int) -> QImage:
    width, height = picture.resolution
    image = QImage(width, height, QImage.Format.Format_RGB32)
    font = QFont()
    font.setPixelSize(max(8, round(_BASE_FONT * min(width / _BASE_SIZE[0], height / _BASE_SIZE[1]))))
    painter = QPainter(image)
    StagePainter(playable, THEMES[picture.theme], font).paint(painter, QRectF(0, 0, width, height), Moment(step))
    painter.end()
    return image


def _window(picture: Picture, playable: Playable, step: int) -> QImage:
    from gemmviz.catalogue.ladder import ladder
    from gemmviz.engine.supervisor import Engine
    from gemmviz.ui.controller import Controller
    from gemmviz.ui.window import Window

    kernels = ladder()
    if picture.kernel.path not in [k.path for k in kernels]:
        kernels.append(picture.kernel)
    session = Session(kernels, picture.theme)
    recording = playable.recording
    session.choose(problem=Problem(recording.m, recording.n, recording.k), order=playable.timeline.order_by)
    session.choose_kernel(next(k for k in kernels if k.path == picture.kernel.path), recording.params)
    controller = Controller(session, Engine)
    controller.auto = False
    window = Window(session, controller)
    window.resize(*picture.resolution)
    window.make_charts()
    session.show(playable)
    session.seek(step)
    QApplication.processEvents()
    image = window.grab().toImage()
    window.close()
    return image
