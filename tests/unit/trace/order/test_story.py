"""The purpose of each step: found from the recording alone, for every kernel and for kernels that prefetch."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from recordings import EXCHANGED_SUMS, RUNGS, own, rung

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.story import KINDS, Story
from gemmviz.trace.order.timeline import Order, build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

STYLES = Path(__file__).parents[2] / "styles"
# Elements along K that a tile of each rung has: a parameter of its own, or what a box of the copy engine holds.
DEPTH: dict[str, str | int] = {
    **dict.fromkeys(("matmul_kernel_block_tiling", "RR", "RC", "CR", "CC"), "BLOCK"),
    **dict.fromkeys(("matmul_kernel_thread_tiling", "matmul_kernel_2d_thread_tiling", "columns_by_x"), "BLOCK"),
    **{f"CC_V_{name}": "BLOCK" for name in ("STATIC_BLOCK", "INDEX_HOISTING", "SHORT_CIRCUIT", "FMUL", "FINAL")},
    **{"gputiled": "TS", "gputiled1": "TS", "gputiled_more_work": "TS", "matrixMulTiled": "TILE"},
    **{"mm_optimizado": "BLOCK_SIZE", "tiles_by_columns": "BLOCK_SIZE", "narrow_tiles": "BK"},
    **dict.fromkeys(("vectorised", "conflict_free", "warp_tiling", "wmma_shared", "mma_swizzle"), "BK"),
    **{"wgmma": 64, "larger_tiles": 64},
}
# The same of those that bring tiles in while they multiply another one.
AHEAD: dict[str, str | int] = {
    **dict.fromkeys(("async_pipeline", "register_buffer", "l2_swizzle", "mma_pipeline"), "BK"),
    **dict.fromkeys(("warp_specialised", "two_consumers", "persistent", "tma_store", "cluster"), 64),
    **dict.fromkeys(("stream_k_tma", "stream_k_tma_bf16"), 64),
    "tf32_by_rows": 32,
    **dict.fromkeys(("fp8", "fp8_in_turns", "fp8_promoted"), 128),
}
FRAGMENTS = ("matmul_tc", "matmul_tc_2d_warp_tiling")
PACKED = ("packed", "simd", "simd_threads")  # a CPU's panels; see test_rungs_cpu.py
# Several blocks make the sum of one tile of C, each along a part of K.
SHARED = (
    "stream_k",
    "every_shape_fp32",
    "tf32",
    *(f"every_shape{types}" for types in ("", "_bf16", "_c16", "_bf16_c16")),
)
SEVERAL = ("whole_a", "gather", "panels", "peer_tiles", "fused_panels")  # the same on several GPUs
WALKING = [name for name in RUNGS if name not in (*DEPTH, *AHEAD, *FRAGMENTS, *PACKED, *SHARED, *SEVERAL)]


def played(recording: Recording, order: Order = "grid") -> Playable:
    timeline = build(recording, order)
    return Playable(recording, timeline, measure(recording, timeline))


def story_of(recording: Recording, order: Order = "grid") -> Story:
    return played(recording, order).story


def style(name: str, size: int) -> Recording:
    path = STYLES / name
    return record(launch(parse(path.read_text(), path), Problem.cube(size)), deadline_s=20)


def plot(story: Story) -> list[tuple[str, int]]:
    return [(s.kind, s.tile) for s in story.segments]


def tiles_of(name: str, depth: str | int) -> tuple[Recording, int]:
    """Record a rung where K has some tiles, the last not full; return the recording and how deep a tile is."""
    deep = find(name, ladder()).dtype == "float16" or name == "matmul_kernel_2d_thread_tiling"
    k = 400 if depth == 128 else 200 if deep else 70
    recording = rung(name, Problem(17, 20, k))
    return recording, depth if isinstance(depth, int) else recording.params[depth]


@pytest.mark.sweep("gputiled", "CC", "mma_swizzle")
@pytest.mark.parametrize("name", DEPTH)
def test_a_tiled_rung_brings_a_tile_in_waits_uses_it_waits_and_ends_with_c(name: str) -> None:
    recording, depth = tiles_of(name, DEPTH[name])
    story = story_of(recording)
    tiles = -(-recording.k // depth)
    assert story.depth == depth and tiles > 2
    assert plot(story) == [(kind, t) for t in range(tiles) for kind in ("copy", "use")] + [("store", -1)]
    # A barrier before each of them but the first.
    assert story.barriers.tolist() == [s.first for s in story.segments][1:]
    assert story.tile_starts.tolist() == [s.first for s in story.segments if s.kind == "copy"]


@pytest.mark.sweep
@pytest.mark.parametrize("name", AHEAD)
def test_a_rung_that_copies_ahead_has_each_tile_on_its_way_before_the_one_before_is_done(name: str) -> None:
    recording, depth = tiles_of(name, AHEAD[name])
    story = story_of(recording)
    copies, uses = (story.spans[KINDS.index(kind)] for kind in ("copy", "use"))
    assert story.depth == depth
    assert copies[:, 0].tolist() == uses[:, 0].tolist() == list(range(-(-recording.k // depth)))
    for tile in range(1, len(copies)):
        assert copies[tile][1] < uses[tile - 1][2]
        assert copies[tile][2] < uses[tile][1]


def test_blocks_that_share_the_sum_of_one_tile_of_c_use_different_parts_of_k() -> None:
    recording = rung("stream_k", Problem(17, 20, 70))
    story = story_of(recording, "block")
    uses, parts = story.spans[KINDS.index("use")], -(-70 // recording.params["BK"])
    assert story.depth == recording.params["BK"] and len(story.turns) == recording.blocks > 1
    assert uses[:, 0].tolist() == list(range(parts))
    turn = np.searchsorted(story.turns, uses[:, 1], side="right")
    assert np.unique(turn).tolist() == list(range(1, recording.blocks + 1))


@pytest.mark.parametrize(
    ("name", "size", "params", "depth"),
    [
        ("tf32", (64, 64, 128), {"BM": 128, "BN": 64, "STAGES": 2, "BLOCKS": 4, "CLUSTER": 1, "SPLIT": 2}, 32),
        (
            "every_shape",
            (64, 64, 256),
            {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 2, "CLUSTER": 1, "SPLIT": 2, "TOGETHER": 0},
            64,
        ),
        ("every_shape_fp32", (32, 128, 24), {"TM": 4, "WM": 1, "WN": 4, "TN": 4, "BK": 8, "STAGES": 2, "BLOCKS": 3}, 8),
    ],
)
def test_each_block_that_shares_a_tile_of_c_brings_in_tiles_of_its_own_part_of_k(name, size, params, depth) -> None:
    recording = record(launch(find(name, ladder()), Problem(*size), params), deadline_s=20)
    story = story_of(recording, "block")
    assert story.depth == depth and len(story.turns) == recording.blocks > 1
    assert sorted(set(story.spans[KINDS.index("use")][:, 0].tolist())) == list(range(size[2] // depth))


def test_a_copy_that_the_edge_of_b_cuts_short_makes_no_tile_deeper() -> None:
    # Rows of B end within 16 bytes: the zeros behind them are not the beginning of the next row.
    params = {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 2, "CLUSTER": 1, "SPLIT": 1}
    recording = record(launch(find("every_shape", ladder()), Problem(17, 20, 200), params), deadline_s=20)
    assert story_of(recording).depth == 64


@pytest.mark.sweep("register_block", "matrixMulNaive", "gpumult0_restrict")
@pytest.mark.parametrize("name", WALKING)
def test_where_each_thread_walks_along_k_there_are_no_tiles(name: str) -> None:
    playable = played(rung(name, Problem.cube(16)))
    recording, timeline, story = playable.recording, playable.timeline, playable.story
    assert story.depth == 0 and (story.tiles == -1).all() and not len(story.barriers) and not len(story.tile_starts)
    names = [KINDS[kind] for kind in story.kinds]
    expected = {("A", False): "direct", ("B", False): "direct", ("C", True): "store", ("C", False): "reload"}
    for kind, array, write in zip(names, timeline.array, timeline.write, strict=True):
        assert kind == expected[recording.arrays[array].name, bool(write)]


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_fragment_is_a_tile_that_is_read_straight_from_global_memory(name: str) -> None:
    story = story_of(rung(name, Problem.cube(64)))
    assert story.depth == 16
    assert plot(story) == [("direct", t) for t in range(4)] + [("store", -1)]


@pytest.mark.parametrize(("name", "size", "depth"), [("pipelined.cu", 32, 8), ("swizzled.cu", 64, 32)])
def test_a_copy_in_the_background_is_on_its_way_while_the_tile_before_is_used(name: str, size: int, depth: int) -> None:
    story = story_of(style(name, size))
    assert story.depth == depth
    copies, uses = (story.spans[KINDS.index(kind)] for kind in ("copy", "use"))
    assert copies[:, 0].tolist() == uses[:, 0].tolist() == list(range(size // depth))
    for tile in range(1, size // depth):
        _, issued, arrived, steps = copies[tile]
        _, first, last, _ = uses[tile - 1]
        assert issued < first and last < arrived and steps < arrived - issued
        assert arrived < uses[tile][1]


def test_a_tile_that_waits_in_registers_is_on_its_way_too() -> None:
    story = story_of(style("float4_fetches.cu", 32))
    copies, uses = (story.spans[KINDS.index(kind)] for kind in ("copy", "use"))
    assert len(copies) == len(uses) > 1
    for tile in range(1, len(copies)):
        assert copies[tile][1] < uses[tile - 1][2] < copies[tile][2] < uses[tile][1]


def test_sums_that_are_exchanged_in_shared_memory_are_no_tiles() -> None:
    story = story_of(own(EXCHANGED_SUMS, Problem(1, 1, 64)))
    kinds = [s.kind for s in story.segments]
    assert kinds == ["direct", "direct", "other", "other", "store"]
    # The lanes of the warp read 32 places along K together: these go together, as a fragment does.
    assert story.depth == 32 and [s.tile for s in story.segments][:2] == [0, 1]


def test_c_that_is_read_to_be_added_to_is_no_product() -> None:
    story = story_of(own("if (threadIdx.x == 0) for (int k = 0; k < K; k++) C[0] += A[k] * B[k];", Problem(1, 1, 4)))
    assert {"direct", "store", "reload"} == {s.kind for s in story.segments}
    assert story.occurs.tolist() == [False, False, True, True, True, False]


def test_blocks_that_go_one_after_another_have_the_same_tiles_again() -> None:
    recording = rung("gputiled", Problem.cube(32))
    one, all_four = story_of(recording), story_of(recording, "block")
    assert plot(all_four) == 4 * plot(one)
    assert all_four.turns.tolist() == [0, 73, 146, 219]
    assert not set(all_four.turns.tolist()) & set(all_four.barriers.tolist())
    assert len(all_four.tile_starts) == 4 * len(one.tile_starts)


def test_segments_cover_every_step_once() -> None:
    story = story_of(rung("hostmult0", Problem.cube(16)))
    steps = len(story.kinds)
    ends = [(s.first, s.last) for s in story.segments]
    assert ends[0][0] == 0 and ends[-1][1] == steps - 1
    assert all(after[0] == before[1] + 1 for before, after in pairwise(ends))
    assert story.segment_at(ends[7][1]) == story.segments[7] == story.segments[5:8][-1]
    assert story.segments[-1] == story.segment_at(steps - 1)
    with pytest.raises(IndexError):
        story.segment_at(steps)


@pytest.mark.parametrize("parts", [3, 73, 1000])
def test_shares_are_those_of_the_steps_of_each_part(parts: int) -> None:
    story = story_of(rung("gputiled", Problem.cube(32)))
    shares = story.shares(parts)
    assert shares.shape == (parts, len(KINDS)) and np.allclose(shares.sum(axis=1), 1)
    if parts == 73:
        assert (shares.argmax(axis=1) == story.kinds).all() and shares.max(axis=1).min() == 1
    if parts == 3:
        assert shares[0, KINDS.index("copy")] == pytest.approx(4 / 24)


def test_a_kernel_without_accesses_has_no_story() -> None:
    story = story_of(own("", Problem(1, 1, 1)))
    assert not len(story.kinds) and not len(story.segments) and not len(story.barriers) and story.depth == 0
    assert not story.occurs.any()
    story.prepare()
