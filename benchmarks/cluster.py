"""What a night of measuring takes on 1 to 1000 GPUs, and where the scheduler of a cluster becomes the limit.

``python benchmarks/cluster.py`` measures how much processor time a scheduler on this machine needs per piece, per byte
and per report, and simulates a ladder of 60 kernels x 16 sizes x 40 parameters with these figures. The durations of the
pieces are assumed (see `_TRIAL_S`), not measured. ``--pieces N`` measures with fewer pieces.
"""

import argparse
import heapq
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KERNELS, SIZES, PARAMETERS = 60, 16, 40
GPUS = (1, 10, 100, 1000)
# Assumed: compiling, verifying and timing one combination of parameters, and the start of an engine's process.
_TRIAL_S, _SPREAD, _START_S = 2.5, 0.5, 3.0
# A row with 2000 samples has about this size; a sentence about progress is short.
_ROW_BYTES, _NOTE_BYTES = 20_000, 200


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pieces", type=int, default=400, help="pieces to measure with (default 400)")
    pieces = parser.parse_args().pieces
    per_piece, per_row, per_note = measured(pieces)
    print(f"measured here, scheduler's processor time: {per_piece * 1e3:.2f} ms per piece, {per_row * 1e3:.2f} ms per")
    print(f"row of {_ROW_BYTES:,} bytes, {per_note * 1e3:.2f} ms per sentence about progress")
    print(
        "one piece is           pieces   scheduler s  " + "  ".join(f"{count:>5} GPUs" for count in GPUS) + "   limit"
    )
    for name, count, trials, rows in (
        ("a combination", KERNELS * SIZES * PARAMETERS, 1, 1),
        ("a kernel at a size", KERNELS * SIZES, PARAMETERS, PARAMETERS),
        ("all kernels at a size", SIZES, KERNELS * PARAMETERS, KERNELS * PARAMETERS),
    ):
        cost = per_piece + rows * per_row
        mean_s = trials * _TRIAL_S + _START_S
        times = [simulated(count, trials, gpus, cost) for gpus in GPUS]
        # With more GPUs than this, the scheduler cannot start and end pieces as fast as the GPUs finish them.
        limit = mean_s / cost
        cells = "  ".join(f"{seconds / 3600:8.2f} h" for seconds in times)
        print(f"{name:21} {count:7,} {count * cost:12.1f}   {cells}  {limit:7,.0f} GPUs")


def simulated(count: int, trials: int, gpus: int, cost: float, seed: int = 1) -> float:
    """Return the seconds until the last piece has ended.

    Each GPU takes the next piece when it is free. The scheduler does one thing at a time: it needs `cost` seconds for
    each piece, half of them before the piece starts and half after it.
    """
    chance = random.Random(seed)
    free = [0.0] * gpus
    scheduler = 0.0
    ended: list[float] = []
    for _ in range(count):
        at = heapq.heappop(free)
        scheduler = max(scheduler, at) + cost / 2
        duration = _START_S + trials * _TRIAL_S * chance.lognormvariate(-(_SPREAD**2) / 2, _SPREAD)
        heapq.heappush(free, scheduler + duration + cost / 2)
        ended.append(scheduler + duration + cost / 2)
    return max(ended)


def measured(pieces: int) -> tuple[float, float, float]:
    """Return the scheduler's processor time, in seconds: per piece, per row, and per sentence about progress."""
    from distributed import Client

    with scheduler() as (address, pid), Client(address, set_as_default=False) as client:
        # As many bytes as 60 kernels that are sent by name.
        body = bytes(KERNELS * 150)
        whole = [_spent(client, pid, pieces, body, reports, size) for reports, size in _LOADS]
    per_piece = whole[0] / pieces
    per_row, per_note = (
        max((spent - whole[0]) / (pieces * reports), 0.0)
        for spent, (reports, _) in zip(whole[1:], _LOADS[1:], strict=True)
    )
    return per_piece, per_row, per_note


_LOADS = ((0, 0), (10, _ROW_BYTES), (10, _NOTE_BYTES))


def _spent(client: Any, pid: int, pieces: int, body: bytes, reports: int, size: int) -> float:
    """Return the processor time that the scheduler's process takes for some pieces."""
    arrived: list[Any] = []
    topic = f"benchmark-{reports}-{size}"
    client.subscribe_topic(topic, arrived.append)
    before = _cpu_s(pid)
    futures = [
        client.submit(_piece, body, topic, reports, size, pure=False, key=f"{topic}-{number}")
        for number in range(pieces)
    ]
    client.gather(futures)
    spent = _cpu_s(pid) - before
    client.unsubscribe_topic(topic)
    return spent


def _piece(body: bytes, topic: str, reports: int, size: int) -> int:
    from distributed import get_worker

    for _ in range(reports):
        get_worker().log_event(topic, bytes(size))
    return len(body)


@contextmanager
def scheduler() -> Iterator[tuple[str, int]]:
    """Run a scheduler with two workers; provide its address and the id of its process."""
    command = [sys.executable, "-m", "gemmviz", "cluster", "local", "--port", "0", "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split(";")[0].split()[-1], process.pid
    finally:
        process.terminate()
        process.wait()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
