"""Lessons in recordings: the lesson of a rung, the steps of its stops in a recording, and stops as a lesson."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import platformdirs

from gemmviz import data
from gemmviz.catalogue import renamed
from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.lens_names import LensName
from gemmviz.catalogue.moment import Moment, line_of, lines_with
from gemmviz.catalogue.problem import Problem
from gemmviz.language import language, tr
from gemmviz.session.tour.lesson_file import DEMO, SUFFIX, Lesson, LessonStop, at_stop, in_language, load_lesson
from gemmviz.session.tour.lesson_numbers import escaped, fill
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP


@dataclass(frozen=True)
class LocatedStop:
    """A lesson's stop, found in a recording: in the form of `gemmviz.session.tour.stop.OwnStop`."""

    step: int
    say: str
    cell: tuple[int, int] | None
    block: int | None
    warp: int | None
    panel: str | None
    lane: int | None = None
    lens: LensName | None = None
    fraction: float = 0.0


def own_folder() -> Path:
    """Return the folder for a user's own lessons; it may not exist."""
    return Path(platformdirs.user_data_dir("gemmviz", appauthor=False)) / "lessons"


def lesson_path(kernel: Kernel) -> Path | None:
    """Return the file of a rung's lesson, the user's own first; None if there is none."""
    base = kernel.base_name
    names = dict.fromkeys((kernel.name, base, *renamed.before(base)))
    folders = (own_folder(), data.root("resources") / "lessons")
    paths = (folder / f"{name}{SUFFIX}" for folder in folders for name in names)
    return next((path for path in paths if path.is_file()), None)


def find_lesson(kernel: Kernel) -> Lesson | None:
    """Return the lesson of a rung, or None.

    Raises
    ------
    GemmvizError
        When the file is not a lesson; the message has the place and the remedy.
    """
    path = lesson_path(kernel)
    return load_lesson(path) if path is not None else None


def recorded_at(lesson: Lesson, kernel: Kernel) -> tuple[Problem, dict[str, int]]:
    """Return the size and all parameters with which a lesson of a kernel is recorded.

    If the lesson has no size, size and parameters come from the kernel's demo.

    Raises
    ------
    GemmvizError
        When neither gives a size.
    """
    given = {name: value for name, value in lesson.params.items() if name in kernel.params}
    if lesson.problem is not None:
        return lesson.problem, kernel.defaults | given
    if kernel.demo is None:
        raise GemmvizError(
            tr("say which size to record, as {rung} has no demo: {example}", rung=kernel.alias, example="size = 8")
        )
    return Problem(*kernel.demo.size), kernel.defaults | kernel.demo.params | given


def resolve(lesson: Lesson, playable: Playable, code: str, demo: Demo | None = None) -> list[LocatedStop]:
    """Find a lesson's stops in a recording.

    Parameters
    ----------
    lesson, playable
        The lesson, and a recording of its kernel.
    code
        The language of the sentences.
    demo
        The kernel's demo, for stops at the demo.

    Raises
    ------
    GemmvizError
        When a stop is not in the recording; the message has file, stop and remedy.
    """
    found = []
    for number, stop in enumerate(lesson.stops, 1):
        try:
            found.append(_resolve(stop, playable, code, demo))
        except GemmvizError as error:
            raise GemmvizError(at_stop(lesson.path.name, number, str(error))) from error
    return found


def locate(demo: Demo, playable: Playable) -> LocatedStop:
    """Find a demo's place in a recording: its step with the fraction, and the first element of C that its thread owns.

    The panel is that of the thread; the source if the demo names no thread.

    Raises
    ------
    GemmvizError
        When the recording has no such step, block or thread.
    """
    recording = playable.recording
    step = _step(demo.stop, playable) if demo.stop is not None else 0
    fraction = _fraction(demo.stop or {}, step, playable)
    block = None if demo.block is None and demo.thread is None else _block(demo.block or (0, 0), playable)
    if demo.thread is None or block is None:
        return LocatedStop(step, "", None, block, None, "source", fraction=fraction)
    x, y = demo.thread
    across, down, _ = recording.block
    if x >= across or y >= down:
        shape = f"{across} x {down}"
        raise GemmvizError(tr("thread ({x}, {y}) does not exist: a block is {shape}", x=x, y=y, shape=shape))
    thread = y * across + x
    of_block, of_thread = recording.owners
    mine = np.argwhere((of_block == block) & (of_thread == thread))
    cell = _cell("C", int(mine[0][0]), int(mine[0][1]), playable) if len(mine) else None
    # On a CPU there are no warps: the lane counts its threads.
    warp, lane = divmod(thread, WARP) if recording.backend == "cuda" else (0, thread)
    return LocatedStop(step, "", cell, block, warp, "thread", lane, fraction=fraction)


def _resolve(stop: LessonStop, playable: Playable, code: str, demo: Demo | None) -> LocatedStop:
    found = LocatedStop(0, "", None, None, None, None)
    if DEMO in stop.at:
        if demo is None:
            raise GemmvizError(tr("the kernel has no demo that this stop could be at"))
        found = locate(demo, playable)
    else:
        step = _step(stop.at, playable)
        found = replace(found, step=step, fraction=_fraction(stop.at, step, playable))
    if stop.cell is not None:
        name, row, column = stop.cell
        cell = _cell(name, row, column, playable)
        block = int(playable.recording.owners[0][row, column]) if name == "C" else None
        found = replace(found, cell=cell, block=block, warp=None, lane=None)
    if stop.block is not None:
        found = replace(found, block=_block(stop.block, playable))
    if stop.warp is not None:
        found = replace(found, warp=stop.warp, lane=None)
    say = fill(in_language(stop.say, code), playable, found.step)
    return replace(found, say=say, panel=stop.panel or found.panel, lens=stop.lens)


