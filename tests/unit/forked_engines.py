"""Engines that start at once: forked from a process that has imported all their modules, not from a new Python.

A new Python takes half a second of processor time until it has imported an engine's modules; the tests start hundreds.
All else is as in the program: a separate process, confined before any work, with the starter's variables.
"""

import os
from collections.abc import Callable
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from gemmviz.backends import toolchain
from gemmviz.backends.compiler import VARIABLE

# The modules that an engine imports for each kind of request.
_IMPORTED = [
    *("gemmviz.engine.start", "gemmviz.engine.child", "gemmviz.engine.tuning", "gemmviz.backends.machine"),
    *("gemmviz.trace.recording.record", "gemmviz.trace.order.timeline", "gemmviz.trace.cost.traffic"),
    *("gemmviz.trace.hazards", "gemmviz.checking.examine"),
    # NumPy imports these when they are first used.
    *("numpy.ma", "numpy.random"),
    "ready_engine",
]


class ForkedEngines:
    """Replaces the module `multiprocessing` in `gemmviz.engine.process`."""

    def __init__(self) -> None:
        self._context: ForkServerContext = get_context("forkserver")
        self._context.set_forkserver_preload(_IMPORTED)

    def get_context(self, method: str) -> "ForkedEngines":
        """Return the context that starts engines, for any method."""
        assert method == "spawn"
        return self

    def Pipe(self) -> Any:
        """Return both ends of a pipe."""
        return self._context.Pipe()

    def Process(
        self, *, target: Callable[..., None], args: tuple[Any, ...], name: str, daemon: bool
    ) -> ForkServerProcess:
        """Return a process that has this one's variables."""
        _serve()
        return self._context.Process(target=_call, args=(dict(os.environ), target, args), name=name, daemon=daemon)


def _serve() -> None:
    """Start the process that forks engines, if it does not run yet: it has to find `ready_engine`, too."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [before])])
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _call(environment: dict[str, str], target: Callable[..., None], args: tuple[Any, ...]) -> None:
    if environment.get(VARIABLE) != os.environ.get(VARIABLE):
        toolchain.compiler.cache_clear()
    os.environ.clear()
    os.environ.update(environment)
    target(*args)
