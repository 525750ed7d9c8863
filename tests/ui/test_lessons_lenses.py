# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Lenses in lessons: the lens of each kernel is shown, and the lens of each stop has content at its moment."""

import pytest
from recordings import played
from sampled import FEW
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz import data
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.rules.picked_thread import PickedThread
from gemmviz.session.tour.lesson_file import load_lesson
from gemmviz.session.tour.lessons import find_lesson, recorded_at, resolve
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.lenses.address_walk import address_walks
from gemmviz.trace.lenses.instruction import instruction
from gemmviz.trace.lenses.number_formats import narrow
from gemmviz.trace.lenses.outer_product import outer_product
from gemmviz.trace.lenses.pipeline_events import pipeline_events
from gemmviz.trace.lenses.read_counts import read_counts
from gemmviz.trace.lenses.stages import stages
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.trace.lenses.work_shares import work_shares
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.lenses.by_name import lens_for
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.look.theme import THEMES

LESSONS = [load_lesson(path) for path in sorted((data.root("resources") / "lessons").glob("*.toml"))]
WITH_LENS = [lesson for lesson in LESSONS if any(stop.lens for stop in lesson.stops)]
OWN = [kernel.name for kernel in ladder() if kernel.recordable and kernel.demo is not None and kernel.demo.lens]
WIDE, HIGH = 360, 260


def moments(lesson):
    """Record a lesson once; yield the number, the lens and the moment of each stop with a lens."""
    kernel = find(lesson.kernel, ladder())
    problem, params = recorded_at(lesson, kernel)
    if lesson.as_written:
        recording = record(launch(kernel, problem, params), as_written=True)
        timeline = build(recording, lesson.order)
        playable = Playable(recording, timeline, measure(recording, timeline))
    else:
        playable = played(kernel.name, problem, params, lesson.order)
    cursor = Cursor()
    inspection = Inspection(lambda: cursor.threads)
    _kept = PickedThread(cursor, inspection)
    cursor.show(playable)
    for number, stop in enumerate(resolve(lesson, playable, "en", kernel.demo), 1):
        # Like the tour at a stop: values that a stop leaves out keep those of the stop before.
        cursor.pick(stop.cell, stop.block)
        if stop.warp is not None:
            cursor.choose_warp(stop.warp)
        if stop.lane is not None:
            inspection.choose_lane(stop.lane)
        if stop.lens is not None:
            place = cursor.block, cursor.warp, inspection.lane, stop.cell
            yield number, stop.lens, LensMoment(playable, stop.step, *place)


def shown(name, moment):
    """Return whether a lens has content at a moment."""
    playable, step, block, warp = moment.playable, moment.step, moment.block, moment.warp
    match name:
        case "coalescing" | "banks":
            # The request of the step itself: the sentence is about this one, not about one before or after.
            asked = warp_requests(playable).shown(
                playable, step, block, warp, "global" if name == "coalescing" else "shared"
            )
            return asked is not None and asked.step == step
        case "memory order":
            return bool(address_walks(playable).at(playable, step, block, warp, moment.lane))
        case "thread tile":
            of_warp = WARP * warp if playable.recording.backend == "cuda" else 0
            known = outer_product(playable, block, of_warp + moment.lane, step)
            return known is not None and known.read > 0
        case "pipeline":
            return stages(playable, block) is not None and pipeline_events(playable, block) is not None
        case "number format":
            return narrow(playable.recording)
        case "stream-K":
            return work_shares(playable) is not None
        case "tensor core":
            known = instruction(playable, block, warp, step, None)
            return known is not None and known.c is not None
    return any(reads.total for reads in read_counts(playable).at(step, block))


def test_a_kernel_s_lens_is_in_its_lesson():
    assert OWN
    for name in OWN:
        kernel = find(name, ladder())
        lesson = find_lesson(kernel)
        assert lesson is not None and kernel.demo.lens in {stop.lens for stop in lesson.stops}, name


def test_the_lesson_of_the_naive_kernel_begins_with_coalescing():
    lesson = find_lesson(find("matmul_kernel_naive", ladder()))
    assert [stop.lens for stop in lesson.stops[:2]] == ["coalescing"] * 2


@pytest.mark.sweep(*FEW, "gather")
@pytest.mark.parametrize("lesson", WITH_LENS, ids=lambda lesson: lesson.path.stem)
def test_each_lens_of_a_lesson_suits_and_has_content(lesson, qapp):
    untouched = QImage(WIDE, HIGH, QImage.Format.Format_RGB32)
    untouched.fill(QColor(1, 2, 3))
    for number, name, moment in moments(lesson):
        lens = lens_for(name, moment.playable)
        assert lens is not None, f"stop {number}: {name} does not suit"
        assert shown(name, moment), f"stop {number}: {name} has nothing to show"
        image = untouched.copy()
        painter = QPainter(image)
        lens.paint(painter, QRectF(0, 0, WIDE, HIGH), moment, THEMES["dark"], QFont())
        painter.end()
        assert image != untouched, f"stop {number}: {name} draws nothing"
