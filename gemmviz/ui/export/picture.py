"""Draws the stage, or the whole window, into picture and film files with no display."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.problem import Problem
from gemmviz.control.unpacking import playable_of, report_of
from gemmviz.engine.messages import Recorded
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.atomic_file import atomic_file
from gemmviz.session.tour.demo_place import place, place_of
from gemmviz.session.tour.lessons import locate
from gemmviz.session.values.film import FPS, film, trail
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import CellName, block_number, cell_name, cell_number, owner_block, warp_number
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.discard import discard
from gemmviz.ui.export.films import FILMS, fitting, kind_of, moments, open_writer, samples
from gemmviz.ui.export.frames import Frames, Look, draw_svg, pixels
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.window.application import application

_DEFAULT_SHARE = 0.4


@dataclass(frozen=True)
class Steps:
    """The steps that a film shows: first (from 0), end (the one after the last; None: all), every n-th, frames/s."""

    first: int = 0
    end: int | None = None
    every: int | None = None
    fps: float = FPS


@dataclass(frozen=True)
class Picture:
    """A recording and the options of its picture.

    Attributes
    ----------
    kernel, reply
        The kernel, and its recording.
    look
        Size, theme, size of type.
    window
        Whether to draw the whole window instead of the stage.
    step
        For a still, from 1, with a fraction of the way to the next step; None: the demo's, with its block and element
        of C, where the recording is the demo's, else 40% of the way.
    steps
        For a film.
    block, cell, warp
        The choice: blockIdx (None: the one that owns the cell, or the first), (array, row, column), and the warp
        of that block.
    lens_given
        Whether the look's lens was given; else a picture of the kernel's demo shows the lens that it names.
    """

    kernel: Kernel
    reply: Recorded
    look: Look
    window: bool = False
    step: float | None = None
    steps: Steps = Steps()
    block: tuple[int, ...] | None = None
    cell: CellName | None = None
    warp: int = 0
    lens_given: bool = False


class _Drawn(Protocol):
    def image(self, moment: Moment) -> QImage: ...
    def close(self) -> None: ...


def draw(picture: Picture, path: Path, on_frame: Callable[[int, int], object] = lambda done, of: None) -> None:
    """Write a picture or a film.

    Parameters
    ----------
    picture
        The picture to draw.
    path
        The file; its suffix says the format: ``.png``, ``.svg``, ``.gif`` or ``.mp4``.
    on_frame
        Called with the number of frames that are done, and of all frames.

    Raises
    ------
    GemmvizError
        When the step does not exist, or the file cannot be written; then none is left.
    """
    kind = kind_of(path)
    if kind == ".svg" and picture.window:
        raise ConstraintError(tr("an SVG shows the stage: leave out {option}, or write a .png", option="--window"))
    application()
    playable = playable_of(picture.reply)
    if kind not in FILMS:
        picture = _at_demo(picture, playable)
    moment = _moment(picture, playable)
    picture = replace(picture, look=replace(picture.look, size=fitting(kind, picture.look.size)))
    drawn: _Drawn = _WindowFrames(picture, playable) if picture.window else Frames(playable, picture.look)
    try:
        if kind in FILMS:
            _draw_film(drawn, playable, picture, replace(moment, idea=""), path, on_frame)
            return
        with atomic_file(path) as part:
            svg = kind == ".svg"
            if not (draw_svg(playable, picture.look, moment, part) if svg else drawn.image(moment).save(str(part))):
                raise GemmvizError(tr("cannot write {path}", path=path))
    finally:
        drawn.close()


def _at_demo(picture: Picture, playable: Playable) -> Picture:
    """Return a picture without a step at the step of the kernel's demo, if the demo was recorded."""
    demo, recording = picture.kernel.demo, playable.recording
    if picture.step is not None or demo is None or demo.stop is None or recording.as_written:
        return picture
    recorded = ((recording.m, recording.n, recording.k), recording.params, playable.timeline.order_by)
    if recorded != (demo.size, picture.kernel.defaults | demo.params, "grid"):
        return picture
    try:
        found = locate(demo, playable)
    except GemmvizError:
        return picture  # a variant may lack the line
    picture = replace(picture, step=found.step + 1 + found.fraction)
    if not picture.lens_given:
        picture = replace(picture, look=replace(picture.look, lens=demo.lens))
    if picture.block is not None or picture.cell is not None or found.block is None:
        return picture
    cell = found.cell and cell_name(recording, found.cell)
    block = recording.block_index(found.block)
    return replace(picture, block=block, cell=cell, warp=picture.warp or found.warp or 0)


