"""The times to count and prepare a recording of 10 million accesses, and to trace where its values come from.

Run it from the checkout, with no other load on the machine: ``python benchmarks/provenance.py``. It prints each figure
beside its target; the exit status is 1 when a target is missed. ``--quick`` only tries whether it works, with small
matrices of two kernels.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.provenance import Provenance
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

QUERY_MS, COUNTED_PER_S = 50.0, 10e6
_QUERIES, _QUICK_SIZE = 200, 16
# About 10 million accesses each: one thread, one element per thread, tiles, thread tiles, tensor cores.
_LAUNCHES = (
    ("hostmult1", 170, {}),
    ("gpumult1", 170, {}),
    ("gputiled", 164, {}),
    ("gputiled", 160, {"TS": 32}),
    ("matmul_kernel_2d_thread_tiling", 320, {}),
    ("matmul_tc_2d_warp_tiling", 832, {}),
)


def timed(do: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Return the result of a call, and its time in seconds."""
    begin = time.perf_counter()
    return do(*args), time.perf_counter() - begin


def slowest_ms(provenance: Provenance) -> dict[str, float]:
    """Return the longest that an answer took, by the kind of question, over random cells."""
    recording = provenance.recording
    rng = np.random.default_rng(0)
    most = {"owner": 0.0, "operand_paths": 0.0, "accesses_of": 0.0}
    for _ in range(_QUERIES):
        cell = int(rng.integers(recording.m)), int(rng.integers(recording.n))
        array = int(rng.integers(len(recording.arrays)))
        element = int(rng.integers(recording.arrays[array].size))
        for what, asked in (("owner", cell), ("operand_paths", cell), ("accesses_of", (array, element))):
            most[what] = max(most[what], timed(getattr(provenance, what), *asked)[1] * 1e3)
    return most


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two kernels, small matrices, to see whether it works")
    quick = parser.parse_args().quick
    rungs, missed = ladder(), 0
    print(
        f"{'':44}{'million':>9}{'counted':>10}{'timeline':>9}{'prepare':>9}{'of it':>8}"
        f"{'owner':>8}{'paths':>8}{'accesses':>9}{'peak':>7}"
    )
    print(
        f"{'':44}{'accesses':>9}{'million/s':>10}{'s':>9}{'s':>9}{'index s':>8}"
        f"{'ms, most':>8}{'ms, most':>8}{'ms, most':>9}{'GB':>7}"
    )
    for name, size, params in _LAUNCHES[:: len(_LAUNCHES) - 1] if quick else _LAUNCHES:
        kernel = find(name, rungs)
        wanted = Problem.cube(_QUICK_SIZE if quick else size)
        problem = nearest_size(kernel, wanted, kernel.defaults | params) or wanted
        recording = record(launch(kernel, problem, params))
        count = len(recording.accesses)
        _, counted = timed(measure, recording)
        timeline, ordered = timed(build, recording)
        playable = Playable(recording, timeline, measure(recording, timeline))
        _, prepared = timed(playable.prepare)
        provenance, indexed = timed(Provenance, recording, timeline, playable.history, playable.staged)
        most = slowest_ms(provenance)
        slow = max(most.values()) > QUERY_MS or count / counted < COUNTED_PER_S
        missed += slow
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{f'{recording.label} at {problem.m}':44}{count / 1e6:9.1f}{count / counted / 1e6:10.1f}{ordered:9.2f}"
            f"{prepared:9.2f}{indexed:8.2f}{most['owner']:8.1f}{most['operand_paths']:8.1f}{most['accesses_of']:9.1f}{peak:7.2f}"
            f"{'  MISSED' if slow else ''}"
        )
    print(
        f"targets: every answer within {QUERY_MS:g} ms, totals of {COUNTED_PER_S / 1e6:g} million accesses per second"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
