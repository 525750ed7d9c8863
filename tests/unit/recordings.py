"""Recordings that several tests look at: rungs of the ladder at small sizes, and kernels given by their text."""

from functools import cache, lru_cache
from pathlib import Path

from shared_recordings import once

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.session import picture_params
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import Order, build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and not kernel.exhibit]
SIZES = (Problem.cube(16), Problem(17, 20, 9))
MOST = 12
"""Recordings of each kind that a process holds in memory; it reads the others again from the folder of its run."""
EXCHANGED_SUMS = """
    __shared__ float part[32];
    float sum = 0;
    for (int k = threadIdx.x; k < K; k += 32) sum += A[k] * B[k * N];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) { sum = 0; for (int i = 0; i < 32; i++) sum += part[i]; C[0] = sum; }"""
"""One element of C by one warp: the lanes' sums meet in shared memory."""


@lru_cache(MOST)
def rung(name: str, problem: Problem) -> Recording:
    """Record a rung with its default parameters at a size, or at the nearest one that it takes.

    Tiles of our own rungs are large: they are recorded as the window shows them, with tiles that the size fills.
    """
    kernel = find(name, ladder())
    try:
        job = launch(kernel, problem)
    except ConstraintError:
        nearest = nearest_size(kernel, problem, kernel.defaults)
        assert nearest is not None
        job = launch(kernel, nearest)
    if kernel.backend == "cuda" and not kernel.source:
        job = launch(kernel, job.problem, picture_params(kernel, job.problem))
    return once(lambda: record(job), "recording", name, job.problem, job.params)


def played(name: str, problem: Problem, params: dict[str, int] | None = None, order: Order = "grid") -> Playable:
    """Record a rung and order its accesses, not yet prepared to be played."""
    job = launch(find(name, ladder()), problem, params)
    return _played(name, job.problem, tuple(sorted(job.params.items())), order)


@lru_cache(MOST)
def _played(name: str, problem: Problem, params: tuple[tuple[str, int], ...], order: Order) -> Playable:
    def make() -> Playable:
        recording = record(launch(find(name, ladder()), problem, dict(params)))
        timeline = build(recording, order)
        return Playable(recording, timeline, measure(recording, timeline))

    return once(make, "playable", name, problem, params, order)


@cache
def small_tiled() -> Playable:
    """Record gputiled at 8 x 8 x 8 with tiles of 4, ready to be played."""
    recording = record(launch(find("gputiled", ladder()), Problem.cube(8), {"TS": 4}))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


def own(
    body: str,
    problem: Problem,
    block: str = "[32]",
    grid: str = "[1]",
    before: str = "",
    as_written: bool = False,
) -> Recording:
    """Record a kernel ``k(A, B, C, M, N, K)`` given by its body, and by what stands before it."""
    matter = ('entry = "k"', 'args = ["A", "B", "C", "M", "N", "K"]', f"block = {block}", f"grid = {grid}")
    front = "\n".join(["// ---gemmviz", *(f"// {line}" for line in matter), "// ---"])
    head = "__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)"
    kernel = parse(f"{front}\n{before}\n{head}\n{{\n{body}\n}}\n", Path("mine.cu"))
    return record(launch(kernel, problem), deadline_s=5.0, as_written=as_written)
