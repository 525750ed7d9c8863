"""The last rungs beside cuBLAS at 40 sizes, with the parameters that their schedules choose.

    python benchmarks/shapes.py [--types fp32,fp16] [--seconds 120] [--json shapes.json] [--candidates 4]

The sizes are in shapes.toml: square, tall, wide, deep, shallow, projections of language models, odd ones. Needs a GPU.

At each size the rung, cuBLAS's usual call, and the fastest of the algorithms that cuBLASLt's heuristic proposes take
turns in rounds, each round in another random order, the L2 cache cleared before each launch. A ratio is the
library's time over the rung's, of the medians of one round; the table gives its geometric mean over the rounds, and its
95% interval (Student's t, of the logarithms). Before and after the race the rung's C is computed on random numbers over
memory that was filled with a pattern, and held element by element against the product in float64 and the bound of
``gemmviz.bench.error_bound``. Clock and power are read meanwhile (NVML).

``--types`` may also name the two other kernels of FP8. The kernels of TF32 and FP8 do not take the odd sizes, which are
left out for them.

``--candidates N`` lets the N sets of parameters that the schedule's model expects to be the next best ones race, too:
*of best* is the fastest one's time over that of the schedule's choice.

``--random 100 --seed 11`` takes 100 random sizes in place of those of shapes.toml: M and N from 128 to 4096, K from 256
to 5793, their logarithms evenly distributed, in steps of 8, 32, 64 or 128.

``--json`` keeps the rows, with the number of the device; rows that it has of this device, of the kernels' present texts
and of the parameters that the schedules choose now are not measured again, so that an interrupted run goes on.
"""

import argparse
import json
import random
import sys
import time
import tomllib
from collections.abc import Callable
from math import exp, isfinite, log, sqrt
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

from gemmviz.backends.cublaslt import LtProduct
from gemmviz.backends.cuda import CublasBackend, CudaBackend, cupy
from gemmviz.backends.device import DevicePrepared, l2_bytes, release
from gemmviz.backends.driver import driver
from gemmviz.backends.machine import schedule_for_this_gpu
from gemmviz.backends.nvml import sensors, watch_gpu
from gemmviz.bench import error_bound
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import scheduled, usual

