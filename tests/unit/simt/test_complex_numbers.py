"""Complex numbers of <cuComplex.h> in the recorder: their products and sums, in both precisions."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

# The real part of (a + 2i b) (b + i) is a b - 2 b, and its imaginary part is a + 2 b^2: C is the real part plus 2 b.
KERNEL = """// ---gemmviz
// entry = "k"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid  = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N % 8 == 0"]
// dtype = "{dtype}"
// ---
#include <cuComplex.h>
__global__ void k(const {real} *A, const {real} *B, {real} *C, int M, int N, int K)
{{
    __shared__ {complex} line[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    {complex} sum = make_{complex}(0, 0), twice = make_{complex}(0, 0);
    for (int k = 0; k < K; k++) {{
        {real} a = A[row * K + k], b = B[k * N + col];
        line[threadIdx.y][threadIdx.x] = make_{complex}(a, 2 * b);
        {expression}
        twice = cuCadd{f}(twice, cuConj{f}(make_{complex}(2 * b, a + 2 * b * b)));
    }}
    {complex} all = cuCsub{f}(cuCadd{f}(sum, twice), make_{complex}(0, 1));
    C[row * N + col] = cuCimag{f}(all) == -1 ? cuCreal{f}(all) : 0;
}}
"""
FUSED = "sum = cuCfma{f}(line[threadIdx.y][threadIdx.x], make_{complex}(b, 1), sum);"
PLAIN = "sum = cuCadd{f}(sum, cuCmul{f}(line[threadIdx.y][threadIdx.x], make_{complex}(b, 1)));"


@pytest.mark.parametrize("expression", [FUSED, PLAIN], ids=["fused", "plain"])
@pytest.mark.parametrize(
    ("dtype", "real", "complex_", "f"),
    [("float32", "float", "cuComplex", "f"), ("float64", "double", "cuDoubleComplex", "")],
)
def test_products_and_sums_of_complex_numbers(dtype: str, real: str, complex_: str, f: str, expression: str) -> None:
    words = {"dtype": dtype, "real": real, "complex": complex_, "f": f}
    text = KERNEL.format(expression=expression.format(**words), **words)
    recording = record(launch(parse(text, Path("k.cu")), Problem(8, 16, 6)))
    assert not recording.wrong and not recording.notes


def test_a_number_of_one_precision_becomes_one_of_the_other() -> None:
    words = {"dtype": "float32", "real": "float", "complex": "cuFloatComplex", "f": "f"}
    there = "sum = cuComplexDoubleToFloat(cuCadd(cuComplexFloatToDouble(sum), cuCmul(cuComplexFloatToDouble("
    text = KERNEL.format(expression=f"{there}line[threadIdx.y][threadIdx.x]), make_cuDoubleComplex(b, 1))));", **words)
    recording = record(launch(parse(text, Path("k.cu")), Problem(8, 8, 6)))
    assert not recording.wrong
