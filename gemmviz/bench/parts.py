"""Works on parts of a matrix in several threads: NumPy's loops let other threads work."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gemmviz.backends import machine

CHUNK_ELEMENTS = 1 << 18
"""Elements of a part. They fit in a cache: a comparison reads them ten times."""
# The threads share the memory's bandwidth, and a cluster's workers the processor.
_MOST_THREADS = 8
T = TypeVar("T")


def in_threads(function: Callable[[slice], T], parts: Sequence[slice]) -> list[T]:
    """Return the results of a function for each part, in order."""
    threads = min(_MOST_THREADS, machine.cores(), len(parts))
    if threads < 2:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, parts))
