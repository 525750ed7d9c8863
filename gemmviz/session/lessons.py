"""Lessons in recordings: which one a rung has, where its stops are in a recording, and how stops become a lesson."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from gemmviz import data
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import language, tr
from gemmviz.session.lesson_file import SUFFIX, Lesson, LessonStop, at_stop, in_language, load
from gemmviz.session.lesson_numbers import escaped, fill
from gemmviz.trace.playable import Playable
from gemmviz.trace.requests import Ints


@dataclass(frozen=True)
class Spot:
    """A lesson's stop, found in a recording: as `gemmviz.session.stops.Stop` wants it."""

    step: int
    say: str
    cell: tuple[int, int] | None
    block: int | None
    warp: int | None
    panel: str | None


def own_folder() -> Path:
    """Return the folder for a user's own lessons; it may not exist."""
    return Path(platformdirs.user_data_dir("gemmviz", appauthor=False)) / "lessons"


def lesson_path(kernel: Kernel) -> Path | None:
    """Return the file of a rung's lesson, the user's own first; None where there is none."""
    names = dict.fromkeys((kernel.name, kernel.base_name))
    folders = (own_folder(), data.root("resources") / "lessons")
    paths = (folder / f"{name}{SUFFIX}" for folder in folders for name in names)
    return next((path for path in paths if path.is_file()), None)


def find_lesson(kernel: Kernel) -> Lesson | None:
    """Return the lesson of a rung, or None.

    Raises
    ------
    GemmvizError
        When the file is no lesson; the message says where and what to do.
    """
    path = lesson_path(kernel)
    return load(path) if path is not None else None


def resolve(lesson: Lesson, playable: Playable, code: str) -> list[Spot]:
    """Find a lesson's stops in a recording.

    Parameters
    ----------
    lesson, playable
        The lesson, and a recording of its kernel.
    code
        The language to speak.

    Raises
    ------
    GemmvizError
        When a stop is not in the recording; the message names file, stop and what to do.
    """
    found = []
    for number, stop in enumerate(lesson.stops, 1):
        try:
            found.append(_resolve(stop, playable, code))
        except GemmvizError as error:
            raise GemmvizError(at_stop(lesson.path.name, number, str(error))) from error
    return found


def _resolve(stop: LessonStop, playable: Playable, code: str) -> Spot:
    recording = playable.recording
    step = _step(stop.at, playable)
    cell = block = None
    if stop.cell is not None:
        name, row, column = stop.cell
        array = _array(name, playable)
        info = recording.arrays[array]
        rows, columns = info.grid
        if not (0 <= row < rows and 0 <= column < columns):
            place, shape = f"{name}[{row}, {column}]", f"{rows} x {columns}"
            raise GemmvizError(tr("{place} does not exist: {name} is {shape}", place=place, name=name, shape=shape))
        cell = array, column * rows + row if info.column_major else row * columns + column
        if name == "C":
            block = int(recording.owners[0][row, column])
    if stop.block is not None:
        x, y = stop.block
        if not (0 <= x < recording.grid[0] and 0 <= y < recording.grid[1]):
            grid = f"{recording.grid[0]} x {recording.grid[1]}"
            raise GemmvizError(tr("block ({x}, {y}) does not exist: the grid is {grid}", x=x, y=y, grid=grid))
        block = y * recording.grid[0] + x
    return Spot(step, fill(in_language(stop.say, code), playable, step), cell, block, stop.warp, stop.panel)


def _array(name: str, playable: Playable) -> int:
    names = [array.name for array in playable.recording.arrays]
    if name not in names:
        raise GemmvizError(
            tr("the kernel has no array {name}: there are {known}", name=repr(name), known=", ".join(names))
        )
    return names.index(name)


def _step(at: Mapping[str, Any], playable: Playable) -> int:
    """Return the step that a place means."""
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


def _step_of_line(at: Mapping[str, Any], playable: Playable) -> int:
    lines = _lines_with(at["line"], playable)
    if len(lines) != 1:
        text = repr(at["line"])
        if not lines:
            raise GemmvizError(tr("{text} stands in no line of the source", text=text))
        where = ", ".join(map(str, lines[:5]))
        raise GemmvizError(
            tr("{text} stands in lines {where} of the source: give a text that stands in one", text=text, where=where)
        )
    array = _array(at["array"], playable) if "array" in at else None
    found = _executes(lines[0], array, at.get("write"), playable)
    nth = at.get("nth", 1)
    if len(found) < nth:
        raise GemmvizError(
            tr(
                "line {line} makes such an access {count} times, so there is no nth = {nth}",
                line=lines[0],
                count=len(found),
                nth=nth,
            )
        )
    return int(found[nth - 1])


def _lines_with(text: str, playable: Playable) -> list[int]:
    """Return the lines of code with a text; what can be broken is described in comments that repeat the code."""
    lines = enumerate(playable.recording.text.splitlines(), 1)
    return [number for number, line in lines if text in line and not line.lstrip().startswith("//")]


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
    """Return a moment of a recording as a lesson describes it.

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
        What to say there, in the language that is spoken; taken as it is.
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


def _place_of(step: int, playable: Playable) -> dict[str, Any]:
    """Return how a lesson names a step: by its line where one can tell, so that it stays when the size changes."""
    recording, timeline = playable.recording, playable.timeline
    line = playable.line(step)
    text = recording.text.splitlines()[line - 1].strip() if line else ""
    if not text or len(_lines_with(text, playable)) != 1:
        return {"step": step + 1}
    array, write = int(timeline.array[step]), bool(timeline.write[step])
    nth = int(np.searchsorted(_executes(line, array, write, playable), step)) + 1
    return {"line": text, "nth": nth, "array": recording.arrays[array].name, "write": write}
