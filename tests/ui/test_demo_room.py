# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""At each rung's demo, with its lens, A, B, C and the quadrant take 35% of the window, and no text is shortened."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo, opening
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gemmviz import data
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session.tour.lesson_file import load_lesson
from gemmviz.session.tour.lessons import recorded_at
from gemmviz.ui.lenses.registry import lens_for
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.painter import Moment, StagePainter, View
from gemmviz.ui.stage.plan import Texts, column_width, placed

SIZES = ((1280, 800), (1920, 1080))
LEAST = 0.35
_FOLDED = 132  # pixels that the stage gains at least, because a lesson folds the kernels
_LESSON_LINES, _COLUMN_LINES = 6, 14  # of a text in the quadrant, and left of A
# Lessons with wide matrices: more k-steps would change what their texts say. They miss 35%, and are kept from a fall.
WIDE = {"simd": 0.25, "stream_k": 0.2, "stream_k_tma": 0.3, "stream_k_tma_bf16": 0.25, "tf32": 0.25}
SAMPLE = ("blocked", "simd_threads", "gputiled", "CC", "larger_tiles", "every_shape", "fp8_in_turns")
# An exhibit that does not compile has a demo without a stop.
LESSONS = [load_lesson(path) for path in sorted((data.root("resources") / "lessons").glob("*.toml"))]
WITH_LENS = [lesson for lesson in LESSONS if any(stop.lens for stop in lesson.stops)]
DEMOS = {kernel.name: kernel.demo for kernel in ladder() if kernel.demo is not None and kernel.demo.stop is not None}


@pytest.fixture(scope="module")
def stages():
    """The rectangle of the stage in a window of each size."""
    return {}


@pytest.fixture
def places(make_window, stages, qtbot):
    if not stages:
        window = make_window()
        for size in SIZES:
            window.resize(*size)
            qtbot.waitUntil(lambda size=size: window.width() == size[0] and window.stage.width() > size[0] / 2)
            QApplication.processEvents()
            stages[size] = QRectF(window.stage.rect()), window.stage._font()
    return stages


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in DEMOS]
)
def test_the_matrices_of_a_demo_take_a_third_of_the_window(name, places):
    playable = at_demo(name)
    lens = DEMOS[name].lens
    for size, (rect, font) in places.items():
        painter = StagePainter(playable, THEMES["dark"], font)
        painter.lens = lens_for(lens, playable) if lens else None
        box = QRectF()
        for panel in painter.panels(rect, View())[:3]:
            box = box.united(QRectF(panel.x, panel.y, panel.width, panel.height))
        share = box.width() * box.height() / (size[0] * size[1])
        assert share >= LEAST, f"{share:.3f} at {size}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in DEMOS]
)
def test_no_text_of_a_demo_is_shortened_but_the_line_of_its_source(name, places, monkeypatch):
    shortened, whole = [], QFontMetricsF.elidedText

    def watched(metrics, text, *rest):
        shown = whole(metrics, text, *rest)
        if shown != text and not text.startswith("line "):
            shortened.append(text)
        return shown

    monkeypatch.setattr(QFontMetricsF, "elidedText", watched)
    playable, at, lens = at_demo(name), opening(name), DEMOS[name].lens
    for rect, font in places.values():
        painter = StagePainter(playable, THEMES["dark"], font)
        painter.lens = lens_for(lens, playable) if lens else None
        image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
        into = QPainter(image)
        painter.paint(into, rect, Moment(at.step, at.block or 0, at.cell, warp=at.warp or 0, lane=at.lane or 0))
        into.end()
    assert shortened == []


@pytest.mark.parametrize("lesson", WITH_LENS, ids=lambda lesson: lesson.kernel)
def test_the_matrices_of_a_lesson_with_a_lens_take_a_third_of_the_window(lesson, places):
    problem = recorded_at(lesson, find(lesson.kernel, ladder()))[0]
    m, n, k = problem.m, problem.n, problem.k
    grids = {"A": (m, k), "B": (k, n), "C": (m, n)}
    arrays = [SimpleNamespace(name=name, grid=grid, space="global") for name, grid in grids.items()]
    recording = SimpleNamespace(m=m, n=n, k=k, arrays=arrays)
    for size, (rect, font) in places.items():
        high, width = QFontMetricsF(font).height(), rect.width() + _FOLDED
        size_of = recording, width, rect.height(), high
        below_title = Texts(3.6 * high, 3.4 * high, _LESSON_LINES * high)
        in_column = replace(below_title, taken=_COLUMN_LINES * high, narrow=True)
        ways = [in_column] if column_width(*size_of) else []
        ways += [below_title, in_column] if column_width(*size_of, reserve=True) else [below_title]
        found = [placed(*size_of, texts, (), lens=True) for texts in ways]
        around = [plan for plan in found if plan is not None and plan.form == "around words"]
        plan = around[0] if around else next(plan for plan in found if plan is not None)
        box = QRectF()
        for panel in plan.panels:
            box = box.united(QRectF(panel.x, panel.y, panel.width, panel.height))
        share = box.width() * box.height() / (size[0] * size[1])
        assert share >= WIDE.get(lesson.kernel, LEAST), f"{share:.3f} at {size}"
