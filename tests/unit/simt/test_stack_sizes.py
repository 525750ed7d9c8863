"""The size of a thread's stack, and kernels that need more memory than a small one has."""

import platform
from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import job
from gemmviz.simt.stack_sizes import largest_frame, stack_bytes
from gemmviz.trace.recording.record import record

SMALL, LARGE = b"\x90\x48\x81\xec\xa0\x0f\x00\x00", b"\x48\x81\xec\x00\x10\x00\x00\x48\xc7\x04\x24"
SUM = """
__global__ void k(float *A, float *B, float *C, int N) {
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < N; i++) sum += A[row * N + i] * B[i * N + column];
    C[row * N + column] = BODY;
}
"""
FUNCTIONS = {
    # 150 calls of functions with small frames
    "deep": ("float f(float x, int n) { volatile char y[64]; y[0] = n; return n ? f(x, n - 1) : x; }", "f(sum, 150)"),
    # a function that calls no other, and whose frame is larger than a page
    "wide": ("float f(float x, int n) { float y[3000]; for (int i = 0; i < 3000; i++) y[i] = x + i; return y[n] - n; }",
             "f(sum, row * 8 + column)"),
    "plain": ("float f(float x, int n) { return x; }", "f(sum, 1)"),
}  # fmt: skip


def launched(name: str) -> Launch:
    function, body = FUNCTIONS[name]
    front = '// entry = "k"\n// args = ["A", "B", "C", "N"]\n// block = ["8", "8"]\n// grid = ["1"]'
    function = f"__device__ __attribute__((noinline)) {function}"
    text = f"// ---gemmviz\n{front}\n// ---\n{function}\n{SUM.replace('BODY', body)}"
    return launch(parse(text, Path("mine.cu")), Problem.cube(8))


def test_the_largest_frame_is_read_from_machine_code() -> None:
    assert largest_frame("x64", b"\xc3") == 0
    assert largest_frame("x64", SMALL + b"\x48\x81\xec\x00\x02\x00\x00") == 4000
    assert largest_frame("x64", SMALL + LARGE) is None
    assert largest_frame("AArch64", SMALL) is None


def test_small_stacks_have_an_odd_number_of_lines_and_room_for_the_recorder() -> None:
    for frame in (0, 100, 2176, 4000):
        found = stack_bytes("cuda", frame, careful=False)
        assert found % 128 == 64
        assert frame + 4096 < found < 16 << 10
    for backend, frame, careful in (("cuda", None, False), ("cuda", 100, True), ("c", 100, False)):
        assert stack_bytes(backend, frame, careful=careful) == {"cuda": 1 << 20, "c": 8 << 20}[backend]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_kernel_that_needs_more_memory_gets_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def asked(backend: str, largest: int | None, *, careful: bool) -> int:
        sizes.append(stack_bytes(backend, largest, careful=careful))
        return sizes[-1]

    monkeypatch.setattr(job, "stack_bytes", asked)
    recording = record(launched(name))
    assert recording.wrong == 0
    expected = {"deep": [False, True], "wide": [True], "plain": [False]}[name]
    assert [size >= 1 << 20 for size in sizes] == (expected if platform.machine() == "x86_64" else [True])
