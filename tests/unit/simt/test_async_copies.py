"""Copies to shared memory in the background: when they arrive, what is recorded, what a wait too few does."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.errors import ConstraintError, KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.simt import recorder
from gemmviz.simt.build import build as build_recorder
from gemmviz.trace.order.timeline import build
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

PIPELINED = (Path(__file__).parents[1] / "styles/pipelined.cu").read_text()
FRONT = PIPELINED[: PIPELINED.index("#include")]


def recorded(text: str, problem: Problem) -> Recording:
    return record(launch(parse(text, Path("pipelined.cu")), problem), deadline_s=10)


def lines_of(recording: Recording, needle: str) -> set[int]:
    return {number for number, line in enumerate(recording.text.splitlines(), 1) if needle in line}


def test_a_pipeline_with_edges_is_right_and_every_copy_has_its_two_rows() -> None:
    recording = recorded(PIPELINED, Problem(40, 33, 20))
    assert recording.wrong == 0 and not recording.notes
    log = recording.accesses
    line = np.array([s.line for s in recording.sites])
    write, read, issued = log.copies.T
    assert log.write[write].all() and not log.write[read[read >= 0]].any()
    assert {recording.arrays[i].name for i in set(log.array[write])} == {"As", "Bs"}
    assert set(line[log.site[write]]) == lines_of(recording, "cp_async_ca_zfill<4>(")
    # Each write carries what its read found; a copy that reads nothing brings zeros.
    zero = read < 0
    assert zero.any() and (log.value[write[zero]] == 0).all()
    assert (log.value[write[~zero]] == log.value[read[~zero]]).all()
    assert (line[log.site[write[~zero]]] == line[log.site[read[~zero]]]).all()
    assert (log.thread[write[~zero]] == log.thread[read[~zero]]).all()
    assert (log.phase[read[~zero]] == issued[~zero]).all()
    assert set(log.phase[write] - issued) == {0, 2}
    # All reads of A and B are copies, and the last stage, which nobody waits for, never arrives.
    copied = np.isin(log.array, [0, 1])
    assert copied.sum() == np.count_nonzero(~zero)
    stages, blocks, copies_of_a_thread = 3, 4, 2 + 2
    assert len(log.copies) == blocks * 128 * stages * copies_of_a_thread


def test_the_accesses_of_a_copy_are_steps_of_their_own() -> None:
    recording = recorded(PIPELINED, Problem(32, 32, 8))
    timeline = build(recording)
    log = recording.accesses
    for step in range(timeline.steps):
        rows = timeline.rows(step)
        assert len(set(log.array[rows])) == len(set(log.write[rows])) == 1


def test_a_forgotten_wait_shows_as_a_wrong_result() -> None:
    assert recorded(PIPELINED.replace("cp_async_wait<1>();", ""), Problem(32, 32, 8)).wrong == 32 * 32
    assert recorded(PIPELINED.replace("cp_async_wait<1>();", "cp_async_wait<2>();"), Problem(32, 32, 8)).wrong > 0
    assert recorded(PIPELINED.replace("cp_async_wait<1>();", "cp_async_wait_all();"), Problem(32, 32, 8)).wrong == 0


def test_a_group_that_nobody_commits_does_not_arrive() -> None:
    text = PIPELINED.replace("    cp_async_commit();\n", "")
    assert recorded(text, Problem(32, 32, 8)).wrong == 32 * 32
    assert recorded(text.replace("cp_async_wait<1>();", "cp_async_wait_all();"), Problem(32, 32, 8)).wrong == 0


WIDE = (
    FRONT
    + """#include <cuda_pipeline.h>
__global__ void tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ alignas(16) float As[16][16], Bs[16][16];
    int t = threadIdx.x, row = t / 4, col = t % 4 * 4;
    if (t < 64) {
        __pipeline_memcpy_async(&As[row][col], A + row * K + col, 16);
        __pipeline_memcpy_async(&Bs[row][col], B + row * N + col, SIZE, ZEROS);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = t; i < 256; i += 128) {
        float sum = 0;
        for (int k = 0; k < 16; k++) sum += As[i / 16][k] * Bs[k][i % 16];
        C[i] = sum;
    }
}
"""
)


def test_cuda_pipeline_copies_sixteen_bytes_at_once() -> None:
    recording = recorded(WIDE.replace("SIZE", "16").replace("ZEROS", "0"), Problem.cube(16))
    assert recording.wrong == 0
    log = recording.accesses
    assert len(log.copies) == 128 and set(log.bytes[log.copies[:, :2]].reshape(-1)) == {16}
    for array, matrix in ((0, recording.a), (1, recording.b)):
        reads = log.copies[log.array[log.copies[:, 1]] == array][:, 1]
        _, element, value = recording.covered(reads)
        assert sorted(element) == list(range(256))
        assert (value == matrix.reshape(-1)[element]).all()


MANY = (
    FRONT
    + """#include <gemmviz/ptx.h>
