"""The passes of a measurement as generators: warming up, the cold pass and the hot pass."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from gemmviz.backends.base import Prepared
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import SampleStats, StopReason
from gemmviz.bench.stats import summarise

REPORT_S = 0.05
"""The interval at which a measurement can be shown or cancelled."""
# With a CPU sample of this length, reading the clock (below a microsecond) costs less than 0.1%, and interrupts average
# out.
_CPU_SAMPLE_S = 5e-3
# The same for a GPU's events, with a resolution of half a microsecond, and for the gap before the first launch.
_HOT_SAMPLE_S = 10e-3
# The hot pass does not wait for a small spread: it takes at most this share of the time limit.
_HOT_SHARE = 0.2


@dataclass(frozen=True)
class Samples:
    """New samples: seconds per launch, the GFLOPS of the median of all samples, and the share of the pass (0 to 1)."""

    label: str
    seconds: list[float]
    gflops: float
    share: float


@dataclass
class Cold:
    """The cold samples of one kernel, over all rounds.

    Attributes
    ----------
    label, flops
        The kernel, and the floating-point operations of one launch.
    seconds
        Seconds per launch.
    spent_s
        The duration of sampling, including the clearing of the cache.
    stop
        Why the last round stopped: ``"steady"``, ``"timeout"``, or ``"slow"`` if one sample is enough because a launch
        takes so long.
    """

    label: str
    flops: int
    seconds: list[float] = field(default_factory=list)
    spent_s: float = 0.0
    stop: StopReason | None = None

    def round(self, prepared: Prepared, batch: int, protocol: Protocol, part: float) -> Iterator[Samples]:
        """Take samples until this round's part of the stop rule is met.

        Parameters
        ----------
        prepared
            The kernel, after warming up.
        batch
            Launches per sample.
        protocol
            The stop rule of all rounds together.
        part
            The share of the stop rule to reach: 1/3 in the first of three rounds.
        """
        before, fresh = self.spent_s, list[float]()
        started = reported = time.perf_counter()
        self.stop = None
        while not self.stop:
            sample = prepared.sample(batch, True)
            self.seconds.append(sample)
            fresh.append(sample)
            now = time.perf_counter()
            self.spent_s = before + now - started
            if sample > protocol.slow_s:
                self.stop = "slow"
            elif now - reported >= REPORT_S:
                stats = summarise(self.seconds)
                yield self._report(fresh, stats, protocol, part)
                fresh, reported = [], time.perf_counter()
                enough = len(self.seconds) >= protocol.min_samples * part and self.spent_s >= protocol.min_time_s * part
                if enough and stats["iqr_rel"] < protocol.target_iqr:
                    self.stop = "steady"
            if not self.stop and self.spent_s > protocol.timeout_s * part:
                self.stop = "timeout"
        if fresh:
            yield self._report(fresh, summarise(self.seconds), protocol, part)

    def _report(self, fresh: list[float], stats: SampleStats, protocol: Protocol, part: float) -> Samples:
        if self.stop == "slow":
            return Samples(self.label, fresh, self.flops / stats["median"] / 1e9, 1.0)
        samples, seconds = protocol.min_samples * part, protocol.min_time_s * part
        share = min(len(self.seconds) / max(samples, 1), self.spent_s / max(seconds, 1e-9), 1.0)
        return Samples(self.label, fresh, self.flops / stats["median"] / 1e9, share)


def warm_up(prepared: Prepared, protocol: Protocol) -> Iterator[float]:
    """Launch until the kernel is warm; yield the seconds of the fastest launch up to now, regularly and at the end."""
    started = reported = now = time.perf_counter()
    launches, fastest = 0, float("inf")
    while launches < protocol.warmup_launches or now - started < protocol.warmup_s:
        fastest = min(fastest, prepared.sample(1, False))
        launches += 1
        now = time.perf_counter()
        if now - started > protocol.timeout_s / 5 / protocol.rounds:  # a slow kernel is warm after a few launches
            break
        if now - reported > REPORT_S:
            yield fastest
            reported = now
    yield fastest


def cpu_batch(seconds: float) -> int:
    """Return the number of launches, each of so many seconds, for one sample on a CPU."""
    return max(1, ceil(_CPU_SAMPLE_S / max(seconds, 1e-9)))


@dataclass
class Hot:
    """The hot pass: batches of launches back to back, with nothing cleared between them.

    Attributes
    ----------
    batch
        Launches per sample.
    seconds
        Seconds per launch.
    """

    batch: int = 1
    seconds: list[float] = field(default_factory=list)

    def measure(self, prepared: Prepared, protocol: Protocol) -> Iterator[None]:
        """Find the batch and take samples; yield regularly between them."""
        while (sample := prepared.sample(self.batch, False)) * self.batch < _HOT_SAMPLE_S:
            # At most a hundredfold: the first launch of a batch is not a good estimate for the next ones.
            grown = ceil(1.1 * _HOT_SAMPLE_S / max(sample, 1e-9))
            self.batch = min(max(grown, self.batch + 1), 100 * self.batch)
            yield
        started = reported = now = time.perf_counter()
        while not self._enough(now - started, protocol):
            self.seconds.append(prepared.sample(self.batch, False))
            now = time.perf_counter()
            if now - reported > REPORT_S:
                yield
                reported = now

    def _enough(self, spent: float, protocol: Protocol) -> bool:
        if spent > protocol.timeout_s * _HOT_SHARE:
            return True
        return bool(self.seconds) and len(self.seconds) >= protocol.min_samples and spent >= protocol.min_time_s
