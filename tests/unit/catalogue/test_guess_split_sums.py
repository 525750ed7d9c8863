"""A launch whose grid divides K is right only if it is right with several blocks along K."""

from pathlib import Path

from test_guess_false_alarms import tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

# Each block along z sums 64 terms.
TEXT = """__global__ void parts(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 64 * blockIdx.z; k < min(K, 64 * (blockIdx.z + 1)); ++k) sum += A[row * K + k] * B[k * N + column];
    STORE
}
void run(const float *a, const float *b, float *c, int M, int N, int K) {
    BEFORE
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16, (K + 63) / 64);
    parts<<<grid, block>>>(a, b, c, M, N, K);
}
"""


def settled(store: str, before: str = "") -> Guess:
    return settle(guess(TEXT.replace("STORE", store).replace("BEFORE", before), Path("mine.cu")), tried)


def test_parts_with_a_place_each_are_no_product() -> None:
    made = settled("C[blockIdx.z * M * N + row * N + column] = sum;")
    assert not made.right and not made.wrong_itself


def test_parts_that_are_added_are_one() -> None:
    made = settled("atomicAdd(&C[row * N + column], sum);", "cudaMemset(c, 0, M * N * 4);")
    assert made.right and "K" in made.grid[2]


def test_parts_that_cannot_be_tried_leave_the_launch_open() -> None:
    def refusing(kernel: Kernel, at: Problem) -> str:
        return Verdict.of("too many accesses", refused=True) if at.k > 64 else tried(kernel, at)

    text = TEXT.replace("STORE", "C[row * N + column] = sum;").replace("BEFORE", "")
    made = settle(guess(text, Path("mine.cu")), refusing)
    assert not made.right and not made.wrong_itself and "too many accesses" in made.settled
