"""A kernel whose blocks go in groups is right where a row of C has whole groups of them."""

from dataclasses import replace
from pathlib import Path

from gemmviz.catalogue.guessing.block_sides import doubled, in_groups
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

TEXT = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    int number = blockIdx.y * gridDim.x + blockIdx.x;
    int x = number % 4 + number / (4 * gridDim.y) * 4, y = number / 4 % gridDim.y;
    int i = y * 16 + threadIdx.y, j = x * 16 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
void run(float *A, float *B, float *C, int M, int N, int K) {
    dim3 block(16, 16), grid(N / 16, M / 16);
    gemm<<<grid, block>>>(A, B, C, M, N, K);
}
"""
ONE_BLOCK = Problem(16, 16, 32)


def test_the_least_number_of_blocks_that_is_right_is_asked_for() -> None:
    made = guess(TEXT, Path("mine.cu"))
    found = in_groups(made, ONE_BLOCK, lambda one, size: "" if size.n % 64 == 0 else "wrong")
    assert found is not None
    assert found[0].requires == (*made.requires, "N % 64 == 0")
    assert (found[1].m, found[1].n) == (32, 64)


def test_a_side_with_groups_may_be_that_of_the_rows() -> None:
    def is_wrong(one: Guess, size: Problem) -> str:
        return "" if size.m % 128 == 0 else "wrong"

    found = in_groups(guess(TEXT, Path("mine.cu")), ONE_BLOCK, is_wrong)
    assert found is not None and "M % 128 == 0" in found[0].requires


def test_a_kernel_that_is_wrong_with_any_number_of_blocks_has_no_groups() -> None:
    assert in_groups(guess(TEXT, Path("mine.cu")), ONE_BLOCK, lambda one, size: "wrong") is None


def test_a_guessed_launch_is_not_taken_for_one_with_groups() -> None:
    alone = guess(TEXT[: TEXT.index("void run")], Path("mine.cu"))
    assert in_groups(alone, ONE_BLOCK, lambda one, size: "") is None


def test_columns_and_terms_that_are_equal_are_doubled_together() -> None:
    made = guess(TEXT, Path("mine.cu"))
    kernel = guessed_kernel(replace(made, requires=(*made.requires, "K == N", "N % 16 == 0", "M % 16 == 0")))
    assert doubled(kernel, Problem(16, 64, 64)) == Problem(16, 128, 128)
    assert doubled(kernel, Problem(16, 2048, 2048)) is None


def test_groups_are_found_where_a_size_has_blocks_along_one_side() -> None:
    large = TEXT.replace("/ 16, M / 16", "/ 128, M / 128").replace("* 16 + threadIdx", "* 128 + 8 * threadIdx")
    seen = []

    def try_one(kernel: Kernel, size: Problem) -> str:
        seen.append(size)
        return "" if size.n % 512 == 0 or (size.m, size.n) == (128, 128) else "wrong"

    found = settle(guess(large, Path("mine.cu")), try_one)
    assert found.right and "N % 512 == 0" in found.requires and "M == N" not in found.requires
    assert any(size.m > size.n == 128 for size in seen)
