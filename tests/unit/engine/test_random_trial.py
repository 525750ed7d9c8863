"""A guess that is right for whole numbers is tried with random numbers, which show what a kernel rounds."""

import threading
from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.random_trial import ROUNDS_MORE
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.engine.consent import Described
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import trier

NAIVE = """
__global__ void gemm(const {kind} *A, const {kind} *B, {kind} *C, int M, int N, int K) {{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum = {sum};
    C[row * N + column] = sum;
}}
"""


def settled(tmp_path: Path, kind: str, sum_: str, head: str = "") -> Guess:
    return settled_text(tmp_path, head + NAIVE.format(kind=kind, sum=sum_))


def settled_text(tmp_path: Path, text: str) -> Guess:
    file = tmp_path / "mine.cu"
    file.write_text(text)
    made = guess(text, file)
    engine = Engine(Described(file, text))
    try:
        try_one, try_random = (trier(engine, threading.Event(), random=random) for random in (False, True))
        return settle(made, try_one, try_random=try_random)
    finally:
        engine.close()


def test_a_kernel_that_keeps_every_bit_of_its_types_is_right(tmp_path: Path) -> None:
    found = settled(tmp_path, "float", "sum + A[row * K + k] * B[k * N + column]")
    assert found.right and "random" not in found.settled


def test_a_kernel_that_rounds_its_operands_to_eight_bits_is_not_right(tmp_path: Path) -> None:
    head = "__device__ float to_steps(float x) { return rintf(x * 16) / 16; }\n"
    found = settled(tmp_path, "float", "sum + to_steps(A[row * K + k]) * to_steps(B[k * N + column])", head)
    assert not found.right and ROUNDS_MORE in found.settled
    assert "are further from A B than rounding in float32 explains; the worst is C[" in found.settled


def test_sums_of_sixteen_bits_are_found_and_said(tmp_path: Path) -> None:
    head = "#include <cuda_fp16.h>\n"
    sum_ = "__half2float(__float2half(sum + __half2float(A[row * K + k]) * __half2float(B[k * N + column])))"
    found = settled(tmp_path, "half", sum_, head)
    assert found.right and found.accumulate == "float16"
    assert "random numbers show that it rounds to float16" in found.settled
    exact = settled(tmp_path, "half", "sum + __half2float(A[row * K + k]) * __half2float(B[k * N + column])", head)
    assert exact.right and exact.accumulate == "float32"


@pytest.mark.parametrize(
    ("header", "convert", "math"),
    [
        ("cuda_bf16.h", "__bfloat162float(__float2bfloat16({}))", "bf16"),
        ("cuda_fp16.h", "__half2float(__float2half({}))", "fp16"),
    ],
)
def test_operands_that_are_rounded_to_sixteen_bits_are_found_and_said(
    tmp_path: Path, header: str, convert: str, math: str
) -> None:
    sum_ = f"sum + {convert.format('A[row * K + k]')} * {convert.format('B[k * N + column]')}"
    found = settled(tmp_path, "float", sum_, f"#include <{header}>\n")
    assert found.right and found.math == math
    assert f"random numbers show that it rounds to {math}" in found.settled
    steps = "sum + rintf(A[row * K + k] * 16) / 16 * B[k * N + column]"
    assert not settled(tmp_path, "float", steps, "// no bf16\n").right


FLAGGED = """__global__ void gemm_relu(const float *A, const float *B, const float *bias, float *C, int M, int N,
                          int K, int act)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = bias[col];
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = act == 1 ? fmaxf(sum, 0.0f) : sum;
}
"""


def test_random_numbers_show_whether_negative_elements_are_cut(tmp_path: Path) -> None:
    found = settled_text(tmp_path, FLAGGED)
    assert found.right and found.epilogue == "" and "does not cut negative elements" in found.settled


def test_a_fault_of_the_compiler_has_the_line_of_the_file_on_disk(tmp_path: Path) -> None:
    text = NAIVE.format(kind="float", sum="sum + A[row * K + k] * B[k * N + column]").replace("sum = 0;", "sum = 0")
    line = next(at for at, one in enumerate(text.split("\n"), 1) if "sum = 0" in one)
    found = settled_text(tmp_path, text)
    assert found.settled.startswith(f"it cannot be compiled: mine.cu:{line}: expected ';'")


def test_an_access_out_of_bounds_has_the_line_of_the_file_on_disk(tmp_path: Path) -> None:
    text = NAIVE.format(kind="float", sum="sum + A[row * K + k] * B[k * N + column]")
    text = text.replace("C[row * N + column] =", "C[row * N + column + 200000] =")
    line = next(at for at, one in enumerate(text.split("\n"), 1) if "200000" in one)
    found = settled_text(tmp_path, text)
    assert not found.right and f"mine.cu:{line}" in found.settled, found.settled
