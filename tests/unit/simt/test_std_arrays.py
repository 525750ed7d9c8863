"""Arrays of the C++ library in a kernel: they record, also by another name of a header, and NVRTC takes them, too."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

_TEXT = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N"]
// block = ["4", "8"]
// grid = ["N / 16", "N / 8"]
// requires = ["M == N", "K == N", "N % 16 == 0"]
// ---
{include}
__global__ void k(const float *A, const float *B, float *C, int N)
{{
    {kind} sums{{}};
    long long began = clock64();
    int row = blockIdx.y * 8 + threadIdx.y, col = (blockIdx.x * 4 + threadIdx.x) * 4;
    for (int q = 0; q < N; q++)
        for (int t = 0; t < sums.size(); t++) sums[t] += A[row * N + q] * B[q * N + col + t];
    float *to = C + row * N + col;
    for (float sum : sums) *to++ = sum;
    if (clock64() < began) C[0] = -1;
}}
"""


@pytest.mark.parametrize(
    ("include", "kind"),
    [
        ("#include <array>", "std::array<float, 4>"),
        ("#include <cuda/std/array>", "cuda::std::array<float, 4>"),
        ('#include "four.h"', "Four"),
    ],
)
def test_an_array_of_the_library_holds_the_sums_of_a_thread(include: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "four.h").write_text("#pragma once\n#include <array>\nusing Four = std::array<float, 4>;\n")
    made = launch(parse(_TEXT.format(include=include, kind=kind), tmp_path / "mine.cu"), Problem.cube(32))
    assert record(made, deadline_s=10).wrong == 0
    if nvrtc_alone.library() is not None:
        assert nvrtc_alone.errors(made, "sm_80") == ""


_EACH = """template <size_t... at, class Sums>
__device__ void add(std::index_sequence<at...>, Sums &sums, float a, const float *b)
{ ((sums[at] += a * b[at]), ...); }
"""


def test_a_sequence_of_the_library_makes_an_access_for_each_number(tmp_path: Path) -> None:
    text = _TEXT.format(include="#include <utility>\n#include <array>\n" + _EACH, kind="std::array<float, 4>")
    loop = "for (int t = 0; t < sums.size(); t++) sums[t] += A[row * N + q] * B[q * N + col + t];"
    assert loop in text
    call = "add(std::make_index_sequence<4>{}, sums, A[row * N + q], B + q * N + col);"
    made = launch(parse(text.replace(loop, call), tmp_path / "mine.cu"), Problem.cube(32))
    assert record(made, deadline_s=10).wrong == 0
    if nvrtc_alone.library() is not None:
        assert nvrtc_alone.errors(made, "sm_80") == ""


def test_a_pair_of_the_library_holds_a_place(tmp_path: Path) -> None:
    text = _TEXT.format(
        include="#include <utility>\n#include <array>\nusing std::pair;\nusing std::tuple;", kind="std::array<float, 4>"
    )
    text = text.replace(
        "    long long",
        "    pair<int, int> first{0, 1};\n    first = std::make_pair(first.second, first.first);\n    long long",
    )
    text = text.replace("int t = 0", "int t = first.second")
    made = launch(parse(text, tmp_path / "mine.cu"), Problem.cube(32))
    assert record(made, deadline_s=10).wrong == 0
    if nvrtc_alone.library() is not None:
        assert nvrtc_alone.errors(made, "sm_80") == ""
