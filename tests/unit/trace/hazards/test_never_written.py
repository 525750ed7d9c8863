"""A shared array that no thread writes: the report names the line that is there to write it."""

from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import Finding, find
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "K"]
// block = ["8"]
// grid = ["1"]
// requires = ["M == 1", "N == 8"]
// ---
__device__ void unused(float *Bs) { Bs[0] = 1; }
__global__ void gemm(const float *A, const float *B, float *C, int K)
{
    __shared__ float Bs[2][8]; // Bs[0][0] = B[0];
    int lane = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) {
        if (A[k] > 1000)
            Bs[k % 2][lane] = B[k * 8 + lane];
        __syncthreads();
        sum += A[k] * Bs[k % 2][lane];
    }
    C[lane] = sum;
}
"""


def found(text: str) -> Finding:
    (one,) = find(record(launch(parse(text, Path("mine.cu")), Problem(1, 8, 4)), deadline_s=5))
    assert one.kind == "read of memory nobody wrote"
    return one


def test_the_line_that_should_write_the_array_is_named() -> None:
    one, lines = found(TEXT), TEXT.splitlines()
    assert "sum +=" in lines[one.line - 1] and "= B[k * 8" in lines[one.other_line - 1]
    assert one.text.endswith(f"line {one.other_line} is there to write Bs, and never writes it")


def test_no_line_is_named_where_none_writes_the_array_or_two_arrays_have_its_name() -> None:
    none = TEXT.replace("Bs[k % 2][lane] = ", "(*(Bs + k % 2))[lane] = ")
    two = TEXT + "__global__ void other() { __shared__ float Bs[8]; Bs[0] = 1; }\n"
    assert found(none).other_line == 0 and found(two).other_line == 0
