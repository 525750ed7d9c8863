# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""At each demo and at each stop of a lesson, A, B, C and the quadrant take 35% of the window; texts are whole."""

import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo, opening
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication
from recordings import played

from gemmviz import data
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.language import LANGUAGES, set_language, tr
from gemmviz.session.tour.lesson_file import load_lesson
from gemmviz.session.tour.lessons import recorded_at
from gemmviz.ui.lenses.by_name import lens_for
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.painter import Moment, StagePainter, View
from gemmviz.ui.stage.score_drawing import height

SIZES = ((1280, 800), (1920, 1080))
LEAST = 0.35
_FOLDED = 132  # pixels that the stage gains at least, because a lesson folds the kernels
_KEEPS_KERNELS = 1600  # the width of a window from which on a lesson does not fold them
SAMPLE = ("blocked", "gputiled", "CC", "every_shape")
# An exhibit that does not compile has a demo without a stop.
LESSONS = sorted((data.root("resources") / "lessons").glob("*.toml"))
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


def share(playable, lens, size, rect, font):
    """The part of a window of a size that A, B, C and the quadrant take; `rect` is the stage's above three lanes."""
    painter = StagePainter(playable, THEMES["dark"], font)
    painter.lens = lens_for(lens, playable) if lens else None
    lower = height(playable.story, font) - height(None, font)
    box = QRectF()
    for panel in painter.panels(rect.adjusted(0, 0, 0, -lower), View())[:3]:
        box = box.united(QRectF(panel.x, panel.y, panel.width, panel.height))
    return box.width() * box.height() / (size[0] * size[1])


@pytest.mark.sweep(*SAMPLE)
@pytest.mark.parametrize("name", DEMOS)
def test_the_matrices_of_a_demo_take_a_third_of_the_window(name, places):
    playable = at_demo(name)
    lens = DEMOS[name].lens
    for size, (rect, font) in places.items():
        assert share(playable, lens, size, rect, font) >= LEAST, size


@pytest.mark.sweep(*SAMPLE)
@pytest.mark.parametrize("name", DEMOS)
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


@pytest.mark.sweep(*SAMPLE)
@pytest.mark.parametrize("name", DEMOS)
def test_the_idea_of_a_kernel_is_whole_at_its_demo_in_each_language(name, places):
    playable, at, lens, cut = at_demo(name), opening(name), DEMOS[name].lens, []
    for code in LANGUAGES:
        set_language(code)
        try:
            moment = Moment(at.step, at.block or 0, at.cell, fraction=at.fraction, idea=tr(find(name, ladder()).idea))
            for size, (rect, font) in places.items():
                painter = StagePainter(playable, THEMES["dark"], font)
                painter.lens = lens_for(lens, playable) if lens else None
                image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
                into = QPainter(image)
                into.setFont(painter.font)
                # Only what stands beside the matrices: to paint these takes most of the time.
                painter._draw_quadrant(into, painter.plan(rect, moment.view), moment, 1.0, None, None)
                into.end()
                placed = painter.quadrant.words._sentence[1]
                if not placed.complete:
                    cut.append((code, size, placed.text[1]))
        finally:
            set_language("en")
    assert cut == []


@pytest.mark.sweep(*SAMPLE)
@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_the_matrices_of_a_lesson_take_a_third_of_the_window_at_each_stop(file, places):
    """Measured without the text of the lesson, which never makes them smaller: see ``test_stage_first.py``."""
    lesson = load_lesson(file)
    kernel = find(lesson.kernel, ladder())
    playable = played(lesson.kernel, *recorded_at(lesson, kernel))
    for size, (rect, font) in places.items():
        folded = _FOLDED if size[0] < _KEEPS_KERNELS else 0
        for lens in {stop.lens for stop in lesson.stops}:
            assert share(playable, lens, size, rect.adjusted(0, 0, folded, 0), font) >= LEAST, (size, lens)