def _moment(picture: Picture, playable: Playable) -> Moment:
    recording, steps = playable.recording, playable.timeline.steps
    position = float(int(steps * _DEFAULT_SHARE)) if picture.step is None else picture.step - 1
    if not 0 <= position <= max(steps - 1, 0):
        text = f"{picture.step:g}"
        raise ConstraintError(
            tr("step {step} does not exist: this recording has the steps 1 to {steps}", step=text, steps=steps)
        )
    step = int(position)
    cell = cell_number(recording, picture.cell) if picture.cell else None
    block = owner_block(recording, cell) if picture.block is None else block_number(recording, picture.block)
    warp = warp_number(recording, picture.warp)
    lane, fraction, demo = _lane(playable, cell, warp), position - step, picture.kernel.demo
    at_demo = demo is not None and place_of(demo, playable) == place(step, fraction, block, cell)
    idea = tr(picture.kernel.idea) if at_demo else ""
    return Moment(step, block, cell, trail(playable, 1), warp=warp, fraction=fraction, lane=lane, idea=idea)


def _lane(playable: Playable, cell: tuple[int, int] | None, warp: int) -> int:
    """Return the lane of the thread that owns the chosen element of C, as in the window; else the first."""
    if cell is None or cell[0] != C or playable.recording.backend != "cuda":
        return 0
    at = playable.recording.arrays[C].cells(np.array([cell[1]]))
    thread = int(playable.recording.owners[1][at][0])
    return thread % WARP if thread >= 0 and thread // WARP == warp else 0


def _draw_film(
    drawn: _Drawn,
    playable: Playable,
    picture: Picture,
    moment: Moment,
    path: Path,
    on_frame: Callable[[int, int], object],
) -> None:
    wanted = picture.steps
    made = film(playable, wanted.first, wanted.end, wanted.every, wanted.fps)
    shown = moments(playable, made, moment)
    sampled = [pixels(drawn.image(m)) for m in samples(shown)]
    with atomic_file(path) as part:
        writer = open_writer(path.suffix.lower(), part, picture.look.size, made.fps, sampled)
        try:
            for done, (now, seconds) in enumerate(zip(shown, made.durations(), strict=True), 1):
                writer.add(pixels(drawn.image(now)), seconds)
                on_frame(done, made.frames)
        except BaseException:
            writer.abandon()
            raise
        writer.close()


class _WindowFrames:
    """Draws the whole window, as it would stand on a screen of that size."""

    def __init__(self, picture: Picture, playable: Playable) -> None:
        from gemmviz.catalogue.ladder import ladder  # late: an SVG of the stage needs no window
        from gemmviz.control.controller import Controller
        from gemmviz.engine.supervisor import Engine
        from gemmviz.ui.window.late_tasks import load_references
        from gemmviz.ui.window.qt_loop import QtLoop
        from gemmviz.ui.window.window import Window

        kernels = ladder()
        if picture.kernel.path not in [k.path for k in kernels]:
            kernels.append(picture.kernel)
        self._session = session = Session(kernels, picture.look.theme)
        session.preferences.type_scale = picture.look.type_scale
        recording = playable.recording
        size = Problem(recording.m, recording.n, recording.k)
        session.choice.choose(size, order=playable.timeline.order_by, as_written=recording.as_written)
        kernel = next(k for k in kernels if k.path == picture.kernel.path)
        session.choice.choose_kernel(kernel, recording.params, size)  # else it may be shown at a size with more blocks
        controller = Controller(session, lambda: Engine(session.permission.trust), QtLoop())
        session.choice.auto = False
        session.lens.show(picture.look.lens)
        self._window = window = Window(session, controller)
        window.source.highlighter.begin()  # nobody waits for this window's first paint
        # Corner widgets and tabs take their places when the window is shown, here unseen.
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        window.resize(*picture.look.size)
        load_references(session)
        session.results.want_references(True)  # no engine has described this machine
        window.show()
        session.cursor.show(playable)
        session.findings.record(recording.text, report_of(picture.reply, playable))

    def image(self, moment: Moment) -> QImage:
        session = self._session
        session.cursor.pick(moment.cell, moment.block)
        session.cursor.choose_warp(moment.warp)
        session.cursor.seek(moment.step, moment.step + moment.fraction)
        QApplication.processEvents()
        return self._window.grab().toImage()

    def close(self) -> None:
        self._window.close()
        discard(self._window)
