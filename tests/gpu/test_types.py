"""Element types on a real GPU: sums in 16 bits, C of a type of its own, whole numbers of 8 bits."""

import threading
from pathlib import Path

import pytest
from consenting import AllowsAll

from gemmviz.backends.driver import driver
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import BenchDone, BenchRequest
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.gpu
FAST = {
    **{"rounds": 1, "warmup_launches": 1, "warmup_s": 0},
    **{"min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2},
}
SIZES = [(1, 1, 1), (67, 61, 59), (128, 96, 1000), (64, 128, 4096), (5, 3, 20_000)]
HEAD = """// ---gemmviz
// version    = 4
// entry      = "mine"
// args       = ["A", "B", "C", "M", "N", "K"]
// block      = [16, 16]
// grid       = ["ceil(N / 16)", "ceil(M / 16)"]
// dtype      = "{dtype}"
// accumulate = "{sums}"
// stores     = "{stores}"
// ---
{include}
__global__ void mine(const {a} *A, const {a} *B, {c} *C, int M, int N, int K)
{{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N)
        return;
    {s} sum = {zero};
    for (int k = 0; k < K; k++)
        sum = {step};
    C[row * N + col] = {stored};
}}
"""
HALF, BRAIN, EIGHT = "#include <cuda_fp16.h>", "#include <cuda_bf16.h>", "#include <cuda_fp8.h>"
LEFT, RIGHT = "A[row * K + k]", "B[k * N + col]"


def own(dtype, sums, stores, include, types, zero, step, stored="sum"):
    a, s, c = types
    return HEAD.format(
        **{"dtype": dtype, "sums": sums, "stores": stores, "include": include, "a": a, "s": s, "c": c},
        **{"zero": zero, "step": step, "stored": stored},
    )


FUSED = f"__hfma({LEFT}, {RIGHT}, sum)"
KERNELS = {
    "half": own("float16", "float16", "float16", HALF, ("half", "half", "half"), "__float2half(0.f)", FUSED),
    "bfloat16": own(
        *("bfloat16", "bfloat16", "bfloat16", BRAIN, ("__nv_bfloat16",) * 3, "__float2bfloat16(0.f)", FUSED)
    ),
    "C in half": own(
        *("float16", "float32", "float16", HALF, ("half", "float", "half"), "0"),
        *(f"sum + __half2float({LEFT}) * __half2float({RIGHT})", "__float2half(sum)"),
    ),
    "C in bfloat16": own(
        *("bfloat16", "float32", "bfloat16", BRAIN, ("__nv_bfloat16", "float", "__nv_bfloat16"), "0"),
        *(f"sum + __bfloat162float({LEFT}) * __bfloat162float({RIGHT})", "__float2bfloat16(sum)"),
    ),
    "int8": own("int8", "int32", "int32", "", ("signed char", "int", "int"), "0", f"sum + {LEFT} * {RIGHT}"),
    "uint8": own("uint8", "int32", "int32", "", ("unsigned char", "int", "int"), "0", f"sum + {LEFT} * {RIGHT}"),
    "e4m3": own(
        *("float8_e4m3fn", "float32", "float32", EIGHT, ("__nv_fp8_e4m3", "float", "float"), "0"),
        f"sum + float({LEFT}) * float({RIGHT})",
    ),
    "e5m2": own(
        *("float8_e5m2", "float32", "bfloat16", f"{BRAIN}\n{EIGHT}", ("__nv_fp8_e5m2", "float", "__nv_bfloat16"), "0"),
        *(f"sum + float({LEFT}) * float({RIGHT})", "__float2bfloat16(sum)"),
    ),
}


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def bench(engine, *texts, size):
    entries = [{"path": str(path), "text": text, "params": {}} for path, text in texts]
    replies = list(engine.run(BenchRequest(1, entries, [size], FAST), threading.Event()))
    assert isinstance(replies[-1], BenchDone), replies[-1]
    return [row for row in replies[-1].document["results"] if row["backend"] != "transfer"]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_with_these_types_is_measured(engine, name, size):
    (row,) = bench(engine, (Path("/nowhere/mine.cu"), KERNELS[name]), size=size)
    assert row["status"] == "ok", row["message"]
    assert row["gflops"] > 0 and row["verify"]["after"] == "ok"
    wanted = {"half": "probabilistic", "bfloat16": "none"}.get(name) if size[2] >= 4096 else None
    assert wanted in (None, row["verify"]["bound"])


@pytest.mark.parametrize("name", KERNELS)
def test_a_term_that_is_left_out_is_found(engine, name):
    text = KERNELS[name].replace("k < K;", "k < K - 1;")
    (row,) = bench(engine, (Path("/nowhere/mine.cu"), text), size=(64, 96, 4096))
    assert (row["status"], row["verify"]["bound"]) == ("wrong", "exact"), row["message"]


@pytest.mark.parametrize("size", [(64, 64, 64), (96, 60, 52), (512, 256, 4096)], ids=str)
@pytest.mark.parametrize("name", ["cublas_fp16_c16", "cublas_bf16_c16", "cublas_fp16_sums", "cublas_int8"])
def test_the_library_is_right_with_these_types(engine, name, size):
    kernel = find(name, ladder())
    device = driver().device
    if device is not None and not suits(kernel.capability, device.cc):
        pytest.skip(f"{name} needs compute capability {kernel.capability}; this GPU has {device.cc}")
    (row,) = bench(engine, (kernel.path, kernel.text), size=size)
    assert row["status"] == "ok", row["message"]
    assert (row["dtype_in"], row["dtype_acc"], row["dtype_out"]) == kernel.types[:3]


FORMS = """// ---gemmviz
// version = 4
// entry   = "mine"
// args    = ["A", "B", {pointers}, "M", "N", "K"{scalars}]
// block   = [16, 16]
// grid    = ["ceil(N / 16)", "ceil(M / 16)", {shares}]
// dtype   = "{dtype}"
{more}// ---
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void mine(const {a} *A, const {a} *B, {parameters}, int M, int N, int K{factors})
{{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N)
        return;
    {s} sum = {s}(0);
    for (int k = blockIdx.z; k < K; k += gridDim.z)
        sum += {s}(A[row * K + k]) * {s}(B[k * N + col]);
    {store}
}}
"""


def form(dtype, pointers, parameters, store, *, a, s="float", scalars="", factors="", shares="1", more=""):
    return FORMS.format(
        **{"dtype": dtype, "pointers": pointers, "parameters": parameters, "store": store, "a": a, "s": s},
        **{"scalars": scalars, "factors": factors, "shares": shares, "more": more},
    )


AT = "row * N + col"
IN_HALF = {"a": "half", "s": "half", "scalars": ', "alpha", "beta"', "factors": ", half alpha, half beta"}
IN_BRAIN = IN_HALF | {"a": "__nv_bfloat16", "s": "float", "factors": ", __nv_bfloat16 alpha, __nv_bfloat16 beta"}
IN_FLOAT = {"a": "float", "scalars": ', "alpha", "beta"', "factors": ", float alpha, float beta"}
STORED_IN_HALF = '// accumulate = "float32"\n// stores = "float16"\n'
STORED_IN_BRAIN = '// accumulate = "float32"\n// stores = "bfloat16"\n'
WITH_FORMS = {
    "beta": form("float32", '"C"', "float *C", f"C[{AT}] = alpha * sum + beta * C[{AT}];", **IN_FLOAT),
    "beta in half": form("float16", '"C"', "half *C", f"C[{AT}] = alpha * sum + beta * C[{AT}];", **IN_HALF),
    "beta in bfloat16": form(
        *("bfloat16", '"C"', "__nv_bfloat16 *C"),
        f"C[{AT}] = __float2bfloat16(float(alpha) * sum + float(beta) * float(C[{AT}]));",
        **IN_BRAIN,
        more=STORED_IN_BRAIN,
    ),
    "D": form(
        "float32", '"C", "D"', "const float *C, float *D", f"D[{AT}] = alpha * sum + beta * C[{AT}];", **IN_FLOAT
    ),
    "D in half": form(
        *("float16", '"C", "D"', "const half *C, half *D", f"D[{AT}] = __float2half(sum + float(C[{AT}]));"),
        a="half",
        more=STORED_IN_HALF,
    ),
    "a bias and ReLU": form(
        *("float32", '"C", "bias"', "float *C, const float *bias", f"C[{AT}] = fmaxf(sum + bias[col], 0.f);"),
        a="float",
        more='// epilogue = "relu"\n',
    ),
    "split-K": form(
        *("float32", '"C"', "float *C", f"atomicAdd(&C[{AT}], sum);"), a="float", shares="4", more='// zero = ["C"]\n'
    ),
}


@pytest.mark.parametrize("size", [(1, 1, 1), (67, 61, 59), (64, 128, 4096)], ids=str)
@pytest.mark.parametrize("name", WITH_FORMS)
def test_a_kernel_of_this_form_is_measured(engine, name, size):
    (row,) = bench(engine, (Path("/nowhere/mine.cu"), WITH_FORMS[name]), size=size)
    assert row["status"] == "ok", row["message"]
    assert row["gflops"] > 0 and row["verify"]["after"] == "ok"


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("beta", "alpha * sum", "sum"),
        ("beta", f" + beta * C[{AT}]", ""),
        ("beta in half", f" + beta * C[{AT}]", ""),
        ("beta in bfloat16", "float(alpha) * sum", "sum"),
        ("D", f"beta * C[{AT}]", f"C[{AT}]"),
        ("a bias and ReLU", "bias[col]", "0.f"),
        ("a bias and ReLU", "fmaxf(sum + bias[col], 0.f)", "sum + bias[col]"),
        ("D in half", f"sum + float(C[{AT}])", "sum"),
    ],
)
def test_a_scalar_or_a_c_that_is_forgotten_is_found(engine, name, right, wrong):
    text = WITH_FORMS[name]
    assert right in text
    (row,) = bench(engine, (Path("/nowhere/mine.cu"), text.replace(right, wrong)), size=(64, 96, 128))
    assert row["status"] == "wrong" and "on whole numbers" in row["message"], row["message"]


def test_adding_to_a_c_that_nobody_sets_to_zero_is_wrong(engine):
    text = WITH_FORMS["split-K"].replace('// zero = ["C"]\n', "")
    (row,) = bench(engine, (Path("/nowhere/mine.cu"), text), size=(64, 96, 128))
    assert row["status"] == "wrong"
