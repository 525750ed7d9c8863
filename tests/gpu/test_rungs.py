"""Every CUDA rung on a real GPU: right at every size, and a bad kernel costs its own row."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from consenting import AllowsAll

from gemmviz.backends.driver import driver
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchDone, BenchRequest
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.gpu
FAST = {
    **{"rounds": 1, "warmup_launches": 1, "warmup_s": 0},
    **{"min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2},
}
DEVICE = [kernel for kernel in ladder() if kernel.backend in ("cuda", "cublas")]
RUNGS = [kernel for kernel in DEVICE if not kernel.exhibit]
EXHIBITS = [kernel for kernel in DEVICE if kernel.exhibit]
# The last is 24 x 9 tiles of 128 x 256: more than an H200 has multiprocessors, so that blocks that stay take several.
SIZES = [(64, 64, 64), (1, 1, 1), (67, 61, 59), (256, 32, 96), (33, 300, 17), (1000, 777, 1023), (2999, 2053, 777)]


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def bench(engine, *kernels, size=(64, 64, 64), **protocol):
    entries = [{"path": str(path), "text": text, "params": params} for path, text, params in kernels]
    replies = list(engine.run(BenchRequest(1, entries, [size], FAST | protocol), threading.Event()))
    assert isinstance(replies[-1], BenchDone), replies[-1]
    return [row for row in replies[-1].document["results"] if row["backend"] != "transfer"]


def gpus_of(kernel, params):
    return launch(kernel, Problem(*nearest_to(kernel, (64, 64, 64), params)), params).devices


def suited(kernel):
    device = driver().device
    return device is None or (suits(kernel.capability, device.cc) and gpus_of(kernel, {}) <= driver().count)


def skip_unless_suited(kernel):
    if gpus_of(kernel, {}) > driver().count > 0:
        pytest.skip(f"{kernel.name} needs {gpus_of(kernel, {})} GPUs; there are {driver().count}")
    if not suited(kernel):
        pytest.skip(f"{kernel.name} needs compute capability {kernel.capability}; this GPU has {driver().device.cc}")


def nearest_to(kernel, size, params):
    near = nearest_size(kernel, Problem(*size), kernel.defaults | params)
    return near and (near.m, near.n, near.k)


def offered(kernel):
    """The defaults, and each other value of each parameter by itself, where a size takes it and the GPUs are there."""
    changes = [{}] + [{name: value} for name, values in kernel.params.items() for value in values[1:]]
    near = [(params, nearest_to(kernel, (65, 66, 67), params)) for params in changes]
    return [(params, size) for params, size in near if size and gpus_of(kernel, params) <= driver().count]


class Crowd:
    """Rows of many launches, made by several engines at a time: compiling takes longest, and one core does it."""

    def __init__(self):
        self._pool = ThreadPoolExecutor(min(12, max(1, (os.cpu_count() or 1) - 2)))
        self._mine, self._engines, self._rows = threading.local(), [], {}

    def ask(self, kernel, params, size):
        key = kernel.name, tuple(params.items()), size
        if key not in self._rows:
            self._rows[key] = self._pool.submit(self._bench, kernel, params, size)
        return self._rows[key]

    def _bench(self, kernel, params, size):
        if not hasattr(self._mine, "engine"):
            self._mine.engine = Engine(AllowsAll())
            self._engines.append(self._mine.engine)
        (row,) = bench(self._mine.engine, (kernel.path, kernel.text, params), size=size)
        return row

    def close(self):
        self._pool.shutdown(cancel_futures=True)
        for engine in self._engines:
            engine.close()


@pytest.fixture(scope="module")
def crowd(request):
    """Asks at once for all that the tests chosen are going to ask for."""
    crowd = Crowd()
    for item in request.session.items:
        kernel, size = (
            getattr(item, "callspec", None) and item.callspec.params.get(name) for name in ("kernel", "size")
        )
        if "crowd" not in getattr(item, "fixturenames", ()) or not suited(kernel):
            continue
        for params, near in [({}, nearest_to(kernel, size, {}))] if size else offered(kernel):
            crowd.ask(kernel, params, near)
    yield crowd
    crowd.close()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda k: k.name)
def test_a_rung_is_right_at_a_size_or_at_the_one_that_it_offers(engine, crowd, kernel, size):
    skip_unless_suited(kernel)
    nearest = nearest_to(kernel, size, {})
    try:
        launch(kernel, Problem(*size))
    except ConstraintError:
        (row,) = bench(engine, (kernel.path, kernel.text, {}), size=size)
        assert row["status"] == "unsupported"
        assert f"the nearest size that works is {Problem(*nearest)}" in row["message"]
    row = crowd.ask(kernel, {}, nearest).result()
    assert row["status"] == "ok", row["message"]
    assert row["gflops"] > 0
    assert row["verify"]["after"] == "ok"


@pytest.mark.parametrize("kernel", [k for k in RUNGS if k.params], ids=lambda k: k.name)
def test_every_offered_parameter_works(crowd, kernel):
    skip_unless_suited(kernel)
    for params, size in offered(kernel):
        row = crowd.ask(kernel, params, size).result()
        assert row["status"] == "ok", f"{params}: {row['message']}"


# A grid whose sides are swapped is wrong where M and N differ; a store in every stage is wasteful, and never wrong.
SHOWN_AT = {"matmul_tc_printed_grid": (64, 32, 48), "matmul_tc_2d_warp_tiling_printed_grid": (128, 64, 48)}
ENDS = {"mm_optimizado_printed": "compile", "mm_optimizado_store_in_loop": "skipped"}


@pytest.mark.parametrize(
    "params",
    [
        {"BM": 72, "BN": 64, "STAGES": 12},
        {"BM": 8, "BN": 128, "STAGES": 3},
        {"BM": 200, "BN": 128, "STAGES": 3, "BLOCKS": 2},
        {"BM": 104, "BN": 64, "STAGES": 4, "CLUSTER": 2},
        {"BM": 112, "BN": 192, "STAGES": 2, "ACROSS": 2},
        {"BM": 48, "BN": 128, "STAGES": 4, "SPLIT": 3},
        {"BM": 128, "BN": 64, "STAGES": 8, "BLOCKS": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["every_shape", "every_shape_bf16", "every_shape_c16", "every_shape_bf16_c16"])
def test_turned_tiles_are_right(engine, name, params):
    kernel = find(name, ladder())
    skip_unless_suited(kernel)
    usual = {"CLUSTER": 1, "ACROSS": 1, "SPLIT": 1, "TOGETHER": 0, "TURNS": 1, "TURNED": 1, "BLOCKS": 132, "GROUP": 4}
    rows = [bench(engine, (kernel.path, kernel.text, usual | params), size=(m, 264, 200))[0] for m in (301, 64)]
    assert [row["status"] for row in rows] == ["ok", "ok"]


@pytest.mark.parametrize("kernel", EXHIBITS, ids=lambda k: k.name)
def test_an_exhibit_goes_wrong_as_it_says_and_the_next_kernel_runs(engine, kernel):
    # No tile divides the usual size; a kernel that needs a multiple is shown at the size that it offers.
    size = nearest_size(kernel, Problem(*SHOWN_AT.get(kernel.name, (67, 61, 59))), kernel.defaults)
    row, after = bench(engine, (kernel.path, kernel.text, {}), GOOD, size=(size.m, size.n, size.k))
    assert row["exhibit"]
    assert row["status"] == ENDS.get(kernel.name, "wrong"), row["message"]
    assert kernel.exhibit in row["message"]
    assert row["gflops"] is None
    assert after["status"] == "ok", after["message"]


def test_an_exhibit_that_happens_to_be_right_is_not_ranked(engine):
    kernel = find("mm_no_bounds", ladder())
    (row,) = bench(engine, (kernel.path, kernel.text, {}), size=(64, 64, 64))
    assert (row["status"], row["gflops"]) == ("skipped", None), row["message"]


def test_the_compiler_tells_registers_and_shared_memory(engine):
    kernel = find("gputiled", ladder())
    (row,) = bench(engine, (kernel.path, kernel.text, {"TS": 32}))
    assert row["regs"] > 0
    assert row["smem"] == 2 * 32 * 32 * 4
    assert row["compile_ms"] is None or row["compile_ms"] > 0  # none where an earlier run's machine code was kept
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
        (
            own(shared='"1000000"'),
            "unsupported",
            "1\u202f000\u202f000 bytes of dynamic shared memory; a block can have 0 to 232\u202f448",
        ),
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
