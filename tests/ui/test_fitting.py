# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Texts fit into their places: none is cut, and none overlaps another."""

from itertools import combinations

import pytest
from demo_recordings import at_demo
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.charts.chart import Plot
from gemmviz.ui.lenses.registry import LENSES_BY_NAME
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage import labels
from gemmviz.ui.stage.cell_text import BANK_LABEL, CellText
from gemmviz.ui.stage.lines import Lines
from gemmviz.ui.stage.painter import Moment, StagePainter, View


@pytest.fixture(scope="module")
def tiled():
    recording = record(launch(find("gputiled", ladder()), Problem.cube(8), {"TS": 4}))
    steps = timeline.build(recording)
    return Playable(recording, steps, traffic.measure(recording, steps))


@pytest.mark.parametrize("type_pixels", [12, 15, 20, 28])
@pytest.mark.parametrize(("width", "height"), [(660, 300), (500, 350), (700, 240), (320, 240), (1400, 900)])
def test_no_labels_of_the_stage_overlap(qapp, tiled, width, height, type_pixels, monkeypatch):
    font = QFont()
    font.setPixelSize(type_pixels)
    written = []
    draw = labels.draw
    monkeypatch.setattr(labels, "draw", lambda *args: written.extend(draw(*args)))
    stage, rect = StagePainter(tiled, THEMES["dark"], font), QRectF(0, 0, width, height)
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    stage.paint(painter, rect, Moment(0, 0, None, 8, View()))
    painter.end()
    assert {"A", "B", "C"} <= {text for text, _ in written}
    cells = [QRectF(p.x, p.y, p.width, p.height) for p in stage.panels(rect, View())]
    assert not [(a, b) for (a, one), (b, other) in combinations(written, 2) if one.intersects(other)]
    assert not [text for text, ink in written if any(ink.intersects(box) for box in cells)]
    shared = [ink for text, ink in written if "block" in text]
    assert all(ink.left() >= 0 for ink in shared)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (900, "async_pipeline<16, 16, 8, 4, 4, 3>   32 × 32 × 32"),
        (330, "async_pipeline   32 × 32 × 32"),
        (230, None),
    ],
)
def test_the_line_above_a_small_stage_keeps_size_and_mark_where_the_parameters_have_no_room(
    qapp, monkeypatch, width, expected
):
    font, written = QFont(), []
    font.setPixelSize(15)
    lines = Lines(at_demo("async_pipeline"), THEMES["dark"], font)
    text = QPainter.drawText
    monkeypatch.setattr(QPainter, "drawText", lambda self, *args: (written.append(args), text(self, *args))[1])
    image = QImage(width, 40, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    lines.draw_title(painter, QRectF(0, 0, width, 40), Moment(3))
    painter.end()
    (line, _, title), (_, _, mark) = written
    bold = QFont(font)
    bold.setBold(True)
    needed = QFontMetricsF(bold).horizontalAdvance(title) + QFontMetricsF(font).horizontalAdvance(mark)
    assert needed < line.width() and mark.startswith("✓") and title.endswith("   32 × 32 × 32")
    if expected is not None:
        assert title == expected
    else:
        assert title.startswith("as") and "…" in title


@pytest.mark.parametrize("lens", ["pipeline", None])
def test_the_stages_of_a_tile_are_numbered_only_where_no_lens_covers_it(qapp, lens, monkeypatch):
    written = []
    draw = labels.draw
    monkeypatch.setattr(labels, "draw", lambda *args: written.extend(draw(*args)))
    stage, rect = StagePainter(at_demo("async_pipeline"), THEMES["dark"], QFont()), QRectF(0, 0, 700, 760)
    stage.lens = LENSES_BY_NAME[lens] if lens else None
    image = QImage(700, 760, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    stage.paint(painter, rect, Moment(3))
    painter.end()
    a = stage.panels(rect, View())[0]
    # Above A and left of it are the shared tiles, whose stages have the numbers 0, 1 and so on.
    numbers = [text for text, ink in written if text.isdigit() and ink.bottom() < a.y - 60 and ink.right() < a.x]
    assert bool(numbers) == (lens is None), numbers


@pytest.mark.parametrize("cell", [BANK_LABEL, 41.0, 55.0, 80.0])
def test_lanes_and_banks_do_not_overlap_in_a_cell(qapp, tiled, cell, monkeypatch):
    font = QFont()
    font.setPixelSize(20)
    text, theme = CellText(tiled, THEMES["dark"], font), THEMES["dark"]
    array = next(i for i, a in enumerate(tiled.recording.arrays) if a.name == "As")
    step = next(
        s for s in range(tiled.timeline.steps) if tiled.timeline.array[s] == array and not tiled.timeline.write[s]
    )
    stamped = []

    def stamp(painter, message, shade, size, x, y, ratio, style=0):
        small = QFont(font)
        small.setPixelSize(size)
        half = QFontMetricsF(small).horizontalAdvance(message) / 2
        stamped.append((message, size, x - half, x + half, int(x // cell), int(y // cell)))

    monkeypatch.setattr(text, "_stamp", stamp)
    from gemmviz.ui.stage.accessed_cells import AccessedCells
    from gemmviz.ui.stage.colours import Colours
    from gemmviz.ui.stage.scene import Panel

    image = Colours(tiled, theme, AccessedCells(tiled)).image(array, step, 0, 8, 0, None, 1)
    panel = Panel(array, "As", 4, 4, 0.0, 0.0, cell)
    picture = QImage(int(4 * cell), int(4 * cell), QImage.Format.Format_RGB32)
    with QPainter(picture) as painter:
        text.draw(painter, panel, QRectF(picture.rect()), Moment(step, 0, None, 8, View()), image, 1.0)
    lanes = [one for one in stamped if one[0].startswith("L")]
    assert {one[0] for one in lanes} == {"L0-3", "L4-7", "L8-11", "L12-15"}
    for _, size, left, right, column, row in lanes:
        assert column * cell <= left and right <= (column + 1) * cell
        beside = [one for one in stamped if one[1] == size and one[4:] == (column, row) and not one[0].startswith("L")]
        assert all(right < one[2] for one in beside)


def test_a_plot_ends_within_its_frame(qtbot):
    plot = Plot("GFLOPS")
    qtbot.addWidget(plot)
    plot.setStyleSheet("QGraphicsView { border: 2px solid; }")
    plot.setLabel("bottom", "GFLOPS at 4096³")
    plot.resize(300, 140)
    plot.show()
    qtbot.waitUntil(lambda: plot.viewport().width() < plot.width())
    title = plot.getAxis("bottom").label
    margin = title.document().documentMargin()
    assert title.mapRectToScene(title.boundingRect()).bottom() - margin <= plot.viewport().height()
    assert plot.plotItem.sceneBoundingRect().right() <= plot.viewport().width()


def test_the_count_of_findings_fits_beside_or_above_its_button(window, qtbot):
    findings = window.source_side.findings
    for width in (420, 330, 250, 180):
        findings.setFixedWidth(width)
        qtbot.wait(20)
        assert findings.heading.sizeHint().width() <= findings.heading.width()
        assert "3" in findings.heading.text()
