"""Running sums, products and copies of every rung, against the recording."""

from functools import cache
from zlib import crc32

import numpy as np
import pytest
from demo_recordings import at_demo
from sampled import FEW

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.problem import Problem
from gemmviz.session import picture_params
from gemmviz.session.values.picture_size import picture_problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.motion.flights import BlockFlights
from gemmviz.trace.motion.products import MOST_PRODUCTS, writes_of_c
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable]


@cache
def shown(name):
    kernel = find(name, ladder())
    problem = picture_problem(kernel)
    if problem.m * problem.n * problem.k > MOST_PRODUCTS:
        problem = Problem.cube(64)
    try:
        recording = record(launch(kernel, problem, picture_params(kernel, problem)))
    except GemmvizError as error:
        pytest.skip(f"is recorded as a defect of its document: {error}")
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@pytest.mark.sweep(*FEW)
@pytest.mark.parametrize("name", RUNGS)
def test_running_sums_end_in_the_stored_values(name):
    playable = shown(name)
    recording, sums = playable.recording, playable.live_sums
    once = writes_of_c(recording) == 1
    if not recording.wrong:
        # Of the rest, other blocks computed a part and handed it on in memory: not all products are the owner's.
        count = np.bincount(sums.products.element, minlength=once.size).reshape(once.shape)
        assert (count[once & ~sums.known] < recording.k).all()
        assert name in ("stream_k", "every_shape_fp32") or (sums.known == once).all()
    stored = (recording.c - recording.there_before)[sums.known]
    assert (sums.at(playable.timeline.steps)[sums.known] == stored).all()
    assert not sums.at(0).any()
    # When an element is stored, its sum is complete: at that very step.
    step = playable.timeline.step_of_row
    for row, column in np.argwhere(sums.known)[:: max(int(sums.known.sum()) // 7, 1)]:
        when = int(step[recording.handed_over[row, column]])
        assert sums.at(when)[row, column] == recording.c[row, column] - recording.there_before[row, column]


def test_sums_do_not_depend_on_the_way_to_a_step():
    playable = shown("gputiled")
    steps = np.random.default_rng(1).permutation(playable.timeline.steps).tolist()
    forwards = {step: playable.live_sums.at(step).copy() for step in range(playable.timeline.steps)}
    assert all((playable.live_sums.at(step) == forwards[step]).all() for step in steps)


@pytest.mark.parametrize(("name", "tiles"), [("matmul_kernel_naive", None), ("gputiled", ("As", "Bs"))])
def test_a_sum_has_the_products_that_its_thread_has_read(name, tiles):
    """Counted anew, read by read: the k-th product is there as soon as its thread has read both operands."""
    playable = shown(name)
    recording, step = playable.recording, playable.timeline.step_of_row
    log, names = recording.accesses, [array.name for array in recording.arrays]
    arrays = (A, B) if tiles is None else tuple(names.index(tile) for tile in tiles)
    random = np.random.default_rng(crc32(name.encode()))
    for _ in range(12):
        row, column = int(random.integers(recording.m)), int(random.integers(recording.n))
        block, thread = (int(of[row, column]) for of in recording.owners)
        mine = np.flatnonzero((log.block == block) & (log.thread == thread) & ~log.write)
        reads = [mine[log.array[mine] == array] for array in arrays]
        now = int(random.integers(playable.timeline.steps))
        done = min(int((step[of] < now).sum()) for of in reads)
        wanted = recording.a[row, :done] @ recording.b[:done, column]
        assert playable.live_sums.at(now)[row, column] == wanted


@pytest.mark.sweep(*FEW)
@pytest.mark.parametrize("name", RUNGS)
def test_products_are_of_recorded_operands(name):
    playable = shown(name)
    products, recording = playable.products, playable.recording
    if recording.wrong or not len(products):
        pytest.skip("a wrong C is not made of these products")
    row, column = np.divmod(products.element, recording.n)
    assert (products.a == recording.a[row, products.k]).all() and (products.b == recording.b[products.k, column]).all()
    # The cell that an operand is said to be read from holds it at that step.
    random = np.random.default_rng(crc32(name.encode()))
    for which in random.integers(len(products), size=10).tolist():
        for array, place, value in (
            (products.a_array[which], products.a_place[which], products.a[which]),
            (products.b_array[which], products.b_place[which], products.b[which]),
        ):
            if place < 0 or recording.arrays[array].space == "global":
                continue
            block = int(products.thread[which]) // recording.threads
            step = int(products.done[which])
            held = {float(playable.history.values(array, s, block)[place]) for s in range(max(step - 40, 0), step + 1)}
            assert float(value) in held


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUNGS)
def test_copies_go_from_the_read_to_the_written_element(name):
    playable = shown(name)
    recording = playable.recording
    matrices = {A: recording.a, B: recording.b}
    block = recording.blocks - 1
    found = BlockFlights(recording, playable.timeline, playable.staged, block)
    flights = found.all
    assert (flights.begin < flights.end).all()
    for which in np.random.default_rng(crc32(name.encode())).permutation(len(flights))[:10].tolist():
        source, target = int(flights.source[which]), int(flights.target[which])
        if flights.stored[which] >= 0:
            assert recording.arrays[source].space == "shared" and target == C
        else:
            row, column = recording.arrays[source].cells(flights.source_element[which : which + 1])
            assert matrices[source][row, column] == flights.value[which]
            assert recording.arrays[target].space == "shared" and target > C
        when = int(flights.end[which])
        assert playable.history.values(target, when, block)[flights.target_element[which]] == flights.value[which]
        assert flights.begin[which] in {int(s) for s in found.at(int(flights.begin[which])).begin}
        assert when - 1 < int(flights.begin[which]) or len(found.at(when - 1))


def test_boxes_that_the_copy_engine_stores_fly_from_shared_memory_to_c():
    playable = at_demo("tma_store")
    recording, boxes = playable.recording, playable.recording.boxes
    flights = BlockFlights(recording, playable.timeline, playable.staged, 1).all
    stored = flights.taken(np.flatnonzero(flights.stored >= 0))
    mine = np.flatnonzero((boxes.block == 1) & (boxes.store > 0))
    assert np.unique(stored.stored).tolist() == mine.tolist() and len(stored) == 128 * 256
    row, column = recording.arrays[C].cells(stored.target_element)
    assert (stored.value == recording.c[row, column]).all()
    held = playable.history.values(int(stored.source[0]), int(stored.begin[0]), 1)
    first = stored.taken(np.flatnonzero(stored.begin == stored.begin[0]))
    assert (held[first.source_element] == first.value).all()
    assert (stored.receivers == 1).all()


def test_a_box_of_b_is_for_both_blocks_of_a_cluster():
    playable = at_demo("cluster")
    flights = BlockFlights(playable.recording, playable.timeline, playable.staged, 0).all
    for array, blocks in ((A, 1), (B, 2)):
        assert set(flights.receivers[flights.source == array].tolist()) == {blocks}
