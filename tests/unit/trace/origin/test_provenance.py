"""The origin of an element of C, hop by hop, and the accesses to a cell."""

from itertools import product

import numpy as np
import pytest
from recordings import RUNGS, SIZES, own, rung
from sampled import FEW

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.operand_paths import OperandPaths
from gemmviz.trace.origin.provenance import Provenance
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording


def provenance(recording: Recording) -> Provenance:
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).provenance


def cells(recording: Recording) -> list[tuple[int, int]]:
    """Return corners and some element within."""
    m, n = recording.m, recording.n
    return [(0, 0), (m - 1, n - 1), (m // 2, n // 3), (0, n - 1)]


def seen(recording: Recording, rows: np.ndarray, array: int, cells: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the values that accesses saw at cells of a matrix; fails where one does not cover its cell."""
    info = recording.arrays[array]
    height, width = info.grid
    wanted = cells[1] * height + cells[0] if info.column_major else cells[0] * width + cells[1]
    values = []
    for row, element in zip(rows, wanted, strict=True):
        _, covered, value = recording.covered(np.array([row]))
        (value,) = value[covered == element]
        values.append(value)
    return np.array(values)


def assert_whole(asked: Provenance, fed: OperandPaths, row: int, column: int) -> None:
    """Check that each place along K fed the element once from A and once from B, with the values that make it up."""
    recording = asked.recording
    values = {}
    for matrix in (0, 1):
        mine = np.flatnonzero(fed.matrix == matrix)
        mine = mine[np.argsort(fed.k[mine], kind="stable")]
        distinct = mine[np.unique(fed.k[mine], return_index=True)[1]]
        assert fed.k[distinct].tolist() == list(range(recording.k))
        along = fed.k[distinct]
        at = (np.full(len(along), row), along) if matrix == 0 else (along, np.full(len(along), column))
        values[matrix] = seen(recording, fed.read[distinct], matrix, at)
    assert values[0] @ values[1] == recording.c[row, column]


@pytest.mark.sweep(*(f"{name}-17*" for name in FEW))
@pytest.mark.parametrize("problem", SIZES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_the_operands_of_an_element_are_found_for_every_kernel(name: str, problem: Problem) -> None:
    recording = rung(name, problem)
    asked = provenance(recording)
    log, step = recording.accesses, asked.timeline.step_of_row
    block, thread = recording.owners
    for row, column in cells(recording):
        owner = asked.owner(row, column)
        assert owner is not None
        assert (owner.block, owner.thread) == (block[row, column], thread[row, column])
        fed = asked.operand_paths(row, column)
        if fed.rest:
            # A block before this one computed the first products; how their sum gets here is not recorded.
            # (Other kernels of every shape have one block per tile at these sizes, or the copy engine adds.)
            assert name in ("stream_k", "every_shape_fp32") and owner.block > 0
            assert np.unique(fed.k).tolist() == list(range(int(fed.k.min()), recording.k)) and fed.k.min() > 0
            assert fed.total != fed.stored
        else:
            assert_whole(asked, fed, row, column)
        assert fed.by_warp == ("mma" in recording.text)
        assert (log.block[fed.use] == owner.block).all()
        if not fed.by_warp:
            assert (log.thread[fed.use] == owner.thread).all()
        through = fed.write >= 0
        assert through.all() or not through.any()
        hops = step[np.stack([fed.read, fed.write, fed.use])[:, through]]
        assert (np.diff(hops, axis=0) > 0).all()
        assert (fed.use[~through] == fed.read[~through]).all()


@pytest.mark.parametrize("name", ["gputiled", "matmul_kernel_2d_thread_tiling", "hostmult1", "matmul_tc"])
def test_the_accesses_to_a_cell_are_found_among_all_accesses(name: str) -> None:
    recording = rung(name, SIZES[0])
    asked, log = provenance(recording), recording.accesses
    position, element, value = recording.covered(np.arange(len(log)))
    for array, info in enumerate(recording.arrays):
        for cell in (0, info.size // 2, info.size - 1):
            found = np.flatnonzero((element == cell) & (log.array[position] == array))
            touches = asked.accesses_of(array, cell)
            assert sorted(touches.rows) == sorted(position[found])
            assert dict(zip(touches.rows, touches.value, strict=True)) == dict(
                zip(position[found], value[found], strict=True)
            )
            assert (np.diff(touches.steps) >= 0).all()
            assert (touches.steps == asked.timeline.step_of_row[touches.rows]).all()
            assert touches.write.tolist() == log.write[touches.rows].tolist()
            assert touches.lines.tolist() == [recording.sites[s].line for s in log.site[touches.rows]]


def test_a_shared_cell_belongs_to_its_block() -> None:
    recording = rung("gputiled", Problem.cube(32))
    asked = provenance(recording)
    alone = [asked.accesses_of(3, 5, block) for block in range(recording.blocks)]
    assert [set(recording.accesses.block[t.rows]) for t in alone] == [{0}, {1}, {2}, {3}]
    assert sum(len(t.rows) for t in alone) == len(asked.accesses_of(3, 5).rows)


def test_an_unwritten_element_has_no_owner() -> None:
    recording = own("if (threadIdx.x) C[threadIdx.x] = A[threadIdx.x];", Problem.cube(4), block="[8]")
    asked = provenance(recording)
    assert asked.owner(0, 0) is None
    assert not len(asked.operand_paths(0, 0).use)
    assert asked.owner(0, 3) is not None


@pytest.mark.parametrize(("name", "cluster"), [("persistent", {}), ("stream_k_tma", {"CLUSTER": 1})])
def test_a_group_that_stays_for_more_tiles_feeds_each_by_its_own_products(name: str, cluster: dict[str, int]) -> None:
    params = {"BN": 64, "STAGES": 2, "BLOCKS": 2} | cluster
    asked = provenance(record(launch(find(name, ladder()), Problem(128, 192, 128), params)))
    for row, column in ((3, 5), (3, 70), (100, 150)):
        fed = asked.operand_paths(row, column)
        assert_whole(asked, fed, row, column)
        # Two tiles of a block share their rows of A, not their columns of B: each product reads one of both.
        assert np.count_nonzero(fed.matrix == 0) == np.count_nonzero(fed.matrix == 1) == asked.recording.k


def test_a_thread_that_writes_all_of_c_uses_its_latest_reads_for_each_element() -> None:
    recording = rung("hostmult1", SIZES[0])
    asked = provenance(recording)
    log = recording.accesses
    writes = np.flatnonzero(log.write & (log.array == 2))
    for row, column in cells(recording):
        fed = asked.operand_paths(row, column)
        assert (len(fed.reads(0)), len(fed.reads(1))) == (recording.k, recording.k)
        last = writes[log.element[writes] == row * recording.n + column].max()
        before = writes[writes < last].max()
        assert ((before < fed.use) & (fed.use < last)).all()


# Loads the next tiles into registers as vectors while it computes with this one; A's tile is transposed.
STAGED = """
    __shared__ float As[2][8][16], Bs[2][8][16];
    int t = threadIdx.x;
    int row = t / 2, part = t % 2 * 4, k = t / 4, col = t % 4 * 4;
    float sum[8] = {};
    float4 a = *(const float4 *)&A[row * K + part], b = *(const float4 *)&B[k * N + col];
    As[0][part][row] = a.x; As[0][part + 1][row] = a.y; As[0][part + 2][row] = a.z; As[0][part + 3][row] = a.w;
    *(float4 *)&Bs[0][k][col] = b;
    __syncthreads();
    for (int t0 = 0, now = 0; t0 < K; t0 += 8, now ^= 1) {
        bool more = t0 + 8 < K;
        if (more) {
            a = *(const float4 *)&A[row * K + t0 + 8 + part];
            b = *(const float4 *)&B[(t0 + 8 + k) * N + col];
        }
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sum[j] += As[now][i][t / 2] * Bs[now][i][t % 2 * 8 + j];
        if (more) {
            int next = now ^ 1;
            As[next][part][row] = a.x; As[next][part + 1][row] = a.y;
            As[next][part + 2][row] = a.z; As[next][part + 3][row] = a.w;
            *(float4 *)&Bs[next][k][col] = b;
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) C[t / 2 * N + t % 2 * 8 + j] = sum[j];
"""
# The same in loops over an array of registers: one load and one store instruction, executed four times each.
LOOPED = """
    __shared__ float As[16][8], Bs[8][16];
    int t = threadIdx.x;
    float a[4], b[4], sum[8] = {};
    for (int t0 = 0; t0 < K; t0 += 8) {
        for (int i = 0; i < 4; i++) a[i] = A[(t + 32 * i) / 8 * K + t0 + t % 8];
        for (int i = 0; i < 4; i++) b[i] = B[(t0 + (t + 32 * i) / 16) * N + t % 16];
        __syncthreads();
        for (int i = 0; i < 4; i++) As[(t + 32 * i) / 8][t % 8] = a[i];
        for (int i = 0; i < 4; i++) Bs[(t + 32 * i) / 16][t % 16] = b[i];
        __syncthreads();
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sum[j] += As[t / 2][i] * Bs[i][t % 2 * 8 + j];
    }
    for (int j = 0; j < 8; j++) C[t / 2 * N + t % 2 * 8 + j] = sum[j];
"""
# Loads the next tiles into registers, and the stores take values that were loaded before the loop or in it.
AHEAD = """
    __shared__ float As[16][8], Bs[8][16];
    int t = threadIdx.x;
    float a[4], b[4], sum[8] = {};
    for (int i = 0; i < 4; i++) a[i] = A[(t + 32 * i) / 8 * K + t % 8];
    for (int i = 0; i < 4; i++) b[i] = B[(t + 32 * i) / 16 * N + t % 16];
    for (int t0 = 0; t0 < K; t0 += 8) {
        for (int i = 0; i < 4; i++) As[(t + 32 * i) / 8][t % 8] = a[i];
        for (int i = 0; i < 4; i++) Bs[(t + 32 * i) / 16][t % 16] = b[i];
        __syncthreads();
        if (t0 + 8 < K) {
            for (int i = 0; i < 4; i++) a[i] = A[(t + 32 * i) / 8 * K + t0 + 8 + t % 8];
            for (int i = 0; i < 4; i++) b[i] = B[(t0 + 8 + (t + 32 * i) / 16) * N + t % 16];
        }
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sum[j] += As[t / 2][i] * Bs[i][t % 2 * 8 + j];
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) C[t / 2 * N + t % 2 * 8 + j] = sum[j];
"""
# The same two tiles ahead, and a thread loads one element of each matrix.
TWO_AHEAD = """
    __shared__ float As[4][8], Bs[8][4];
    int t = threadIdx.x, i = t / 8, k = t % 8, p = t / 4, j = t % 4;
    float a = A[i * K + k], b = B[p * N + j], sum = 0;
    float a1 = A[i * K + 8 + k], b1 = B[(8 + p) * N + j];
    for (int t0 = 0; t0 < K; t0 += 8) {
        As[i][k] = a;
        Bs[p][j] = b;
        __syncthreads();
        a = a1;
        b = b1;
        if (t0 + 16 < K) {
            a1 = A[i * K + t0 + 16 + k];
            b1 = B[(t0 + 16 + p) * N + j];
        }
        if (t < 16)
            for (int q = 0; q < 8; q++) sum += As[t / 4][q] * Bs[q][t % 4];
        __syncthreads();
    }
    if (t < 16) C[t / 4 * N + t % 4] = sum;
"""
# Loaded values leave the registers in another order.
TANGLED = """
    __shared__ float As[32];
    int t = threadIdx.x;
    float a[32], sum = 0;
    for (int k = 0; k < K; k++) a[k] = A[t % 16 * K + k];
    for (int k = 0; k < K; k++) {
        As[t] = a[ORDER % K];
        __syncthreads();
        sum += As[t];
    }
    if (t < 16) for (int j = 0; j < N; j++) C[t * N + j] = sum;
"""
COPIED = """
    __shared__ float As[16][8], Bs[8][16];
    int t = threadIdx.x;
    float sum[8] = {};
    for (int t0 = 0; t0 < K; t0 += 8) {
        gemmviz::ptx::cp_async_cg16(&As[t / 2][t % 2 * 4], &A[t / 2 * K + t0 + t % 2 * 4]);
        gemmviz::ptx::cp_async_cg16(&Bs[t / 4][t % 4 * 4], &B[(t0 + t / 4) * N + t % 4 * 4]);
        gemmviz::ptx::cp_async_commit();
        gemmviz::ptx::cp_async_wait_all();
        __syncthreads();
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sum[j] += As[t / 2][i] * Bs[i][t % 2 * 8 + j];
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) C[t / 2 * N + t % 2 * 8 + j] = sum[j];
"""


@pytest.mark.parametrize(
    ("body", "before"),
    [(STAGED, ""), (LOOPED, ""), (AHEAD, ""), (COPIED, "#include <gemmviz/ptx.h>")],
    ids=["double buffer", "register arrays", "loaded ahead", "cp.async"],
)
def test_values_are_followed_through_registers_and_copies(body: str, before: str) -> None:
    # The matrices hold six different values only: a link by value alone would mostly be wrong.
    recording = own(body, Problem(16, 16, 32), before=before)
    assert recording.wrong == 0
    asked = provenance(recording)
    for row, column in product(range(0, 16, 3), range(0, 16, 5)):
        fed = asked.operand_paths(row, column)
        assert_whole(asked, fed, row, column)
        assert (fed.write >= 0).all() and not fed.by_warp
        assert len(fed.shared_reads) == 64


@pytest.mark.parametrize("tiles", [2, 3, 12, 40])
def test_values_that_were_loaded_two_tiles_ahead_are_followed(tiles: int) -> None:
    recording = own(TWO_AHEAD, Problem(4, 4, 8 * tiles))
    assert recording.wrong == 0
    asked = provenance(recording)
    for row, column in product(range(4), range(4)):
        fed = asked.operand_paths(row, column)
        assert_whole(asked, fed, row, column)
        assert (fed.write >= 0).all() and not fed.by_warp and not fed.unknown
        assert len(fed.use) == 2 * recording.k


def test_the_first_tile_of_many_that_were_loaded_ahead_is_followed_too() -> None:
    recording = own(AHEAD, Problem(16, 16, 256))
    asked = provenance(recording)
    for row, column in ((0, 0), (3, 5), (15, 15)):
        fed = asked.operand_paths(row, column)
        assert_whole(asked, fed, row, column)
        assert len(fed.use) == 2 * recording.k and (fed.write >= 0).all() and not fed.unknown


def test_values_that_are_stored_in_another_order_are_followed() -> None:
    recording = own(TANGLED.replace("ORDER", "(k * 7 + 3)"), Problem(16, 2, 32))
    fed = provenance(recording).operand_paths(3, 1)
    log = recording.accesses
    assert fed.k.tolist() == [(k * 7 + 3) % 32 for k in range(32)]
    assert (log.value[fed.read] == log.value[fed.use]).all() and (fed.write >= 0).all() and not fed.unknown


def test_values_that_cannot_be_followed_are_unknown() -> None:
    # Each thread has another order.
    recording = own(TANGLED.replace("ORDER", "(k * 7 + t * t)"), Problem(16, 2, 32))
    asked = provenance(recording)
    fed = asked.operand_paths(3, 1)
    assert fed.unknown and not fed.by_warp
    assert not len(fed.use), "every load of A was stored, and none of these stores was found"


def test_zeros_at_the_edge_of_a_tile_come_from_nowhere() -> None:
    recording = rung("gputiled", SIZES[1])
    timeline = build(recording)
    playable = Playable(recording, timeline, measure(recording, timeline))
    log, source = recording.accesses, playable.source
    in_tiles = log.write & (log.array >= 3)
    assert ((source >= 0) == (in_tiles & (log.value != 0))).all()
