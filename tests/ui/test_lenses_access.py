# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The lenses on accesses: coalescing, banks, memory order, reuse. Each is drawn at the demo of each rung with it."""

import numpy as np
import pytest
from demo_recordings import at_demo as playable
from demo_recordings import opening
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.lens_names import LENSES as NAMES
from gemmviz.trace.lenses.read_counts import read_counts
from gemmviz.ui.lenses import banks, reuse
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import Page
from gemmviz.ui.lenses.registry import LENSES, LENSES_BY_NAME
from gemmviz.ui.look.theme import THEMES

OURS = ("coalescing", "banks", "memory order", "reuse")
RUNGS = [kernel.name for kernel in ladder() if kernel.demo is not None and kernel.demo.lens in OURS]
SIZES = ((300, 220), (560, 330), (1200, 800))
AROUND, OUTSIDE = 12, QColor(1, 2, 3)


def at_demo(name):
    place = opening(name)
    return LensMoment(playable(name), place.step, place.block or 0, place.warp or 0, place.lane or 0, place.cell)


def drawn(lens, moment, size, theme="dark", pixels=13):
    """Draw a lens with a frame around it that must not change."""
    width, height = size
    image = QImage(width + 2 * AROUND, height + 2 * AROUND, QImage.Format.Format_RGB32)
    image.fill(OUTSIDE)
    rect = QRectF(AROUND, AROUND, width, height)
    font = QFont()
    font.setPixelSize(pixels)
    painter = QPainter(image)
    painter.fillRect(rect, QColor(THEMES[theme].background))
    lens.paint(painter, rect, moment, THEMES[theme], font)
    # The painter is unchanged: the next drawing is not clipped and is at its right position.
    painter.fillRect(QRectF(0, 0, 2, 2), QColor("#ffffff"))
    painter.end()
    assert image.pixelColor(1, 1) == QColor("#ffffff")
    image.setPixelColor(0, 0, OUTSIDE)
    for x in range(2):
        for y in range(2):
            image.setPixelColor(x, y, OUTSIDE)
    return image


def assert_framed(image):
    width, height = image.width(), image.height()
    sides = ((0, 0, width, AROUND), (0, height - AROUND, width, AROUND))
    sides += ((0, 0, AROUND, height), (width - AROUND, 0, AROUND, height))
    for side in sides:
        part = image.copy(*side)
        empty = QImage(part.size(), part.format())
        empty.fill(OUTSIDE)
        assert part == empty


def colours(image):
    """Return how many colours are in each third line inside the frame."""
    lines = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    return len(np.unique(lines[AROUND:-AROUND:3, AROUND:-AROUND]))


def test_lenses_are_registered_in_order_under_their_names():
    names = [lens.name for lens in LENSES]
    assert names == [name for name in NAMES if name in names] and set(OURS) <= set(names)
    assert all(LENSES_BY_NAME[lens.name] is lens for lens in LENSES)


def test_each_lens_is_used_by_a_rung():
    assert {find(name, ladder()).demo.lens for name in RUNGS} == set(OURS)


@pytest.mark.sweep("loop_order", "vectorised", "mma_swizzle")
@pytest.mark.parametrize("name", RUNGS)
def test_the_lens_of_a_demo_suits_it_and_draws_inside_its_area(qapp, name):
    moment = at_demo(name)
    lens = LENSES_BY_NAME[find(name, ladder()).demo.lens]
    assert lens.suits(moment.playable)
    for size in SIZES:
        for theme in THEMES:
            image = drawn(lens, moment, size, theme)
            assert_framed(image)
            assert colours(image) > 20  # text and more than one colour
            if size == SIZES[1]:
                assert drawn(lens, moment, size, theme) == image


