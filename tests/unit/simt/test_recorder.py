"""The recorder on the ladder's own kernels, on kernels in other styles, and on broken ones."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gemmviz import data
from gemmviz.backends import native, toolchain, zig
from gemmviz.backends.compiler import VARIABLE
from gemmviz.catalogue.errors import BuildError, ConstraintError, GemmvizError, KernelFault, KernelTimeout
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.sandbox import kept
from gemmviz.simt import build
from gemmviz.trace.cost.traffic import Traffic, measure
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

RUNGS = [k for k in ladder() if k.recordable]


def recorded(name: str, size: int | Problem, **params: int) -> tuple[Recording, Traffic]:
    problem = Problem.cube(size) if isinstance(size, int) else size
    recording = record(launch(find(name, RUNGS), problem, params))
    return recording, measure(recording)


def own(
    body: str, args: str = '["A", "B", "C", "N"]', suffix: str = "cu", deadline_s: float = 0.5, **matter: str
) -> Recording:
    """Record a kernel given by its text, at 8 x 8 x 8 with one block of 8 x 8 threads unless told otherwise."""
    keys = {"entry": '"k"', "args": args}
    if suffix == "cu":
        keys |= {"block": '["8", "8"]', "grid": '["1"]'}
    front = "\n".join(f"// {key} = {value}" for key, value in (keys | matter).items())
    kernel = parse(f"// ---gemmviz\n{front}\n// ---\n{body}\n", Path(f"mine.{suffix}"))
    return record(launch(kernel, Problem.cube(8)), deadline_s=deadline_s)


def line_of(recording_text: str, needle: str) -> int:
    return next(i for i, line in enumerate(recording_text.splitlines(), 1) if needle in line)


def test_tiles_read_each_element_as_often_as_there_are_tiles() -> None:
    recording, traffic = recorded("gputiled", 8, TS=4)
    a, b, c, *shared = traffic.arrays
    assert (a.reads, b.reads, c.writes) == (128, 128, 64)
    assert (sum(s.writes for s in shared), sum(s.reads for s in shared)) == (256, 1024)
    assert (traffic.tile_steps, recording.blocks) == (2, 4)
    assert [(s.name, s.shape, s.dtype) for s in recording.arrays[3:]] == [
        ("As", (4, 4), "float32"),
        ("Bs", (4, 4), "float32"),
    ]


def test_restrict_lets_the_compiler_keep_c_in_a_register() -> None:
    for plain, restricted in (("gpumult0", "gpumult0_restrict"), ("hostmult0", "hostmult1")):
        accesses = [
            sum((t.arrays[2].reads, t.arrays[2].writes)) for _, t in (recorded(plain, 8), recorded(restricted, 8))
        ]
        assert accesses == [576, 128]


@pytest.mark.sweep("gpumult1-*", "gputiled-params2-*")
@pytest.mark.parametrize(
    ("name", "params", "sectors"),
    [
        ("matmul_kernel_naive", {}, 270_336),
        ("gpumult1", {}, 40_960),
        ("gputiled", {"TS": 32}, 2_048),
        ("gputiled", {"TS": 16}, 4_096),
    ],
)
def test_predicted_global_load_sectors(name: str, params: dict[str, int], sectors: int) -> None:
    _, traffic = recorded(name, 64, **params)
    assert traffic.sectors(write=False) == sectors


def test_every_access_has_its_line_thread_and_element() -> None:
    recording, _ = recorded("gputiled", 8, TS=4)
    log = recording.accesses
    lines = np.array([s.line for s in recording.sites])[log.site]
    text = recording.text
    assert set(lines[log.array == 0]) == {line_of(text, "As[ty][tx] =")}
    assert set(lines[log.array == 2]) == {line_of(text, "] = sum")}
    # Thread (x, y) of block (bx, by) writes C[by * 4 + y, bx * 4 + x].
    mine = np.flatnonzero(log.array == 2)
    rows, columns = recording.arrays[2].cells(log.element[mine])
    for row, column, block, thread in zip(rows, columns, log.block[mine], log.thread[mine], strict=True):
        (bx, by, _), (x, y, _) = recording.block_index(int(block)), recording.thread_index(int(thread))
        assert (row, column) == (by * 4 + y, bx * 4 + x)


@pytest.mark.sweep("vectorised", "async_pipeline")
@pytest.mark.parametrize("name", ["vectorised", "conflict_free", "warp_tiling", "async_pipeline", "register_buffer"])
def test_a_read_in_a_loop_of_one_turn_keeps_its_line(name: str) -> None:
    few = {"STAGES": 2} if "STAGES" in find(name, RUNGS).params else {}
    recording, _ = recorded(name, 16, BM=16, BN=16, BK=4, TM=4, TN=4, **few)
    log, text = recording.accesses, recording.text.splitlines()
    shared = [i for i, array in enumerate(recording.arrays) if array.name in ("As", "Bs")]
    reads = np.isin(log.array, shared) & ~log.write
    lines = {recording.sites[site].line for site in np.unique(log.site[reads])}
    assert reads.any() and all("*(const float4 *)&" in text[line - 1] for line in lines)


def test_values_are_those_that_were_read_and_written() -> None:
    recording, _ = recorded("gputiled", 8, TS=4)
    log = recording.accesses
    reads = log.array == 0
    assert (log.value[reads] == recording.a.reshape(-1)[log.element[reads]]).all()
    writes = log.array == 2
    assert (log.value[writes] == recording.c.reshape(-1)[log.element[writes]]).all()


def test_dynamic_shared_memory_and_a_leading_dimension() -> None:
    recording = own(
        """__global__ void k(const float *B, int lda, const float *A, float *C, float alpha, size_t K) {
            extern __align__(16) __shared__ float tile[];
            int i = threadIdx.y * 8 + threadIdx.x;
            tile[i] = A[i]; tile[64 + i] = B[i];
            __syncthreads();
            float s = 0;
            for (size_t k = 0; k < K; k++) s += tile[threadIdx.y * lda + k] * tile[64 + k * 8 + threadIdx.x];
            C[i] = alpha * s;
        }""",
        args='["B", "lda", "A", "C", "alpha", "K"]',
        shared='"128 * 4"',
    )
    assert recording.wrong == 0
    assert recording.arrays[3].name == "tile"
    assert (recording.arrays[3].shape, recording.arrays[3].grid) == ((128,), (4, 32))


def test_columns_and_integers() -> None:
    recording = own(
        """__global__ void k(const int *A, const int *B, int *C, int N) {
            int i = threadIdx.y, j = threadIdx.x, s = 0;
            for (int k = 0; k < N; k++) s += A[i * N + k] * B[k + j * N];
            C[i * N + j] = s;
        }""",
        dtype='"int32"',
        layout='{ B = "column" }',
    )
    assert recording.wrong == 0
    log = recording.accesses
    rows, columns = recording.arrays[1].cells(log.element[log.array == 1])
    assert (log.value[log.array == 1] == recording.b[rows, columns]).all()


def test_a_wrong_kernel_is_recorded_and_called_wrong() -> None:
    recording = own("__global__ void k(float *A, float *B, float *C, int N) { C[threadIdx.x] = 1e9f; }")
    assert recording.wrong == 64


def test_a_missing_barrier_shows_as_a_wrong_result() -> None:
    tiled = find("gputiled", RUNGS)
    broken = parse(tiled.text.replace("__syncthreads();", "", 1), tiled.path)
    assert record(launch(broken, Problem.cube(8), {"TS": 4})).wrong > 0


def test_an_access_out_of_bounds_is_reported_not_suffered() -> None:
    recording = own(
        """__global__ void k(float *A, float *B, float *C, int N) {
            float s = A[threadIdx.x + 60];
            C[threadIdx.y * 8 + threadIdx.x] = s;
        }"""
    )
    assert any("reads A[64], out of bounds (it has 64 elements)" in note for note in recording.notes)
    assert any("mine.cu:8" in note for note in recording.notes)


def test_threads_that_leave_before_a_barrier_are_named() -> None:
    recording = own(
        """__global__ void k(float *A, float *B, float *C, int N) {
            if (threadIdx.x == 3) return;
            __syncthreads();
        }"""
    )
    assert any("waits at a barrier" in note and "thread (3, 0, 0)" in note for note in recording.notes)


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(BuildError) as caught:
        own("\n__global__ void k(float *A, float *B, float *C, int N) { float s = oops; }")
    assert caught.value.line == 8
    assert "oops" in str(caught.value)


def test_arguments_that_do_not_fit_the_prototype_are_told() -> None:
    with pytest.raises(BuildError, match="cannot be called with args"):
        own("__global__ void k(float *A, float *B) {}")


def test_a_crash_is_caught_with_its_line_and_the_next_recording_works() -> None:
    with pytest.raises(KernelFault, match=r"(?i)segmentation fault.*thread \(0, 0, 0\)") as caught:
        own("__global__ void k(float *A, float *B, float *C, int N) {\n *(volatile float *)16 = 1; }")
    assert caught.value.line == 8
    with pytest.raises(KernelFault, match=r"mine\.c:5: Division by zero .*in the loop"):
        own("void k(float *A, float *B, float *C, int N) { C[0] = N / (N - 8); }", suffix="c")
    with pytest.raises(KernelFault, match=r"mine\.c:\d+: the stack is full \(8 MB\) in the loop"):
        own("int f(int n) { volatile char x[999]; x[0] = n; return f(n + 1) + x[0]; }\n"
            "void k(float *A, float *B, float *C, int N) { C[0] = f(N); }", suffix="c")  # fmt: skip
    with pytest.raises(KernelFault, match=r"mine\.cu:\d+: the stack is full \(1 MB\) in .*thread \("):
        own("__device__ int f(int n) { volatile char x[999]; x[0] = n; return f(n + 1) + x[0]; }\n"
            "__global__ void k(float *A, float *B, float *C, int N) { C[0] = f(N); }")  # fmt: skip
    assert recorded("gputiled", 8, TS=4)[0].wrong == 0


def test_a_kernel_that_aborts_is_said_to_without_an_address() -> None:
    with pytest.raises(KernelFault, match=r"Aborted in the loop$"):
        own("void abort(void);\nvoid k(float *A, float *B, float *C, int N) { abort(); }", suffix="c")


def test_an_array_of_no_elements_has_none() -> None:
    text = """__global__ void k(float *A, float *B, float *C, int N) {
        __shared__ float none[0], row[8];
        row[threadIdx.x] = A[threadIdx.x];
        if (N < 0) none[threadIdx.x] = A[threadIdx.x];
        __syncthreads();
        C[threadIdx.x] = row[7 - threadIdx.x] + (N < 0 ? none[7 - threadIdx.x] : 0);
    }"""
    sizes = {array.name: array.size for array in own(text).arrays if array.space == "shared"}
    assert sizes in ({"row": 8}, {"none": 0, "row": 8})  # some compilers leave it out


@pytest.mark.parametrize("suffix", ["c", "cu"])
def test_a_function_that_nobody_defines_is_named_with_its_line(suffix: str) -> None:
    mark = "__global__ " if suffix == "cu" else ""
    body = f"float elsewhere(int n);\n{mark}void k(float *A, float *B, float *C, int N) {{\n C[0] = elsewhere(N);\n}}"
    with pytest.raises(BuildError, match=rf"mine\.{suffix}:\d+: elsewhere is used and defined nowhere") as caught:
        own(body, suffix=suffix)
    assert caught.value.line == {"c": 7, "cu": 9}[suffix]


def test_an_endless_loop_is_stopped_with_its_line() -> None:
    with pytest.raises(KernelFault, match=r"still running after 0\.5 s of processor time in thread") as caught:
        slow = "for (;;) { C[0] = 1; for (volatile int i = 0; i < 1000; i++); }"  # few accesses
        own(f"__global__ void k(float *A, float *B, volatile float *C, int N) {{\n {slow}\n }}")
    assert caught.value.line == 8
    with pytest.raises(KernelFault, match="endless loop"):
        own("void k(float *A, float *B, float *C, int N) { for (volatile int i = 0;; i++); }", suffix="c")


_IN_PARTS = """#include <time.h>
void k(float *A, float *B, float *C, int N)
{{
    for (int part = 0; part < {parts}; part++) {{
        nanosleep(&(struct timespec){{0, {rest_ms} * 1000000}}, 0);
        for (volatile int i = 0; i < {work}; i++) ;
    }}
}}"""


def test_a_kernel_that_gets_a_part_of_a_processor_has_its_whole_processor_time() -> None:
    assert own(_IN_PARTS.format(parts=40, rest_ms=20, work=1000), suffix="c").run_seconds > 0.5


def test_a_kernel_that_sleeps_is_stopped() -> None:
    with pytest.raises(KernelTimeout, match=r"not ended after 0\.5 s in the loop: it sleeps or waits"):
        own(_IN_PARTS.format(parts="1 << 30", rest_ms=900, work=0), suffix="c")


def test_a_kernel_that_sleeps_and_works_without_end_is_stopped_by_the_clock() -> None:
    with pytest.raises(KernelTimeout, match=r"not ended after 0\.5 s"):
        own(_IN_PARTS.format(parts="1 << 30", rest_ms=2, work=1000), suffix="c", deadline_s=0.05)


def test_a_recording_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConstraintError, match="more than 100 accesses"):
        record(launch(find("gputiled", RUNGS), Problem.cube(8)), capacity=100)


@pytest.mark.parametrize("name", ["gputiled", "matmul_kernel_naive", "hostmult0"])
def test_a_refused_recording_names_a_size_that_fits(name: str) -> None:
    rung, capacity = find(name, RUNGS), 50_000
    params = dict.fromkeys(rung.params, 8)
    with pytest.raises(ConstraintError, match=r"M = N = K = \d+ should fit") as caught:
        record(launch(rung, Problem(64, 40, 64), params), capacity=capacity)
    size = int(str(caught.value).split("K = ")[1].split()[0])
    recording = record(launch(rung, Problem.cube(size), params), capacity=capacity)
    assert recording.wrong == 0
    assert len(recording.accesses) > capacity / 3


def test_further_elements_do_not_end_a_recording_before_its_accesses_do() -> None:
    rung = find("async_pipeline", RUNGS)
    assert rung.demo is not None
    job = launch(rung, Problem(*rung.demo.size), dict(rung.demo.params))
    whole = record(job)
    assert len(whole.accesses.more) > len(whole.accesses)
    assert len(record(job, capacity=len(whole.accesses)).accesses) == len(whole.accesses)


def test_a_library_call_has_no_source_to_record() -> None:
    for reference in (k for k in ladder() if not k.recordable):
        with pytest.raises(GemmvizError, match="no source"):
            record(launch(reference, Problem.cube(32)))


@pytest.fixture(params=["", "gcc"])
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The compiler of this process: the wheel's, and GCC where there is one."""
    name: str = request.param
    if name and shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    monkeypatch.setenv(VARIABLE, name)
    toolchain.compiler.cache_clear()
    yield name
    toolchain.compiler.cache_clear()


