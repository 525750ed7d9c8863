"""PTX with a comma missing between two operands: no assembler takes it, whatever the recorder knows."""

import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import NO_COMMA
from gemmviz.simt.inline_ptx.grammar import NotPtx, parse

KERNEL = """
__device__ unsigned long long shared_address(float *p) {
    unsigned long long a;
    asm volatile("cvta.to.shared.u64 %0COMMA %1;" : "=l"(a) : "l"(p));
    return a;
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float one[1];
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = shared_address(one) ? 0 : 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
        C[row * N + col] = s;
    }
}
"""


@pytest.mark.parametrize(
    "text", ["cvta.to.shared.u64 %0 %1;", "add.f32 a, b c;", "ld.shared.f32 %0 [%1];", "mov.b32 a 1;"]
)
def test_two_operands_without_a_comma_are_no_ptx(text: str) -> None:
    with pytest.raises(NotPtx, match=NO_COMMA):
        parse(text)


@pytest.mark.parametrize("text", ["add.f32 a, b + c;", "mov.b32 a = 1;", "{"])
def test_an_unknown_sign_is_only_unknown(text: str) -> None:
    try:
        parse(text)
    except NotPtx as error:
        assert NO_COMMA not in str(error)


@pytest.mark.parametrize(("comma", "is_right"), [("", False), (",", True)])
def test_describe_reports_it_as_a_flaw_with_its_line(tmp_path: Path, comma: str, is_right: bool) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(KERNEL.replace("COMMA", comma))
    command = [sys.executable, "-m", "gemmviz", "describe", str(file)]
    said = " ".join(subprocess.run(command, capture_output=True, text=True, check=False, timeout=100).stdout.split())
    assert ("C is right" in said) == is_right
    assert ("no assembler takes it: cvta.to.shared.u64 without a comma before %1" in said) != is_right
    assert ("! line " in said) != is_right
    assert ("! line 4: this is no PTX, and no assembler takes it: " in said) != is_right
