# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Drawing of the stage: hues and lightness, dimming, small cells, copies in flight, contrast, vector pictures."""

from colorsys import rgb_to_hsv
from functools import cache
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from demo_recordings import at_demo
from window_driving import need_qt

need_qt()

from pixels import pixels
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.look.theme import THEMES, contrast, rgb
from gemmviz.ui.stage import accessed_cells, legend, sum_owners
from gemmviz.ui.stage.accessed_cells import AccessedCells, strength
from gemmviz.ui.stage.borders import outline
from gemmviz.ui.stage.caption import caption
from gemmviz.ui.stage.cell_text import dark_on
from gemmviz.ui.stage.colours import DIMMED, DIMMED_SUMS, SECTOR_TINT, UNTOUCHED, Colours
from gemmviz.ui.stage.hues import owner_colours
from gemmviz.ui.stage.painter import Moment, StagePainter, View
from gemmviz.ui.stage.related import related, touched_by_warp
from gemmviz.ui.stage.vector import rectangles
from gemmviz.ui.stage.view import kept_in_sight

PIPELINED = Path(__file__).parent.parent / "unit" / "styles" / "pipelined.cu"
DARK = THEMES["dark"]
RECT = QRectF(0, 0, 1000, 640)


def played(kernel, problem, **params):
    recording = record(launch(kernel, problem, params))
    steps = timeline.build(recording)
    return Playable(recording, steps, traffic.measure(recording, steps))


@cache
def rung(name, size, **params):
    return played(find(name, ladder()), Problem.cube(size), **params)


@cache
def pipelined():
    return played(parse(PIPELINED.read_text(), PIPELINED), Problem(32, 32, 16))


def image_of(playable, moment, theme=DARK, rect=RECT):
    painter = StagePainter(playable, theme, QFont())
    image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
    into = QPainter(image)
    painter.paint(into, rect, moment)
    into.end()
    return painter, image


# Owners


def test_hue_distinguishes_blocks_and_warps_and_lightness_groups_of_lanes():
    recording = rung("gpumult1", 32, BX=16, BY=16).recording
    colours = owner_colours(recording, DARK)
    block, thread = recording.owners
    hues = np.array([[rgb_to_hsv(*(c / 255))[0] for c in row] for row in colours])
    lightness = colours.sum(axis=2)
    warp, group = thread // 32, thread % 32 // 8
    for b in range(4):
        wanted = rgb_to_hsv(*(c / 255 for c in DARK.owner(*recording.block_index(b)[:2])))[0]
        off = (hues[block == b] - wanted + 0.5) % 1 - 0.5
        assert np.abs(off).max() < 0.06
        of_warp = [hues[(block == b) & (warp == w) & (group == 0)] for w in range(8)]
        assert all(np.ptp(h) < 0.01 for h in of_warp)
        neighbours = [abs(of_warp[w][0] - of_warp[w + 1][0]) for w in range(7)]
        assert min(neighbours) > 0.02
        for w in range(8):
            lights = [lightness[(block == b) & (warp == w) & (group == g)].mean() for g in range(4)]
            assert lights == sorted(lights) and lights[0] + 20 < lights[3]


# Small cells


