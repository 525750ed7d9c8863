"""The blocks of a cluster run in turns, and each finds its own shared memory."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

HEAD = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = ["M / 16"]
// cluster = [2]
// capability = "9.0"
"""
# Each block keeps 16 rows of A, one in a structure; the cluster meets before and after it does.
FLOATS = (
    HEAD
    + """// ---
#include <cooperative_groups.h>
struct row { float v[16]; };
__global__ void __cluster_dims__(2, 1, 1) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ row rows[16];
    __shared__ float late[2048];
    int t = threadIdx.x, first = blockIdx.x * 16;
    for (int i = t; i < 2048; i += 32) late[i] = blockIdx.x;
    cooperative_groups::this_cluster().sync();
    if (t < 16) STORE;
    cooperative_groups::this_cluster().sync();
    for (int i = 0; i < 16; i++) {
        row mine = rows[i];
        float sum = late[64 * t] == blockIdx.x ? 0 : 1000;
        for (int k = 0; k < 16; k++) sum += mine.v[k] * B[k * N + t];
        C[(first + i) * N + t] = sum;
    }
}
"""
)
STORES = {
    "as numbers": "for (int k = 0; k < 16; k++) rows[t].v[k] = A[(first + t) * 16 + k]",
    "as a structure": "rows[t] = *(const row *)&A[(first + t) * 16]",
    "zeros first": "{ rows[t] = row(); for (int k = 0; k < 16; k++) rows[t].v[k] += A[(first + t) * 16 + k]; }",
}
# The same tile of A, in the registers of tensor cores.
HALVES = (
    HEAD
    + """// dtype = "float16"
// accumulate = "float32"
// ---
#include <cooperative_groups.h>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void __cluster_dims__(2, 1, 1) gemm(const half *A, const half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(32) half tile[16 * 16];
    __shared__ __align__(32) half column[16 * 16];
    int t = threadIdx.x, first = blockIdx.x * 16;
    for (int i = t; i < 256; i += 32) tile[i] = A[first * 16 + i];
    for (int i = t; i < 256; i += 32) column[i] = B[i / 16 * N + i % 16];
    cooperative_groups::this_cluster().sync();
    LOAD
}
"""
)
LOADS = {
    "wmma": """fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(c, 0.0f);
    load_matrix_sync(a, tile, 16);
    load_matrix_sync(b, column, 16);
    mma_sync(c, a, b, c);
    store_matrix_sync(C + first * N, c, N, mem_row_major);""",
    "ldmatrix": """unsigned a[4], b[4];
    float c[8] = {};
    asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]),
        "=r"(a[3]) : "r"((unsigned)__cvta_generic_to_shared(&tile[t % 16 * 16 + t / 16 * 8])));
    asm("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]),
        "=r"(b[3]) : "r"((unsigned)__cvta_generic_to_shared(&column[t % 16 * 16 + t / 16 * 8])));
    for (int n = 0; n < 2; n++)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[4 * n]), "+f"(c[4 * n + 1]), "+f"(c[4 * n + 2]), "+f"(c[4 * n + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * n]), "r"(b[2 * n + 1]));
    for (int i = 0; i < 8; i++)
        C[(first + t / 4 + i % 4 / 2 * 8) * N + i / 4 * 8 + t % 4 * 2 + i % 2] = c[i];""",
}


@pytest.mark.parametrize("how", STORES)
def test_a_block_finds_what_it_has_written(how: str) -> None:
    kernel = parse(FLOATS.replace("STORE", STORES[how]), Path("mine.cu"))
    recording = record(launch(kernel, Problem(64, 32, 16)), deadline_s=10)
    assert recording.wrong == 0 and not recording.diagnostics


@pytest.mark.parametrize("how", LOADS)
def test_tensor_cores_find_what_their_block_has_written(how: str) -> None:
    kernel = parse(HALVES.replace("LOAD", LOADS[how]), Path("mine.cu"))
    recording = record(launch(kernel, Problem(64, 16, 16)), deadline_s=10)
    assert recording.wrong == 0 and not recording.diagnostics
