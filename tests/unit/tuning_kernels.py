"""Kernels with parameters to tune, and the rows that measuring them would give."""

from pathlib import Path

import hostile

from gemmviz.bench import results
from gemmviz.bench.tuning.space import space
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem

SIZE = Problem.cube(64)
CUDA = """// ---gemmviz
// entry    = "mine<BM, BN>"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { BM = [64, 32, 128], BN = [64, 32, 128] }
// block    = ["BM / 4", "BN / 4"]
// grid     = ["ceil(N / BN)", "ceil(M / BM)"]
// shared   = "4 * BM * BN"
// requires = ["BM + BN <= 192"]
// ---
template <int BM, int BN>
__global__ void mine(float *c, const float *a, const float *b, int m, int n, int k)
{
}
"""
C_PARAMS = "// params = { P = [1, 2, 3, 4] }\n"


def c_source(before: str = "") -> str:
    """Return a C kernel that is right, with a parameter P from 1 to 4; `before` runs first."""
    return hostile.source(before).replace("// ---\n\n", f"{C_PARAMS}// ---\n\n", 1)


def cuda(text: str = CUDA):
    return parse(text, Path("/nowhere/mine.cu"))


def cuda_space(held=None, device=None):
    return space(cuda(), SIZE, held or {}, device)


def row(kernel, params, seconds, status="ok"):
    """Return the row of a candidate whose rounds had these medians."""
    made = results.new_row(kernel, SIZE, params)
    if status != "ok":
        results.fail(made, status, "something is wrong")
        return made
    rounds = [{"round": i, "n": 5, "median_s": s, "gflops": SIZE.flops / s / 1e9} for i, s in enumerate(seconds, 1)]
    return made | {"status": "ok", "rounds": rounds, "gflops": rounds[-1]["gflops"]}


def run(search, seconds_of, spent=lambda count: 0.0, most=1000, status_of=lambda number: "ok"):
    """Drive a search on a machine where round `r` (from 0) of candidate `n` takes ``seconds_of(n, r)``.

    Returns the candidates in the order in which they were measured.
    """
    kernel, measured, log = cuda(), {}, []
    while (number := search.next(spent(len(log)))) is not None and len(log) < most:
        times = measured.setdefault(number, [])
        times.append(seconds_of(number, len(times)))
        log.append(number)
        status = status_of(number)
        search.take(number, row(kernel, search.space.candidates[number], times, status), status != "ok", 1.0)
    return log