def _cell(name: str, row: int, column: int, playable: Playable) -> tuple[int, int]:
    """Return (array index, element in memory order) of a cell of an array."""
    array = _array(name, playable)
    info = playable.recording.arrays[array]
    rows, columns = info.grid
    if not (0 <= row < rows and 0 <= column < columns):
        place, shape = f"{name}[{row}, {column}]", f"{rows} x {columns}"
        raise GemmvizError(tr("{place} does not exist: {name} is {shape}", place=place, name=name, shape=shape))
    return array, info.element(row, column)


def _block(index: tuple[int, int], playable: Playable) -> int:
    """Return the linear index of a block (x, y)."""
    (x, y), (across, down, _) = index, playable.recording.grid
    if not (0 <= x < across and 0 <= y < down):
        grid = f"{across} x {down}"
        raise GemmvizError(tr("block ({x}, {y}) does not exist: the grid is {grid}", x=x, y=y, grid=grid))
    return y * across + x


def _array(name: str, playable: Playable) -> int:
    names = [array.name for array in playable.recording.arrays]
    if name not in names:
        raise GemmvizError(
            tr("the kernel has no array {name}: there are {known}", name=repr(name), known=", ".join(names))
        )
    return names.index(name)


def _step(at: Moment, playable: Playable) -> int:
    """Return the step of a place."""
    timeline = playable.timeline
    steps = timeline.steps
    if not steps:
        raise GemmvizError(tr("the recording has no steps"))
    if "end" in at:
        return steps - 1
    if "share" in at:
        return round(float(at["share"]) * (steps - 1))
    if "step" in at:
        if at["step"] > steps:
            raise GemmvizError(tr("there is no step {step}: the recording has {steps}", step=at["step"], steps=steps))
        return int(at["step"]) - 1
    if "line" in at:
        return _step_of_line(at, playable)
    of_step = timeline.phase if "phase" in at else playable.story.tiles
    number = at["phase"] if "phase" in at else at["tile"]
    found = np.flatnonzero(of_step == number - 1)
    if not len(found):
        last = int(of_step.max()) + 1
        if "phase" in at:
            raise GemmvizError(tr("there is no phase {number}: the last one is {last}", number=number, last=last))
        raise GemmvizError(tr("there is no tile {number}: the last one is {last}", number=number, last=last))
    return int(found[0])


def _fraction(at: Moment, step: int, playable: Playable) -> float:
    """Return the fraction of a place; at the last step there is no way to a next one."""
    return float(at.get("fraction", 0.0)) if step + 1 < playable.timeline.steps else 0.0


def _step_of_line(at: Moment, playable: Playable) -> int:
    line = line_of(at["line"], playable.recording.text)
    array = _array(at["array"], playable) if "array" in at else None
    found = _executes(line, array, at.get("write"), playable)
    nth = at.get("nth", 1)
    if len(found) < nth:
        raise GemmvizError(
            tr(
                "line {line} makes such an access only {count}×, so there is no nth = {nth}",
                line=line,
                count=len(found),
                nth=nth,
            )
        )
    return int(found[nth - 1])


def _executes(line: int, array: int | None, write: bool | None, playable: Playable) -> Ints:
    """Return the steps at which a line accesses an array (None: any), reading or writing it (None: either)."""
    timeline = playable.timeline
    steps = np.isin(timeline.site, [i for i, site in enumerate(playable.recording.sites) if site.line == line])
    if array is not None:
        steps &= timeline.array == array
    if write is not None:
        steps &= timeline.write == write
    return np.flatnonzero(steps)


def describe(
    step: int, cell: tuple[int, int] | None, block: int | None, playable: Playable, sentence: str
) -> LessonStop:
    """Return a moment of a recording in a lesson's form.

    Parameters
    ----------
    step
        Position in the timeline.
    cell
        (array index, element in memory order), or None.
    block
        Linear index, or None.
    playable
        The recording.
    sentence
        The sentence, in the chosen language; taken unchanged.
    """
    recording, place, index = playable.recording, None, None
    if cell is not None:
        info = recording.arrays[cell[0]]
        row, column = (int(v[0]) for v in info.cells(np.array([cell[1]])))
        place = info.name, row, column
    if block is not None:
        x, y, z = recording.block_index(block)
        index = (x, y) if z == 0 else None
    return LessonStop(_place_of(step, playable), {language(): escaped(sentence)}, place, index)


def _place_of(step: int, playable: Playable) -> Moment:
    """Return a lesson's description of a step: by its line if that is unique, so that other sizes have it, too."""
    recording, timeline = playable.recording, playable.timeline
    line = playable.line(step)
    text = recording.text.splitlines()[line - 1].strip() if line else ""
    if not text or len(lines_with(text, recording.text)) != 1:
        return {"step": step + 1}
    array, write = int(timeline.array[step]), bool(timeline.write[step])
    nth = int(np.searchsorted(_executes(line, array, write, playable), step)) + 1
    return {"line": text, "nth": nth, "array": recording.arrays[array].name, "write": write}
