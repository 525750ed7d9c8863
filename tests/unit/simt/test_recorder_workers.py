"""Blocks shared between processes: what is recorded is the same to the byte, and so is what went wrong."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gemmviz.backends import toolchain
from gemmviz.catalogue.errors import KernelFault, KernelTimeout
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs, stored
from gemmviz.simt import recorder
from gemmviz.simt.build import build
from gemmviz.simt.recorder import RawTrace

RUNGS = [k for k in ladder() if k.recordable]
BLOCKS = 16
# Each of 16 blocks of 64 threads makes 64 * 1024 accesses, so that sharing them pays; then comes what a test is about.
BUSY = """__device__ int everybody;
__global__ void k(const float *A, const float *B, float *C, int N) {
    float s = 0;
    for (int k = 0; k < 1024; k++) s += A[(threadIdx.x + k) % N];
    int mine = blockIdx.x * 64 + threadIdx.x;
    BODY
}"""


def traced(kernel: Kernel, problem: Problem, workers: int, deadline_s: float = 60.0, **params: int) -> RawTrace:
    job = launch(kernel, problem, params)
    a, b = small_integer_inputs(problem, kernel.dtype)
    return recorder.run(
        build(job),
        job,
        stored(kernel, "A", a),
        stored(kernel, "B", b),
        deadline_s=deadline_s,
        capacity=5_000_000,
        workers=workers,
    )


def busy(last: str, workers: int, deadline_s: float = 60.0) -> RawTrace:
    keys = ('entry = "k"', 'args = ["A", "B", "C", "N"]', 'block = ["64"]', f'grid = ["{BLOCKS}"]')
    front = "\n".join(f"// {line}" for line in ("---gemmviz", *keys, "---"))
    text = f"{front}\n{BUSY.replace('BODY', last)}"
    return traced(parse(text, Path("mine.cu")), Problem.cube(32), workers, deadline_s)


def test_clusters_are_not_shared_so_their_columns_have_private_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3})
    monkeypatch.setattr(recorder, "_has_cuda", lambda: False)
    several = {name: launch(find(name, ladder()), Problem.cube(256)) for name in ("cluster", "gputiled")}
    assert several["cluster"].cluster[0] > 1
    assert {name: recorder.most_workers(job) for name, job in several.items()} == {"cluster": 1, "gputiled": 4}


def assert_same(one: RawTrace, other: RawTrace) -> None:
    for name, column in one.columns.items():
        assert column.tobytes() == other.columns[name].tobytes(), name
    assert one.more.tobytes() == other.more.tobytes()
    assert one.c.tobytes() == other.c.tobytes()
    assert (one.places, one.kinds, one.diagnostics) == (other.places, other.kinds, other.diagnostics)


@pytest.mark.sweep("gputiled-*", "matmul_tc-*")
@pytest.mark.parametrize(
    ("name", "problem", "params"),
    [
        ("gpumult0", Problem(70, 75, 70), {"BX": 16, "BY": 16}),
        ("gputiled", Problem(65, 70, 66), {}),
        ("gputiled_more_work", Problem(65, 80, 70), {"TS": 16, "WPT": 2}),
        ("matmul_tc", Problem.cube(208), {}),
    ],
)
def test_blocks_shared_between_processes_are_recorded_as_by_one(
    name: str, problem: Problem, params: dict[str, int]
) -> None:
    rung = find(name, RUNGS)
    one, three = (traced(rung, problem, workers, **{**rung.defaults, **params}) for workers in (1, 3))
    assert (one.workers, three.workers) == (1, 3)
    assert_same(one, three)


def test_instructions_that_only_later_blocks_reach_are_numbered_as_by_one() -> None:
    body = """if (blockIdx.x == 0) for (int k = 0; k < 9; k++) s += B[k]; // no block makes more accesses than the first
    if (blockIdx.x > 11) s += B[1];
    if (blockIdx.x > 6) s += B[2];
    if (blockIdx.x == 3) s += B[3];
    C[mine] = s;"""
    one, three = busy(body, 1), busy(body, 3)
    assert three.workers == 3
    assert_same(one, three)


def test_what_is_noticed_is_told_as_by_one() -> None:
    body = "if (blockIdx.x > 9) s += B[2000];\nif (blockIdx.x % 5 == 4) s += A[-3];\nC[mine] = s;"
    one, three = busy(body, 1), busy(body, 3)
    assert three.workers == 3
    assert {n.count for n in one.diagnostics} == {6 * 64, 3 * 64}
    assert_same(one, three)


@pytest.mark.sweep("atomic", "reads another's", "input")
@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(&C[threadIdx.x], s);",
        "if (blockIdx.x > 2) C[mine - 64] += 1; C[mine] = s;",
        "C[mine] = s; if (blockIdx.x == 9) C[5] = 1;",
        "if (blockIdx.x == 9) everybody = 9; C[mine] = s + (blockIdx.x > 9 ? everybody : 0);",
        "if (blockIdx.x == 7) ((float *)A)[3] = 5; C[mine] = A[3];",
        "if (blockIdx.x == 7) C[1030] = 5; C[mine] = s;",
        "if (blockIdx.x == 12) for (int k = 0; k < 4096; k++) s += B[k % N]; C[mine] = s;",
    ],
    ids=["atomic", "reads another's", "writes another's", "variable", "input", "out of bounds", "one does more"],
)
def test_blocks_that_meet_run_one_after_another(body: str) -> None:
    one, three = busy(body, 1), busy(body, 3)
    assert three.workers == 1
    assert_same(one, three)


def test_of_several_blocks_that_crash_the_first_is_named() -> None:
    for _ in range(5):
        with pytest.raises(KernelFault, match=r"thread \(9, 0, 0\) of block \(5, 0, 0\)"):
            busy(
                "C[mine] = s; if (blockIdx.x % 4 == 1 && blockIdx.x > 4 && threadIdx.x == 9) *(volatile int *)16 = 1;",
                3,
            )
    assert busy("C[mine] = s;", 3).workers == 3


def test_a_block_without_end_is_stopped_wherever_it_runs() -> None:
    with pytest.raises(
        KernelTimeout, match=r"still running after 1 s of processor time in thread \(0, 0, 0\) of block \(6, 0, 0\)"
    ):
        busy("C[mine] = s; if (blockIdx.x == 6) for (volatile int i = 0;; i++);", 3, deadline_s=1.0)


def test_workers_that_share_a_processor_have_their_whole_time() -> None:
    """The process that waits for them does not take its own waiting for a kernel that sleeps."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        with pytest.raises(KernelTimeout, match=r"still running after 0\.2 s of processor time .* block \(6, 0, 0\)"):
            busy("C[mine] = s; if (blockIdx.x > 5) for (volatile int i = 0;; i++);", 4, deadline_s=0.2)
    finally:
        os.sched_setaffinity(0, processors)


