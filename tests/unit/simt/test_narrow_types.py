"""Element types of 8 bits in the recorder: whole numbers and floats, their values and their rounding."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import recorder
from gemmviz.simt.build import build
from gemmviz.trace.recording.record import record

TILED = """// ---gemmviz
// entry = "k"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid  = ["ceil(N / 8)", "ceil(M / 8)"]
// dtype = "{dtype}"
// ---
{include}
__global__ void k(const {a} *A, const {a} *B, {c} *C, int M, int N, int K)
{{
    __shared__ {a} tile[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    {c} sum = 0;
    for (int at = 0; at < K; at += 8) {{
        tile[y][x] = row < M && at + x < K ? A[row * K + at + x] : ({a})0;
        __syncthreads();
        for (int k = 0; k < 8 && at + k < K; k++)
            if (col < N) sum += {c}(tile[y][k]) * {c}(B[(at + k) * N + col]);
        __syncthreads();
    }}
    if (row < M && col < N) C[row * N + col] = sum;
}}
"""
TYPES = {
    "int8": ("signed char", "int", ""),
    "uint8": ("unsigned char", "int", ""),
    "float8_e4m3fn": ("__nv_fp8_e4m3", "float", "#include <cuda_fp8.h>"),
    "float8_e5m2": ("__nv_fp8_e5m2", "float", "#include <cuda_fp8.h>"),
}


@pytest.mark.parametrize("dtype", TYPES)
def test_a_kernel_of_8_bit_elements_is_recorded(dtype: str) -> None:
    a, c, include = TYPES[dtype]
    kernel = parse(TILED.format(dtype=dtype, a=a, c=c, include=include), Path("k.cu"))
    assert kernel.accumulate == kernel.dtype_out == ("int32" if c == "int" else "float32")
    recording = record(launch(kernel, Problem(11, 9, 13)))
    assert recording.wrong == 0
    assert [array.dtype for array in recording.arrays] == [dtype, dtype, kernel.accumulate, dtype]
    log = recording.accesses
    read = (log.array == 0) & ~log.write
    assert (log.value[read] == recording.a.ravel()[log.element[read]]).all()
    assert (log.bytes[read] == 1).all()


@pytest.mark.parametrize(("name", "kind"), [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)])
def test_8_bit_floats_are_rounded_to_nearest_and_stop_at_the_largest(name: str, kind: type) -> None:
    matter = ('entry = "k"', 'args = ["A", "B", "C", "N", "K"]', "block = [256]", "grid = [1]")
    front = "\n".join(["// ---gemmviz", *(f"// {line}" for line in matter), "// ---\n"])
    body = f"""#include <cuda_fp8.h>
__global__ void k(const float *A, const float *B, float *C, int N, int K)
{{
    int i = threadIdx.x;
    __nv_fp8_{name} v(A[i]), all;
    all.__x = (unsigned char)i;
    C[i] = float(v);
    C[N + i] = float(all);
    C[2 * N + i] = float4(__nv_fp8x4_{name}(float4(0.f, A[i], B[i], 0.f))).y;
}}
"""
    mine = launch(parse(front + body, Path("rounding.cu")), Problem(256, 256, 1))
    generator = np.random.default_rng(5)
    values = (generator.standard_normal(256) * 2.0 ** generator.integers(-18, 12, 256)).astype(np.float32)
    values[:6] = [1 + 2**-4, 1 + 3 * 2**-4, 1 + 2**-3, -1 - 2**-4, 1 + 2**-4 + 2**-20, 0]
    raw = recorder.run(build(mine), mine, values, values, deadline_s=5, capacity=10_000)
    got = raw.c.reshape(256, 256)
    largest = float(ml_dtypes.finfo(kind).max)
    expected = np.clip(values, -largest, largest).astype(kind).astype(np.float32)
    assert (got[0] == expected).all() and (got[2] == expected).all()
    bits = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    assert np.array_equal(got[1], bits, equal_nan=True)


def test_sums_and_c_have_more_than_8_bits() -> None:
    for key in ("accumulate", "stores"):
        text = TILED.format(dtype="int8", a="signed char", c="int", include="")
        with pytest.raises(FrontMatterError, match=rf"{key} must be one of float32, .*int64, not \"int8\""):
            parse(text.replace("// ---\n", f'// {key} = "int8"\n// ---\n'), Path("k.cu"))
