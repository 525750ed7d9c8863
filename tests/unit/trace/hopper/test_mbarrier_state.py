"""mbarriers step by step: parity, missing arrivals, waiting threads; and the sums of C of each warpgroup."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from demo_recordings import at_demo

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.hopper.mbarrier_state import mbarrier_states
from gemmviz.trace.hopper.tma_activity import asked_by, pieces, tma_activity
from gemmviz.trace.order.timeline import Order, build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import tma_boxes
from gemmviz.trace.recording.record import record

STYLES = Path(__file__).parents[2] / "styles"
RING = parse((STYLES / "wgmma_ring.cu").read_text(), STYLES / "wgmma_ring.cu")
STAGES, TILE_BYTES = 3, (64 * 64 + 64 * 128) * 2


def played(kernel: Kernel, problem: Problem, order: Order = "grid", **params: int) -> Playable:
    recording = record(launch(kernel, problem, params), deadline_s=20)
    timeline = build(recording, order)
    return Playable(recording, timeline, measure(recording, timeline))


@cache
def ring(cluster: int = 1, order: Order = "grid") -> Playable:
    return played(RING, Problem(128, 256, 192), order, CLUSTER=cluster, BLOCKS=2)


@cache
def specialised() -> Playable:
    return played(find("warp_specialised", ladder()), Problem(64, 64, 384), BM=64, BN=64, STAGES=3)


def number(playable: Playable, name: str, index: int = 0) -> int:
    return playable.recording.barriers.index((name, index))


@pytest.mark.sweep("1-grid", "2-block")
@pytest.mark.parametrize("order", ["grid", "block"])
@pytest.mark.parametrize("cluster", [1, 2])
def test_the_last_state_of_a_barrier_follows_its_last_event(cluster: int, order: Order) -> None:
    playable = ring(cluster, order)
    events, last = playable.recording.events, playable.timeline.steps - 1
    for block in range(playable.recording.blocks):
        for barrier, state in enumerate(playable.mbarrier_states.at(last, block)):
            mine = np.flatnonzero((events.barrier == barrier) & (events.block == block))
            assert state.ready and not len(state.waiting)
            changed = mine[~np.isin(events.kind[mine], (tma_boxes.WAIT, tma_boxes.PASS))][-1]
            found = (state.ended, state.arrivals, state.bytes)
            assert found == (events.number[changed], events.arrivals[changed], events.bytes[changed])


@pytest.mark.parametrize(("cluster", "tiles"), [(1, [2, 2, 2]), (2, [1, 1, 1])])
def test_phases_only_end_and_missing_arrivals_stay_within_the_needed_ones(cluster: int, tiles: list[int]) -> None:
    playable = ring(cluster)
    needed = {"full": 1, "empty": cluster}
    before = [0] * len(playable.recording.barriers)
    for step in range(playable.timeline.steps):
        for barrier, state in enumerate(playable.mbarrier_states.at(step, 0)):
            name, _ = playable.recording.barriers[barrier]
            assert state.needed == needed[name] and 0 <= state.arrivals <= state.needed
            assert before[barrier] <= state.ended <= before[barrier] + 1 and state.parity == state.ended % 2
            assert state.bytes <= state.announced <= (TILE_BYTES if name == "full" else 0)
            before[barrier] = state.ended
    # A block has two tiles of C, or in a cluster one, of three tiles of K each.
    assert [before[number(playable, "full", s)] for s in range(STAGES)] == tiles


def test_bytes_are_missing_from_the_announcement_to_the_last_box() -> None:
    playable = specialised()
    full, found = number(playable, "full"), playable.recording.boxes
    steps = playable.timeline.step_of_row[found.write[found.barrier == full]]
    first, second = sorted(steps.tolist())[:2]  # of the first tile: a box of A and one of B
    states = playable.mbarrier_states
    assert [states.at(s, 0)[full].bytes for s in (0, first - 1, first, second)] == [16384, 16384, 8192, 0]
    assert states.at(second - 1, 0)[full].ended == 0 and states.at(second, 0)[full].ended == 1
    assert states.at(second, 0)[full].announced == 0
    assert states.counts_bytes == {number(playable, "full", s) for s in range(STAGES)}


def test_waiting_threads_are_listed_until_the_phase_ends() -> None:
    playable = specialised()
    empty, full = number(playable, "empty"), number(playable, "full")
    waiting = [[s.waiting.tolist() for s in playable.mbarrier_states.at(t, 0)] for t in range(playable.timeline.steps)]
    # The consumers wait for the first tile, and the producer, when the ring is full, for its first stage.
    assert waiting[0][full] == list(range(128, 256)) and waiting[0][empty] == []
    opened = next(t for t, now in enumerate(waiting) if not now[full])
    assert playable.mbarrier_states.at(opened, 0)[full].ended == 1
    asked = playable.timeline.step_of_row[playable.recording.boxes.read]
    third = np.sort(asked)[2 * STAGES - 1]
    assert waiting[third][empty] == [0] and waiting[third - 1][empty] == []
    assert all(now[empty] in ([], [0]) for now in waiting)
    given_back = next(t for t in range(third, len(waiting)) if not waiting[t][empty])
    assert playable.mbarrier_states.at(given_back, 0)[empty].ended == 1
    read = [t for t in range(given_back + 1) if playable.recording.arrays[playable.timeline.array[t]].name == "As"]
    assert len(read) > 2


def test_a_producer_without_free_stages_waits_to_the_end() -> None:
    kernel = broken(find("warp_specialised", ladder()), ("never-given-back",))
    playable = played(kernel, Problem(64, 64, 384), BM=64, BN=64, STAGES=3)
    states = playable.mbarrier_states.at(playable.timeline.steps - 1, 0)
    assert states[number(playable, "empty")].waiting.tolist() == [0]
    assert states[number(playable, "empty")].ended == 0


def test_a_kernel_without_barriers_has_none() -> None:
    playable = played(find("gputiled", ladder()), Problem.cube(8), TS=4)
    known = mbarrier_states(playable.recording, playable.timeline)
    assert known.at(0, 0) == [] and known.order == () and playable.warpgroups.count == 0


def test_the_producer_owns_no_sums_and_the_others_all_of_them() -> None:
    playable = played(find("two_consumers", ladder()), Problem(128, 64, 128), BN=64, STAGES=2)
    known = playable.warpgroups
    assert known.owning == (False, True, True) and known.asking == (True, False, False)
    held = [known.held(known.tile(0, 0, group)) for group in (1, 2)]
    assert known.tile(0, 0, 0) == -1
    assert (held[0] ^ held[1]).all() and held[0][:64].all() and held[1][64:].all()
    # A thread has 64 x 64 sums of its group by 128 threads: in two rows, two neighbours of eight columns.
    mine = known.of_thread(3, 5)
    assert len(mine) == 32 and {int(c) // 64 for c in mine} == {3, 11}
    assert sorted({int(c) % 64 % 8 for c in mine}) == [4, 5]


def test_a_persistent_block_holds_one_tile_after_the_other() -> None:
    playable = ring()
    known = playable.warpgroups
    tiles = [known.tile(step, 0, 1) for step in range(playable.timeline.steps)]
    assert tiles == sorted(tiles)
    first, second = dict.fromkeys(tiles)
    changes = tiles.index(second)
    one, other = known.held(first), known.held(second)
    assert one.sum() == other.sum() == 64 * 128 and not (one & other).any()
    # All of the first tile has left the registers by then, and nothing of the second.
    gone = playable.timeline.step_of_row[playable.recording.handed_over]
    assert (gone[one] < changes).all() and (gone[other] > changes).all()


def test_a_box_is_moved_when_it_is_read_and_when_it_is_written() -> None:
    playable = specialised()
    found = playable.recording.boxes
    seen = [box for step in range(playable.timeline.steps) for box in tma_activity(playable, step, 0)]
    assert sorted(b.number for b in seen if not b.write) == sorted(b.number for b in seen if b.write)
    assert len(seen) == 2 * len(found) and {b.warp for b in seen} == {0}
    assert all(b.asked < b.arrived for b in seen)
    assert asked_by(playable, 0, 0).tolist() == sorted({b.asked for b in seen}) and not len(asked_by(playable, 0, 4))


def test_a_box_for_two_blocks_arrives_in_both() -> None:
    playable = ring(2)
    found = playable.recording.boxes
    shared = np.flatnonzero((found.store == 0) & (found.to != found.block) & (found.block == 0))
    assert len(shared)
    step = int(playable.timeline.step_of_row[found.write[shared[0]]])
    assert shared[0] in {box.number for box in tma_activity(playable, step, 1)}
    assert shared[0] not in {box.number for box in tma_activity(playable, step, 0)}


def test_the_pieces_of_a_row_are_dealt_by_the_swizzle() -> None:
    playable = specialised()
    stands = pieces(playable.recording, 0)
    assert (stands[:, :, 0] == np.arange(8)[:, None]).all()
    assert (stands[:, :, 1] == (np.arange(8)[:, None] ^ np.arange(8))).all()
    ffma = played(parse((STYLES / "tma_ffma.cu").read_text(), STYLES / "tma_ffma.cu"), Problem.cube(32))
    b = int(np.flatnonzero(ffma.recording.boxes.matrix == 1)[0])  # 16 rows of 32 floats, not swizzled
    assert (pieces(ffma.recording, b)[:, :, 1] == np.arange(8)).all()
    a = int(np.flatnonzero(ffma.recording.boxes.matrix == 0)[0])  # rows of 64 bytes: two in a line
    assert pieces(ffma.recording, a)[0, :, 0].tolist() == [0] * 4 + [1] * 4


def test_a_tile_of_which_two_blocks_add_up_parts_is_held_by_both() -> None:
    playable = played(find("stream_k_tma", ladder()), Problem(256, 384, 128), BN=128, BLOCKS=4)
    known = playable.warpgroups
    held = [{known.tile(s, block, 1) for s in range(playable.timeline.steps)} for block in range(4)]
    cells = [np.logical_or.reduce([known.held(tile) for tile in tiles]) for tiles in held]
    # Blocks 0 and 2 have the upper rows: a tile of columns each, and half the work on the one between.
    assert len(held[0]) == len(held[2]) == 2
    both = cells[0] & cells[2]
    assert both.sum() == 64 * 128 and not (cells[0] & cells[1]).any()
    assert np.logical_or.reduce(cells)[:64].all() and playable.recording.wrong == 0


def test_a_warpgroup_that_only_stores_zeros_owns_no_sums() -> None:
    playable = at_demo("every_shape")
    known = playable.warpgroups
    assert known.owning == (False, True) and known.asking == (True, False)
    # Block 0's spare warp stores zeros, to which both blocks then add their sums.
    assert (known.last >= 0).all() and known.tile(playable.timeline.steps - 1, 0, 0) == -1
    group = np.unique([known.group(row, column) for row in (0, 31, 63) for column in (0, 40)])
    assert group.tolist() == [1]
