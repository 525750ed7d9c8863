"""The lanes of a tensor-core instruction's operands against the recorded rows, and against the PTX ISA's formulas."""

from pathlib import Path

import numpy as np
import pytest
from demo_recordings import at_demo

from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.lenses.instruction import Instruction, instruction
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.fragments import Fragment
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import WARP, WARPGROUP

BLOCK, WARP_OF_DEMO = 1, 1


def of(name: str, warp: int = WARP_OF_DEMO, step: int | None = None, block: int = BLOCK) -> Instruction:
    playable = at_demo(name)
    found = instruction(playable, block, warp, playable.timeline.steps // 2 if step is None else step)
    assert found is not None
    return found


def places(fragment: Fragment) -> dict[tuple[int, int], tuple[int, int]]:
    """Return, per lane and register, the row and column in the fragment."""
    rows, columns = np.nonzero(fragment.lane >= 0)
    lanes, slots = fragment.lane[rows, columns].tolist(), fragment.slot[rows, columns].tolist()
    at = zip(rows.tolist(), columns.tolist(), strict=True)
    return dict(zip(zip(lanes, slots, strict=True), at, strict=True))


def with_inline_ptx() -> Instruction:
    """The instruction of a kernel whose macros hold ldmatrix and mma as inline PTX, in the middle of its run."""
    kernel = load(Path(__file__).parents[2] / "inline_ptx/hgemm_macros.cu")
    recording = record(launch(kernel, Problem(32, 32, 64)))
    timeline = build(recording)
    found = instruction(Playable(recording, timeline, measure(recording, timeline)), 0, 0, timeline.steps - 1)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["mma_pipeline", "mma_swizzle", "inline PTX"])
def test_ldmatrix_deals_fragments_as_mma_wants_them(name: str) -> None:
    found = with_inline_ptx() if name == "inline PTX" else of(name)
    assert (found.kind, found.m, found.n, found.k, found.dealt) == ("mma", 16, 8, 16, True)
    assert found.a is not None and found.b is not None and found.c is not None
    # PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
    a = {
        (lane, i): (lane // 4 + 8 * (i in (2, 3, 6, 7)), lane % 4 * 2 + i % 2 + 8 * (i >= 4))
        for lane in range(WARP)
        for i in range(8)
    }
    b = {(lane, i): (lane % 4 * 2 + i % 2 + 8 * (i >= 2), lane // 4) for lane in range(WARP) for i in range(4)}
    c = {(lane, i): (lane // 4 + 8 * (i >= 2), lane % 4 * 2 + i % 2) for lane in range(WARP) for i in range(4)}
    assert places(found.a) == a
    assert places(found.b) == b
    assert places(found.c) == c


@pytest.mark.sweep("wgmma", "matmul_tc", "mma_pipeline")
@pytest.mark.parametrize("name", ["matmul_tc", "matmul_tc_2d_warp_tiling", "mma_pipeline", "wgmma", "two_consumers"])
def test_the_lanes_of_sums_are_their_recorded_owners(name: str) -> None:
    recording = at_demo(name).recording
    warp = {"matmul_tc": 0, "matmul_tc_2d_warp_tiling": 0, "two_consumers": 5}.get(name, WARP_OF_DEMO)
    c = of(name, warp).c
    assert c is not None
    rows, columns = c.lane.shape
    part = np.s_[c.row : c.row + rows, c.column : c.column + columns]
    block, thread = (owner[part] for owner in recording.owners)
    assert (block == BLOCK).all() and np.array_equal(thread, WARP * warp + c.lane)


def test_wmma_fragments_are_held_by_the_lanes_that_load_them() -> None:
    playable = at_demo("matmul_tc")
    log, step_of_row = playable.recording.accesses, playable.timeline.step_of_row
    step = 7  # the fragments of the first k are loaded, in four requests each
    found = of("matmul_tc", 0, step)
    assert (found.kind, found.m, found.n, found.k, found.dealt) == ("wmma", 16, 16, 16, False)
    for fragment in (found.a, found.b):
        assert fragment is not None and (fragment.lane >= 0).all()
        info = playable.recording.arrays[fragment.matrix]
        mine = np.flatnonzero((log.block == BLOCK) & (log.array == fragment.matrix) & (step_of_row <= step))
        position, element = playable.recording.elements(mine)
        rows, columns = info.cells(element)
        lanes = log.thread[mine[position]] % WARP
        assert len(rows) == 256
        assert np.array_equal(fragment.lane[rows - fragment.row, columns - fragment.column], lanes)
        assert sorted(places(fragment)) == [(lane, slot) for lane in range(WARP) for slot in range(8)]


def test_operands_that_are_not_loaded_yet_have_no_lane() -> None:
    found = of("matmul_tc", 0, 1)
    assert found.a is not None and 0 < (found.a.lane >= 0).sum() < 256 and found.b is None


@pytest.mark.parametrize(("name", "n"), [("wgmma", 64), ("two_consumers", 256), ("every_shape_c16", 64)])
def test_the_registers_of_wgmma_are_numbered_as_it_numbers_them(name: str, n: int) -> None:
    warp = 1 if name == "wgmma" else 5
    found = of(name, warp)
    assert (found.kind, found.m, found.n, found.k) == ("wgmma", 64, n, 16)
    assert found.a is None and found.b is None and found.c is not None
    assert at_demo(name).recording.together == WARPGROUP
    # PTX ISA, "Register Fragments ... wgmma .m64nNk16", accumulator D: d[i] of a lane, in the 16 rows of its warp.
    wanted = {
        (lane, i): (lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + lane % 4 * 2 + i % 2)
        for lane in range(WARP)
        for i in range(8)
    }
    assert places(found.c) == wanted


def test_the_sums_of_a_turned_tile_have_columns_of_c_as_rows() -> None:
    """Its stmatrix transposes: the lane that gives an address does not hold the elements that are stored there."""
    found = of("every_shape_bf16_c16", 5)
    assert (found.kind, found.m, found.n, found.k, found.turned) == ("wgmma", 64, 24, 16, True)
    assert found.c is not None and (found.c.row, found.c.column) == (24, 16)
    wanted = {
        (lane, i): (8 * (i // 4) + lane % 4 * 2 + i % 2, lane // 4 + 8 * (i // 2 % 2))
        for lane in range(WARP)
        for i in range(8)
    }
    assert places(found.c) == wanted


def test_the_fragment_around_the_chosen_element_is_shown() -> None:
    playable = at_demo("mma_pipeline")
    first = of("mma_pipeline").c
    assert first is not None
    chosen = instruction(playable, BLOCK, WARP_OF_DEMO, playable.timeline.steps // 2, (first.row + 3, first.column + 9))
    assert chosen is not None and chosen.c is not None and chosen.b is not None
    assert (chosen.c.row, chosen.c.column) == (first.row, first.column + 8) and chosen.b.column == chosen.c.column


def test_a_warp_without_sums_has_no_instruction() -> None:
    assert instruction(at_demo("warp_specialised"), 0, 0, 30) is None  # it only loads
