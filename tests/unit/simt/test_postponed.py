"""Instructions of a warp or warpgroup that are postponed: the recording is as if each were done at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem, stored
from gemmviz.catalogue.whole_numbers import inputs_for
from gemmviz.simt import recorder
from gemmviz.simt.build import build
from gemmviz.simt.recorder import RawTrace

# One warp and its registers. Each body is the rest of a kernel after a first product, `sum = a b`.
START = """#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
struct registers { float x[4]; };
struct many { unsigned x[32]; };
__device__ __noinline__ float total(registers r) { return r.x[0] + r.x[1] + r.x[2] + r.x[3]; }
__device__ __noinline__ void lose(const unsigned (&a)[4], const unsigned (&b)[2])
{
    float lost[4] = {};
    mma_m16n8k16_f32_f16(lost, a, b, lost);
}
__device__ __noinline__ float other(int lane)
{
    volatile float kept[4] = {(float)lane, 2, 3, 4};
    return kept[0] + kept[lane % 3 + 1];
}
__global__ void k(const half *A, const half *B, float *C)
{
    __shared__ __align__(128) half tile[16 * 16];
    unsigned lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) tile[i] = A[i];
    __syncthreads();
    unsigned a[4], b[2] = {0x3c003c00u + lane % 4, 0x3c003c00u};
    registers sum = {};
    ldmatrix_x4(a, &tile[lane % 16 * 16 + lane / 16 * 8]);
    mma_m16n8k16_f32_f16(sum.x, a, b, sum.x);
