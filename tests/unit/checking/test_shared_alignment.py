"""A kernel that changes buffers by a bit of an address is right only where its shared array is aligned to that bit."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["8", "8"]
// grid = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N % 8 == 0", "K % 8 == 0"]
// ---
"""
# Each buffer has 2 KB: As in its first half, Bs in its second.
TOGGLED = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float __align__(BYTES) s[2 * 512];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    size_t a = (size_t)s, b = (size_t)(s + 256);
    float sum = 0;
    for (int tile = 0; tile < K / 8; tile++) {
        float *As = (float *)a, *Bs = (float *)b;
        As[y * 8 + x] = A[row * K + tile * 8 + x];
        Bs[y * 8 + x] = B[(tile * 8 + y) * N + col];
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += As[y * 8 + k] * Bs[k * 8 + x];
        a ^= 2048, b ^= 2048;
    }
    C[row * N + col] = sum;
}
"""
# The second buffer by its number: right wherever the array stands.
COUNTED = TOGGLED.replace("a ^= 2048, b ^= 2048", "a = (size_t)(s + (tile + 1) % 2 * 512), b = a + 1024")


def found(text: str, alignment: str) -> list[tuple[str, int]]:
    text = text.replace("BYTES", alignment)
    findings = examine(parse(MATTER + text, Path("mine.cu")), Problem(8, 16, 24), {}).findings
    return [(finding.kind, finding.line) for finding in findings]


@pytest.mark.parametrize("alignment", ["4096", "2 * 512 * sizeof(float)"])
def test_an_alignment_that_only_older_gpus_give_is_found(alignment: str) -> None:
    assert found(TOGGLED, alignment) == [("alignment of shared memory", 10)]


def test_an_alignment_that_is_asked_for_and_not_needed_is_no_finding() -> None:
    assert found(COUNTED, "4096") == []


def test_an_alignment_that_every_gpu_gives_is_no_finding() -> None:
    toggled = TOGGLED.replace("2048", "512").replace("s + 256", "s + 64").replace("2 * 512", "256")
    assert found(toggled, "1024") == []


def test_bits_of_an_address_without_any_alignment_are_found() -> None:
    plain = TOGGLED.replace("__align__(BYTES) ", "")
    assert found(plain, "") == [("alignment of shared memory", 20)]
    assert found(COUNTED.replace("__align__(BYTES) ", "").replace("float sum = 0", "float sum = 0 ^ 0"), "") == []
