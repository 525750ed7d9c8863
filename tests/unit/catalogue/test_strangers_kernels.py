"""Kernels as other people write them: their styles, their file names, their includes, and their accidents."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz.backends.native import NativeBackend
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError, KernelFault
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import Kernel, load, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Progress, RecordRequest, Reply, Request
from gemmviz.engine.process import EngineProcess, ProcessLost
from gemmviz.sandbox.limits import Limits
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.origin import array_state
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

NAIVE = """__global__ void k(const float *A, const float *B, float *C, int N) {
    int i = threadIdx.y, j = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
    C[i * N + j] = sum;
}
"""
C_NAIVE = """void k(const float *A, const float *B, float *C, int N) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
        float sum = START;
        for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
        C[i * N + j] = sum;
    }
}
"""


def text_of(body: str, **matter: str) -> str:
    keys = {"entry": '"k"', "args": '["A", "B", "C", "N"]', "block": '["8", "8"]', "grid": '["1"]'} | matter
    return "\n".join(["// ---gemmviz", *(f"// {key} = {value}" for key, value in keys.items()), "// ---", body])


def kernel(body: str = NAIVE, path: Path = Path("mine.cu"), **matter: str) -> Kernel:
    return parse(text_of(body, **matter), path)


def recorded(mine: Kernel, size: int = 8) -> Recording:
    return record(launch(mine, Problem.cube(size)), deadline_s=5)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(b"\xef\xbb\xbf" + text_of(NAIVE).replace("\n", "\r\n").encode())
    assert recorded(load(path)).wrong == 0


def test_front_matter_that_is_opened_again_and_again_is_refused() -> None:
    # This took hours when every opening was followed to the end of the file.
    with pytest.raises(FrontMatterError, match="no front matter"):
        parse("// ---gemmviz\n" * 300_000, Path("mine.cu"))


@pytest.mark.parametrize("name", ['a"b.cu', "a\\b.cu", "a b.cu", "a'b.cu", "a:b.cu", "케널.cu"])
def test_any_file_name_will_do_and_lines_keep_it(name: str) -> None:
    recording = recorded(kernel(path=Path(name)))
    assert recording.wrong == 0
    lines = recording.text.splitlines()
    assert {lines[site.line - 1].split("=")[0].strip() for site in recording.sites} == {"for (int k", "C[i * N + j]"}


@pytest.mark.sweep("wrapper.c", "a*")
@pytest.mark.parametrize("name", ["wrapper.c", "kernel.c", "gemmviz_wrapper.c", 'a"b.c'])
def test_no_file_name_of_a_c_kernel_is_in_our_way(name: str) -> None:
    mine = parse(text_of(C_NAIVE.replace("START", "0")), Path(name))
    assert recorded(mine).wrong == 0
    NativeBackend().prepare(launch(mine, Problem.cube(8))).close()


def test_an_edited_header_is_noticed(tmp_path: Path) -> None:
    mine = parse(text_of('#include "outer.h"\n' + C_NAIVE), tmp_path / "mine.c")
    (tmp_path / "outer.h").write_text('#include "inner.h"\n')
    wrong, libraries = [], []
    for start in (0, 1):
        (tmp_path / "inner.h").write_text(f"#define START {start}\n")
        wrong.append(recorded(mine).wrong)
        prepared = NativeBackend().prepare(launch(mine, Problem.cube(8)))
        a = np.ones((8, 8), np.float32)
        prepared.load(a, a)
        prepared.run()
        libraries.append(float(prepared.fetch()[0, 0]))
        prepared.close()
    assert wrong == [0, 64]
    assert libraries == [8, 9]


def test_a_kernel_in_a_namespace_and_with_nested_template_arguments() -> None:
    body = "template <class T, int Z> struct tile {};\nnamespace one { namespace two { template <class T> "
    assert recorded(kernel(body + NAIVE + "}}", entry='"one::two::k<tile<float, 8>>"')).wrong == 0


def test_usual_headers_and_words_of_cuda() -> None:
    body = "#include <cuda_runtime.h>\n#include <stdio.h>\n#include <cmath>\n__noinline__ __device__ float zero()\n"
    body += "{ __shared__ __align__(16) float z[4]; z[0] = fmaf(0, 1, 0); return z[0]; }\n"
    assert recorded(kernel(body + NAIVE.replace("sum = 0", "sum = zero()"))).wrong == 0


def test_two_kernels_may_declare_the_same_dynamic_shared_array() -> None:
    other = "// extern __shared__ unknown tile[];\n__global__ void k2(float *A) { extern __shared__ float tile[]; }\n"
    body = NAIVE.replace("float sum = 0;", "extern __shared__ float tile[]; tile[j] = 0; float sum = tile[j];")
    recording = recorded(kernel(other + body, shared='"8 * 4"'))
    assert (recording.wrong, recording.arrays[3].size) == (0, 8)


def test_dynamic_shared_memory_of_a_type_of_two_words() -> None:
    declared = "extern __shared__ __align__(sizeof(float)) unsigned char raw[]; raw[j] = 0; float sum = raw[j];"
    assert recorded(kernel(NAIVE.replace("float sum = 0;", declared), shared='"64"')).arrays[3].size == 64


def test_extern_arrays_with_all_extents_are_static_ones() -> None:
    declared = "constexpr int W = 4; extern __shared__ float tile[W][2]; extern __shared__ __align__(8) float other[8];"
    used = "tile[j / 2][j % 2] = 0; other[j] = 0; __syncthreads(); float sum = tile[3][1] + other[7 - j];"
    recording = recorded(kernel(NAIVE.replace("float sum = 0;", f"{declared} {used}")))
    assert recording.wrong == 0  # two arrays, and no memory of the launch's
    assert {one.name: one.shape for one in recording.arrays[3:]} == {"tile": (4, 2), "other": (8,)}


def test_a_kernel_that_scales_the_old_c_by_beta_is_right() -> None:
    body = NAIVE.replace("int N)", "int N, float beta)").replace("= sum;", "= sum + beta * C[i * N + j];")
    args = '["A", "B", "C", "N", "beta"]'
    assert recorded(kernel(body, args=args)).wrong == 0
    assert recorded(kernel(body.replace("C[i * N + j] =", "if (i) C[i * N + j] ="), args=args)).wrong == 8


def test_doubles_keep_their_values() -> None:
    body = NAIVE.replace("float", "double").replace("sum = 0;", "sum = 0; __shared__ double s[8]; s[j] = B[j];")
    recording = recorded(kernel(body.replace("B[k * N", "(s[0] * 0 + 1) * B[k * N"), dtype='"float64"'))
    log = recording.accesses
    for array, values in ((0, recording.a), (2, recording.c)):
        rows = log.array == array
        assert (log.value[rows] == values.reshape(-1)[log.element[rows]]).all()
    assert recording.arrays[3].name == "s"
    assert set(log.value[log.array == 3]) <= set(recording.b[0])
    order = timeline.build(recording)
    assert (array_state.history(recording, order).values(2, order.steps - 1) == recording.c.reshape(-1)).all()


def test_local_arrays_as_large_as_cuda_allows_do_not_meet_a_neighbours() -> None:
    # The indices are known at run time only: else the compiler would keep two scalars and no array.
    local = "volatile float local[{n}]; local[N - 8] = i; local[{n} - N] = j; __syncthreads(); "
    local += "float sum = local[N - 8] - i + local[{n} - N] - j;"
    assert recorded(kernel(NAIVE.replace("float sum = 0;", local.format(n=100_000)))).wrong == 0
    with pytest.raises(KernelFault, match="the stack is full"):
        recorded(kernel(NAIVE.replace("float sum = 0;", local.format(n=1_000_000))))


def test_more_blocks_and_more_barriers_than_a_recording_can_number_are_refused() -> None:
    with pytest.raises(ConstraintError, match="4\u202f294\u202f967\u202f296 blocks"):
        recorded(kernel(block='["1"]', grid='["131072", "32768"]'))
    with pytest.raises(ConstraintError, match=r"mine\.cu:9: more than 65\u202f535 barriers"):
        recorded(kernel(NAIVE.replace("float sum = 0;", "float sum = 0; for (;;) __syncthreads();")))


def test_a_size_whose_matrices_do_not_fit_is_refused_before_they_are_made() -> None:
    with pytest.raises(ConstraintError, match="A, B and C have 51\u202f539\u202f607\u202f552 elements"):
        record(launch(find("gputiled", ladder()), Problem.cube(131_072)))


def test_a_huge_fraction_is_told_and_not_suffered() -> None:
    with pytest.raises(FrontMatterError, match="huge, which is not a whole number"):
        Expression("*".join(["M"] * 90) + "/7").integer({"M": 131_071})


class _Silent(EngineProcess):
    """A process that hangs in malloc: the deadline's signal came while the kernel held malloc's lock."""

    def __init__(self, *before: Progress) -> None:
        super().__init__(Limits())
        self._before = list(before)

    def _submit(self, request: Request) -> None:
        pass

    def _receive(self) -> Reply | None:
        return self._before.pop(0) if self._before else None


def test_a_recording_that_falls_silent_is_given_up_after_the_time_that_it_announced() -> None:
    announced: list[Progress] = []
    record(
        launch(kernel(), Problem.cube(8)),
        progress=lambda text, within: announced.append(Progress(1, text, None, within)),
    )
    assert all(progress.deadline_s for progress in announced)
    assert "Recording" in announced[-1].text
    process = _Silent(*(replace(progress, deadline_s=0.05) for progress in announced))
    with pytest.raises(ProcessLost) as lost:
        list(process.converse(RecordRequest(1, "mine.cu", text_of(NAIVE), 8, 8, 8, {}), threading.Event(), 120.0))
    assert lost.value.kind == "timeout"


@pytest.mark.parametrize("order", ["grid", "block"])
def test_no_thread_goes_back_where_threads_take_instructions_in_different_orders(order: timeline.Order) -> None:
    inner = "for (int q = 0; q < (j & 1 ? k : N - k); q++) sum += A[q]; sum += B[k];"
    recording = recorded(kernel(NAIVE.replace("sum += A[i * N + k] * B[k * N + j];", "{ " + inner + " }")))
    log = recording.accesses
    lockstep = timeline.build(recording, order)
    for thread in (0, 1, 63):
        assert (np.diff(lockstep.step_of_row[log.thread == thread]) > 0).all()
    assert sorted(lockstep.order) == list(range(len(log)))
    counted = traffic.measure(recording, lockstep)
    assert counted.arrays[1].reads == 64 * 8
