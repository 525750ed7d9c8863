"""Hopper: mbarriers, boxes of the copy engine, products of warpgroups, clusters, and what a mistake in them shows."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from arriving import arrived
from hopper_recordings import FFMA, RING, SHAPES, STYLES, launched, recorded

from gemmviz import data
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.simt import job, recorder
from gemmviz.simt.build import build as build_recorder
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.hazards import find
from gemmviz.trace.hopper.async_copies import async_copies
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.fragments import fragments
from gemmviz.trace.origin.thread_state import products, state_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import tma_boxes
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

ODD = Problem(200, 136, 328)  # edges in all directions, two tiles per block


@pytest.fixture(scope="module")
def ring() -> Recording:
    return recorded(RING, ODD, BLOCKS=2)


@pytest.fixture(scope="module")
def cluster() -> Recording:
    return recorded(RING, ODD, CLUSTER=2, BLOCKS=2)


def line_of(recording: Recording, needle: str) -> int:
    return next(n for n, line in enumerate(recording.text.splitlines(), 1) if needle in line)


@pytest.mark.sweep("cluster")
@pytest.mark.parametrize("which", ["ring", "cluster"])
def test_a_ring_of_stages_is_right_and_nothing_is_found(which: str, request: pytest.FixtureRequest) -> None:
    recording: Recording = request.getfixturevalue(which)
    assert recording.wrong == 0
    assert find(recording) == []


@pytest.mark.parametrize("problem", [Problem.cube(32), Problem(40, 36, 44), Problem(65, 100, 16)], ids=str)
def test_plain_arithmetic_on_boxes_is_right(problem: Problem) -> None:
    recording = recorded(FFMA, problem)
    assert recording.wrong == 0 and find(recording) == []
    tiles = [(a.name, a.shape[-2:], a.swizzle) for a in recording.arrays[3:]]
    assert tiles == [("As", (32, 16), 64), ("Bs", (16, 32), 0)]


@pytest.mark.sweep("64-f16", "256-bf16")
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("columns", [64, 128, 256])
def test_products_of_all_shapes_are_right(columns: int, kind: str) -> None:
    text = SHAPES.replace("COLUMNS = 64", f"COLUMNS = {columns}").replace("N == 64", f"N == {columns}")
    text = text.replace("m64n64k16_f32_f16", f"m64n{columns}k16_f32_{kind}")
    if kind == "bf16":
        text = text.replace('"float16"', '"bfloat16"')
    assert recorded(text, Problem(64, columns, 128)).wrong == 0


def test_an_operand_along_k_is_right() -> None:
    text = SHAPES.replace("// capability", '// layout = { B = "column" }\n// capability').replace(
        "B, n, k,", "B, k, n,"
    )
    text = text.replace("across_k(raw + 8192 + kk * 128, 8192)", "along_k(raw + 8192 + kk * 2)")
    text = text.replace("ACROSS_K", "ALONG_K")
    assert recorded(text, Problem(64, 64, 192)).wrong == 0
    assert recorded(text.replace("ALONG_K", "ACROSS_K"), Problem(64, 64, 192)).wrong > 0


def test_tiles_look_like_tiles(ring: Recording) -> None:
    shapes = {a.name: (a.shape, a.dtype, a.swizzle) for a in ring.arrays[3:]}
    assert shapes == {
        "As": ((3, 64, 64), "float16", 128),
        "Bs": ((3, 2, 64, 64), "float16", 128),
        "Cs": ((4, 64, 32), "float32", 128),
    }


def test_a_box_is_what_stands_in_the_matrix(ring: Recording) -> None:
    found, log = ring.boxes, ring.accesses
    matrices = [np.pad(matrix, ((0, 128), (0, 128))) for matrix in (ring.a, ring.b)]  # zeros beyond the edges
    assert len(found) and set(found.matrix[found.store == 0]) == {0, 1}
    for i in np.flatnonzero(found.store == 0):
        rows, columns = int(found.rows[i]), int(found.columns[i])
        writes = np.arange(found.write[i], found.write[i] + found.writes[i])
        assert log.write[writes].all() and (log.array[writes] == found.array[i]).all()
        _, element, value = ring.covered(writes)
        array = ring.arrays[int(found.array[i])]
        tile = np.zeros(rows * columns)
        tile[array.logical(element) - found.element[i]] = value
        wanted = matrices[found.matrix[i]][found.row[i] :, found.column[i] :][:rows, :columns]
        assert (tile.reshape(rows, columns) == wanted).all()
    # Each piece of a copy carries what its read found, and zeros where it lies outside of the matrix.
    write, read, issued = log.copies.T
    assert (log.value[write[read < 0]] == 0).all() and (read < 0).any()
    inside = read >= 0
    assert (log.value[write[inside]] == log.value[read[inside]]).all()
    assert (log.phase[read[inside]] == issued[inside]).all()


def test_swizzled_places_are_told_apart(ring: Recording) -> None:
    array = ring.arrays[3]
    elements = np.arange(array.size)
    assert (array.logical(array.physical(elements)) == elements).all()
    # Piece 0 of row 5 stands in place 5.
    assert array.physical(np.array([5 * 64]))[0] == 5 * 64 + 5 * 8


def test_a_box_is_one_step_and_costs_what_its_bytes_cost(ring: Recording) -> None:
    timeline, found = build(ring), ring.boxes
    step = timeline.step_of_row
    for first, count in ((found.read, found.reads), (found.write, found.writes)):
        for start, length in zip(first[count > 0], count[count > 0], strict=True):
            assert len(set(step[start : start + length])) == 1
    traffic = measure(ring, timeline)
    by_name = {a.name: a for a in traffic.arrays}
    assert by_name["As"].write_units * 128 == by_name["As"].write_bytes
    assert by_name["Bs"].read_units * 128 == by_name["Bs"].read_bytes


def test_the_ring_fills_and_stays_full(ring: Recording) -> None:
    timeline = build(ring)
    flying, log = async_copies(ring, timeline), ring.accesses
    stage = ring.arrays[3].size // 3
    most = 0
    for step in range(timeline.steps):
        write = flying.write[flying.at(step, 0)]
        mine = write[log.array[write] == 3]
        most = max(most, len(np.unique(log.element[mine] // stage)))
    assert most == 3


def test_barriers_say_what_they_lack(ring: Recording) -> None:
    names = [ring.barriers[i] for i in range(len(ring.barriers))]
    assert names == [("empty", 0), ("empty", 1), ("empty", 2), ("full", 0), ("full", 1), ("full", 2)]
    events = ring.events
    full = np.flatnonzero((events.barrier == 3) & (events.block == 0))
    kinds = events.kind[full]
    assert kinds[0] == tma_boxes.INIT and events.arrivals[full[0]] == 1
    expects = full[kinds == tma_boxes.EXPECT]
    assert (events.bytes[expects] == 64 * 64 * 2 + 64 * 128 * 2).all() and (events.arrivals[expects] == 0).all()
    assert (events.line[expects] == line_of(ring, "barrier_arrive_expect(full")).all()
    done = full[kinds == tma_boxes.COMPLETE]
    # Each phase ends when its three boxes have arrived, and frees 128 threads that wait for it.
    assert events.number[done].tolist() == list(range(1, len(done) + 1))
    assert np.count_nonzero(kinds == tma_boxes.BYTES) == 3 * len(done)
    assert np.count_nonzero(kinds == tma_boxes.PASS) == np.count_nonzero(kinds == tma_boxes.WAIT) == 128 * len(done)
    # What is ordered by a barrier lies in different phases.
    passed, arrived = (events.phase[full[kinds == kind]] for kind in (tma_boxes.PASS, tma_boxes.BYTES))
    assert passed.min() > arrived.min()


def test_a_box_for_two_blocks_is_read_once_and_written_twice(cluster: Recording) -> None:
    found = cluster.boxes
    of_b = np.flatnonzero((found.matrix == 1) & (found.reads > 0))
    reads, times = np.unique(found.read[of_b], return_counts=True)
    assert set(times) == {2} and len(reads) * 2 == len(of_b)
    assert set(found.to[of_b] - found.block[of_b] // 2 * 2) == {0, 1}
    log = cluster.accesses
    for i in of_b:
        assert (log.block[found.write[i] : found.write[i] + found.writes[i]] == found.to[i]).all()
    assert (np.diff(log.block.astype(np.int64)) >= 0).all()


def test_part_of_a_cluster_is_recorded_with_the_rest_of_it() -> None:
    recording = record(launched(RING, Problem(256, 128, 64), CLUSTER=2), deadline_s=20, blocks=(1, 2))
    assert recording.scope == (0, 2) and recording.wrong == 0
    assert set(recording.accesses.block) == {0, 1}


def test_elements_of_c_know_who_summed_them_up_and_from_what(ring: Recording) -> None:
    timeline = build(ring)
    playable = Playable(ring, timeline, measure(ring, timeline))
    for row, column in ((3, 5), (77, 100), (199, 135)):
        owner = playable.provenance.owner(row, column)
        assert owner is not None
        # The thread that holds the sum and not the one that asks the copy engine to store it.
        at, across = row % 64, column % 128
        assert owner.thread == 128 + at // 16 * 32 + at % 8 * 4 + across % 8 // 2
        fed = playable.provenance.operand_paths(row, column)
        assert fed.covered(0) == fed.covered(1) == ring.k and fed.gives_stored and fed.by_group
    known = products(playable, owner.block, owner.thread)
    assert not known.stored_otherwise(ring).any()
    assert (state_at(playable, known, timeline.steps - 1).done == ring.k).all()
    operands = playable.provenance.operands(owner.block, owner.warp * 32, owner.warp * 32 + 32)
    held = {f.matrix: f for f in fragments(playable, operands, owner.block, owner.warp, timeline.steps - 1, (199, 135))}
    assert held.keys() == {2} and held[2].lane.shape == (16, 128)  # the operands are in shared memory
    assert held[2].lane[199 - 192, 135 - 128] == owner.lane


@pytest.mark.parametrize("params", [{"BLOCKS": 2}, {"BLOCKS": 8}], ids=str)
def test_blocks_that_are_recorded_at_the_same_time_tell_the_same(params: dict[str, int]) -> None:
    concrete = launched(RING, Problem(512, 256, 256), **params)
    a, b = (matrix.reshape(-1) for matrix in small_integer_inputs(concrete.problem, "float16"))
    library = build_recorder(concrete)
    one, two = (
        recorder.run(library, concrete, a, b, deadline_s=20, capacity=4_000_000, workers=workers) for workers in (1, 2)
    )
    assert all((one.columns[name] == two.columns[name]).all() for name in one.columns if name != "site")
    assert (one.c == two.c).all()
    for name in ("boxes", "events"):
        of_one, of_two = (getattr(raw.tma, name) for raw in (one, two))
        assert len(of_one) == len(of_two) and (of_one == of_two).all()


@pytest.mark.sweep("tma_ffma")
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("name", ["wgmma_ring", "tma_ffma", "wgmma_shapes"])
def test_the_kernels_that_are_recorded_here_compile_for_a_gpu(name: str, tmp_path: Path) -> None:
    include = data.root("kernels") / "include"
    text = (STYLES / f"{name}.cu").read_text()
    if "template" in text:
        maps = ", ".join(["const __grid_constant__ tensor_map"] * 3)
        text += f"template __global__ void ring<2>({maps}, int, int, int);"
    (tmp_path / "kernel.cu").write_text(text)
    command = ["nvcc", "-std=c++17", "-arch=sm_90a", "-cubin", "-DSTAGES=3", "-DBLOCKS=2", f"-I{include}", "kernel.cu"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_a_recording_survives_being_sent(cluster: Recording) -> None:
    copy = arrived(cluster).recording
    assert copy.barriers == cluster.barriers
    assert (copy.boxes.write == cluster.boxes.write).all() and (copy.events.bytes == cluster.events.bytes).all()


def test_a_step_of_the_copy_engine_is_told_from_one_of_threads(ring: Recording) -> None:
    timeline = build(ring)
    moved = [ring.boxes.moved_by(timeline.rows(step)) for step in range(timeline.steps)]
    # A box is read in one step and written in another; the products and the stores are the threads' own.
    assert sum(moved) == int((ring.boxes.reads > 0).sum() + (ring.boxes.writes > 0).sum())
    assert 0 in moved


def test_the_run_that_finds_the_boxes_tiles_has_the_time_limit_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    find_tiles = job.Job._find_tiles

    def observed(self: job.Job, dtypes: list[str]) -> None:
        find_tiles(self, dtypes)
        limits.append(self.run.deadline_s)

    monkeypatch.setattr(job.Job, "_find_tiles", observed)
    ring = launched(RING, Problem(256, 128, 64))
    assert recorder.count(build_recorder(ring), ring, deadline_s=7.5, limit=10**7).accesses > 0
    assert limits == [7.5]