"""
BODIES = {
    "its sums are read": "C[lane] = sum.x[lane % 4];",
    "an operand is changed afterwards": "b[0] = a[1] = 0; C[lane] = sum.x[1];",
    "an operand is changed before the next product": (
        "b[0] = 0x40004000; mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); b[1] = 0; C[lane] = sum.x[2];"
    ),
    "its operand is loaded again": (
        "ldmatrix_x4_trans(a, &tile[lane % 16 * 16 + lane / 16 * 8]); mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); "
        "C[lane] = sum.x[3];"
    ),
    "its sums are sums of another product": (
        "registers more = {}; mma_m16n8k16_f32_f16(more.x, a, b, sum.x); C[lane] = more.x[0];"
    ),
    "more products than are kept": (
        "for (int i = 0; i < 50; i++) mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); C[lane] = sum.x[0];"
    ),
    "its sums are an operand of another product": (
        "unsigned halves[2] = {}; mma_m16n8k16_f16_f16(halves, a, b, halves); "
        "mma_m16n8k16_f32_f16(sum.x, a, halves, sum.x); C[lane] = sum.x[0] + sum.x[3];"
    ),
    "a matrix is loaded to its sums": (
        "ldmatrix_x4(*(unsigned (*)[4])sum.x, &tile[lane % 16 * 16 + lane / 16 * 8]); C[lane] = sum.x[1];"
    ),
    "an operand is changed in one lane": (
        "if (lane == 5) a[0] = 0; mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); "
        "mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); C[lane] = sum.x[0];"
    ),
    "its sums are passed on by value": "C[lane] = total(sum);",
    "its function ends": "lose(a, b); C[lane] = other(lane) + sum.x[0];",
    "its sums are exchanged": "C[lane] = __shfl_xor_sync(~0u, sum.x[0], 1);",
    "registers are copied together": (
        "many all = {}; ldmatrix_x4(*(unsigned (*)[4])all.x, &tile[lane % 16 * 16 + lane / 16 * 8]); many copy = all; "
        "mma_m16n8k16_f32_f16(sum.x, *(unsigned (*)[4])copy.x, b, sum.x); C[lane] = sum.x[0] + copy.x[lane];"
    ),
    "loaded registers are overwritten together": (
        "many all = {}, ones; for (unsigned i = 0; i < 32; i++) ones.x[i] = 0x3c003c00u * (i + lane < 99); "
        "ldmatrix_x4(*(unsigned (*)[4])all.x, &tile[lane % 16 * 16 + lane / 16 * 8]); all = ones; "
        "mma_m16n8k16_f32_f16(sum.x, *(unsigned (*)[4])all.x, b, sum.x); C[lane] = sum.x[0] + all.x[lane];"
    ),
    "a lane changes what it read": (
        "if (lane == 3) tile[5] = 2; ldmatrix_x4(a, &tile[lane % 16 * 16 + lane / 16 * 8]); "
        "mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); C[lane] = sum.x[0] + (float)tile[5];"
    ),
    "the last lane changes what all read next": (
        "float seen = sum.x[0]; if (lane == 31) tile[5] = 2; mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); "
        "ldmatrix_x4(a, &tile[lane % 16 * 16 + lane / 16 * 8]); mma_m16n8k16_f32_f16(sum.x, a, b, sum.x); "
        "C[lane] = sum.x[0] + seen;"
    ),
}


def probe(body: str) -> Launch:
    matter = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// dtype = "float16"\n'
    matter += '// accumulate = "float32"\n// block = [32]\n// grid = [1]\n// ---\n'
    return launch(parse(matter + START + body + "\n}\n", Path("probe.cu")), Problem.cube(16), {})


def run(job: Launch, as_written: bool = False) -> RawTrace:
    a, b = (stored(job.kernel, name, matrix) for name, matrix in zip("AB", inputs_for(job), strict=True))
    return recorder.run(build(job, as_written=as_written), job, a, b, deadline_s=60, capacity=1_000_000, workers=1)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., RawTrace]:
    def run_at_once(job: Launch, as_written: bool = False) -> RawTrace:
        with monkeypatch.context() as patch:
            patch.setattr(recorder, "attempted", lambda attempt: attempt(True))
            return run(job, as_written)

    return run_at_once


def content(raw: RawTrace) -> dict[str, Any]:
    """All that a recording is made of; sites may be numbered in another order."""
    places = np.array(raw.places)[raw.columns["site"]]
    columns = {name: column for name, column in raw.columns.items() if name != "site"}
    return columns | {"places": places, "more": raw.more.view(np.uint32), "c": raw.c, "events": raw.tma.events}


def assert_same(found: RawTrace, wanted: RawTrace) -> None:
    theirs = content(wanted)
    for name, mine in content(found).items():
        # Bits are compared: there may be NaNs.
        assert mine.tobytes() == theirs[name].tobytes(), name
    assert found.diagnostics == wanted.diagnostics


@pytest.mark.parametrize("as_written", [False, True], ids=["compiled", "written"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_warp_s_products_may_wait_for_each_other(
    body: str, as_written: bool, at_once: Callable[..., RawTrace]
) -> None:
    job = probe(body)
    assert_same(run(job, as_written), at_once(job, as_written))


# A loop around a load of A and its product, and whether the run has to be made again: the first lane to load in a round
# of the loop reads the rows that the lanes had before, if its own row is the same.
LOOP = """float seen = 0;
    unsigned half_of[2];
    for (int i = 0; i < 4; i++) {
        BODY
        mma_m16n8k16_f32_f16(sum.x, a, b, sum.x);
        seen += sum.x[lane % 4];
        __syncthreads();
        tile[(lane + i) * 7 % 256] = i + lane;
        __syncthreads();
    }
    C[lane] = seen;"""
LOOPS = {
    "the rows are the same": ("ldmatrix_x4(a, &tile[lane % 16 * 16 + lane / 16 * 8]);", False),
    "half of the lanes name rows": (
        "ldmatrix_x2(half_of, &tile[lane % 16 * 16]); ldmatrix_x4_trans(a, &tile[lane % 16 * 16 + lane / 16 * 8]); "
        "a[1] ^= half_of[1];",
        False,
    ),
    "all rows are others": ("ldmatrix_x4(a, &tile[(lane + i) % 16 * 16 + lane / 16 * 8]);", False),
    "the registers are loaded two times": (
        "ldmatrix_x4(a, &tile[lane % 16 * 16]); ldmatrix_x4_trans(a, &tile[lane % 16 * 16 + 8]);",
        False,
    ),
    "some lanes have other rows": ("ldmatrix_x4(a, &tile[(lane % 4 ? lane + i : lane) % 16 * 16]);", True),
    "a lane changes a row that others have read": (
        "if (lane == 5 && i == 2) tile[3] = 9; ldmatrix_x4(a, &tile[lane % 16 * 16]);",
        True,
    ),
}


@pytest.mark.parametrize(("body", "again"), LOOPS.values(), ids=LOOPS)
def test_rows_of_matrices_are_foreseen(
    body: str, again: bool, at_once: Callable[..., RawTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    job_of = recorder.Job
    job = probe(LOOP.replace("BODY", body))
    with monkeypatch.context() as patch:
        patch.setattr(recorder, "Job", lambda *rest, **kinds: asked.append(rest[-1]) or job_of(*rest, **kinds))
        found = run(job)
    assert_same(found, at_once(job))
    assert asked == [False, *([True] if again and compiler().kind == "clang" else [])]


@pytest.mark.parametrize(
    "name",
    [
        "mma_swizzle",
        "mma_pipeline",
        "wmma_shared",
        "matmul_tc_2d_warp_tiling_printed_grid",
        "two_consumers",
        "tf32_by_rows",
        "every_shape",
    ],
)
def test_a_rung_is_recorded_as_if_each_instruction_were_done_at_once(
    name: str, at_once: Callable[..., RawTrace]
) -> None:
    kernel = find(name, ladder())
    assert kernel.demo is not None
    job = launch(kernel, Problem(*kernel.demo.size), kernel.demo.params)
    assert_same(run(job), at_once(job))


def test_fragments_whose_loop_is_unrolled_share_no_marked_memory_with_their_sum(
    at_once: Callable[..., RawTrace],
) -> None:
    text = """// ---gemmviz