_FOREVER = """
import sys
sys.path[:0] = sys.argv[1:]
from test_recorder_workers import busy
busy("C[mine] = s; if (blockIdx.x > 3) for (volatile int i = 0;; i++);", 3)
"""


_FORKING = """
import ctypes, signal, sys
sys.path[:0] = sys.argv[1:]
from test_recorder_workers import busy
running = []
@ctypes.CFUNCTYPE(None)
def before():
    running.append(signal.getitimer(signal.ITIMER_PROF)[0] + signal.getitimer(signal.ITIMER_REAL)[0])
busy("C[mine] = s;", 1)  # compiled, before forks count
ctypes.CDLL(None).__register_atfork(before, None, None, None)
busy("C[mine] = s;", 3)
print(len(running), sum(running))
"""


def test_no_time_limit_can_end_a_run_while_it_starts_processes() -> None:
    """A jump out of ``fork`` would leave the C library's locks closed: the next ``free`` would wait for ever."""
    folders = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    done = subprocess.run([sys.executable, "-c", _FORKING, *folders], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "0.0"]


def test_no_worker_outlives_the_process_that_records() -> None:
    folder = Path(__file__).parent
    command = [sys.executable, "-c", _FOREVER, str(folder), str(folder.parents[2])]
    with subprocess.Popen(command) as recording:
        children = Path(f"/proc/{recording.pid}/task/{recording.pid}/children")
        workers = eventually(lambda: mine if len(mine := children.read_text().split()) == 3 else None)
        recording.kill()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def eventually(answer: Callable[[], Any]) -> Any:
    """Return the first answer that is true; fail after a minute without one."""
    for _ in range(1200):
        if found := answer():
            return found
        time.sleep(0.05)
    pytest.fail("it never comes about")


def test_some_blocks_alone_make_the_accesses_that_they_make_among_all() -> None:
    kernel = find("gputiled", RUNGS)
    job = launch(kernel, Problem(65, 70, 66), {})
    a, b = small_integer_inputs(job.problem, kernel.dtype)
    limits = {"deadline_s": 60.0, "capacity": 5_000_000}
    everything = recorder.run(build(job), job, stored(kernel, "A", a), stored(kernel, "B", b), **limits)
    some = recorder.run(build(job), job, stored(kernel, "A", a), stored(kernel, "B", b), blocks=(7, 11), **limits)
    mine = np.isin(everything.columns["block_of"], range(7, 11))
    for name, column in some.columns.items():
        if name != "site":  # instructions are numbered as they are met
            assert np.array_equal(column, everything.columns[name][mine]), name


NO_FORK = "#include <errno.h>\nint fork(void) { errno = EAGAIN; return -1; }\n"
WITHOUT_PROCESSES = """
import pickle, sys
from test_recorder_workers import busy
trace = busy("C[mine] = s;", 3)
sys.stdout.buffer.write(pickle.dumps((trace.workers, len(next(iter(trace.columns.values()))), trace.c)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="preloads a library as Linux does")
def test_blocks_run_one_after_another_where_no_process_can_be_made(tmp_path: Path) -> None:
    source, library = tmp_path / "no_fork.c", tmp_path / "no_fork.so"
    source.write_text(NO_FORK)
    # With other flags the compiler would build its own runtime a second time.
    toolchain.compile_shared([source], library, ["-O3", "-fno-sanitize=undefined"], source)
    answer = subprocess.run(
        [sys.executable, "-c", WITHOUT_PROCESSES],
        env=os.environ
        | {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr.decode()
    workers, rows, c = pickle.loads(answer.stdout)
    one = busy("C[mine] = s;", 1)
    assert workers == 1
    assert rows == len(next(iter(one.columns.values())))
    assert np.array_equal(c, one.c)
