# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The content of the stage and the charts, read from the picture."""

import pytest
from result_rows import add
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from gemmviz.bench.ranking import place
from gemmviz.catalogue.matrices import A
from gemmviz.catalogue.problem import Problem
from gemmviz.ui.stage import scene
from gemmviz.ui.stage.accessed_cells import AccessedCells, strength
from gemmviz.ui.stage.caption import caption
from gemmviz.ui.stage.lines import fitting


def choose(window, qtbot, name, size, **params):
    session = window.session
    session.choice.choose(problem=Problem.cube(size))
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == name), params)
    wait_recorded(window, qtbot)


def brightness_of_c(window, step):
    window.session.cursor.seek(step)
    panel = window.stage.panels()[2]
    # A corner of the last cell, beside its value.
    x, y = (int(p + 7.15 * panel.cell) for p in (panel.x, panel.y))
    return QColor(window.stage.grab().toImage().pixel(x, y)).lightness()


def test_c_becomes_brighter_with_the_work_and_again_when_it_is_written(window, qtbot):
    choose(window, qtbot, "gpumult1", 8)
    window.session.playback.pause()
    last = window.session.cursor.steps - 1
    first, half, before = (brightness_of_c(window, step) for step in (0, last // 2, last - 1))
    assert first < half < before
    # The write glows amber: the colour under it is read without the glow.
    image = window.stage._painter_now()._colours.image(2, last, 0, trail=0)[7, 7, :3]
    assert QColor(*(int(c) for c in image)).lightness() > before + 10


@pytest.mark.sweep("gpumult1-*")
@pytest.mark.parametrize(("name", "sectors"), [("matmul_kernel_naive", 32), ("gpumult1", 1)])
def test_uncoalesced_reads_of_a_show_as_many_sectors(window, qtbot, name, sectors):
    choose(window, qtbot, name, 32, BX=32, BY=32)
    playable = window.session.cursor.playable
    step = next(s for s in range(playable.timeline.steps) if playable.timeline.array[s] == A)
    moved = AccessedCells(playable).sectors(A, step, 0, 0)
    assert moved.shape == (sectors, 8)
    unit = "sector" if sectors == 1 else "sectors"
    assert f"{sectors} {unit} per warp request" in caption(playable, step)
    # Elements that move without a request are tinted: the neighbour of the element that lane 0 reads.
    window.session.cursor.seek(step)
    row, column = (int(v[0]) for v in playable.recording.arrays[0].cells(moved[0][5:6]))
    panel = window.stage.panels()[0]
    at = (int(panel.x + (column + 0.5) * panel.cell), int(panel.y + (row + 0.5) * panel.cell))
    tinted = QColor(window.stage.grab().toImage().pixel(*at))
    assert tinted.blue() > tinted.red() + 15


def test_a_cpu_loop_leaves_a_trail_as_long_as_its_inner_loop(window, qtbot):
    choose(window, qtbot, "hostmult0", 16)
    window.session.playback.pause()
    session = window.session
    assert session.player.trail >= 3 * 16
    session.cursor.seek(session.cursor.steps - 1)
    trail = session.player.trail
    cells, ages = AccessedCells(session.cursor.playable).glow(A, session.cursor.step, None, trail)
    assert ((cells // 16 == 15) & (strength(trail)[ages] > 0)).sum() >= 15


def test_a_cpu_loop_of_any_length_plays_in_half_a_minute(window, qtbot):
    choose(window, qtbot, "hostmult0", 32)
    assert window.session.cursor.steps / window.session.playback.rate == pytest.approx(30)


def test_a_caption_that_is_too_long_loses_only_its_last_parts(window):
    painter = window.stage._painter_now()
    whole = caption(window.session.cursor.playable, 0)
    short = fitting(whole, painter.metrics, painter.metrics.horizontalAdvance(whole) - 5)
    assert whole.startswith(short) and short.endswith("line 29")


def test_every_bar_has_a_name_of_its_own(window, qtbot):
    window.resize(1280, 1000)
    window.pages.turn_to("charts")
    kernels = [k for k in window.session.choice.kernels if not k.exhibit]
    add(window, {k.name: float(i + 1) for i, k in enumerate(kernels)})
    window.session.choice.auto = False
    seen = set()
    for kernel in {(place(k), k.types): k for k in kernels}.values():  # a chart has one processor and one set of types
        window.session.choice.choose_kernel(kernel)
        chart = window.charts.ladder
        chart.refresh()
        bars = chart.figures.bars
        names = [chart._drawing._name(bar, above) for bar, above in zip(bars, (None, *bars), strict=False)]
        assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
        seen |= {bar.kernel.name for bar in bars}
    assert seen == {kernel.name for kernel in kernels}


@pytest.mark.sweep("1900")
@pytest.mark.parametrize("width", [500, 640, 900, 1900])
def test_the_titles_of_shared_tiles_do_not_overlap(window, qtbot, width):
    choose(window, qtbot, "matmul_kernel_2d_thread_tiling", 64)
    recording, font = window.session.cursor.playable.recording, 16.0
    tiles = scene.panels(recording, width, 420, font)[3:]
    boxes = []
    for tile in tiles:
        wide = max(scene.title_width(recording, tile.array, font), tile.width)
        middle = tile.x + tile.width / 2
        boxes.append((middle - wide / 2, middle + wide / 2, tile.y - 1.3 * font, tile.y + tile.height))
    (left, right, top, bottom), (left2, _, top2, _) = boxes
    assert (right <= left2 or bottom <= top2) and left >= -font and top >= 0


def test_the_help_never_scrolls_sideways_and_is_searched(window, qtbot):
    box = window.show_help()
    wanted = box.label.sizeHint()
    assert wanted.width() < 1200  # of a screen of 1280 x 800
    box.resize(1240, 740)
    qtbot.wait(20)
    assert not box.area.horizontalScrollBar().isVisible()
    everything = box.text()
    QTest.keyClicks(box.search, "freeze warp")
    assert ">W</span>" in box.text() and len(box.text()) < len(everything) / 10
    box.search.setText("nobody would look for this")
    assert "No entry" in box.text()
    box.close()
