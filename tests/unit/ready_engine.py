"""The questions that each engine asks once, and what makes its measurements short; for `forked_engines`."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gemmviz.backends import toolchain
from gemmviz.bench import timing
from gemmviz.catalogue.errors import Unavailable
from gemmviz.engine import tuning
from gemmviz.sandbox import rules

# A pass of a measurement ends at the earliest when it is reported.
timing.REPORT_S = 0.01
# Three samples of each round are enough to tell parameters apart that differ by a lot.
tuning.PROTOCOL = replace(
    tuning.PROTOCOL, warmup_launches=1, warmup_s=0, min_samples=3 * tuning.PROTOCOL.rounds, min_time_s=0, target_iqr=10
)

rules.compiling(Path("/nowhere"), [], [], [Path("/nowhere/cc")])
with suppress(Unavailable):
    toolchain.compiler()
