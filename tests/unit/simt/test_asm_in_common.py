"""Asm statements that have registers and labels in common, and a header that declares the kernel beside device code."""

from pathlib import Path

import nvrtc_alone
import pytest
from ptx_texts import FRONT, IN_COMMON

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record


def job(text: str = IN_COMMON) -> Launch:
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
    assert change[0] in IN_COMMON
    with pytest.raises(ConstraintError, match=f"the PTX instruction {named} cannot be recorded"):
        record(job(IN_COMMON.replace(*change)), deadline_s=10)


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