@pytest.mark.parametrize("name", OURS)
def test_a_lens_draws_any_step_of_any_warp_of_any_recording(qapp, name):
    lens = LENSES_BY_NAME[name]
    for rung in ("gputiled_more_work", "loop_order", "matmul_kernel_naive", "mma_swizzle"):
        shown = playable(rung)
        steps, blocks = shown.timeline.steps, shown.recording.blocks
        for step in (0, steps // 2, steps - 1):
            for block, warp in ((0, 0), (blocks - 1, 1)):
                assert_framed(drawn(lens, LensMoment(shown, step, block, warp, 31), SIZES[0], "light"))


def test_lenses_of_warps_do_not_suit_a_cpu(qapp):
    shown = playable("loop_order")
    assert [name for name in OURS if LENSES_BY_NAME[name].suits(shown)] == ["memory order", "reuse"]
    assert not LENSES_BY_NAME["banks"].suits(playable("matmul_kernel_naive"))


def test_the_scale_of_colours_does_not_cover_the_maps_of_a_low_lens(qapp, monkeypatch):
    written = []
    monkeypatch.setattr(Page, "write", lambda self, box, text, *_, **__: written.append(text))
    for high, explained in ((330, True), (145, False)):
        written.clear()
        drawn(LENSES_BY_NAME["reuse"], at_demo("blocked"), (420, high))
        assert ("reads so far" in written) == explained and "A" in written


def test_the_count_of_a_lens_is_larger_than_what_it_counts(qapp, monkeypatch):
    written = {}
    monkeypatch.setattr(
        Page, "write", lambda self, box, text, size=1.0, *_, **__: written.setdefault(text, (size, box))
    )
    drawn(LENSES_BY_NAME["banks"], at_demo("RR"), (560, 330))
    (count, left), (unit, right) = written["8"], written["wavefronts"]
    assert count > 2 * unit and left.right() < right.left() and "8-way conflict" in written


def test_the_content_of_a_lens_follows_the_moment(qapp):
    """Only the content decides: steps of one request give the same picture, another request gives another one."""
    shown = playable("gputiled_more_work")
    reads = [s for s in range(shown.timeline.steps) if shown.timeline.array[s] == 0]
    banks, coalescing, reads_lens = (LENSES_BY_NAME[n] for n in ("banks", "coalescing", "reuse"))

    def picture(lens, step):
        return drawn(lens, LensMoment(shown, step, 0, 0, 0), SIZES[1])

    assert picture(coalescing, reads[0]) != picture(coalescing, reads[1])
    assert picture(reads_lens, reads[0]) != picture(reads_lens, reads[-1])
    assert picture(banks, reads[-1]) != picture(banks, shown.timeline.steps - 1)


def test_a_larger_font_gives_larger_text_and_stays_inside(qapp):
    moment = at_demo("RR")
    for pixels in (9, 20, 32):
        assert_framed(drawn(LENSES_BY_NAME["banks"], moment, SIZES[0], pixels=pixels))
        assert_framed(drawn(LENSES_BY_NAME["reuse"], moment, SIZES[2], pixels=pixels))


@pytest.mark.parametrize("name", OURS)
def test_a_lens_without_enough_room_draws_no_picture(qapp, name):
    moment = at_demo("RR")
    for size in ((4, 4), (80, 60), (150, 100), (120, 400), (900, 120)):
        assert_framed(drawn(LENSES_BY_NAME[name], moment, size))


def test_the_lens_on_reuse_counts_products_where_one_read_serves_many():
    """`larger_tiles` has tiles of 128 x 128: 128 * 128 * 64 products of 2 * 128 * 64 values."""
    moment = at_demo("larger_tiles")
    found = read_counts(moment.playable).at(moment.step, moment.block)
    assert reuse._figure(found, moment.playable) == ("64 products", "per value loaded from A and B")
    assert [int(reads.reads.min()) for reads in found[:2]] == [reads.most for reads in found[:2]] == [2, 2]
    shown = at_demo("blocked").playable
    assert reuse._figure(read_counts(shown).at(shown.timeline.steps - 1, 0), shown)[1] == "per element of A and B"


def test_the_lens_on_memory_order_says_when_its_request_is_not_of_this_step(qapp, monkeypatch):
    shown, texts = playable("gputiled"), []
    headed = Page.headed
    monkeypatch.setattr(Page, "headed", lambda page, heading: texts.append(heading.about[1]) or headed(page, heading))
    copied = int(np.flatnonzero((shown.timeline.array == 1) & ~shown.timeline.write)[0])
    added = int(np.flatnonzero(shown.timeline.array > 2)[-1])
    for step in (copied, added):
        drawn(LENSES_BY_NAME["memory order"], LensMoment(shown, step, 0, 0, 0, None), SIZES[1])
    assert texts[0].endswith("lanes read B")
    assert texts[1].endswith(
        f"lanes read {'AB'[_last_global(shown, added)[0]]} (last: step {_last_global(shown, added)[1] + 1})"
    )


def _last_global(shown, step):
    """Return the array and the step of the last read of A or B before a step."""
    steps = np.flatnonzero((shown.timeline.array < 2) & ~shown.timeline.write)
    last = int(steps[steps <= step][-1])
    return int(shown.timeline.array[last]), last


def test_reuse_colours_an_array_that_is_stored_by_columns():
    level = np.array([[0, 1, 1], [1, 0, 0]]).T  # a view, as of an array by columns
    picture = reuse._image(level, [(1, 2, 3), (40, 50, 60)])
    colours = [[picture.pixelColor(column, row).getRgb()[:3] for column in range(2)] for row in range(3)]
    assert colours == [[(1, 2, 3), (40, 50, 60)], [(40, 50, 60), (1, 2, 3)], [(40, 50, 60), (1, 2, 3)]]


@pytest.mark.parametrize("name", ["CC", "RR"])
def test_in_a_low_room_nothing_of_the_bank_lens_is_written_over_its_numbers(qapp, monkeypatch, name):
    """The line about the wavefronts stood on the numbers of the banks."""
    places, picture = {}, banks._Picture
    for part in ("_numbers", "_wavefronts"):
        draw = getattr(picture, part)

        def kept(self, area, draw=draw, part=part):
            places[part] = area
            draw(self, area)

        monkeypatch.setattr(picture, part, kept)
    left_out = set()
    for height in range(110, 400, 15):
        places.clear()
        drawn(LENSES_BY_NAME["banks"], at_demo(name), (520, height), pixels=16)
        below = places.get("_wavefronts")
        left_out.add(below is None)
        assert below is None or below.top() >= places["_numbers"].bottom() - 1
    assert left_out == {True, False}
