"""The stages of a pipeline against the recorded rows, one by one: their tiles, arrivals, and ends of waits."""

from pathlib import Path

import numpy as np
import pytest
from demo_recordings import at_demo

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.lenses.fillings import NEVER, Stages
from gemmviz.trace.lenses.pipeline_events import COPIES, pipeline_events
from gemmviz.trace.lenses.stages import is_pipeline, stages
from gemmviz.trace.lenses.work_shares import shares_work, work_shares
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

RINGS = {"warp_specialised": 3, "async_pipeline": 3, "register_buffer": 3, "mma_pipeline": 3, "two_consumers": 2}
SHARED = ("stream_k", "persistent", "tma_store", "cluster", "stream_k_tma", "stream_k_tma_bf16")


def found(name: str, block: int = 1) -> tuple[Playable, Stages]:
    playable = at_demo(name)
    known = stages(playable, block)
    assert known is not None
    return playable, known


@pytest.mark.sweep("warp_specialised", "async_pipeline", "two_consumers")
@pytest.mark.parametrize("name", RINGS)
def test_a_ring_is_filled_stage_by_stage_along_k(name: str) -> None:
    playable, known = found(name)
    depth = playable.story.depth
    assert known.count == RINGS[name]
    assert [f.k for f in known.fillings] == list(range(0, playable.recording.k, depth))
    # The text of each of these kernels goes round its ring.
    assert [f.stage for f in known.fillings] == [n % known.count for n in range(len(known.fillings))]
    assert all(f.deep == depth for f in known.fillings)


@pytest.mark.sweep("warp_specialised", "async_pipeline")
@pytest.mark.parametrize("name", [*RINGS, "stream_k", "cluster"])
def test_a_stage_holds_its_last_written_tile(name: str) -> None:
    """Every value that is read while a stage holds a filling comes from its places along K."""
    playable, known = found(name)
    recording, history, staged = playable.recording, playable.history, playable.staged
    log, step_of_row = recording.accesses, playable.timeline.step_of_row
    shared = [i for i, a in enumerate(recording.arrays) if a.space == "shared"]
    seen = 0
    for filling in known.fillings:
        step = filling.first_use
        held = known.held(step)
        assert held[filling.stage] is filling and filling.state(step) == "multiplied"
        for row in playable.block_rows(step, 1)[:40].tolist():
            assert log.array[row] in shared and not log.write[row]
            item = int(history.last_item(int(log.array[row]), step, 1)[int(log.element[row])])
            read = int(staged.read[item])
            assert read >= 0 and step_of_row[read] >= filling.asked and step_of_row[staged.row[item]] <= filling.arrived
            place = recording.arrays[int(log.array[read])].cells(staged.read_element[[item]])
            k = int(place[1 if log.array[read] == 0 else 0][0])
            assert filling.k <= k < filling.k + filling.deep
            seen += 1
    assert seen


@pytest.mark.sweep("warp_specialised", "cluster")
@pytest.mark.parametrize("name", ["warp_specialised", "cluster", "stream_k_tma"])
def test_fillings_by_the_copy_engine_are_the_boxes_of_one_barrier(name: str) -> None:
    playable, known = found(name)
    boxes, step = playable.recording.boxes, playable.timeline.step_of_row
    mine = np.flatnonzero((boxes.store == 0) & (boxes.to == 1))
    for filling in known.fillings:
        of_stage = mine[boxes.barrier[mine] == filling.full]
        arrivals = step[boxes.write[of_stage] + boxes.writes[of_stage] - 1]
        laps = [f for f in known.fillings if f.stage == filling.stage]
        each = len(of_stage) // len(laps)
        at = sorted(arrivals.tolist())[filling.lap * each : (filling.lap + 1) * each]
        assert filling.arrived == at[-1]
        there, whole = known.arrived_bytes(filling, at[-1])
        size = int((boxes.rows * boxes.columns)[of_stage].sum()) * 2 // len(laps)  # halves
        assert (there, whole) == (size, size)
        assert known.arrived_bytes(filling, at[0] - 1)[0] == 0
        assert playable.recording.barriers[filling.full][0] == "full"
        assert playable.recording.barriers[filling.empty] == ("empty", playable.recording.barriers[filling.full][1])


def test_a_stage_is_on_its_way_then_ready_then_multiplied_then_given_back() -> None:
    playable, known = found("warp_specialised")
    order = ("arriving", "ready", "multiplied", "done")
    for filling in known.fillings:
        states = [filling.state(step) for step in range(filling.asked, playable.timeline.steps)]
        assert [state for state in order if state in states] == list(dict.fromkeys(states))
    first, again = known.fillings[0], known.fillings[3]
    assert (first.stage, again.stage, first.lap, again.lap) == (0, 0, 0, 1)
    # The mbarrier says so: the producer asks again once its phase has ended.
    ended = [playable.mbarrier_states.at(step, 1)[first.empty].ended for step in (first.freed - 1, first.freed)]
    assert ended == [0, 1] and first.freed <= again.asked
    assert known.fillings[-1].freed == NEVER  # this stage is not requested again