@pytest.mark.sweep("")
def test_a_variant_has_its_own_shared_memory_beside_its_base_in_one_process(compiler: str) -> None:
    assert toolchain.compiler().kind == (compiler or "clang")
    for name in ("gputiled", "gputiled~pad-a"):
        _, traffic = recorded(name, 8, TS=4)
        assert {a.name: a.reads for a in traffic.arrays if a.space == "shared"} == {"As": 512, "Bs": 512}, name


@pytest.mark.parametrize("name", ["gputiled", "hostmult1", "stream_k_tma"])
def test_what_is_compiled_serves_every_copy_of_gemmviz(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    def digest(parts: Iterable[str]) -> str:
        hashed.extend(parts)
        return "0"

    monkeypatch.setattr(build, "_digest", digest)
    monkeypatch.setattr(kept, "find", lambda folder, name: folder)
    build.build(launch(find(name, ladder()), Problem.cube(128)))
    assert hashed and not [part for part in hashed if str(data.root("kernels").parent) in part]


@pytest.mark.parametrize(("name", "compiled"), [("gputiled", build.build), ("hostmult1", native.compile_kernel)])
def test_what_is_compiled_for_one_processor_is_not_used_on_another(
    name: str, compiled: Callable[[Launch], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    job = launch(find(name, ladder()), Problem.cube(16))
    toolchain.compiler()
    monkeypatch.setattr(kept, "find", lambda folder, name: asked.append(name) or folder)
    compiled(job)
    monkeypatch.setattr(zig, "processor", lambda: "another one")
    compiled(job)
    here, elsewhere = asked
    assert here != elsewhere
