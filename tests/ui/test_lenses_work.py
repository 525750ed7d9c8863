# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Lenses of work (thread tile, pipeline, number format and others) at each rung with such a lens, at any moment."""

from dataclasses import replace

import numpy as np
import pytest
from demo_recordings import at_demo, opening
from recordings import own
from sampled import SAMPLE
from window_driving import need_qt

need_qt()

from pixels import pixel, pixels
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.lens_names import LENSES as NAMES
from gemmviz.catalogue.problem import Problem
from gemmviz.language import LANGUAGES, set_language, tr
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.lenses.instruction import instruction
from gemmviz.trace.lenses.number_formats import numbers
from gemmviz.trace.lenses.outer_product import outer_product
from gemmviz.trace.lenses.panel_use import shared_product
from gemmviz.trace.lenses.stages import stages
from gemmviz.trace.lenses.work_shares import work_shares
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import Lasting, LensMoment
from gemmviz.ui.lenses.registry import LENSES_BY_NAME
from gemmviz.ui.lenses.sheet import Sheet
from gemmviz.ui.look.theme import THEMES, for_presenting

OURS = ("thread tile", "pipeline", "stream-K", "tensor core", "number format", "owners")
SHOWN = {k.name: k.demo.lens for k in ladder() if k.demo is not None and k.demo.lens in OURS}
DRAWN = {**SHOWN, "register_block": "thread tile", "vectorised": "thread tile", "mma_swizzle": "tensor core"}
PAINTED = [
    f"{name}-dark" for name in ("vectorised", "async_pipeline", "stream_k", "mma_swizzle", "every_shape_c16", "gather")
]
"""The sample of the pictures: a rung for each lens."""
SIZES = ((300, 220), (560, 330), (1200, 800))
MARGIN = 12
OUTSIDE = "#ff00ff"  # in no theme


def moment(name, step=None):
    at = opening(name)
    step = at.step if step is None else step
    return LensMoment(at_demo(name), step, at.block or 0, at.warp or 0, at.lane or 0, at.cell)


def drawn(lens, of, width, height, theme, px=12):
    """Draw a lens with room around it, and return its `pixels`, with a margin on each side."""
    image = QImage(width + 2 * MARGIN, height + 2 * MARGIN, QImage.Format.Format_RGB32)
    image.fill(QColor(OUTSIDE))
    font = QFont()
    font.setPixelSize(px)
    painter = QPainter(image)
    rect = QRectF(MARGIN, MARGIN, width, height)
    painter.fillRect(rect, QColor(theme.background))
    lens.paint(painter, rect, of, theme, font)
    painter.end()
    return pixels(image)


def inked(picture):
    """Return the share of pixels inside that are not background."""
    inside = picture[MARGIN:-MARGIN, MARGIN:-MARGIN]
    return float((inside != inside[-1, -1]).mean())


def assert_inside(picture):
    for side in (picture[:MARGIN], picture[-MARGIN:], picture[:, :MARGIN], picture[:, -MARGIN:]):
        assert (side == pixel(OUTSIDE)).all()


def test_the_registry_has_these_lenses_in_the_order_of_their_names():
    assert set(OURS) <= set(LENSES_BY_NAME) and all(lens.name == name for name, lens in LENSES_BY_NAME.items())
    assert [name for name in NAMES if name in LENSES_BY_NAME] == list(LENSES_BY_NAME)
    assert set(SHOWN.values()) == set(OURS)


@pytest.mark.sweep(*PAINTED)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", DRAWN)
def test_a_lens_paints_at_each_size_inside_its_room_and_the_same_each_time(qapp, name, theme):
    lens, of = LENSES_BY_NAME[DRAWN[name]], moment(name)
    assert lens.suits(of.playable)
    for width, height in SIZES:
        picture = drawn(lens, of, width, height, THEMES[theme])
        assert_inside(picture)
        assert inked(picture) > 0.05  # more than a sentence
        assert np.array_equal(picture, drawn(lens, of, width, height, THEMES[theme]))