@pytest.mark.sweep("warp_specialised", "async_pipeline", "stream_k", "cluster")
@pytest.mark.parametrize("name", [*RINGS, *SHARED])
def test_events_are_in_order_and_arrows_point_forward(name: str) -> None:
    playable, known = found(name)
    events = pipeline_events(playable, 1)
    assert events is not None
    steps = [event.step for event in events.events]
    assert steps == sorted(steps)
    for filling in known.fillings:
        mine = [e for e in events.events if e.filling == filling.number]
        assert [e.kind for e in mine[:2]] == ["ask", "arrive"]
        assert {e.agent for e in mine if e.kind == "multiply"} == set(known.using)
        assert [e.agent for e in mine if e.kind == "arrive"] == [COPIES]
    for begin, end in events.arrows:
        one, other = events.events[begin], events.events[end]
        assert begin < end and (one.kind, other.kind) in (("arrive", "multiply"), ("free", "ask"))
        assert known.fillings[one.filling].stage == known.fillings[other.filling].stage
    assert [events.passed(step) for step in (-1, steps[0], steps[-1])] == [0, steps.count(steps[0]), len(steps)]


def test_waits_are_those_that_the_barriers_report() -> None:
    playable, _ = found("warp_specialised")
    events = pipeline_events(playable, 1)
    assert events is not None
    names = playable.recording.barriers
    texts = [
        (w.agent, names[w.barrier], events.events[w.until].kind, events.events[w.until].filling) for w in events.waits
    ]
    # The consumers wait for the first tile, and the producer, when the ring is full, for its first stage.
    assert texts == [(1, ("full", 0), "multiply", 0), (0, ("empty", 0), "ask", 3)]


def test_a_producer_that_does_not_wait_asks_before_the_stage_is_given_back() -> None:
    kernel = broken(find("warp_specialised", ladder()), ("no-wait-for-empty",))
    demo = kernel.demo
    assert demo is not None
    recording = record(launch(kernel, Problem(*demo.size), demo.params))
    timeline = build(recording)
    events = pipeline_events(Playable(recording, timeline, measure(recording, timeline)), 1)
    assert events is not None
    order = [(e.kind, e.filling) for e in events.events]
    assert order.index(("ask", 3)) < order.index(("free", 0))
    # An event that did not wait is released by no other one.
    assert {order[end][0] for _, end in events.arrows} == {"multiply"}
    assert not [w for w in events.waits if w.asking]


@pytest.mark.sweep("stream_k", "cluster")
@pytest.mark.parametrize("name", SHARED)
def test_every_k_step_of_every_tile_is_done_once(name: str) -> None:
    playable = at_demo(name)
    known = work_shares(playable)
    assert known is not None and shares_work(playable)
    done = [(p.tile, step) for pieces in known.blocks for p in pieces for step in range(p.first, p.end)]
    assert sorted(done) == [(tile, step) for tile in range(known.tiles) for step in range(known.steps)]
    assert known.total == known.tiles * known.steps and known.longest >= -(-known.total // len(known.blocks))
    assert (known.cut > 0) == name.startswith("stream_k")
    # Shares that cut tiles are equal, to one k-step.
    assert known.shortest <= known.total / len(known.blocks) <= known.longest <= known.shortest + 1
    waves = -(-known.tiles // playable.recording.blocks)
    assert known.a_tile_each == waves * -(-playable.recording.k // playable.story.depth) >= known.longest
    for pieces in known.blocks:
        began = [step for piece in pieces for step in piece.began]
        assert began == sorted(began)
        assert [sum(p.done(s) for p in pieces) for s in (-1, playable.timeline.steps)] == [0, len(began)]


def test_blocks_that_have_one_whole_tile_each_share_no_work() -> None:
    for name in ("warp_specialised", "async_pipeline", "gputiled", "matmul_tc"):
        assert not shares_work(at_demo(name))
    assert stages(at_demo("matmul_tc"), 0) is None and work_shares(at_demo("matmul_tc")) is None


def test_a_block_that_goes_on_with_another_blocks_tile_begins_inside_it() -> None:
    known = work_shares(at_demo("stream_k"))
    assert known is not None
    # Two tiles of twelve k-steps for three blocks: eight k-steps each. A share goes from its end to its beginning.
    shares = [[(p.tile, p.first, p.end) for p in pieces] for pieces in known.blocks]
    assert shares == [[(0, 0, 8)], [(1, 0, 4), (0, 8, 12)], [(1, 4, 12)]]


TWO_BUFFERS = """// ---gemmviz
// entry = "product"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["8", "8"]
// grid = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N % 8 == 0", "K % 8 == 0"]
// ---
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[BUFFERS][8][8], b[BUFFERS][8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x, at = 0;
    a[0][y][x] = A[row * K + x];
    b[0][y][x] = B[y * N + column];
    __syncthreads();
    float sum = 0;
    for (int k = 8; k <= K; k += 8) {
        float next_a = 0, next_b = 0;
        if (k < K) next_a = A[row * K + k + x], next_b = B[(k + y) * N + column];
        for (int i = 0; i < 8; i++) sum += a[at][y][i] * b[at][i][x];
        at = (at + 1) % BUFFERS;
        if (BUFFERS == 1) __syncthreads();
        if (k < K) a[at][y][x] = next_a, b[at][y][x] = next_b;
        __syncthreads();
    }
    C[row * N + column] = sum;
}
"""


@pytest.mark.parametrize("buffers", [1, 2])
def test_two_buffers_that_registers_fill_are_a_pipeline_and_one_is_none(buffers: int) -> None:
    kernel = parse(TWO_BUFFERS.replace("BUFFERS", str(buffers)), Path("product.cu"))
    recording = record(launch(kernel, Problem(8, 16, 32)))
    timeline = build(recording)
    playable = Playable(recording, timeline, measure(recording))
    assert recording.wrong == 0
    assert is_pipeline(playable) == (buffers == 2)
    known = stages(playable, 1)
    assert known is not None
    assert known.count == buffers
    assert [f.stage for f in known.fillings] == [n % buffers for n in range(4)]
