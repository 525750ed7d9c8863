# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The heading of C says which products its running sums have, as counted here again; its place is painted anew."""

import numpy as np
import pytest
from recordings import small_tiled
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont

from gemmviz.catalogue.matrices import C
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.sums_heading import SumsHeading

RECT = QRectF(0, 0, 730, 640)


@pytest.fixture
def heading(qapp):
    return SumsHeading(small_tiled(), THEMES["dark"], QFont(qapp.font()))


def test_the_heading_names_the_products_that_all_sums_of_the_block_have(heading):
    playable = small_tiled()
    products, owner = playable.products, playable.recording.owners[0]
    seen = set()
    for step in range(playable.timeline.steps):
        text = heading.texts(step, 0)[0]
        done = products.done < step
        ks = [set(products.k[done & (products.element == e)].tolist()) for e in np.flatnonzero(owner.ravel() == 0)]
        stored = (playable.timeline.array[: step + 1] == C).any()
        seen.add(text)
        if stored or not any(ks):
            assert stored or text == "M × N = 8 × 8"
        elif all(one == ks[0] for one in ks):
            first, last = min(ks[0]), max(ks[0])
            which = str(first) if first == last else f"{first}…{last}"
            assert text == f"live sums after k = {which}, in registers, not stored yet"
        else:
            assert text == "live sums, in registers, not stored yet"
    assert len(seen) == playable.recording.k  # the size, and a text for each k but the last


def test_the_place_of_the_heading_is_painted_when_the_sums_change(qapp):
    playable = small_tiled()
    painter = StagePainter(playable, THEMES["dark"], QFont(qapp.font()))
    plan, at = painter.plan(RECT, Moment(0).view), painter._heading
    changed = next(
        s for s in range(1, playable.timeline.steps) if at.texts(s, 0) != at.texts(s + 1, 0) != at.texts(1, 0)
    )
    place = at.at(plan, Moment(changed), [C])[0].toAlignedRect()
    painter._last = Moment(changed, motion="none")
    places = painter.changing(RECT, Moment(changed + 1, motion="none"))
    assert places is not None and any(one.contains(place) for one in places)
    assert at.at(plan, Moment(changed), []) == []


def test_the_heading_of_a_blocks_part_of_c_names_the_block_and_its_sums(heading):
    playable = small_tiled()
    (top, bottom), (left, right) = part = (0, 4), (4, 8)
    large = Plan([Panel(C, "C", 8, 8, 0.0, 0.0, 60.0, part)] * 3, None, form="of a block")
    seen = [heading._at(large, Moment(step, 1)) for step in range(playable.timeline.steps)]
    plain = [f"block (1, 0): rows {top}–{bottom - 1}, columns {left}–{right - 1}", "block (1, 0)"]
    assert seen[0] == seen[-1] == plain
    for step, texts in enumerate(seen):
        own = heading.texts(step, 1)
        if texts != plain:
            assert texts[0] == f"block (1, 0)  ·  {own[-2]}" and texts[2:] == [own[-2], own[-1], "block (1, 0)"]
    assert any("live sums after k = 0…3" in texts[0] for texts in seen)
    place = heading.at(large, Moment(1), [C])[0]
    assert place.left() > 240 and place.bottom() < 0 and place.right() > 480
