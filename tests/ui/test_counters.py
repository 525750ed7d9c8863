# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The texts below the table of counters, and the texts of the stage about a picked element of C."""

import pytest
from window_driving import need_qt

need_qt()

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.story import KINDS
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.ui.inspect.counters import Counters
from gemmviz.ui.stage.caption import about_cell, tile_text


def playable(name: str, size: int, **params: int) -> Playable:
    recording = record(launch(find(name, ladder()), Problem.cube(size), params))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


@pytest.fixture
def counters(qtbot):
    session = Session(ladder(), "dark")
    widget = Counters(session)
    qtbot.addWidget(widget)
    return widget


def test_the_counters_show_the_bytes_of_each_level_and_their_reuse(counters):
    assert counters.totals.toolTip() == ""
    counters.session.cursor.show(playable("gputiled", 8, TS=4))
    text = counters.totals.text()
    # 1024 FLOP; three matrices of 256 bytes. Rows of four floats fill half a sector: 2 x 32 for A and B, 16 for C.
    # Blocks of 16 threads fill half a wavefront: 4 blocks x 2 tiles x (2 writes and 8 reads).
    assert "FLOP/byte: compulsory 1.33, global 0.4, shared 0.1" in text
    assert "reuse: A 2×, B 2×, As 4×, Bs 4×" in text
    assert "no bank conflicts" in text
    assert "recorded" in counters.heading.text().lower()
    tip = counters.totals.toolTip()
    assert tip.startswith("Recorded.") and "global, asked: 1\N{NARROW NO-BREAK SPACE}280 bytes, 0.8 FLOP/byte" in tip


def test_bytes_that_are_only_written_have_no_reuse(counters):
    counters.session.cursor.show(playable("mm_optimizado_store_in_loop", 9, BLOCK_SIZE=3))
    levels = {a.name: a for a in counters.session.cursor.playable.levels.arrays}
    assert levels["C"].asked_bytes > levels["C"].loaded_bytes and not levels["C"].read_bytes
    assert "reuse: A 3×, B 3×, " in counters.totals.text()
    assert " C " not in counters.totals.text().partition("reuse: ")[2]


def test_a_processor_has_no_sectors_and_no_conflicts(counters):
    counters.session.cursor.show(playable("hostmult1", 4))
    text = counters.totals.text()
    assert "memory, asked" in text and "compulsory" in text
    assert "sector" not in text and "conflict" not in text


def test_conflicts_are_counted(counters):
    counters.session.cursor.show(playable("matmul_kernel_2d_thread_tiling", 64))
    assert "bank conflicts" in counters.totals.text() and "no bank conflicts" not in counters.totals.text()


def test_a_picked_element_shows_its_owner_and_its_inputs():
    shown = playable("gputiled", 8, TS=4)
    text = about_cell(shown, 2, 3 * 8 + 5, 0, 0)
    assert text.startswith("C[3, 5] of block (1, 0), thread (1, 3), warp 0, lane 13")
    assert "fed by A 8×, B 8×, shared 16×" in text
    assert "read 0×, written 1× in all" in text
    tensor = about_cell(playable("matmul_tc", 16), 2, 0, 0, 0)
    assert "fed by A 8×, B 16×, read by its warp" in tensor
    assert about_cell(playable("hostmult1", 4), 2, 5, 0, 0).startswith("C[1, 1]  ·  fed by A 4×, B 4×")


def test_a_picked_element_of_a_tile_counts_its_block_only():
    shown = playable("gputiled", 8, TS=4)
    assert "read 8×, written 2× in all" in about_cell(shown, 3, 0, 0, 1)


def test_a_step_of_a_product_shows_its_tile_and_its_k():
    shown = playable("gputiled", 8, TS=4)
    story = shown.story
    texts = [tile_text(shown, step) for step in range(shown.timeline.steps)]
    assert "tile 1 of 2: multiply and add, k = 2" in texts and "tile 2 of 2: multiply and add, k = 7" in texts
    for text, place, kind in zip(texts, story.places.tolist(), story.kinds.tolist(), strict=True):
        assert not text.endswith(f"k = {place}") or KINDS[kind] == "use"
    # One access to four elements along K names none of them.
    wide = playable("vectorised", 64)
    assert any("multiply and add" in tile_text(wide, step) for step in range(wide.timeline.steps))
