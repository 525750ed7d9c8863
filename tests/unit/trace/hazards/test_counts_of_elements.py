"""Findings count elements: one that several threads access counts once."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import Finding, find
from gemmviz.trace.recording.record import record

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "N"]
// block = ["16", "4"]
// grid = ["2"]
// ---
"""
HEAD = """__global__ void gemm(const float *A, const float *B, float *C, int N)
{
    __shared__ float s[16];
    int x = threadIdx.x, y = threadIdx.y;
"""


def findings(body: str) -> list[Finding]:
    kernel = parse(f"{MATTER}{HEAD}{body}}}\n", Path("mine.cu"))
    return find(record(launch(kernel, Problem(16, 16, 16))))


@pytest.mark.parametrize(
    ("body", "array", "count"),
    [
        ("    s[x] = y;\n    __syncthreads();\n    C[x] = s[x];\n", "s", 2 * 16),
        ("    for (int i = 0; i < 8; i++) { s[0] = y + i; __syncthreads(); }\n    C[x] = s[x];\n", "s", 2),
        ("    s[x] = 1;\n    __syncthreads();\n    for (int i = 0; i < 4; i++) C[x] = s[x] + y + i;\n", "C", 16),
        ("    ((float4 *)s)[x % 4] = make_float4(x, y, x, y);\n    __syncthreads();\n    C[x] = s[x];\n", "s", 2 * 16),
    ],
    ids=["a line of threads", "phases", "blocks", "wide"],
)
def test_a_race_counts_each_element_once(body: str, array: str, count: int) -> None:
    (race,) = (one for one in findings(body) if (one.kind, one.array) == ("race", array) and one.line == one.other_line)
    assert race.count == count


def test_a_read_of_memory_that_nobody_wrote_counts_each_element_once() -> None:
    body = "    if (x > 7 && y == 0) s[x] = x;\n    __syncthreads();\n    C[x] = s[x % 8] + s[(x + 1) % 8];\n"
    (read,) = (one for one in findings(body) if one.kind == "read of memory nobody wrote")
    assert read.count == 2 * 8
