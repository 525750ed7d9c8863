"""What the order of a benchmark's pieces brings: simulated, on 2 to 32 GPUs.

``python benchmarks/cluster_order.py`` prints how many times longer a run takes than with perfectly divided work, for
each way to give pieces to workers. The durations are assumed (see `_FIXED_S`), not measured.
"""

import argparse
import heapq
import random
import statistics
from collections.abc import Callable, Sequence

# Twelve kernels at 6144 take 12.4 s together, as measured in one process. The second part changes with N^3.
_FIXED_S, _WORK_S, _WORK_N = 0.6, 0.43, 6144
# How far a piece is from its estimate, which nobody knows before: log-normal.
_SPREAD = 0.3
LADDERS = {
    "12 kernels, 4096 to 6144": ((8, 4), (4096, 5120, 6144)),
    "60 kernels, 512 to 8192": ((36, 24), tuple(range(512, 8193, 512))),
}
"""The numbers of kernels with the same types, and the sizes."""
GPUS = (2, 4, 8, 16, 32)

Piece = tuple[float, float]
"""The estimate, in floating-point operations, and the seconds that it takes."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=500, help="runs to average (default 500)")
    runs = parser.parse_args().runs
    for ladder, (groups, sizes) in LADDERS.items():
        print(f"{ladder}: {len(groups) * len(sizes)} pieces; mean of {runs} runs")
        print(f"{'':32}" + "".join(f"{count:>5} GPUs" for count in GPUS))
        for way, served in WAYS.items():
            ratios = [mean_ratio(served, groups, sizes, gpus, runs) for gpus in GPUS]
            print(f"{way:32}" + "".join(f"{ratio:10.2f}" for ratio in ratios))


def mean_ratio(
    served: Callable[[Sequence[Piece], int], float], groups: Sequence[int], sizes: Sequence[int], gpus: int, runs: int
) -> float:
    """Return the mean time of a run, over that of perfectly divided work."""
    ratios = []
    for seed in range(runs):
        pieces = drawn(groups, sizes, seed)
        ratios.append(served(pieces, gpus) / (sum(seconds for _, seconds in pieces) / gpus))
    return statistics.fmean(ratios)


def drawn(groups: Sequence[int], sizes: Sequence[int], seed: int) -> list[Piece]:
    """Return the pieces of a benchmark in the order of the request: small sizes first."""
    chance = random.Random(seed)
    return [
        (
            2.0 * kernels * size**3,
            kernels * (_FIXED_S + _WORK_S * (size / _WORK_N) ** 3) * chance.lognormvariate(-(_SPREAD**2) / 2, _SPREAD),
        )
        for size in sizes
        for kernels in groups
    ]


def given_at_once(pieces: Sequence[Piece], gpus: int) -> float:
    """Return the seconds of a run in which each worker gets its pieces at the start, one after the other."""
    return max(sum(seconds for _, seconds in pieces[first::gpus]) for first in range(gpus))


def when_free(pieces: Sequence[Piece], gpus: int) -> float:
    """Return the seconds of a run in which each worker gets the next piece when it is free."""
    free = [0.0] * gpus
    for _, seconds in pieces:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def largest_first(pieces: Sequence[Piece], gpus: int) -> float:
    """Return the same if pieces with more operations are given first, as `gemmviz.cluster.line` does."""
    return when_free(sorted(pieces, key=lambda piece: -piece[0]), gpus)


def longest_first(pieces: Sequence[Piece], gpus: int) -> float:
    """Return the same if the durations were known before."""
    return when_free(sorted(pieces, key=lambda piece: -piece[1]), gpus)


def largest_halved(pieces: Sequence[Piece], gpus: int) -> float:
    """Return the same if pieces of more than a fair share of the operations are halved; each half has the reference."""
    share = sum(estimate for estimate, _ in pieces) / gpus
    cut = []
    for estimate, seconds in pieces:
        parts = 2 if estimate > share else 1
        cut += [(estimate / parts, seconds / parts + (_FIXED_S if parts > 1 else 0.0))] * parts
    return largest_first(cut, gpus)


WAYS = {
    "all given at the start": given_at_once,
    "one when free, small sizes first": when_free,
    "one when free, most work first": largest_first,
    "the same, durations known": longest_first,
    "most work first, large ones cut": largest_halved,
}

if __name__ == "__main__":
    main()
