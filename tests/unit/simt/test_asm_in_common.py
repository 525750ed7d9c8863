"""Asm statements that have registers and labels in common, and a header that declares the kernel beside device code."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

FRONT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
"""
TEXT = """
__device__ float twice(float v)
{
    asm(".reg .f32 sum; add.f32 sum, %0, %0; mov.f32 %0, sum;" : "+f"(v));
    return v / 2;
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    asm(".reg .pred %p<3>; .reg .s32 k, depth; .reg .b64 to;");
    asm("setp.ge.s32 %%p0, %0, %1; setp.ge.s32 %%p1, %2, %3; or.pred %%p2, %%p0, %%p1;"
        :: "r"(row), "r"(M), "r"(col), "r"(N));
    asm("@%p2 bra out;");
    asm(".reg .f32 sum, x, y; mov.f32 sum, 0f00000000; mov.s32 k, 0; mov.s32 depth, %0; mov.b64 to, %1;"
        :: "r"(K), "l"(C + row * N + col));
    asm("again: setp.ge.s32 %p0, k, depth; @%p0 bra over;");
    asm("{ .reg .b64 a, b; .reg .s32 at; mul.wide.s32 a, k, 4; add.u64 a, a, %0; ld.global.f32 x, [a];"
        " mul.lo.s32 at, k, %2; mul.wide.s32 b, at, 4; add.u64 b, b, %1; ld.global.f32 y, [b]; }"
        :: "l"(A + row * K), "l"(B + col), "r"(N));
    asm("fma.rn.f32 sum, x, y, sum; add.s32 k, k, 1; bra again; over:");
    asm("st.global.f32 [to], sum;");
    asm("out:");
}
"""


def job(text: str = TEXT) -> Launch:
    return launch(parse(FRONT + text, Path("mine.cu")), Problem(12, 9, 7))


def test_registers_and_labels_of_earlier_statements_are_known() -> None:
    recording = record(job(), deadline_s=10)
    assert recording.wrong == 0 and not recording.notes
    assert len(recording.accesses) == 12 * 9 * (2 * 7 + 1)


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_knows_them() -> None:
    assert nvrtc_alone.errors(job(), "sm_80") == ""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('asm(".reg .pred %p<3>; .reg .s32 k', '{ asm(".reg .pred %p<3>;"); } asm(".reg .s32 k'), "setp.ge.s32"),
        (('asm("out:");', 'asm("out: mov.b64 to, %0;" :: "l"(C));'), "bra"),
    ],
    ids=["in another block", "behind operands"],
)
def test_names_that_are_not_in_common_are_unknown(change: tuple[str, str], named: str) -> None:
    assert change[0] in TEXT
    with pytest.raises(ConstraintError, match=f"the PTX instruction {named} cannot be recorded"):
        record(job(TEXT.replace(*change)), deadline_s=10)


def test_accesses_of_a_kernel_that_a_header_declares_are_recorded(tmp_path: Path) -> None:
    (tmp_path / "gemm.cuh").write_text(
        "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K);\n"
        "__device__ inline float read(const float *p)\n{\n    float v;\n"
        '    asm("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));\n    return v;\n}\n'
    )
    (tmp_path / "gemm.cu").write_text(
        f'{FRONT}#include "gemm.cuh"\n'
        "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n    float sum = 0;\n"
        "    if (row >= M || col >= N) return;\n"
        "    for (int k = 0; k < K; k++) sum += read(A + row * K + k) * B[k * N + col];\n"
        "    C[row * N + col] = sum;\n}\n"
    )
    recording = record(launch(load(tmp_path / "gemm.cu"), Problem(12, 9, 7)), deadline_s=10)
    assert recording.wrong == 0
    assert len(recording.accesses) == 12 * 9 * (2 * 7 + 1)
