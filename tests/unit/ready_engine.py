"""The questions that each engine asks once, and what makes its measurements short; for `forked_engines`."""

from contextlib import suppress
from pathlib import Path

from gemmviz.backends import toolchain
from gemmviz.bench import timing
from gemmviz.catalogue.errors import Unavailable
from gemmviz.sandbox import rules

# A pass of a measurement ends at the earliest when it is reported.
timing.REPORT_S = 0.01

rules.compiling(Path("/nowhere"), [], [], [Path("/nowhere/cc")])
with suppress(Unavailable):
    toolchain.compiler()