@pytest.mark.sweep
@pytest.mark.parametrize("name", DRAWN)
def test_a_lens_has_content_at_every_moment_and_changes_with_it(qapp, name):
    lens, playable = LENSES_BY_NAME[DRAWN[name]], at_demo(name)
    last = playable.timeline.steps - 1
    pictures = [drawn(lens, moment(name, step), 560, 330, THEMES["dark"]) for step in (0, last // 2, last)]
    for picture in pictures:
        assert_inside(picture)
        assert inked(picture) > 0.02
    if name != "wgmma":  # its sums stay with their lanes, and its operands are in no register
        assert not all(np.array_equal(pictures[0], other) for other in pictures[1:])


@pytest.mark.parametrize("lens", OURS)
@pytest.mark.parametrize("name", ["gputiled", "matmul_tc", "stream_k", "warp_specialised", "hostmult0", "mm"])
def test_a_lens_without_content_shows_a_message(qapp, lens, name):
    playable, lens = at_demo(name), LENSES_BY_NAME[lens]
    for block in {0, playable.recording.blocks - 1}:
        of = LensMoment(playable, 0, block, 0, 0)
        picture = drawn(lens, of, 560, 330, THEMES["light"])
        assert_inside(picture)
        assert inked(picture) > 0.005


@pytest.mark.parametrize("lens", LENSES_BY_NAME)
def test_a_lens_shows_a_message_for_a_kernel_that_reads_nothing(qapp, lens):
    recording = own("C[threadIdx.x] = 1;", Problem(4, 8, 4))
    timeline = build(recording)
    of = LensMoment(Playable(recording, timeline, measure(recording, timeline)).prepare(), 0, 0, 0, 0)
    assert inked(drawn(LENSES_BY_NAME[lens], of, 560, 330, THEMES["light"])) > 0.005


def test_lenses_suit_the_recordings_that_have_their_subject(qapp):
    suiting = {
        "hostmult0": {"thread tile"},
        "gputiled": {"thread tile"},
        "async_pipeline": {"thread tile", "pipeline"},
        "matmul_tc": {"tensor core", "number format"},
        "mma_pipeline": {"pipeline", "tensor core", "number format"},
        "stream_k": {"thread tile", "pipeline", "stream-K"},
        "persistent": {"pipeline", "stream-K", "tensor core", "number format"},
        "panels": {"pipeline", "tensor core", "number format", "owners"},
    }
    for name, wanted in suiting.items():
        assert {lens for lens in OURS if LENSES_BY_NAME[lens].suits(at_demo(name))} == wanted


@pytest.mark.parametrize(
    ("text_of", "by_shape"), [("stream_k", False), ("every_shape_fp32", True), ("every_shape_bf16", True)]
)
def test_a_kernel_with_a_schedule_says_that_its_shape_decides(monkeypatch, text_of, by_shape):
    """The picture of every_shape was that of stream-K, and did not name its idea."""
    of, beside = moment("stream_k"), []
    recording = replace(of.playable.recording, text=find(text_of, ladder()).text)
    of = replace(of, playable=Playable(recording, of.playable.timeline, of.playable.traffic))
    heading = Sheet.heading

    def kept(sheet, title, texts, tag):
        beside.append(texts)
        return heading(sheet, title, texts, tag)

    monkeypatch.setattr(Sheet, "heading", kept)
    drawn(LENSES_BY_NAME["stream-K"], of, 560, 330, THEMES["dark"])
    (texts,) = beside
    assert all("shape" in text for text in texts) == by_shape and any("not time" in text for text in texts)


@pytest.mark.parametrize(
    "name", ["vectorised", "warp_specialised", "stream_k", "mma_pipeline", "every_shape_c16", "panels"]
)
def test_a_lens_fits_in_every_language_and_in_presenter_mode(qapp, name):
    lens = LENSES_BY_NAME[DRAWN[name]]
    for code in LANGUAGES:
        set_language(code)
        assert_inside(drawn(lens, moment(name), 360, 260, THEMES["light"]))
        assert_inside(drawn(lens, moment(name), 900, 760, for_presenting(THEMES["dark"]), px=20))


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_head_of_the_stages_is_whole_in_every_language(qapp, monkeypatch, code):
    """In a small window the Korean word was cut."""
    rooms = {}

    def noted(sheet, box, text, colour=None, size="body", **more):
        rooms.setdefault(text, (box.width(), sheet.wide(text, size) if isinstance(size, str) else 0.0))
        return write(sheet, box, text, colour, size, **more)

    write = Sheet.text
    monkeypatch.setattr(Sheet, "text", noted)
    try:
        set_language(code)
        head = tr("stage")
        drawn(LENSES_BY_NAME["pipeline"], moment("warp_specialised"), 440, 330, THEMES["light"])
    finally:
        set_language("en")
    room, needed = rooms[head]
    assert needed <= room


def has_content(name, lens):
    """Return whether a demo's stop is no empty start: values and products, a busy ring, or shares in progress."""
    of = moment(name)
    if lens == "thread tile":
        known = outer_product(of.playable, of.block, 32 * of.warp + of.lane, of.step)
        return known.made == known.products > 0 and known.read == known.reads
    if lens == "pipeline":
        states = {f.state(of.step) for f in stages(of.playable, of.block).held(of.step) if f is not None}
        return len(states) > 1
    if lens == "stream-K":
        pieces = [p for pieces in work_shares(of.playable).blocks for p in pieces]
        return 0 < sum(p.done(of.step) for p in pieces) < sum(p.steps for p in pieces)
    if lens == "number format":
        return all(one.pattern is not None for one in numbers(of.playable, 0, of.step) if one.name != "sum")
    if lens == "owners":
        done = [shared_product(of.playable).done(one, of.step) for one in shared_product(of.playable).launches]
        return 0 < sum(done) < len(done)
    shown = instruction(of.playable, of.block, of.warp, of.step)
    return shown.c is not None and (shown.kind == "wgmma" or (shown.a and (shown.b.lane >= 0).all()))


@pytest.mark.thorough
def test_the_stop_of_each_demo_has_content_for_its_lens():
    assert [name for name, lens in SHOWN.items() if not has_content(name, lens)] == []
    assert find("two_consumers", ladder()).demo.lens == "pipeline"


def test_the_stop_of_a_demo_of_each_lens_has_content():
    sample = {lens: name for name, lens in SHOWN.items() if name in {*SAMPLE, "every_shape_c16"}}
    assert set(sample) == set(OURS)
    assert [name for lens, name in sample.items() if not has_content(name, lens)] == []


@pytest.mark.parametrize("name", ["warp_specialised", "async_pipeline", "stream_k"])
def test_moments_of_the_same_state_have_the_same_picture(name):
    lens, theme, steps = LENSES_BY_NAME[SHOWN[name]], THEMES["dark"], at_demo(name).timeline.steps
    assert isinstance(lens, Lasting)
    moments = [moment(name, step) for step in range(steps)]
    states = [lens.state(one) for one in moments]
    alike = [at for at in range(1, steps) if states[at] == states[at - 1]]
    assert len(alike) > steps / 4  # so many steps need no new picture
    for at in alike[:: max(len(alike) // 15, 1)]:
        one, other = (drawn(lens, moments[number], *SIZES[0], theme) for number in (at - 1, at))
        assert (one == other).all()


def test_a_panel_is_drawn_on_its_way_until_the_launch_that_reads_it_begins(qapp):
    lens, of = LENSES_BY_NAME["owners"], moment("panels")
    panel = shared_product(of.playable).panels[0]
    before, there = (replace(of, step=panel.needed + by) for by in (-1, 0))
    assert lens.state(before)[1] == (True, True) and lens.state(there)[1] == (False, False)
    # A gap between the GPUs, in which only arrows are drawn.
    between = [drawn(lens, one, 560, 330, THEMES["dark"])[80:-80, 12 + 268 : 12 + 280] for one in (before, there)]
    assert len(np.unique(between[0].reshape(-1))) > len(np.unique(between[1].reshape(-1)))
