"""Measures the copies of the matrices to the device and back: a separate row, as they do not belong to a kernel."""

import time
from collections.abc import Generator, Iterator
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from gemmviz.backends.base import Trip
from gemmviz.bench import quality_flags, results
from gemmviz.bench.measure import Bench, MeasureStep, blame
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row, StopReason
from gemmviz.bench.stats import summarise
from gemmviz.bench.timing import REPORT_S
from gemmviz.catalogue.dtypes import ElementType, sums_of
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

NAME: Final = "transfer"
LABEL = mark("host to device and back")
_LONGEST_S: Final = 2.0  # the spread is the host's: on two H200s it stayed above 1% after 10 s, too


def new_row(problem: Problem, dtype: ElementType, dtype_out: ElementType) -> Row:
    """Return the row of a transfer that has not been measured.

    Parameters
    ----------
    problem
        The size of A, B and C.
    dtype, dtype_out
        NumPy names of the element types of A and B, and of C.
    """
    # Every row has a kernel's keys; those of a source stay empty.
    nobody = Kernel(
        NAME, Path(NAME), "", "cuda", LABEL, alias=NAME, entry=LABEL, dtype=dtype, accumulate=sums_of(dtype_out)
    )
    row = results.new_row(nobody, problem, {})
    row |= {"backend": NAME, "source_sha256": None, "edited": False}
    return row


def measure(
    problem: Problem, dtype: ElementType, dtype_out: ElementType, bench: Bench
) -> Generator[MeasureStep | Row, None, None]:
    """Measure a transfer; yields `Stage` records, and the row at the end unless there is no device to copy to.

    Parameters
    ----------
    problem, dtype, dtype_out
        As for `new_row`.
    bench
        The common part of the run, with its rules and backends.
    """
    row = new_row(problem, dtype, dtype_out)
    deadline_s = bench.protocol.deadline_s
    yield MeasureStep(tr("{kernel}: preparing", kernel=tr(LABEL)), 0.0)
    try:
        backend = bench.find("cuda")
        trip = backend.trip(problem, dtype, dtype_out)
    except Unavailable:
        return
    except Exception as error:
        results.fail(row, *blame(error, problem))
        yield row
        return
    ways: list[tuple[float, float]] = []
    stop: StopReason | None = None
    try:
        yield MeasureStep(tr("{kernel}: timing", kernel=tr(LABEL)), 0.1, deadline_s)
        trip.go()  # the first copy includes the allocation of the host's pages
        with backend.watch() as seen:
            for why in _trips(trip, bench.protocol, ways):
                stop = why
                yield MeasureStep(tr("{kernel}: timing", kernel=tr(LABEL)), 0.5, deadline_s)
        _describe(row, ways, stop)
        quality_flags.judge(row, contended=seen.contended)
    except Exception as error:
        results.fail(row, *blame(error, problem))
    finally:
        trip.close()
    yield row


def _trips(trip: Trip, protocol: Protocol, ways: list[tuple[float, float]]) -> Iterator[StopReason | None]:
    """Append the seconds of both directions of each trip; yield None regularly, and at the end the stop reason."""
    started = reported = time.perf_counter()
    longest_s = min(protocol.timeout_s, _LONGEST_S)
    stop: StopReason | None = None
    while not stop:
        ways.append(trip.go())
        now = time.perf_counter()
        elapsed = now - started
        if now - reported < REPORT_S and elapsed <= longest_s:
            continue
        reported = now
        if len(ways) >= protocol.min_samples and elapsed >= protocol.min_time_s:
            steady = summarise([there + back for there, back in ways])["iqr_rel"] < protocol.target_iqr
            stop = "steady" if steady else None
        if not stop and elapsed > longest_s:
            stop = "timeout"
        yield stop


def _describe(row: Row, ways: list[tuple[float, float]], stop: StopReason | None) -> None:
    totals = [there + back for there, back in ways]
    stats = summarise(totals)
    m, n, k = row["M"], row["N"], row["K"]
    moved = np.dtype(row["dtype_in"]).itemsize * (m * k + k * n) + np.dtype(row["dtype_acc"]).itemsize * m * n
    row |= {
        "status": "ok",
        "samples_s": [float(f"{s:.6g}") for s in totals],
        "stats": stats,
        "stop_reason": stop,
        "gbps": moved / stats["median"] / 1e9,
        "transfer": {
            "to_device_s": median(there for there, _ in ways),
            "to_host_s": median(back for _, back in ways),
        },
    }
