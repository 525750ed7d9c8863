"""The state of the machine while a kernel is timed: clocks, power and heat, and other load on the cores."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.sandbox import confined

# On an idle machine the threads of a kernel wait for a core during less than a hundredth of the time.
_CONTENDED_SHARE = 0.05
_PROC = Path("/proc")
# About half a millisecond each, in the first-level cache: the clock alone decides.
_NUMBERS, _LOOPS = range(20_000), 9


@dataclass
class Observed:
    """The observations of one stretch of timing; complete once the stretch is over.

    Attributes
    ----------
    telemetry
        Whether the GPU's sensors could be read.
    sm_mhz, power_w, temp_c
        One value per reading, in MHz, W and degrees Celsius; a sensor that the GPU lacks gives none.
    energy_j
        Energy that the GPU took; only from stretches of a second or more, because its counter is slow.
    throttle
        Why the clock was held back, in NVML's words.
    contended
        Whether another process used the GPU, or kept this process's threads waiting for a core.
    pace
        How often per second a fixed loop ran on the CPU, before the stretch and after it: it follows the clock. Empty
        for a GPU.
    """

    telemetry: bool = False
    sm_mhz: list[float] = field(default_factory=list)
    power_w: list[float] = field(default_factory=list)
    temp_c: list[float] = field(default_factory=list)
    energy_j: float | None = None
    throttle: list[str] = field(default_factory=list)
    contended: bool = False
    pace: list[float] = field(default_factory=list)


@contextmanager
def watch_cpu() -> Iterator[Observed]:
    """Watch for how long the threads of this process, and of one that runs a kernel for it, lacked a core."""
    observed = Observed(pace=[_pace()])
    started, waited = time.perf_counter(), _waited_s() + _stolen_s()
    yield observed
    elapsed = time.perf_counter() - started
    observed.contended = (_waited_s() + _stolen_s() - waited) > _CONTENDED_SHARE * elapsed
    observed.pace.append(_pace())


def _pace() -> float:
    """Return how often per second a loop of integer sums runs; the fastest of some, as an interrupt only slows one."""
    seconds = []
    for _ in range(_LOOPS):
        started = time.perf_counter()
        sum(_NUMBERS)
        seconds.append(time.perf_counter() - started)
    return 1 / min(seconds)


def _waited_s() -> float:
    """Return the seconds that these threads have spent ready to run, but not running."""
    total = 0
    of = ("self", *map(str, confined.running()))
    for task in (task for process in of for task in (_PROC / process / "task").glob("*/schedstat")):
        try:
            total += int(task.read_text(encoding="ascii").split()[1])
        except (OSError, IndexError, ValueError):  # the thread has ended, or this kernel does not count
            continue
    return total / 1e9


def _stolen_s() -> float:
    """Return the seconds that a virtual machine's host gave to others."""
    try:
        first = (_PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0]
        return int(first.split()[8]) / float(os.sysconf("SC_CLK_TCK"))
    except (OSError, IndexError, ValueError):
        return 0.0
