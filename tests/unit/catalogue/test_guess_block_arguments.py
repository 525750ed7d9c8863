"""Guesses of kernels that get the sides of their block as arguments."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

KERNEL = """#include <stdlib.h>
__global__ void product(double *a, double *b, double *c, int n, int across, int down)
{
    int col = blockIdx.x * across + threadIdx.x, row = down * blockIdx.y + threadIdx.y;
    if (row >= n || col >= n) return;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), bx = atoi(argv[2]), by = atoi(argv[3]);
    double *a, *b, *c;
    dim3 block(bx, by), grid((n + bx - 1) / bx, (n + by - 1) / by);
    product<<<grid, block>>>(a, b, c, n, bx, by);
}
"""


def test_sides_of_the_block_have_a_usual_value() -> None:
    made = guess(KERNEL, Path("product.cu"))
    assert made.roles == ("A", "B", "C", "N", "16", "16")
    assert (made.block, made.grid) == (("16", "16"), ("ceil(N / 16)", "ceil(N / 16)"))
    assert record(launch(guessed_kernel(made), Problem.cube(20))).wrong == 0


def test_sides_of_the_block_are_those_that_the_file_gives() -> None:
    made = guess(KERNEL.replace("atoi(argv[2])", "32").replace("atoi(argv[3])", "4"), Path("product.cu"))
    assert (made.roles[4:], made.block) == (("32", "4"), ("32", "4"))


def test_a_size_that_is_also_the_side_of_one_block_stays_a_size() -> None:
    text = KERNEL.replace(", int across, int down", "").replace("blockIdx.x * across + ", "")
    text = text.replace("down * blockIdx.y + ", "").replace(
        "<<<grid, block>>>(a, b, c, n, bx, by)", "<<<1, dim3(n, n)>>>(a, b, c, n)"
    )
    made = guess(text, Path("product.cu"))
    assert made.roles == ("A", "B", "C", "N")
    assert made.block == ("N", "N")