RUNGS = {
    "fp32": ("every_shape_fp32", "cublas"),
    "fp16": ("every_shape", "cublas_fp16"),
    "bf16": ("every_shape_bf16", "cublas_bf16"),
    "fp16-c16": ("every_shape_c16", "cublas_fp16_c16"),
    "bf16-c16": ("every_shape_bf16_c16", "cublas_bf16_c16"),
    "fp8-in-turns": ("fp8_in_turns", "cublas_fp8"),
    "tf32": ("tf32", "cublas_tf32_by_columns"),
    # Without a schedule, as the others below: at their defaults.
    "tf32-by-rows": ("tf32_by_rows", "cublas_tf32"),
}
OTHERS = {
    "fp8": ("fp8", "cublas_fp8"),
    "fp8-promoted": ("fp8_promoted", "cublas_fp8_promoted"),
}
ROUNDS, EACH, SCREENED = 10, 4, 3
_RACE_S = 2.5
# Student's t, 95%, two-sided, by degrees of freedom.
_T = {2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}
Start = Callable[[], None]


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios, and its 95% interval."""
    logs = [log(one) for one in ratios]
    mean, half = fmean(logs), _T[min(len(logs) - 1, 9)] * stdev(logs) / sqrt(len(logs))
    return exp(mean), exp(mean - half), exp(mean + half)


class Race:
    """Launches that take turns.

    Parameters
    ----------
    starts
        By name, what queues a launch.
    """

    def __init__(self, starts: dict[str, Start]) -> None:
        self._cp, self.starts = cupy(), starts
        self._scratch = self._cp.empty(2 * l2_bytes(), "uint8")

    def round(self, names: list[str], each: int) -> dict[str, float]:
        """Return the median seconds of each in one round."""
        cp = self._cp
        stream, marks = cp.cuda.get_current_stream(), []
        for _ in range(each):
            for name in names:
                begin, end = cp.cuda.Event(), cp.cuda.Event()
                # Twice, so that the launch is queued before its turn comes.
                for _ in range(2):
                    cp.cuda.runtime.memsetAsync(self._scratch.data.ptr, 0, self._scratch.nbytes, stream.ptr)
                begin.record()
                self.starts[name]()
                end.record()
                marks.append((name, begin, end))
        stream.synchronize()
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for name, begin, end in marks:
            seconds[name].append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
        return {name: median(all_of_it) for name, all_of_it in seconds.items()}


def error_of(prepared: DevicePrepared, kernel: Kernel, problem: Problem) -> float:
    """Return the largest error of a C that is computed now, over its bound: more than 1 is wrong."""
    cp = cupy()
    prepared.poison()
    prepared.run()
    shape = {"A": (problem.m, problem.k), "B": (problem.k, problem.n), "C": (problem.m, problem.n)}
    a, b, c = (
        _matrix(_floats(flat, kernel.dtype_of(name)), shape[name], name in kernel.column_major).astype("float64")
        for name, flat in (("A", prepared.a), ("B", prepared.b), ("C", prepared.c.view))
    )
    bound = error_bound.of_kernel(kernel, problem)
    c -= a @ b
    error = cp.abs(c)
    del c
    error /= (cp.abs(a) @ cp.abs(b)) * bound.tolerance + bound.underflow
    worst = float(error.max())
    if not prepared.intact():
        return float("inf")
    return worst if isfinite(worst) else float("inf")


def _matrix(flat: Any, shape: tuple[int, int], by_columns: bool) -> Any:
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


def _floats(flat: Any, dtype: str) -> Any:
    if dtype.startswith("float8"):
        return cupy().asarray(np.arange(256, dtype="uint8").view(np.dtype(dtype)).astype("float32"))[flat]
    if dtype != "bfloat16":
        return flat
    return (flat.view("uint16").astype("uint32") << 16).view("float32")


def fill(prepared: list[DevicePrepared], dtype: str) -> None:
    """Put the same random numbers into the A and B of all."""
    cp = cupy()
    for name in ("a", "b"):
        one = cp.random.standard_normal(getattr(prepared[0], name).size, dtype="float32")
        if dtype.startswith("float8"):  # CuPy has no such type
            one = cp.asarray(cp.asnumpy(one).astype(np.dtype(dtype)).view("uint8"))
        else:
            one = (one.view("uint32") >> 16).astype("uint16") if dtype == "bfloat16" else one.astype(dtype)
        for each in prepared:
            getattr(each, name)[:] = one.view(getattr(each, name).dtype)


def measured(kernel: Kernel, library: Kernel, problem: Problem, cuda: CudaBackend, candidates: int) -> dict[str, Any]:
    """Return the row of a size."""
    sets, lt = [one.params for one in scheduled(kernel, problem)] or [kernel.defaults], None
    made: list[Any] = [cuda.prepare(launch(kernel, problem, one)) for one in sets[: 1 + candidates]]
    reference: Any = CublasBackend().prepare(launch(library, problem))
    try:
        fill([*made, reference], kernel.dtype)
        row: dict[str, Any] = {"error_before": error_of(made[0], kernel, problem)}
        reference.run()
        sizes = (problem.m, problem.n, problem.k)
        starts: dict[str, Start] = {"rung": made[0].start, "cublas": reference.start}
        starts |= {f"set {number}": one.start for number, one in enumerate(made[1:], 1)}
        if not (
            kernel.math or kernel.column_major
        ):  # in these the reference is cuBLASLt's best already, or has no choice
            try:
                lt = LtProduct(cupy(), sizes, kernel.dtype, kernel.dtype_out)
            except GemmvizError as error:
                row["lt_refused"] = str(error)
        its = [x.data.ptr for x in (reference.a, reference.b)]
        for number in range(0 if lt is None else len(lt)):
            starts[f"lt {number}"] = lambda number=number: lt.start(number, *its, reference.c.address)
        row |= raced(Race(starts), reference)
        row["error_after"] = error_of(made[0], kernel, problem)
        return row
    finally:
        if lt is not None:
            lt.close()
        for one in (*made, reference):
            one.close()
        release(cupy())


def raced(race: Race, reference: DevicePrepared) -> dict[str, Any]:
    """Return the figures of a race: first a look at all, then the rung, cuBLAS, and the best of the others."""
    names = list(race.starts)
    race.round(names, 1)
    look = race.round(names, SCREENED)
    best = {
        kind: min((n for n in names if n.startswith(kind)), key=look.__getitem__, default="") for kind in ("lt", "set")
    }
    racing = ["rung", "cublas", *(name for name in best.values() if name)]
    each = max(1, min(EACH, int(_RACE_S / ROUNDS / sum(look[name] + 1e-4 for name in racing))))
    gpu, order = driver().device, random.Random(1)
    with watch_gpu(sensors(gpu.uuid) if gpu else None) as seen:
        # What ran before it may change the time of a launch of a few microseconds: so nobody has fixed neighbours.
        rounds = [race.round(order.sample(racing, len(racing)), each) for _ in range(ROUNDS)]
    found: dict[str, Any] = {"rung_s": median(one["rung"] for one in rounds), "algorithms": len(names) - 2}
    for kind, name in (("cublas", "cublas"), *best.items()):
        if name:
            found[f"{kind}_s"] = median(one[name] for one in rounds)
            found[f"over_{kind}"] = interval([one[name] / one["rung"] for one in rounds])
    found["sm_mhz"] = median(seen.sm_mhz) if seen.sm_mhz else None
    found["power_w"] = max(seen.power_w, default=None)
    found["throttle"] = seen.throttle
    return found


def random_sizes(seed: int, count: int) -> list[list[int]]:
    """Return sizes that are chosen at random; a seed has the same ones everywhere."""
    chosen, sizes = random.Random(seed), list[list[int]]()
    while len(sizes) < count:
        step = chosen.choice((8, 32, 64, 64, 128))
        size = [round(2 ** chosen.uniform(low, high) / step) * step for low, high in ((7, 12), (7, 12), (8, 12.5))]
        sizes.append([max(side, step) for side in size])
    return sizes


def line(kind: str, sizes: list[int], row: dict[str, Any]) -> str:
    """Return the line of a row in the table."""
    flops = 2 * sizes[0] * sizes[1] * sizes[2]

    def said(name: str) -> str:
        if f"over_{name}" not in row:
            return "        -         "
        mean, low, high = row[f"over_{name}"]
        return f"{mean:.3f} {low:.3f}-{high:.3f}"

    params = " ".join(f"{name}={value}" for name, value in row["params"].items())
    clock = f"{row['sm_mhz'] or 0:5.0f} MHz {row['power_w'] or 0:4.0f} W"
    wrong = max(row["error_before"], row["error_after"])
    right = f"error {wrong:.2f} of the bound" if wrong <= 1 else f"WRONG ({wrong:.2f} times the bound)"
    size = "x".join(map(str, sizes))
    return (
        f"{kind:8} {size:18} {flops / row['rung_s'] / 1e12:6.1f} TFLOPS  cuBLAS {said('cublas')}  Lt {said('lt')}  "
        f"of best {said('set')}  {clock}  {right}  {params}"
    )


def means(kind: str, rows: list[dict[str, Any]]) -> str:
    """Return a line with the geometric means of a type."""
    if not rows:
        return f"{kind}: nothing"
    over = exp(fmean(log(row["over_cublas"][0]) for row in rows))
    least = min(row["over_cublas"][0] for row in rows)
    both = exp(fmean(log(min(row[f"over_{x}"][0] for x in ("cublas", "lt") if f"over_{x}" in row)) for row in rows))
    return f"{kind}: {len(rows)} sizes, over cuBLAS {over:.3f} (least {least:.3f}), over the better call {both:.3f}"


def main() -> int:
    """Measure and print; 1 where a C is wrong, 2 without a GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", default=",".join(RUNGS), help=f"of {', '.join(RUNGS | OTHERS)}")
    parser.add_argument("--only", help="sizes of one heading of shapes.toml")
    parser.add_argument("--random", type=int, metavar="N", help="N random sizes instead")
    parser.add_argument("--seed", type=int, default=11, help="of the random sizes")
    parser.add_argument("--seconds", type=float, default=600.0, help="stop after so long")
    parser.add_argument("--candidates", type=int, default=0, help="further sets of the schedule that race")
    parser.add_argument("--json", type=Path, help="the file that keeps the rows")
    wanted = parser.parse_args()
    device = driver().device
    if device is None:
        print("no GPU")
        return 2
    schedule_for_this_gpu()
    sizes = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    if wanted.random:
        sizes = {"random": random_sizes(wanted.seed, wanted.random)}
    kept = json.loads(wanted.json.read_text()) if wanted.json and wanted.json.exists() else {"rows": []}
    kernels, cuda, begun, wrong = ladder(), CudaBackend(), time.monotonic(), 0
    print(f"{device.name}, {device.uuid}, driver {driver().version}")
    for kind in wanted.types.split(","):
        kernel, library = (find(name, kernels) for name in (RUNGS | OTHERS)[kind])
        mine = []
        for size in (size for heading, some in sizes.items() if wanted.only in (None, heading) for size in some):
            key = {"type": kind, "size": size, "sha256": kernel.sha256, "uuid": device.uuid}
            key["params"] = usual(kernel, Problem(*size))
            row = next((one for one in kept["rows"] if key.items() <= one.items()), None)
            if row is None and time.monotonic() - begun < wanted.seconds:
                try:
                    row = key | measured(kernel, library, Problem(*size), cuda, wanted.candidates)
                except GemmvizError as error:
                    print(f"{kind} {size}: {error}")
                    continue
                row |= {
                    "device": device.name,
                    "driver": driver().version,
                    "utc": time.strftime("%FT%TZ", time.gmtime()),
                }
                kept["rows"].append(row)
                if wanted.json:
                    wanted.json.write_text(json.dumps(kept, indent=1))
            if row is not None:
                print(line(kind, size, row), flush=True)
                wrong += max(row["error_before"], row["error_after"]) > 1
                mine.append(row)
        print(means(kind, mine), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
