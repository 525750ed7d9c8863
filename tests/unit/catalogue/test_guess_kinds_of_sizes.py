"""Guesses of kernels with a place in the matrix as an argument, with unsigned elements, and with tensor maps."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.cxx import read_source
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.host.struct_sizes import struct_size
from gemmviz.catalogue.guessing.host_maps import find
from gemmviz.catalogue.guessing.tokens import tokens_of
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

PARTS = """#define N 1024
__global__ void product(uint32_t A[], uint32_t B[], uint32_t C[], int row_offset)
{
    int row = row_offset + blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= N || col >= N) return;
    uint32_t sum = 0;
    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] = sum;
}
void run(int streams, uint32_t *a, uint32_t *b, uint32_t *c)
{
    dim3 block(16, 16), grid(64 / streams, 64);
    for (int i = 0; i < streams; i++) product<<<grid, block>>>(a, b, c, i * (N / streams));
}
"""
MAPS = """
__global__ void gemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, bf16 *C, int M,
                     int N, int K)
{
    C[threadIdx.x] = 0;
}
CUtensorMap made(bf16 *from, int M, int N, int BLOCK_M, int BLOCK_N)
{
    CUtensorMap map;
    uint64_t sizes[] = {N, M}, strides[] = {2 * N};
    uint32_t box[] = {BLOCK_N, BLOCK_M};
    uint32_t steps[] = {1, 1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, from, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}
constexpr int BLOCK_M = 128, BLOCK_N = 256, BLOCK_K = 64;
void run(bf16 *A, bf16 *B, bf16 *C, int M, int N, int K)
{
    auto mapA = made(A, M, K, BLOCK_M, BLOCK_K);
    auto mapB = made(B, N, K, BLOCK_N, BLOCK_K);
    gemm<<<132, 384>>>(mapA, mapB, C, M, N, K);
}
"""


def test_a_place_in_the_matrix_is_its_start() -> None:
    made = guess(PARTS, Path("parts.cu"))
    assert (made.roles[-1], made.dtype) == ("0", "int32")
    assert record(launch(guessed_kernel(made.others[-1] if made.others else made), Problem.cube(32))).wrong == 0


def test_the_arguments_of_a_map_are_those_of_the_caller() -> None:
    # made() has a BLOCK_N of its own, which is BLOCK_K for its caller.
    source = read_source(MAPS)
    assert [(one.rows, one.columns) for one in find(source, source.kernels[0])] == [
        (("BLOCK_M",), ("BLOCK_K",)),
        (("BLOCK_N",), ("BLOCK_K",)),
    ]


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_maps_of_a_kernel_are_made_by_functions_of_its_namespace(order: tuple[str, str]) -> None:
    # Each version of a kernel has functions of the same names, and one file includes all versions.
    texts = {"one": MAPS.replace("SWIZZLE_128B", "SWIZZLE_64B"), "two": MAPS}
    source = read_source("".join(f"namespace {name} {{{texts[name]}}}\n" for name in order))
    for name, swizzle in (("one", 64), ("two", 128)):
        kernel = next(one for one in source.kernels if one.name == f"{name}::gemm")
        assert [(one.swizzle, one.rows) for one in find(source, kernel)] == [
            (swizzle, ("BLOCK_M",)),
            (swizzle, ("BLOCK_N",)),
        ]


def test_the_boxes_of_maps_are_the_tiles_of_the_kernel() -> None:
    made = guess(MAPS, Path("maps.cu"))
    assert made.column_major == {"B"}
    assert made.tiles == {"M": "128", "K": "64", "N": "256"}


def test_the_size_of_a_structure_with_attributes_and_brackets() -> None:
    text = "struct Tiles { alignas(128) half A[2 * (64 + 8)]; half B[64][8] __attribute__((aligned(256))); };"
    size = " ".join(struct_size(("Tiles",), [tuple(tokens_of(text))]))
    assert eval(size) == 2 * 2 * 72 + 2 * 64 * 8


@pytest.mark.parametrize("kind", ["int", "u_int32_t", "uint16_t", "ulong"])
def test_whole_numbers_of_any_name_are_sizes(kind: str) -> None:
    text = f"""__global__ void gemm(float *C, float *A, float *B, {kind} M, {kind} N, {kind} K)
{{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for ({kind} k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}}
"""
    made = guess(text, Path("gemm.cu"))
    assert made.roles == ("C", "A", "B", "M", "N", "K")
    assert record(launch(guessed_kernel(made), Problem(5, 7, 3))).wrong == 0
