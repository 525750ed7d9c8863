"""The source that the recorder compiles: without the front matter, so that the trials of a launch share it."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import build
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// title = "plain"
// entry = "plain"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["16", "16"]
// grid  = ["ceil(N / 16)", "ceil(M / 16)"]
// ---
__global__ void plain(const float *A, const float *B, float *C, int M, int N, int K)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[y * K + k] * B[k * N + x];
    if (y < M && x < N) C[y * N + x] = sum;
}
"""


def wrapped(text: str) -> str:
    return build._wrapper(launch(parse(text, Path("plain.cu")), Problem(32, 32, 32)))


@pytest.mark.parametrize(("old", "new"), [('["16", "16"]', '["32", "4"]'), ("ceil(N / 16)", "ceil(N / 32)")])
def test_launches_of_one_source_are_compiled_once(old: str, new: str) -> None:
    assert wrapped(TEXT) == wrapped(TEXT.replace(old, new))


def test_the_lines_of_the_kernel_keep_their_numbers() -> None:
    line = next(line for line in TEXT.splitlines() if "float sum" in line)
    lines = wrapped(TEXT).splitlines()
    begins = next(at for at, text in enumerate(lines) if text.startswith("#line") and "plain.cu" in text)
    assert lines.index(line) - begins == TEXT.splitlines().index(line) + 1


def test_a_file_may_declare_its_own_warp_size() -> None:
    own = "static const int warpSize = 32;\n__global__ void plain("
    text = TEXT.replace("__global__ void plain(", own).replace("k < K; k++", "k < K * warpSize / 32; k++")
    made = record(launch(parse(text, Path("plain.cu")), Problem(32, 32, 16)))
    assert (made.wrong, made.diagnostics) == (0, ())
    assert "gv_own_warp_size" not in wrapped(TEXT)


@pytest.mark.parametrize("directive", ['#line 500 "generated.cu"', '  # 500 "generated.cu" 1'])
def test_lines_count_as_they_stand_in_the_file_whatever_a_generator_says(directive: str) -> None:
    text = TEXT.replace("    float sum = 0;", f"{directive}\n    float sum = 0;")
    made = record(launch(parse(text, Path("plain.cu")), Problem(32, 32, 16)))
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "sum += A" in one)
    assert {site.line for site in made.sites} == {line, line + 1}
