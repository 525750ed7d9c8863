"""The questions that each engine asks once; imported by the process that forks engines: see `forked_engines`."""

from contextlib import suppress

from gemmviz.backends import toolchain
from gemmviz.catalogue.errors import Unavailable

with suppress(Unavailable):
    toolchain.compiler()
