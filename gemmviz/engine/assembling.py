"""The engine's part of a request for machine code."""

from collections.abc import Callable

from gemmviz.assembly import assemble as assembly
from gemmviz.backends.compiler import BUILD_TIMEOUT_S
from gemmviz.backends.driver import driver
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.launched import requested
from gemmviz.engine.messages import Assembled, AssembleRequest, Progress, Reply


def assemble(request: AssembleRequest, send: Callable[[Reply], None]) -> None:
    """Compile and disassemble a kernel, and send its listing.

    Raises
    ------
    GemmvizError
        As `gemmviz.assembly.assemble.assemble` does.
    """
    problem = Problem(request.m, request.n, request.k)
    concrete = launch(requested(request), problem, request.params)
    device = driver().device

    def progress(text: str) -> None:
        send(Progress(request.run, text, deadline_s=BUILD_TIMEOUT_S))

    listing = assembly.assemble(concrete, request.architecture, device.cc if device else "", progress)
    send(Assembled(request.run, listing))
