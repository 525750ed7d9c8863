"""The state of the machine while a kernel is timed: clocks, power and temperature, and other load on the cores."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.sandbox import confined

# On an idle machine the threads of a kernel wait for a core less than a hundredth of the time.
_CONTENDED_SHARE = 0.05
_PROC = Path("/proc")
# About half a millisecond each, in the first-level cache: the time depends on the clock alone.
_NUMBERS, _LOOPS = range(20_000), 9


@dataclass
class Observed:
    """The observations during a timing; complete when it has ended.

    Attributes
    ----------
    telemetry
        Whether the GPU's sensors could be read.
    sm_mhz, power_w, temp_c
        One value per reading, in MHz, W and degrees Celsius; a missing sensor gives none.
    energy_j
        Energy that the GPU used; only for timings of a second or more, because its counter is slow.
    throttle
        The reasons for a reduced clock, by NVML's names.
    contended
        Whether another process used the GPU, or made this process's threads wait for a core.
    pace
        The number of runs per second of a fixed loop on the CPU, before and after the timing: it follows the clock.
        Empty for a GPU.
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
    """Watch how long the threads of this process, and of one that runs a kernel for it, waited for a core."""
    observed = Observed(pace=[_pace()])
    started, waited = time.perf_counter(), _waited_s() + _stolen_s()
    yield observed
    elapsed = time.perf_counter() - started
    observed.contended = (_waited_s() + _stolen_s() - waited) > _CONTENDED_SHARE * elapsed
    observed.pace.append(_pace())


def _pace() -> float:
    """Return the runs per second of a loop of integer sums: the fastest of several, as interrupts slow some of them."""
    seconds = []
    for _ in range(_LOOPS):
        started = time.perf_counter()
        sum(_NUMBERS)
        seconds.append(time.perf_counter() - started)
    return 1 / min(seconds)


def _waited_s() -> float:
    """Return the seconds in which these threads were ready to run, but did not run."""
    total = 0
    of = ("self", *map(str, confined.running()))
    for task in (task for process in of for task in (_PROC / process / "task").glob("*/schedstat")):
        try:
            total += int(task.read_text(encoding="ascii").split()[1])
        except (OSError, IndexError, ValueError):  # the thread has ended, or this kernel does not count
            continue
    return total / 1e9


def _stolen_s() -> float:
    """Return the seconds that a virtual machine's host gave to other machines."""
    try:
        first = (_PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0]
        return int(first.split()[8]) / float(os.sysconf("SC_CLK_TCK"))
    except (OSError, IndexError, ValueError):
        return 0.0
