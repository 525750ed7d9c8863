"""The cost of recording: time and memory for each kernel of the ladder, on one core and on all.

Run it from the checkout: ``python benchmarks/recording.py [--as-written] [NAME...]``; as compiled is the default. Each
rung is recorded at the size that comes up to 8 million accesses (``--most``), of one launch if each GPU has its own.
The first guess is a count of some blocks; there is none where blocks wait for others. Then whole launches are counted:
the size is doubled until one has too many accesses. If the one before has less than half of them, up to five sizes in
between are tried, each in the middle of what is left, until one has 90%. If the kernel does not take M = N = K there,
M, N and K differ.
``--table`` records every rung on one core with its usual parameters, at the size of its demo and at that size. Each
line is a process of its own and the best of three runs; it prints and does not judge. ``--quick`` only tries whether
it works: small sizes, one run. Time on one core is CPU time, so that other work on the machine counts little, and the
process stays on this core; the memory of a run has been used just before, so that a virtual machine has it. Time on
all cores is wall time, and wants an idle machine. The last lines are the largest recordings that are kept.

Columns: accesses; processes that shared the blocks; seconds (wall) inside the kernel, seconds of `recorder.run`, and of
that with `columns.accesses`; million accesses per second of the latter, and beside the target; bytes of a row; peak
memory of the process, and beside the target.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

TARGET_PER_S, MEMORY_TARGET_BYTES = 20e6, 2 << 30
_ACCESSES, _QUICK_ACCESSES = 8_000_000, 20_000
_FIRST_SIZE = 128
_LARGE = (("matmul_kernel_naive", 292), ("gputiled", 272), ("hostmult0", 254), ("matmul_tc", 896), ("stream_k", 512))
_LARGE += (("mma_swizzle", 896), ("two_consumers", 1024), ("every_shape", 1024))
_RUNS = 3
_TOUCHED_BYTES = 1 << 29  # more than a recording of `--most 2e6` takes
_TOUCH = """
import mmap, sys
with mmap.mmap(-1, int(sys.argv[1]), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    memory.madvise(mmap.MADV_HUGEPAGE)
    memory[:: mmap.PAGESIZE] = bytes(len(memory) // mmap.PAGESIZE)
"""
_FEW, _NEAR, _TRIES = 0.5, 0.9, 5


def cpu_s() -> float:
    """Return the CPU time that this process has taken."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def touch_memory() -> None:
    """Use memory in another process, which ends.

    A virtual machine gives memory back to its host that is free for a second or two, and then waits for each new page:
    up to twice as long as the whole recording takes. On a machine of its own nothing changes.
    """
    subprocess.run([sys.executable, "-c", _TOUCH, str(_TOUCHED_BYTES)], check=True)


def largest_counted(first: int, most: int, count: Callable[[int], int | None]) -> int:
    """Return a size close to the largest one with at most `most` accesses; `first` if no larger one has.

    Parameters
    ----------
    first
        A size that the kernel takes.
    most
        The largest number of accesses.
    count
        Returns the number of accesses at a size; None if there are more than `most` or the kernel does not take it.
    """
    low, found = first, count(first)
    while found and (larger := count(2 * low)):
        low, found = 2 * low, larger
    if not found or found >= _FEW * most:
        return low
    step = low
    for _ in range(_TRIES):
        step //= 2
        if found >= _NEAR * most or not step:
            break
        if larger := count(low + step):
            low, found = low + step, larger
    return low


def measure(
    name: str, size: list[int] | None, params: dict[str, int], workers: int, runs: int, as_written: bool, most: int
) -> dict[str, object]:
    """Record a kernel in this process and return its time and memory.

    Parameters
    ----------
    name, params, as_written
        The kernel, and how it is built.
    size
        M, N and K, or one number for all; by default the size of `most` accesses.
    workers, runs
        The processes that share the blocks, and how often it is recorded.
    """
    from gemmviz.catalogue.errors import KernelTimeout
    from gemmviz.catalogue.ladder import find, ladder
    from gemmviz.catalogue.launch import launch, nearest_size
    from gemmviz.catalogue.problem import Problem, stored
    from gemmviz.catalogue.whole_numbers import inputs_for
    from gemmviz.simt import recorder
    from gemmviz.simt.build import build
    from gemmviz.simt.layout import MAX_ACCESSES
    from gemmviz.trace.recording import recording_cost
    from gemmviz.trace.recording.columns import accesses

    kernel = find(name, ladder())
    first = Problem(*size) if size and len(size) == 3 else Problem.cube(size[0] if size else _FIRST_SIZE)
    problem = nearest_size(kernel, first, kernel.defaults | params)
    if problem is None:
        return {"skipped": "takes no size near this one"}

    def at_size(size: int) -> Problem | None:
        """Return the problem near M = N = K; the others of the three move to the largest if that is possible."""
        near = nearest_size(kernel, Problem.cube(size), kernel.defaults | params)
        return near and nearest_size(kernel, Problem.cube(max(near.m, near.n, near.k)), kernel.defaults | params)

    def accesses_at(size: int) -> int | None:
        at = at_size(size)
        if at is None:
            return None
        job = launch(kernel, at, params)
        found = recorder.count(build(job, as_written=as_written), job, deadline_s=120, limit=most)
        return found.accesses if found.complete else None

    if not size:
        try:
            job = launch(kernel, problem, params)  # of which one launch is recorded, where several GPUs have their own
            problem = recording_cost.largest_size(job, most * len(job.panels), as_written) or problem
        except KernelTimeout:  # a block that waits for another one
            pass
        problem = at_size(largest_counted(problem.m, most, accesses_at)) or problem
    job = launch(kernel, problem, params)
    library = build(job, as_written=as_written)
    a, b = (stored(kernel, matrix, values) for matrix, values in zip("AB", inputs_for(job), strict=True))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    best: dict[str, object] = {}
    clock = cpu_s if workers == 1 else time.perf_counter
    if workers == 1:  # a process that moves to another core leaves its data behind in the caches of the first one
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for _ in range(runs):
        touch_memory()
        began = clock()
        raw = recorder.run(library, job, a, b, deadline_s=120, capacity=MAX_ACCESSES, workers=workers)
        inside, ran = raw.seconds, clock() - began
        log = accesses(raw)
        taken = clock() - began
        # Pages that only workers have touched count for this process when it reads them.
        read = sum(int(column[:: 4096 // column.itemsize].any()) for column in raw.columns.values())
        row_bytes = sum(c.nbytes for c in raw.columns.values()) + raw.more.nbytes
        if not best or taken < best["all_s"]:
            best = {"accesses": len(log), "kernel_s": inside, "run_s": ran, "all_s": taken, "bytes": row_bytes}
            best |= {"workers": raw.workers, "read": read, "problem": str(problem), "label": job.label}
        del raw, log
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return best | {"peak_bytes": 1024 * peak, "before_bytes": 1024 * before}


def show(
    name: str, size: list[int] | None, params: dict[str, int], workers: int, runs: int, as_written: bool, most: int
) -> bool:
    """Measure in a separate process, and print a line; return whether it succeeded."""
    request = json.dumps([name, size, params, workers, runs, as_written, most])
    answer = subprocess.run([sys.executable, __file__, "--one", request], capture_output=True, text=True, check=False)
    if answer.returncode:
        print(f"{name:34} {answer.stderr.strip().splitlines()[-1][:90]}")
        return False
    found = json.loads(answer.stdout.splitlines()[-1])
    if "skipped" in found:
        print(f"{name:34} {found['skipped']}")
        return True
    count = found["accesses"]
    rate = count / found["all_s"]
    print(
        f"{found['label'][:40]:40} {found['problem']:>15} {count / 1e6:7.2f} M {found['workers']:3} "
        f"{found['kernel_s']:7.3f} {found['run_s']:7.3f} {found['all_s']:7.3f} {rate / 1e6:7.1f} "
        f"{rate / TARGET_PER_S:6.2f}x {found['bytes'] / count:6.1f} {found['peak_bytes'] / 2**20:7.0f} "
        f"{found['peak_bytes'] / MEMORY_TARGET_BYTES:5.2f}x",
        flush=True,
    )
    return True


def main() -> int:
    """Print the table; return 1 when a rung was not recorded."""
    from gemmviz.catalogue.ladder import ladder
    from gemmviz.catalogue.renamed import today

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="rungs; all without any")
    parser.add_argument("--as-written", action="store_true", help="record every access that the text names")
    parser.add_argument("--quick", action="store_true", help="small sizes, one run, to see whether it works")
    parser.add_argument(
        "--table", action="store_true", help="every rung on one core, at its demo's size and a large one"
    )
    parser.add_argument(
        "--most", type=lambda text: int(float(text)), default=_ACCESSES, help="accesses of a large size"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(*json.loads(asked.one))))
        return 0
    names = [today(name) for name in asked.names]
    runs, most = (1, _QUICK_ACCESSES) if asked.quick else (_RUNS, asked.most)
    todo: list[tuple[str, list[int] | None, dict[str, int], int, int]] = []
    cores = len(os.sched_getaffinity(0))
    rungs = [k for k in ladder() if k.recordable and (not names or k.name in names)]
    print(f"{'kernel':40} {'M x N x K':>15} {'accesses':>9} {'on':>3} {'kernel':>7} {'run':>7} {'in all':>7} ", end="")
    print(f"{'M/s':>7} {'/ 20':>7} {'B each':>6} {'MiB':>7} {'/ 2 Gi':>6}")
    for kernel in rungs:
        if asked.table:
            if kernel.demo:
                todo.append((kernel.name, list(kernel.demo.size), dict(kernel.demo.params), 1, runs))
            todo.append((kernel.name, None, {}, 1, runs))
            continue
        smallest = {name: min(offered) for name, offered in kernel.params.items()}
        for workers in dict.fromkeys((1, cores)):
            if workers > 1 and kernel.backend != "cuda":
                continue
            settings = [{}] if smallest == kernel.defaults else [{}, smallest]
            settings = settings[:1] if asked.quick else settings
            todo += [(kernel.name, None, params, workers, runs) for params in settings]
    for name, size in () if asked.quick else _LARGE:
        if not names or name in names:
            todo += [
                (name, [size], {}, workers, 1) for workers in (dict.fromkeys((1, cores)) if not asked.table else (1,))
            ]
    good = [show(*one, asked.as_written, most) for one in todo]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
