# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""In front of an audience the chosen block's tiles are large, and A, B and C as a whole are small beside them."""

import pytest
from demo_recordings import at_demo
from pixels import pixel, pixels
from presenting_driving import presenter_of, press, tiled_session
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.ui.stage.regions import box

K = Qt.Key
SCREENS = ((1920, 1080), (1280, 800), (1280, 720), (1024, 768))


@pytest.fixture
def session():
    return tiled_session()


@pytest.fixture
def presenter(session, qtbot):
    return presenter_of(session, qtbot)


def cross(panels):
    """The box around the block's part of C and its tiles of A and B, in pixels."""
    whole = QRectF()
    for panel in panels[C:]:
        whole = whole.united(box(panel.place))
    return whole


@pytest.mark.sweep("size0", "size3")
@pytest.mark.parametrize("size", SCREENS)
def test_the_tiles_take_a_third_of_the_screen_and_their_figures_are_large(presenter, session, size):
    presenter.resize(*size)
    for lens in (None, "thread tile"):
        session.lens.show(lens)
        QApplication.processEvents()
        panels = presenter.stage.panels()
        assert panels[C].part == ((0, 4), (0, 4)) and len(panels) == 5
        whole = cross(panels)
        assert QRectF(presenter.stage.rect()).contains(whole)
        assert whole.width() * whole.height() >= 0.35 * size[0] * size[1]
        assert all(panel.cell == panels[C].cell for panel in panels[C:])
        assert panels[C].cell * 0.4 >= size[1] / 45, "values are read from the last row"


def test_the_tile_of_a_stands_left_of_c_and_that_of_b_above(presenter):
    panels = presenter.stage.panels()
    at = {panel.name: panel.place for panel in panels}
    assert at["As"].top == at["C"].top and at["As"].right < at["C"].left
    assert at["Bs"].left == at["C"].left and at["Bs"].bottom < at["C"].top
    for matrix in (A, B):
        assert panels[matrix].place.right < at["C"].left and panels[matrix].place.bottom < at["C"].top
        assert panels[matrix].cell < panels[C].cell / 2


def test_the_keyboard_leads_from_block_to_block(presenter, session, qtbot):
    press(presenter, qtbot, K.Key_X)
    session.cursor.pick((C, 0), 0)
    shown = []
    for key, times in ((K.Key_Right, 4), (K.Key_Down, 4), (K.Key_Left, 1)):
        for _ in range(times):
            qtbot.keyClick(presenter, key, Qt.KeyboardModifier.ShiftModifier)
        QApplication.processEvents()
        panel = presenter.stage.panels()[C]
        shown.append(panel.part)
        assert panel.at(panel.place.left + 1, panel.place.top + 1) == (panel.part[0][0], panel.part[1][0])
        assert panel.at(panel.place.left - 1, panel.place.top + 1) is None
    assert shown == [((0, 4), (4, 8)), ((4, 8), (4, 8)), ((4, 8), (0, 4))]


def test_nothing_of_c_is_painted_outside_the_block_s_part(presenter, session):
    """C as a whole would cover the tiles above it and left of it."""
    session.cursor.seek(session.cursor.steps - 1)
    session.cursor.pick(None, 3)
    QApplication.processEvents()
    stage = presenter.stage
    panel, ground = stage.panels()[C], stage.theme.background
    place = panel.place
    assert panel.y < place.top - 50 and panel.x < place.left - 50
    picture = pixels(stage.grab().toImage())
    top, left = round(place.top), round(place.left)
    assert set(picture[top - 6 : top - 2, left + 60 : left + 90].ravel().tolist()) == {pixel(ground)}


@pytest.mark.parametrize("height", [720, 1000])
def test_below_an_answer_a_lens_has_room_or_is_left_out(presenter, session, qtbot, height):
    """It was cut off: half of its largest line was seen."""
    presenter.resize(1280, height)
    session.lens.show("banks")
    session.cursor.seek(4)
    press(presenter, qtbot, K.Key_P)
    assert not presenter.lens.isVisible()
    seen = set()
    for _ in range(4):
        press(presenter, qtbot, K.Key_1, K.Key_Return)
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not presenter.lens.isVisible() or presenter.lens.height() >= 0.28 * height)
        seen.add(presenter.lens.isVisible())
        panel = presenter.predict
        assert panel.why.height() >= panel.why.heightForWidth(panel.why.width())
        press(presenter, qtbot, K.Key_Return)
    assert (height < 800) in seen
    press(presenter, qtbot, K.Key_P)
    assert presenter.lens.isVisible()


def test_a_kernel_without_tiles_has_the_usual_picture(presenter, session):
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    session.cursor.show(at_demo("gpumult0"))
    QApplication.processEvents()
    assert all(panel.part is None for panel in presenter.stage.panels())


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_one_array_with_both_tiles_stands_above_the_block_s_part(presenter, session, size):
    session.choice.choose_kernel(find("RR", session.choice.kernels))
    session.cursor.show(at_demo("RR"))
    presenter.resize(*size)
    QApplication.processEvents()
    panels = presenter.stage.panels()
    places = [box(panel.place) for panel in panels]
    assert len(panels) == 4 and panels[C].part is not None and panels[3].cell == panels[C].cell > 18
    assert places[3].bottom() < places[C].top()
    assert all(QRectF(presenter.stage.rect()).contains(place) for place in places)
    assert not any(one.intersects(other) for at, one in enumerate(places) for other in places[:at])


def test_the_stage_shows_what_rests_once_playback_pauses(presenter, session, qtbot):
    """At a high speed nothing flies; after a pause between two steps the picture stayed without what is on its way."""
    session.playback.set_speed(16)
    session.playback.play()
    session.cursor.seek(14, 14.5)
    presenter.stage.repaint()
    moments, paint = [], presenter.stage._painter_now().paint
    presenter.stage._painter_now().paint = lambda painter, rect, moment, *more: (
        moments.append(moment.motion),
        paint(painter, rect, moment, *more),
    )
    session.playback.pause()
    qtbot.waitUntil(lambda: bool(moments))
    assert moments[-1] != "none"


def test_few_large_cells_leave_the_usual_picture(presenter, session):
    """The block at the corner of C has four rows of eight: most of the stage would be empty."""
    session.choice.choose_kernel(find("CC_V_SHORT_CIRCUIT", session.choice.kernels))
    session.cursor.show(at_demo("CC_V_SHORT_CIRCUIT"))
    session.cursor.pick(None, session.cursor.playable.recording.blocks - 1)
    QApplication.processEvents()
    assert all(panel.part is None for panel in presenter.stage.panels())


def test_tiles_without_room_for_values_leave_the_usual_picture(presenter, session):
    session.choice.choose_kernel(find("vectorised", session.choice.kernels))
    session.cursor.show(at_demo("vectorised"))
    QApplication.processEvents()
    assert all(panel.part is None for panel in presenter.stage.panels())


def test_the_stage_of_the_window_stays_as_it_is(window):
    assert all(panel.part is None for panel in window.stage.panels())
