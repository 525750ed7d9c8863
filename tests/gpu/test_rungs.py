"""Every CUDA rung on a real GPU: right at every size, and a bad kernel costs its own row."""

import threading
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchRequest, Done
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.gpu
FAST = {"warmup_launches": 1, "warmup_s": 0, "min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2}
RUNGS = [kernel for kernel in ladder() if kernel.backend in ("cuda", "cublas")]
SIZES = [(64, 64, 64), (1, 1, 1), (67, 61, 59), (256, 32, 96), (33, 300, 17), (1000, 777, 1023)]


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    yield engine
    engine.close()


def bench(engine, *kernels, size=(64, 64, 64), **protocol):
    entries = [{"path": str(path), "text": text, "params": params} for path, text, params in kernels]
    replies = list(engine.run(BenchRequest(1, entries, [size], FAST | protocol), threading.Event()))
    assert isinstance(replies[-1], Done), replies[-1]
    return replies[-1].document["results"]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda k: k.name)
def test_a_rung_is_right_or_refused_by_its_own_constraint(engine, kernel, size):
    (row,) = bench(engine, (kernel.path, kernel.text, {}), size=size)
    try:
        launch(kernel, Problem(*size))
    except ConstraintError:
        assert row["status"] == "unsupported"
    else:
        assert row["status"] == "ok", row["message"]
        assert row["gflops"] > 0
        assert row["verify"]["after"] == "ok"


@pytest.mark.parametrize("kernel", [k for k in RUNGS if k.params], ids=lambda k: k.name)
def test_every_offered_parameter_works(engine, kernel):
    for name, values in kernel.params.items():
        for value in values:
            try:
                launch(kernel, Problem(65, 66, 67), {name: value})
            except ConstraintError:
                continue
            (row,) = bench(engine, (kernel.path, kernel.text, {name: value}), size=(65, 66, 67))
            assert row["status"] == "ok", f"{name} = {value}: {row['message']}"


def test_the_compiler_tells_registers_and_shared_memory(engine):
    kernel = find("gputiled", ladder())
    (row,) = bench(engine, (kernel.path, kernel.text, {"TS": 32}))
    assert row["regs"] > 0
    assert row["smem"] == 2 * 32 * 32 * 4
    assert row["compile_ms"] > 0
    assert "--std=c++17" in row["compile_flags"]


def test_the_document_names_the_device(engine):
    kernel = find("gpumult1", ladder())
    entries = [{"path": str(kernel.path), "text": kernel.text, "params": {}}]
    document = list(engine.run(BenchRequest(1, entries, [(64, 64, 64)], FAST), threading.Event()))[-1].document
    assert document["device"]["name"]
    assert document["device"]["sms"] > 0
    assert document["env"]["cupy"] and document["env"]["nvrtc"]


HEAD = """// ---gemmviz
// entry  = "mine"
// args   = ["C", "A", "B", "M", "N", "K"]
// block  = [%s]
// grid   = ["ceil(N / 16)", "ceil(M / 16)"]
// shared = %s
// ---
"""
BODY = """__global__ void mine(float *c, const float *a, const float *b, int m, int n, int k)
{
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int l = 0; l < k; l++)
        sum += a[i * k + l] * b[l * n + j];
    c[i * n + j] = sum;
}
"""
PATH = Path("/nowhere/mine.cu")


def own(body=BODY, block="16, 16", shared="0"):
    return PATH, HEAD % (block, shared) + body, {}


GOOD = own()


@pytest.mark.parametrize(
    ("bad", "status", "says"),
    [
        (own(BODY.replace("l < k;", "l < k - 1;")), "wrong", "elements of C are wrong"),
        (own(BODY.replace("c[i * n + j] = sum", "c[(long long)1 << 40] = sum")), "crash", "cudaErrorIllegalAddress"),
        (own(BODY.replace("c[i * n + j] = sum", "*(float *)((char *)c + 1) = sum")), "crash", "MisalignedAddress"),
        (own(BODY.replace("float sum = 0;", "__trap(); float sum = 0;")), "crash", "cudaError"),
        (own(BODY.replace("float sum = 0;", "while (*(volatile float *)a < 9) ; float sum = 0;")), "timeout", "still"),
        (own(BODY.replace("int k)", "int k, int more)")), "compile", "takes 7 parameters"),
        (own(BODY.replace("const float *b", "float b").replace("b[l * n + j]", "b")), "compile", "is no pointer"),
        (own(BODY.replace("= sum;", "= sum; if (i == 0 && j == 0) c[-3] = 1;")), "wrong", "outside C"),
        (own(BODY.replace("int i =", "int i ==")), "compile", "mine.cu:10: "),
        (own(BODY.replace("mine(", "other(") + "// mine()\n"), "compile", "mine"),
        (own(shared='"1000000"'), "launch", "shared memory"),
    ],
    ids=[
        "wrong",
        "illegal",
        "misaligned",
        "trap",
        "endless",
        "count",
        "pointer",
        "outside",
        "syntax",
        "entry",
        "shared",
    ],
)
def test_a_bad_kernel_costs_its_own_row_and_the_next_one_runs(engine, bad, status, says):
    first, last = bench(engine, bad, GOOD, deadline_s=5)
    assert (first["status"], last["status"]) == (status, "ok"), (first["message"], last["message"])
    assert says in first["message"]
    assert first["gflops"] is None


def test_more_dynamic_shared_memory_than_48_kb_works(engine):
    body = BODY.replace("    float sum", "    extern __shared__ float room[];\n    room[15000] = 1;\n    float sum")
    (row,) = bench(engine, own(body, shared='"60 * 1024"'))
    assert row["status"] == "ok", row["message"]
    assert row["smem"] == 60 * 1024


def test_scalars_take_the_types_of_the_kernel(engine):
    body = BODY.replace("int m, int n, int k", "size_t m, unsigned short n, long long k")
    (row,) = bench(engine, own(body))
    assert row["status"] == "ok", row["message"]


def test_a_macro_parameter_reaches_the_compiler(engine):
    path, text, params = own(BODY.replace("l++", "l += STEP"))
    text = text.replace("// shared", "// params = { STEP = [1] }\n// shared")
    (row,) = bench(engine, (path, text, params))
    assert row["status"] == "ok", row["message"]


def test_a_kernel_may_include_mma_h_where_the_header_is_installed(engine):
    from gemmviz.backends.nvrtc import has_mma_header

    if not has_mma_header():
        pytest.skip("mma.h is not installed: pip install 'gemmviz[cuda13]'")
    path, text, params = GOOD
    (row,) = bench(engine, (path, text + "#include <mma.h>\n", params))
    assert row["status"] == "ok", row["message"]
