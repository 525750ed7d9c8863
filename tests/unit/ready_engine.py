"""The questions that each engine asks once; imported by the process that forks engines: see `forked_engines`."""

from contextlib import suppress
from pathlib import Path

from gemmviz.backends import toolchain
from gemmviz.catalogue.errors import Unavailable
from gemmviz.sandbox import rules

rules.compiling(Path("/nowhere"), [], [], [Path("/nowhere/cc")])
with suppress(Unavailable):
    toolchain.compiler()