__global__ void tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float kept[COUNT][4];
    int t = threadIdx.x;
    for (int i = 0; t < 4 && i < COUNT; i++) {
        gemmviz::ptx::cp_async_ca<4>(&kept[i][t], A + i % 256);
        gemmviz::ptx::cp_async_commit();
        if (i >= LEFT) gemmviz::ptx::cp_async_wait<LEFT>();
    }
    gemmviz::ptx::cp_async_wait_all();
    if (t < 4) for (int i = 0; i < COUNT; i++) C[t] = kept[i][t];
}
"""
)


@pytest.mark.parametrize("left", [1, 31, 32, 33, 100, 511])
def test_copies_under_way_arrive_in_their_order(left: int) -> None:
    text = MANY.replace("COUNT", "600").replace("LEFT", str(left))
    log = recorded(text, Problem(16, 16, 16)).accesses
    write, read, _ = log.copies.T
    for thread in range(4):
        mine = log.thread[write] == thread
        assert mine.sum() == 600
        assert (log.element[write[mine]] == 4 * np.arange(600) + thread).all()
        assert (log.element[read[mine]] == np.arange(600) % 256).all()
        assert (log.value[write[mine]] == log.value[read[mine]]).all()


def test_more_copies_under_way_than_are_kept_are_refused() -> None:
    with pytest.raises(ConstraintError, match="more than 512 asynchronous copies"):
        recorded(MANY.replace("COUNT", "600").replace("LEFT", "512"), Problem(16, 16, 16))


def test_trailing_zeros_are_not_read() -> None:
    recording = recorded(WIDE.replace("SIZE", "16").replace("ZEROS", "8"), Problem.cube(16))
    log = recording.accesses
    assert (recording.c.reshape(16, 4, 4)[:, :, 2:] == 0).all()
    assert set(log.bytes[log.array == 1]) == {8}
    _, _, value = recording.covered(log.copies[log.array[log.copies[:, 0]] == 4][:, 0])
    assert (value.reshape(-1, 4)[:, 2:] == 0).all() and (value.reshape(-1, 4)[:, :2] != 0).all()


def test_an_address_that_is_no_multiple_of_the_size_is_named() -> None:
    text = WIDE.replace("SIZE", "16").replace("ZEROS", "0").replace("A + row", "A + 1 + row")
    with pytest.raises(KernelFault, match=r"pipelined\.cu:14.*misaligned address"):
        recorded(text, Problem.cube(16))


def test_blocks_that_are_recorded_at_the_same_time_tell_the_same_copies() -> None:
    concrete = launch(parse(PIPELINED, Path("pipelined.cu")), Problem(250, 129, 20))
    a, b = (matrix.reshape(-1) for matrix in small_integer_inputs(concrete.problem, "float32"))
    library = build_recorder(concrete)
    found = []
    for workers in (1, 2):
        raw = recorder.run(library, concrete, a, b, deadline_s=20, capacity=4_000_000, workers=workers)
        assert raw.workers == workers
        found.append(raw.async_copies)
    assert len(found[0]) > 10_000
    assert (found[0] == found[1]).all()
    column, (write, read, phase) = raw.columns, found[0].T
    reads = read >= 0
    assert (column["write"][write] == 1).all() and (column["write"][read[reads]] == 0).all()
    for name in ("block_of", "thread_of", "value"):
        assert (column[name][write[reads]] == column[name][read[reads]]).all()
    assert (column["phase_of"][read[reads]] == phase[reads]).all() and (np.diff(column["block_of"][write]) >= 0).all()
    assert 0 < (~reads).sum() < len(reads) and (column["value"][write[~reads]] == 0).all()
