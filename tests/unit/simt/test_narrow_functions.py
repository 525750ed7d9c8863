"""Functions of half precision and bfloat16 in the recorder (hexp, h2exp, ...), and the quotients of <cuda/cmath>."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

# Each function fills one row of C: it is applied to the same numbers, alone and in pairs.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{"exp": np.exp, "exp2": np.exp2, "exp10": lambda v: 10.0**v, "log": np.log, "log2": np.log2, "log10": np.log10},
    **{"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v)},
    **{"rcp": lambda v: 1 / v, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint},
}
_NUMPY = {
    **{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"},
}
KERNEL = """// ---gemmviz
// entry = "k"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid  = ["ceil(N / 32)"]
// dtype = "{dtype}"
// accumulate = "float32"
// ---
#include <cuda_{header}.h>
#include <cuda/cmath>
__device__ float of(int name, {element} v)
{{
    switch (name) {{
        {cases}
    }}
    return 0;
}}
__global__ void k(const {element} *A, const {element} *B, float *C, int M, int N, int K)
{{
    int tiles = cuda::ceil_div(N, 32), col = blockIdx.x * 32 + threadIdx.x;
    if (col >= N || tiles != gridDim.x || cuda::round_up(N, 32) != tiles * 32) return;
    for (int row = 0; row < M; row++) {{
        float v = row < {count} ? (col + 1) * 0.125f : 0;
        C[row * N + col] = of(row, ({element})v);
    }}
}}
"""


@pytest.mark.parametrize(
    ("header", "element", "pair", "kind"),
    [("fp16", "__half", "__half2", np.float16), ("bf16", "__nv_bfloat16", "__nv_bfloat162", ml_dtypes.bfloat16)],
)
def test_a_function_is_rounded_once(header: str, element: str, pair: str, kind: type) -> None:
    cases = "".join(
        f"case {i}: {{ {pair} p = h2{name}({pair}(v, v)); float one = (float)h{name}(v);"
        f" return one == (float)p.x && one == (float)p.y ? one : -1000.0f; }}\n"
        for i, name in enumerate(FUNCTIONS)
    )
    dtype = "float16" if header == "fp16" else "bfloat16"
    text = KERNEL.format(dtype=dtype, header=header, element=element, cases=cases, count=len(FUNCTIONS))
    recording = record(launch(parse(text, Path("k.cu")), Problem(len(FUNCTIONS), 40, 8)))
    given = ((np.arange(40) + 1) * 0.125).astype(kind).astype(np.float64)
    with np.errstate(over="ignore"):
        wanted: list[np.ndarray] = [np.asarray(function(given)).astype(kind) for function in FUNCTIONS.values()]
    assert np.array_equal(recording.c, np.array(wanted).astype(np.float32))


@pytest.mark.parametrize(
    ("header", "element", "pair"), [("fp16", "__half", "__half2"), ("bf16", "__nv_bfloat16", "__nv_bfloat162")]
)
def test_comparisons_of_elements_and_of_pairs(header: str, element: str, pair: str) -> None:
    names = ("eq", "ne", "lt", "le", "gt", "ge")
    cases = "".join(
        f"case {i}: {{ {element} o = 2.0f; {pair} p = __h{name}2({pair}(v, o), {pair}(o, v));"
        f" return __h{name}(v, o) + 2 * (float)p.x + 4 * (float)p.y; }}\n"
        for i, name in enumerate(names)
    )
    dtype = "float16" if header == "fp16" else "bfloat16"
    text = KERNEL.format(dtype=dtype, header=header, element=element, cases=cases, count=len(names))
    recording = record(launch(parse(text, Path("k.cu")), Problem(len(names), 40, 8)))
    v = (np.arange(40) + 1) * 0.125
    wanted = [3 * getattr(np, _NUMPY[name])(v, 2) + 4 * getattr(np, _NUMPY[name])(2, v) for name in names]
    assert np.array_equal(recording.c, np.array(wanted, dtype=np.float32))
