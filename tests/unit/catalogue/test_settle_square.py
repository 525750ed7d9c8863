"""A launch for square matrices is taken, too, after another one that is right at its first size only."""

from pathlib import Path

from test_guess_false_alarms import tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle

# The guard has a constant, and everything else an argument of the same value.
TEXT = """#define SIZE 4096
__global__ void multiply(float *P, float *Q, float *R, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < SIZE && row < SIZE) {
        float sum = 0;
        for (int i = 0; i < width; i++) sum += P[row * width + i] * Q[i * width + column];
        R[row * width + column] = sum;
    }
}
int main() {
    dim3 block(32, 32), grid((SIZE + 31) / 32, (SIZE + 31) / 32);
    multiply<<<grid, block>>>(p, q, r, SIZE);
}
"""


def test_a_square_launch_is_taken_after_a_narrow_one() -> None:
    made = settle(guess(TEXT, Path("mine.cu")), tried)
    assert made.right and {"M == N", "K == N"} <= {*made.requires}
    assert not any(one.startswith(("N == ", "M == 6")) and one[-1].isdigit() for one in made.requires)