def test_the_brightest_access_of_several_cells_in_one_pixel_is_drawn():
    playable = rung("gpumult1", 32, BX=16, BY=16)
    touched = AccessedCells(playable)
    colours = Colours(playable, DARK, touched)
    step = int(np.flatnonzero(playable.timeline.array == 0)[5])
    whole = colours.image(0, step, 0, 1, warp=-1).astype(int)
    small = colours.image(0, step, 0, 1, warp=-1, shrink=8).astype(int)
    assert small.shape == (4, 4, 4)
    (column,) = np.flatnonzero((whole[..., 2] > 150).any(axis=0))  # one of 32 columns is read
    assert (np.flatnonzero((small[..., 2] > 150).any(axis=0)) == [column // 8]).all()
    assert (small[:, column // 8, 2] == whole[:, column, 2].max()).all()


def test_large_windows_glow_like_small_ones():
    playable = rung("gpumult1", 64, BX=16, BY=16)  # 4096 accesses a step: worked out step by step
    touched = AccessedCells(playable)
    step = 40
    cells, ages = touched.glow(0, step, None, 6)
    log = playable.recording.accesses
    newest = np.full(64 * 64, -1)
    for s in range(step - 5, step + 1):
        rows = playable.timeline.rows(s)
        newest[log.element[rows[log.array[rows] == 0]]] = s
    assert sorted(cells.tolist()) == np.flatnonzero(newest >= 0).tolist()
    assert strength(6)[ages] == pytest.approx(0.92 * (1 - (step - newest[cells]) / 6) ** 1.3, rel=1e-5)


@pytest.mark.parametrize(("name", "n"), [("gpumult1", 16), ("hostmult0", 16), ("simd", 32)])
def test_a_window_as_a_whole_glows_like_its_steps(name, n, monkeypatch):
    playable = rung(name, n)
    steps = playable.timeline.steps
    trail = min(1000, steps)  # more steps than are kept

    def glows(accesses):
        monkeypatch.setattr(accessed_cells, "_ACCESSES_OF_A_STEP", accesses)
        monkeypatch.setattr(accessed_cells, "_SMALL_WINDOW", accesses)
        touched = AccessedCells(playable)
        found = [touched.glow(array, steps - 1, None, trail) for array in range(len(playable.recording.arrays))]
        return [sorted(zip(cells.tolist(), ages.tolist(), strict=True)) for cells, ages in found]

    assert glows(0) == glows(10**9) != [[]] * len(playable.recording.arrays)


# Dimming


def test_cells_that_did_not_feed_the_chosen_element_are_dimmed_and_not_hidden():
    playable = rung("gputiled", 8, TS=4)
    colours = Colours(playable, DARK, AccessedCells(playable))
    chosen = 5 * 8 + 6
    near = related(playable, (2, chosen), 3)
    background = np.array(rgb(DARK.background))
    for array, mine in ((0, [5 * 8 + k for k in range(8)]), (1, [k * 8 + 6 for k in range(8)]), (2, [chosen])):
        plain = colours.image(array, 0, 3, 1, warp=-1).reshape(-1, 4)[:, :3].astype(int)
        dimmed = colours.image(array, 0, 3, 1, warp=-1, related=near).reshape(-1, 4)[:, :3].astype(int)
        others = np.setdiff1d(np.arange(64), mine)
        assert (dimmed[mine] == plain[mine]).all()
        still = AccessedCells(playable).at(array, 0)
        quiet = np.setdiff1d(others, still)
        wanted = background + (plain[quiet] - background) * (DIMMED_SUMS if array == 2 else DIMMED)
        assert np.abs(dimmed[quiet] - wanted).max() <= 1
        assert (dimmed[quiet] != background).any(axis=1).all()
    assert [len(near.cells[i]) for i in (3, 4)] == [4, 4]  # its row of As, its column of Bs


def test_the_cells_that_a_frozen_warp_accesses_and_owns_are_not_dimmed():
    playable = rung("gputiled", 16, TS=8)
    step = int((playable.timeline.array == 0).argmax())
    near = touched_by_warp(playable, step, 3, 1)
    log = playable.recording.accesses
    rows = [r for r in playable.timeline.rows(step) if log.block[r] == 3 and log.thread[r] // 32 == 1]
    assert near.cells[0].tolist() == sorted(int(log.element[r]) for r in rows)
    owner, thread = playable.recording.owners
    assert near.cells[2].tolist() == np.flatnonzero(((owner == 3) & (thread // 32 == 1)).ravel()).tolist()
    assert len(near.cells[1]) == 0


# Copies in flight


def test_copies_are_in_flight_from_their_issue_to_their_wait(qapp):
    playable = pipelined()
    log, step_of = playable.recording.accesses, playable.timeline.step_of_row
    write, read, _ = log.copies.T
    for step in range(0, playable.timeline.steps, 5):
        under_way = playable.async_copies.at(step, 0)
        wanted = (log.block[write] == 0) & (step_of[read] <= step) & (step < step_of[write])
        assert sorted(playable.async_copies.write[under_way]) == sorted(write[wanted])
        text = f"{wanted.sum()} copies of the block in flight"
        assert (text in caption(playable, step, 0)) == bool(wanted.any())


def has_amber(image, panel, row, column):
    """Return whether a cell has a pixel in the colour of writes."""
    amber = np.array(rgb(DARK.write))
    xs = slice(int(panel.x + column * panel.cell) + 1, int(panel.x + (column + 1) * panel.cell))
    ys = slice(int(panel.y + row * panel.cell) + 1, int(panel.y + (row + 1) * panel.cell))
    colours = pixels(image)[ys, xs, None] >> (16, 8, 0) & 0xFF
    return bool((np.abs(colours.astype(int) - amber).max(axis=2) < 40).any())


def test_the_target_of_a_copy_is_hatched_until_it_arrives(qapp):
    playable = pipelined()
    counts = [len(playable.async_copies.at(s, 0)) for s in range(playable.timeline.steps)]
    busy, quiet = int(np.argmax(counts)), max(s for s, n in enumerate(counts) if n) + 1
    hatched = []
    for step in (busy, quiet + 8):
        painter, image = image_of(playable, Moment(step, trail=1), rect=QRectF(0, 0, 1600, 1000))
        panel = next(p for p in painter.panels(QRectF(0, 0, 1600, 1000), View()) if p.name == "Bs")
        hatched.append(sum(has_amber(image, panel, row, column) for row in range(4) for column in range(8)))
    assert hatched == [32, 0]
    assert any("flight" in e.text for e in legend.entries(playable, DARK, 0))
    assert not any("flight" in e.text for e in legend.entries(rung("gputiled", 8, TS=4), DARK, 0))


# Contrast


def test_values_are_readable_on_every_colour_of_a_cell():
    for theme in THEMES.values():
        cells = [np.array([theme.cell, *theme.owners], float)]
        background = np.array(rgb(theme.background), float)
        cells += [
            background + (hue - background) * share for hue in cells[0] for share in np.linspace(UNTOUCHED, 1, 12)
        ]
        base = np.vstack(cells)
        dimmed = [background + (base - background) * share for share in (DIMMED, DIMMED_SUMS)]
        base = np.vstack([base, *dimmed])
        shades = [base]
        for over, share in product((theme.read, theme.amber), (SECTOR_TINT, *np.linspace(0.02, 0.92, 31))):
            shades.append(base * (1 - share) + np.array(rgb(over)) * share)
        colours = np.rint(np.vstack(shades)).astype(np.uint8)
        inks = np.where(dark_on(colours[None])[0], theme.ink_dark, theme.ink_light)
        worst = min(
            contrast(tuple(map(int, colour)), rgb(str(text))) for colour, text in zip(colours, inks, strict=True)
        )
        assert worst >= 4.5, theme.name


# Vector pictures


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (9, 4)])
def test_rectangles_cover_each_cell_once_in_its_colour(shape):
    random = np.random.default_rng(3)
    image = (random.integers(0, 2, (*shape, 4)) * 200).astype(np.uint8)
    image[..., 1:] = image[..., :1]
    drawn = np.full(shape, -1)
    for top, bottom, left, right in rectangles(image):
        assert (drawn[top:bottom, left:right] == -1).all()
        drawn[top:bottom, left:right] = image[top, left, 0]
    assert (drawn == image[..., 0]).all()


def test_a_vector_picture_has_no_raster_in_it_and_looks_the_same(qapp):
    playable = rung("gputiled", 8, TS=4)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(1000, 640))
    generator.setViewBox(RECT)
    into = QPainter(generator)
    StagePainter(playable, DARK, QFont(), vector=True).paint(into, RECT, Moment(12))
    into.end()
    root = ElementTree.fromstring(bytes(data))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "image" not in tags and "text" in tags
    texts = {element.text.strip() for element in root.iter() if element.tag.endswith("text") and element.text}
    assert {"A", "B", "C", "M × K = 8 × 8"} <= texts
    vector = QImage(1000, 640, QImage.Format.Format_RGB32)
    into = QPainter(vector)
    QSvgRenderer(data).render(into)
    into.end()
    painter, raster = image_of(playable, Moment(12))
    for panel in painter.panels(RECT, View()):
        for row, column in product(range(panel.rows), range(panel.columns)):
            at = [int(panel.x + (column + 0.16) * panel.cell), int(panel.y + (row + 0.16) * panel.cell)]
            one, other = vector.pixelColor(*at), raster.pixelColor(*at)
            assert abs(one.lightness() - other.lightness()) < 6, (panel.name, row, column)


# The visible part


@pytest.mark.parametrize(("x", "y"), [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)])
def test_the_arrays_always_stay_partly_visible(qapp, x, y):
    painter = StagePainter(rung("gputiled", 8, TS=4), DARK, QFont())
    view = View().zoomed(4.0, QPointF(500, 320))
    for _ in range(60):
        view = view.shifted(x * 90, y * 90)
        view = kept_in_sight(view, painter.panels(RECT, view), painter.seen(RECT))
    seen = painter.seen(RECT)
    boxes = [QRectF(p.x, p.y, p.width, p.height).intersected(seen) for p in painter.panels(RECT, view)]
    assert max(box.width() * box.height() for box in boxes) >= 60 * 60


def test_each_thread_of_a_cpu_has_its_rectangle_of_c_outlined_and_named(qapp):
    """The picture of `simd_threads` had four hues, but did not say that they are threads."""
    owners = sum_owners.Sums(at_demo("simd_threads"), THEMES["dark"])
    found = [sum_owners._part(*part) for part in owners._of_threads()]
    assert [thread for thread, _, _ in found] == [0, 1, 2, 3]
    assert [area for _, _, area in found] == [(0, 12, 0, 16), (0, 12, 16, 32), (12, 24, 0, 16), (12, 24, 16, 32)]
    assert sum_owners.Sums(at_demo("simd"), THEMES["dark"])._threads is False


def test_the_row_and_the_column_of_the_tiles_that_feed_the_chosen_element_are_outlined():
    playable = rung("gputiled", 8, TS=4)
    cell = 2, 2 * 8 + 1
    painter, image = image_of(playable, Moment(20, 0, cell))
    tiles = {panel.name: panel for panel in painter.panels(RECT, View()) if panel.array > 2}
    white = DARK.selection

    def outlined(name, row, column):
        """Whether a point between two cells, or a pixel beside it, is white."""
        panel = tiles[name]
        x, y = round(panel.x + column * panel.cell), round(panel.y + row * panel.cell)
        near = [image.pixelColor(x + dx, y + dy).name() for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        return white in near

    assert outlined("As", 2, 0.5) and outlined("As", 3, 0.5)  # above and below row 2
    assert outlined("Bs", 1.5, 1) and outlined("Bs", 3.5, 2)  # left and right of column 1
    assert not outlined("As", 1, 0.5) and not outlined("Bs", 1.5, 3)


@pytest.mark.parametrize(("rect", "each"), [(RECT, True), (QRectF(0, 0, 420, 320), False)])
def test_small_accessed_cells_have_one_outline_together(rect, each):
    """A frame round each of many small cells hid what was written."""
    playable = rung("gputiled", 8, TS=4)
    last = playable.timeline.steps - 1
    painter, image = image_of(playable, Moment(last, 0), rect=rect)
    c = painter.panels(rect, View())[2]
    assert (c.cell >= 24) == each

    def framed(row, column):
        """Whether the left edge of a cell has a frame, in its upper part, which is free of the value."""
        y = round(c.y + (row + 0.2) * c.cell)
        near = {image.pixelColor(round(c.x + column * c.cell) + dx, y).name() for dx in range(-2, 4)}
        return bool(near & {DARK.text, DARK.write})

    assert framed(5, 0) and framed(5, 2) == framed(2, 3) == each


def test_written_cells_keep_their_hue_in_amber_rings_and_blink_where_nothing_moves():
    playable = rung("gputiled", 8, TS=4)
    last = playable.timeline.steps - 1

    def seen(motion):
        painter, image = image_of(playable, Moment(last, 0, motion=motion))
        c = painter.panels(RECT, View())[2]
        y = round(c.y + 5.2 * c.cell)
        ring = {image.pixelColor(round(c.x + 2 * c.cell) + dx, y).name() for dx in range(4)}
        return image.pixelColor(round(c.x + 2.25 * c.cell), y).name(), DARK.write in ring

    hue = "#{:02x}{:02x}{:02x}".format(*np.rint(owner_colours(playable.recording, DARK)[5, 2]).astype(int))
    assert seen("full") == (hue, True)
    blink, ring = seen("none")
    assert [abs(x - y) <= 8 for x, y in zip(rgb(blink), rgb(DARK.amber), strict=True)] == [True] * 3 and not ring


def test_the_last_product_arrives_before_the_ring_of_its_store_appears():
    playable = rung("gputiled", 8, TS=4)
    stores = playable.timeline.steps - 1

    def seen(fraction):
        """Return the picture of the left edge of an element of another thread, and of the way of the product."""
        painter, image = image_of(playable, Moment(stores - 1, 0, fraction=fraction))
        a, _, c = painter.panels(RECT, View())[:3]
        way = image.copy(round(a.x + a.width + 2), round(c.y), round(c.x - a.x - a.width - 8), round(c.cell))
        return image.copy(round(c.x + 5 * c.cell), round(c.y + 5 * c.cell), 4, 8), way

    ring_0, way_0 = seen(0.0)
    ring_40, way_40 = seen(0.4)
    ring_90, way_90 = seen(0.9)
    assert ring_40 == ring_0 != ring_90
    assert way_90 == way_0 != way_40


def test_the_outline_of_a_rectangle_is_the_same_as_that_of_any_area():
    inside = np.zeros((5, 6), bool)
    inside[1:3, 2:6] = True
    assert outline(inside) == [(2, 1, 6, 1), (2, 3, 6, 3), (2, 1, 2, 3), (6, 1, 6, 3)]
    inside[4, 0] = True
    assert set(outline(inside)) == {(2, 1, 6, 1), (2, 3, 6, 3), (2, 1, 2, 3), (6, 1, 6, 3)} | {
        (0, 4, 1, 4),
        (0, 5, 1, 5),
        (0, 4, 0, 5),
        (1, 4, 1, 5),
    }
