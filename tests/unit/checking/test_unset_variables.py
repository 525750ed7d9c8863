"""A local variable without a value is named, whatever comes of it: a wrong C, a missed array, an early end, nothing."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.checking.fault_reason import blame_locals

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "K"]
// block = ["8"]
// grid = ["1"]
// requires = ["M == 1", "N == 8"]
// ---
"""
# Tiles of one row of B, in two buffers that take turns; the buffer is a bit of `turn`.
TEXT = (
    MATTER
    + """struct place {
    int buffer = 0;
    unsigned half = 0;
};
__global__ void gemm(const float *A, const float *B, float *C, int K)
{
    __shared__ float Bs[2][8];
    int lane = threadIdx.x, k, unused;
    unsigned turn = 0;
    place at;
    float sum = 0;
    for (k = 0; k < K; k++) {
        Bs[turn & 1][lane] = B[k * 8 + lane];
        __syncthreads();
        sum += A[k] * Bs[k & 1][lane] + at.buffer + (at.half & 1);
        turn ^= 1;
    }
    C[lane] = sum;
}
"""
)
SIZE = Problem(1, 8, 6)


def kernel(*changes: tuple[str, str]) -> Kernel:
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return parse(text, Path("mine.cu"))


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(TEXT.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("old", "new", "name", "first", "use"),
    [
        ("unsigned turn = 0;\n", "unsigned turn;\n", "turn", "    unsigned turn", "Bs[turn & 1]"),
        ("unsigned half = 0;", "unsigned half;", "half", "unsigned half", "at.half"),
        ("float sum = 0", "float sum", "sum", "float sum", "sum += "),
    ],
)
def test_a_variable_without_a_value_is_named(old: str, new: str, name: str, first: str, use: str) -> None:
    (one,) = examine(kernel((old, new)), SIZE, {}).findings
    assert (one.kind, one.line, one.other_line) == ("read of memory nobody wrote", line_of(first), line_of(use))
    assert f"the local variable {name} is not set" in one.text


def test_it_comes_before_the_access_that_misses_an_array_by_it() -> None:
    found = examine(kernel(("k, unused;", "k, off;"), ("C[lane] = sum", "C[lane] = sum + A[off & 32]")), SIZE, {})
    kinds = [(one.kind, one.array) for one in found.findings]
    assert kinds == [("read of memory nobody wrote", "off"), ("out of bounds", "A")]


def test_it_is_named_where_it_ends_the_kernel() -> None:
    crashing = kernel(("k, unused;", "k;\n    long long far;"), ("C[lane] = sum;", "C[lane + far] = sum;"))
    with pytest.raises(KernelFault) as fault:
        examine(crashing, SIZE, {})
    assert fault.value.defect == "crash"
    with pytest.raises(KernelFault) as reason:
        blame_locals(launch(crashing, SIZE, {}), deadline_s=5)
    assert reason.value.defect == "read of memory nobody wrote" and reason.value.array == "far"
    assert reason.value.line == line_of("unused") + 1


def test_variables_that_are_set_before_they_are_used_are_right() -> None:
    assert examine(kernel(), SIZE, {}).findings == []
    crashing = kernel(("float sum = 0;", "float sum = 0; *(volatile int *)8 = 1;"))
    blame_locals(launch(crashing, SIZE, {}), deadline_s=5)


def test_a_structure_in_memory_of_the_device_starts_as_zero() -> None:
    right = kernel(
        ("int buffer = 0;", "int buffer;"),
        ("unsigned half = 0;", "unsigned half;"),
        ("};\n", "};\n__device__ place at;\n"),
        ("    place at;\n", ""),
    )
    assert examine(right, SIZE, {}).findings == []
