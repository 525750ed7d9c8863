"""Compares C with its reference on the GPU, so that C need not come to the host.

The reference stays in the host's memory, where no kernel can change it, and is sent after the kernel has ended. The
kernel here computes what `gemmviz.bench.verify` computes with NumPy, in float64 and bit by bit the same.
"""

from functools import cache
from typing import Any

import numpy as np

from gemmviz.backends.compared import Compared
from gemmviz.catalogue.problem import Matrix

MOST_ELEMENTS = 1 << 25
"""Elements of the reference that are on the device at one time, unless a row has more."""
_THREADS = 256
# The type of an element in memory, and how it becomes a double. PTX keeps numbers below the smallest normal one, which
# CuPy's flags would set to zero.
_AS_DOUBLE = {
    "float32": ("float", 'asm("cvt.f64.f32 %0, %1;" : "=d"(x) : "f"(c));'),
    "float64": ("double", "x = c;"),
    "float16": ("unsigned short", 'asm("{.reg .f32 t; cvt.f32.f16 t, %1; cvt.f64.f32 %0, t;}" : "=d"(x) : "h"(c));'),
    "bfloat16": ("unsigned short", 'asm("cvt.f64.f32 %0, %1;" : "=d"(x) : "f"(__uint_as_float((unsigned)c << 16)));'),
    "int32": ("int", "x = c;"),
    "int64": ("long long", "x = c;"),
}
_SOURCE = """
struct Worst { double ratio; long long place; };
__device__ Worst worse(Worst one, Worst other)
{
    bool first = one.ratio > other.ratio || (one.ratio == other.ratio && one.place < other.place);
    return first ? one : other;
}
__device__ double number(C_TYPE c) { double x; AS_DOUBLE return x; }

// A block per row: its worst ratio and the column of it, its largest error, and how many elements are out of bounds.
extern "C" __global__ void compare(const C_TYPE *c, const double *expected, const double *magnitude, double tolerance,
    double underflow, long long columns, double *ratios, double *largest, long long *places, long long *wrong)
{
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    __shared__ Worst worsts[THREADS];
    __shared__ double errors[THREADS];
    __shared__ long long counts[THREADS];
    int t = threadIdx.x;
    Worst worst = {-1.0, columns};
    double most = 0.0;
    long long count = 0;
    for (long long j = t; j < columns; j += THREADS) {
        long long i = blockIdx.x * columns + j;
        double error = fabs(number(c[i]) - expected[i]);
        if (!(error < infinity))
            error = infinity;
        double ratio = error;
        if (magnitude) {
            double rest = fmax(error - underflow, 0.0);
            ratio = magnitude[i] > 0 ? rest / magnitude[i] : rest > 0 ? infinity : 0.0;
        }
        count += ratio > tolerance;
        most = fmax(most, error);
        worst = worse(worst, Worst{ratio, j});
    }
    worsts[t] = worst;
    errors[t] = most;
    counts[t] = count;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (t < half) {
            worsts[t] = worse(worsts[t], worsts[t + half]);
            errors[t] = fmax(errors[t], errors[t + half]);
            counts[t] += counts[t + half];
        }
    }
    if (t == 0) {
        ratios[blockIdx.x] = worsts[0].ratio;
        largest[blockIdx.x] = errors[0];
        places[blockIdx.x] = worsts[0].place;
        wrong[blockIdx.x] = counts[0];
    }
}
"""


def compare(
    cp: Any, c: Any, dtype: str, expected: Matrix, magnitude: Matrix | None, tolerance: float, underflow: float
) -> Compared:
    """Compare C with its reference on the device.

    Parameters
    ----------
    cp
        The module ``cupy``.
    c
        C in the device's memory, flat, stored by rows (M x N); its launch has ended.
    dtype
        NumPy name of its type.
    expected, magnitude
        float64 (M x N), in the host's memory; without a magnitude C must equal `expected`.
    tolerance, underflow
        See `gemmviz.bench.error_bound.ErrorBound`.
    """
    rows, columns = expected.shape
    step = min(rows, max(1, MOST_ELEMENTS // columns))
    references = [expected] if magnitude is None else [expected, magnitude]
    sent = [cp.empty((step, columns)) for _ in references]
    ratios, largest = cp.empty(rows), cp.empty(rows)
    places, wrong = cp.empty(rows, np.int64), cp.empty(rows, np.int64)
    kernel = _kernel(cp, dtype)
    for first in range(0, rows, step):
        part = slice(first, min(first + step, rows))
        count = part.stop - first
        for memory, values in zip(sent, references, strict=True):
            memory[:count].set(values[part])
        pointers = *sent, *([np.uint64(0)] if magnitude is None else [])
        bounds = np.float64(tolerance), np.float64(underflow), np.int64(columns)
        found = (one[part] for one in (ratios, largest, places, wrong))
        kernel((count,), (_THREADS,), (c[first * columns :], *pointers, *bounds, *found))
    worst = cp.asnumpy(ratios)
    row = int(worst.argmax())
    column = int(places[row])
    got = cp.asnumpy(c[row * columns + column : row * columns + column + 1]).view(dtype)[0]
    return Compared(
        int(cp.asnumpy(wrong).sum()),
        float(cp.asnumpy(largest).max()),
        float(worst[row]),
        (row, column),
        float(got),
    )


@cache
def _kernel(cp: Any, dtype: str) -> Any:
    kind, as_double = _AS_DOUBLE[dtype]
    source = _SOURCE.replace("C_TYPE", kind).replace("AS_DOUBLE", as_double)
    return cp.RawKernel(source, "compare", (f"-DTHREADS={_THREADS}",))
