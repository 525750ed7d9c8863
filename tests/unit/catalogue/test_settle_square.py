"""A launch for square matrices is taken, too, after another one that is right at its first size only."""

from pathlib import Path

from settled_files import settled
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


# The guards of the loads look at K only.
UNGUARDED = """
__global__ void multiply(const float *A, const float *B, float *C, int m, int k, int n) {
    __shared__ float a[16][16], b[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < (k + 15) / 16; t++) {
        bool inside = t * 16 + threadIdx.x < k;
        a[threadIdx.y][threadIdx.x] = inside ? A[y * k + t * 16 + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] = inside ? B[(t * 16 + threadIdx.y) * n + x] : 0;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < m) C[y * n + x] = sum;
}
void run(const float *A, const float *B, float *C, int m, int k, int n) {
    dim3 threads(16, 16), blocks((n + 15) / 16, (m + 15) / 16);
    multiply<<<blocks, threads>>>(A, B, C, m, k, n);
}
"""


def test_whole_tiles_along_each_side_are_no_square(tmp_path: Path) -> None:
    """The smallest odd multiples of 16 have equal sides: a size with unequal ones was needed."""
    made = settled(tmp_path, UNGUARDED)
    assert made.right and {*made.requires} == {"M % 16 == 0", "N % 16 == 0", "K % 16 == 0"}