// title = "Half sums"
// entry = "k"
// args = ["A", "B", "C", "K"]
// block = ["32"]
// grid = ["1"]
// requires = ["M == 16", "N == 16", "K % 16 == 0"]
// dtype = "float16"
// capability = "7.0"
// ---
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void k(const half *A, const half *B, half *C, int K)
{
    fragment<accumulator, 16, 16, 16, half> sum;
    fill_fragment(sum, 0);
    size_t steps = (K + 15) / 16;
#pragma unroll
    for (size_t i = 0; i < steps; ++i) {
        fragment<matrix_a, 16, 16, 16, half, row_major> a;
        fragment<matrix_b, 16, 16, 16, half, row_major> b;
        load_matrix_sync(a, A + i * 16, K);
        load_matrix_sync(b, B + i * 16 * 16, 16);
        mma_sync(sum, a, b, sum);
    }
    store_matrix_sync(C, sum, 16, mem_row_major);
}
"""
    job = launch(parse(text, Path("half_sums.cu")), Problem(16, 16, 48))
    assert_same(run(job), at_once(job))


# A warpgroup. Each body stands between the barrier behind the operands and the product.
GROUP = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C"]
// dtype = "float16"
// accumulate = "float32"
// capability = "9.0a"
// block = [128]
// grid = [1]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
__global__ void k(const half *A, const half *B, float *C)
{
    __shared__ __align__(1024) half of_a[64 * 64], of_b[64 * 64];
    __shared__ barrier met;
    unsigned me = threadIdx.x;
    for (int i = me; i < 64 * 64; i += 128) of_a[i] = A[i], of_b[i] = B[i];
    if (me == 0) barrier_init(met, 1);
    shared_written();
    __syncthreads();
    float sum[32];
    BODY
    wgmma_begin();
    for (int k = 0; k < DEPTH; k += 16) wgmma_m64n64k16_f32_f16<ALONG_K>(sum, along_k(of_a + k), along_k(of_b + k), k);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 32; i++) C[me * 32 + i] = sum[i];
}
"""
# The depth of the product, and whether it has to be run again. Where threads come in several phases there is one
# instruction: if each is done at once, further ones begin in the phase of the last thread.
GROUPS = {
    "nothing is in between": ("", 64, False),
    "the last thread changes an operand": ("if (me == 127) of_a[5] = 7;", 64, True),
    "a thread changes other memory": ("if (me == 100) C[0] = 1;", 64, False),
    "the first thread comes a phase later": ("if (me == 0) { barrier_arrive(met); barrier_wait(met, 0); }", 16, False),
    "a warp comes a phase later": (
        "if (me == 0) barrier_arrive(met); if (me / 32 == 1) barrier_wait(met, 0);",
        16,
        False,
    ),
}


@pytest.mark.parametrize(("body", "depth", "again"), GROUPS.values(), ids=GROUPS)
def test_a_warpgroup_s_rows_may_be_kept_together(
    body: str, depth: int, again: bool, at_once: Callable[..., RawTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    job_of = recorder.Job
    text = GROUP.replace("BODY", body).replace("DEPTH", str(depth))
    job = launch(parse(text, Path("group.cu")), Problem.cube(64), {})
    with monkeypatch.context() as patch:
        patch.setattr(recorder, "Job", lambda *rest, **kinds: asked.append(rest[-1]) or job_of(*rest, **kinds))
        found = run(job)
    assert_same(found, at_once(job))
    assert asked == [False, *([True] if again and compiler().kind == "clang" else [])]


def test_a_lane_that_does_not_come_is_named_as_before(at_once: Callable[..., RawTrace]) -> None:
    job = probe("if (lane != 7) mma_m16n8k16_f32_f16(sum.x, a, b, sum.x);\nC[lane] = sum.x[0];")
    said = []
    for attempt in (run, at_once):
        with pytest.raises(KernelFault, match="waits for the other lanes of its warp") as caught:
            attempt(job)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_warp_that_goes_different_ways_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    job_of = recorder.Job
    monkeypatch.setattr(recorder, "Job", lambda *rest, **kinds: asked.append(rest[-1]) or job_of(*rest, **kinds))
    run(probe(BODIES["its sums are read"]))
    assert asked == [False]
    run(probe(BODIES["a lane changes what it read"]))
    # Nothing is postponed in a recorder that GCC compiled: its runs are not repeated.
    assert asked == [False, False, *([True] if compiler().kind == "clang" else [])]
