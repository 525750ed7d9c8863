"""Lenses on the stage: the lens of the chosen kernel, the next one by a key, and no lens without enough room."""

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from window_driving import wait_recorded

from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.lens_names import LENSES
from gemmviz.session.tour.lessons import locate
from gemmviz.ui.lenses.registry import LENSES_BY_NAME, suiting
from gemmviz.ui.stage.painter import StagePainter


def choose(window, qtbot, name):
    session = window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == name))
    wait_recorded(window, qtbot)


def test_every_lens_name_of_a_file_and_of_a_kernel_exists():
    assert tuple(LENSES_BY_NAME) == LENSES
    named = {kernel.demo.lens for kernel in ladder() if kernel.demo is not None} - {None}
    assert named == set(LENSES), "each lens has a kernel whose idea it shows"


def test_a_kernel_chosen_in_the_list_shows_its_lens_at_once(window, qtbot):
    window.ladder.setCurrentItem(window.ladder.item_of("CC"))
    session = window.session
    qtbot.waitUntil(lambda: session.cursor.playable.recording.kernel == "CC", timeout=20_000)
    qtbot.waitUntil(lambda: not session.demonstration.waiting, timeout=20_000)
    painter = window.stage._painter_now()
    assert painter.lens is LENSES_BY_NAME["banks"]
    assert session.cursor.step > 0 and not session.playback.playing


def test_a_kernel_without_a_lens_opens_at_the_step_of_its_demo(window, qtbot):
    window.ladder.setCurrentItem(window.ladder.item_of("matrixMulTiled"))
    wait_recorded(window, qtbot)
    demo = window.session.choice.kernel.demo
    assert demo.lens is None and window.session.cursor.step == locate(demo, window.session.cursor.playable).step > 0
    window.session.cursor.seek(0)
    window.ladder.setCurrentItem(window.ladder.item_of("gputiled"))
    window.ladder.setCurrentItem(window.ladder.item_of("matrixMulTiled"))
    wait_recorded(window, qtbot)
    assert window.session.cursor.step == 0  # the second time the user has seen it


def test_a_key_goes_through_the_suitable_lenses_and_back_to_the_tiles(window, qtbot):
    stage, session = window.stage, window.session
    tiles = stage.grab().toImage()
    seen = [session.lens.name]
    while True:
        qtbot.keyClick(stage, Qt.Key.Key_L, Qt.KeyboardModifier.ShiftModifier)
        if session.lens.name is None:
            break
        seen.append(session.lens.name)
        assert stage.grab().toImage() != tiles
    assert seen == [None, *suiting(session.cursor.playable)] and len(seen) > 2
    assert stage.grab().toImage() == tiles


@pytest.mark.sweep("vectorised")
@pytest.mark.parametrize("name", ["CC", "matmul_kernel_naive", "vectorised"])
def test_a_lens_does_not_overlap_the_matrices(window, qtbot, name):
    choose(window, qtbot, name)
    stage = window.stage
    painter = stage._painter_now()
    assert painter.lens is not None
    plan = painter.plan(QRectF(stage.rect()), stage.view)
    place = QRectF(plan.free.left, plan.free.top, plan.free.width, plan.free.height)
    assert place.width() >= 300 and QRectF(stage.rect()).contains(place)
    assert not any(place.intersects(QRectF(p.x, p.y, p.width, p.height)) for p in plan.panels[:3])


def test_a_lesson_shows_the_tiles_at_a_stop_without_a_lens(window, qtbot):
    session = window.session
    choose(window, qtbot, "CC")
    assert session.lens.name == "banks"
    session.guide.toggle_lesson()
    qtbot.waitUntil(lambda: session.tour.stop is not None and not session.tour.waiting, timeout=20_000)
    for at, stop in enumerate(session.tour.stops):
        session.guide.go(at)
        assert session.lens.name == stop.lens
    session.guide.leave()
    assert session.lens.name == "banks"


def test_no_lens_shows_the_answer_of_an_open_question(window, qtbot):
    session = window.session
    choose(window, qtbot, "CC")
    assert window.stage._painter_now().lens is not None
    session.predict.toggle()
    assert session.predict.question is not None and window.stage._painter_now().lens is None
    session.predict.answer(0)
    session.predict.reveal()
    assert window.stage._painter_now().lens is LENSES_BY_NAME["banks"]
    session.predict.toggle()
    assert window.stage._painter_now().lens is LENSES_BY_NAME["banks"]


def test_the_axes_move_with_the_matrices_when_a_lens_goes(window, qtbot):
    choose(window, qtbot, "CC")
    stage, rect, font = window.stage, QRectF(0, 0, 820, 760), QFont(window.font())
    font.setPixelSize(18)  # as in front of an audience: the lens takes the room of the matrices

    def painter_with(lens):
        painter = StagePainter(window.session.cursor.playable, stage.theme, font)
        painter.captioned, painter.lens = False, lens
        return painter

    def picture(painter):
        image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
        into = QPainter(image)
        painter.paint(into, rect, stage.moment())
        into.end()
        return image

    painter, view = painter_with(stage._painter_now().lens), stage.view
    picture(painter)
    with_lens = painter.plan(rect, view).panels
    painter.lens = None
    assert painter.plan(rect, view).panels != with_lens
    assert picture(painter) == picture(painter_with(None))
