"""The checker tries a bias of whole numbers and negative sums: a kernel that forgets one of them is wrong."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.trace.recording.record import record

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "bias", "M", "N", "K"]
// block = ["8", "8"]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// epilogue = "relu"
// ---
"""
TEXT = """__global__ void gemm(const float *A, const float *B, float *C, const float *bias, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = fmaxf(sum + bias[col], 0.0f);
}
"""
SIZE = Problem(12, 20, 5)
NO_RELU = MATTER.replace('// epilogue = "relu"\n', "")
RIGHT = "fmaxf(sum + bias[col], 0.0f)"


def kernel(store: str, matter: str = MATTER) -> Kernel:
    return parse(matter + TEXT.replace(RIGHT, store), Path("mine.cu"))


@pytest.mark.parametrize(
    ("store", "matter", "said"),
    [
        (RIGHT, MATTER, ""),
        ("sum + bias[col]", NO_RELU, ""),
        ("fmaxf(sum, 0.0f)", MATTER, "with a bias of whole numbers, negative sums, C["),
        ("sum + bias[col]", MATTER, "with a bias of whole numbers, negative sums, C["),
        ("fmaxf(sum, 0.0f) + bias[col]", MATTER, "with a bias of whole numbers, negative sums, C["),
        ("sum", NO_RELU, "with a bias of whole numbers, C["),
    ],
    ids=["right", "no relu", "forgets the bias", "forgets relu", "in another order", "forgets the bias, no relu"],
)
def test_a_forgotten_epilogue_is_a_wrong_result(store: str, matter: str, said: str) -> None:
    found = examine(kernel(store, matter), SIZE, {}).findings
    assert [one.kind for one in found] == (["wrong result"] if said else [])
    assert all(one.text.startswith(said) and one.line == kernel(store, matter).text.count("\n") - 1 for one in found)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32"])
def test_a_right_kernel_of_another_type_is_right(dtype: str) -> None:
    name = {"float16": "half", "bfloat16": "__nv_bfloat16", "int32": "int"}[dtype]
    text = TEXT.replace("float *", f"{name} *").replace(RIGHT, f"({name})fmaxf(sum + (float)bias[col], 0.0f)")
    text = text.replace("A[row * K + k] * B[k * N + col]", "(float)A[row * K + k] * (float)B[k * N + col]")
    matter = MATTER.replace("// ---\n", f'// dtype = "{dtype}"\n// ---\n')
    headers = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    assert examine(parse(matter + headers + text, Path("mine.cu")), Problem(9, 20, 65), {}).findings == []


def test_a_recording_on_the_stage_has_no_bias_and_no_negative_sum() -> None:
    job = launch(kernel(RIGHT), SIZE)
    recording = record(job)
    assert (recording.c == recording.a @ recording.b).all() and (recording.c > 0).all()
    assert job.scaled is not None and record(job.scaled).wrong == 0


@pytest.mark.parametrize(
    ("before", "after", "role"),
    [
        ("fmaxf", "fmaxf", "bias"),
        ("const float *bias", "const half *bias", ""),
        ("bias[col]", "bias[row]", ""),
    ],
    ids=["a bias", "another type", "a value for each row"],
)
def test_a_guessed_bias_has_a_value_of_c_s_type_for_each_column(before: str, after: str, role: str) -> None:
    assert guess(TEXT.replace(before, after), Path("mine.cu")).roles[3] == role
