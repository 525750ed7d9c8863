"""bfloat16 from the front matter to the verdict: rounding as CUDA rounds, inputs that are exact, C that is judged."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gemmviz.backends.native import NativeBackend
from gemmviz.bench import results
from gemmviz.bench.stats import summarise
from gemmviz.bench.verification_reference import References
from gemmviz.bench.verify import check
from gemmviz.catalogue.dtypes import largest_exact, roundoff, stored_as
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.simt import recorder
from gemmviz.simt.build import build

FRONT = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C", "N", "K"]\n{}// ---\n'
NATIVE = """typedef union { float number; unsigned bits; } word;
static float wide(unsigned short v) { word w = {.bits = (unsigned)v << 16}; return w.number; }
static unsigned short narrow(float v) { word w = {v}; return (w.bits + 0x7fff + (w.bits >> 16 & 1)) >> 16; }
void k(const unsigned short *A, const unsigned short *B, TYPE *C, int N, int K)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += wide(A[i * K + k]) * wide(B[k * N + j]);
            C[i * N + j] = STORE(sum);
        }
}
"""


def native(accumulate: str, kind: str) -> Kernel:
    front = FRONT.format(f'// dtype = "bfloat16"\n// accumulate = "{accumulate}"\n')
    text = NATIVE.replace("TYPE", kind).replace("STORE", "narrow" if accumulate == "bfloat16" else "")
    return parse(front + text, Path("brain.c"))


def test_numbers_are_rounded_as_the_type_does() -> None:
    body = """#include <cuda_bf16.h>
__global__ void k(const float *A, const float *B, float *C, int N, int K)
{
    int i = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16(A[i]), b = __float2bfloat16(B[i]);
    float results[] = {__bfloat162float(a), __bfloat162float(a + b), (float)(a * b), (float)__hsub_rn(a, b),
                       (float)(a / b),
                       (float)__hfma(a, b, a),
                       __low2float(__hmul2_rn(__bfloat162bfloat162(a), __halves2bfloat162(b, a))),
                       (float)(__nv_bfloat16)(1.0 + 0.00390625 + 1e-12)};
    for (int r = 0; r < 8; r++) C[r * N + i] = results[r];
}
"""
    front = FRONT.format("// block = [256]\n// grid = [1]\n")
    mine = launch(parse(front + body, Path("rounding.cu")), Problem(256, 256, 1))
    generator = np.random.default_rng(3)
    values = (generator.standard_normal(256) * 2.0 ** generator.integers(-20, 20, 256)).astype(np.float32)
    # Ties, and what is next to one.
    values[:4] = [1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-20]
    other = generator.standard_normal(256).astype(np.float32)
    raw = recorder.run(build(mine), mine, values, other, deadline_s=5, capacity=10_000)
    got = raw.c.reshape(256, 256)
    brain = ml_dtypes.bfloat16
    x, y = values.astype(brain), other.astype(brain)
    fused = (x.astype(np.float64) * y.astype(np.float64) + x.astype(np.float64)).astype(np.float32).astype(brain)
    for row, expected in enumerate((x, x + y, x * y, x - y, x / y, fused, x * y)):
        assert (got[row] == expected.astype(np.float32)).all(), row
    # Rounded once: by way of a float it would be the tie, and go to 1.
    assert (got[7] == np.float32(1 + 2**-7)).all()


def test_what_the_type_can_hold() -> None:
    assert (largest_exact("bfloat16"), roundoff("bfloat16"), stored_as("bfloat16")) == (256, 2.0**-8, "uint16")
    assert (largest_exact("float16"), largest_exact("float32"), stored_as("float16")) == (2048, 2**24, "float16")
    # NumPy gives one of the two the kind "V", the other "f".
    assert (stored_as("float8_e4m3fn"), stored_as("float8_e5m2"), stored_as("int8")) == ("uint8", "uint8", "int8")
    a, b = small_integer_inputs(Problem.cube(8), "bfloat16")
    assert a.dtype == b.dtype == ml_dtypes.bfloat16 and np.abs(a.astype(int)).max() == 3


@pytest.mark.parametrize(("accumulate", "kind", "size"), [("float32", "float", 40), ("bfloat16", "unsigned short", 20)])
def test_a_kernel_is_verified_and_a_wrong_element_is_found(accumulate: str, kind: str, size: int) -> None:
    backend, references = NativeBackend(), References(seed=0)
    concrete = launch(native(accumulate, kind), Problem.cube(size))
    prepared = backend.prepare(concrete)
    exact, random = references.exact(concrete, backend), references.random(concrete, backend)
    for trial in (exact, random):
        prepared.load(trial.a, trial.b)
        prepared.poison()
        assert not check(prepared.fetch(), trial.reference).ok  # all ones is no number
        prepared.run()
        c = prepared.fetch()
        assert str(c.dtype) == accumulate and prepared.intact()
        assert check(c, trial.reference).ok
        c[3, 5] += 64
        assert check(c, trial.reference).worst_index == (3, 5)
    prepared.close()


def test_a_row_of_a_result_file_counts_its_bytes() -> None:
    row = results.new_row(native("float32", "float"), Problem(4, 8, 16), {})
    results.describe_samples(row, [1e-6], summarise([1e-6]), "converged", 2 * 4 * 8 * 16)
    assert (row["dtype_in"], row["dtype_acc"]) == ("bfloat16", "float32")
    assert row["gbps"] == pytest.approx((2 * (4 * 16 + 16 * 8) + 4 * 4 * 8) / 1e-6 / 1e9)


def test_an_unknown_type_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(FrontMatterError, match=r"dtype must be one of .*bfloat16"):
        parse(FRONT.format('// dtype = "bf16"\n') + "void k() {}", Path("brain.c"))
