"""A block that has a thread for each element of C has at most 1024 of them: the sizes are small."""

from pathlib import Path

from gemmviz.catalogue.guessing.candidates import candidates
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.trial_sizes import first_size

KERNEL = """
__global__ void gemm(const float *A, const float *B, float *C, int N) {
    int i = threadIdx.y, j = threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; ++k) s += A[i * N + k] * B[k * N + j];
    C[i * N + j] = s;
}
"""


def test_a_kernel_without_a_block_index_has_one_thread_for_each_element() -> None:
    made = next(one for one in candidates(guess(KERNEL, Path("mine.cu"))) if one.block == ("N", "M"))
    assert "M * N <= 1024" in made.requires and not {"M == 1", "N == 1"} & {*made.requires}
    size = first_size(guessed_kernel(made))
    assert size is not None and size.m * size.n <= 1024 and size.n == size.k


def test_a_block_of_the_host_that_grows_with_c_bounds_the_sizes() -> None:
    launch = "void run(float *A, float *B, float *C, int n) {\ndim3 block(n, n);\ngemm<<<1, block>>>(A, B, C, n);\n}\n"
    made = guess(KERNEL + launch, Path("mine.cu"))
    assert any(one.endswith("<= 1024") for one in made.requires)
    size = first_size(guessed_kernel(made))
    assert size is not None and size.m * size.n <= 1024
