"""Takes a stop from the stage, and saves the user's own stops as a lesson."""

import os
from dataclasses import replace
from pathlib import Path

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import language, tr
from gemmviz.session.models.own_stops import OwnStops
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.lesson_file import Lesson, Texts
from gemmviz.session.tour.lessons import describe
from gemmviz.session.tour.stop import OwnStop


def stop_here(staged: Staged) -> OwnStop:
    """Return a stop at the moment on the stage."""
    cursor = staged.cursor
    return OwnStop(cursor.step, "", cursor.cell, cursor.block, cursor.warp, None, staged.choice.setting)


def as_lesson(staged: Staged, stops: OwnStops, path: Path, title: str) -> Lesson:
    """Return the user's own stops on the chosen rung as a lesson, in the current language.

    Raises
    ------
    GemmvizError
        When there are none, when they have several sizes, or when the stage shows another recording.
    """
    choice, playable, setting = staged.choice, staged.current, staged.choice.setting
    if not stops.here:
        raise GemmvizError(tr("There are no stops to save: set one with B."))
    if choice.unsaved(choice.base) and not choice.breaks:
        raise GemmvizError(
            tr("{file} has edits that are not saved: a lesson is about the file.", file=choice.base.path.name)
        )
    if playable is None or any(stop.setting not in (None, setting) for stop in stops.here):
        raise GemmvizError(
            tr("A lesson has one size: not all of these stops were set at {size}.", size=str(setting.problem))
        )
    kernel = choice.kernel.name if choice.breaks else choice.base.name
    if not choice.shipped(choice.base) and not choice.breaks:
        kernel = os.path.relpath(choice.base.path, path.parent)
    described = tuple(
        replace(describe(stop.step, stop.cell, stop.block, playable, stop.say), warp=stop.warp, panel=stop.panel)
        for stop in stops.here
    )
    titles: Texts = {language(): title}
    return Lesson(
        *(path, kernel, setting.problem, titles, described, dict(setting.params), setting.order),
        as_written=setting.as_written,
    )
