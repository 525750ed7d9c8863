"""Tries a kernel in a child process: checks that C is right and that the kernel stays within its arrays."""

import itertools
import threading
from collections.abc import Callable

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Failed, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.language import tr, trn
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.untrusted import recording_of

_DEADLINE_S = 10.0


def trier(engine: Engine, cancel: threading.Event) -> Callable[[Kernel, Problem], str]:
    """Return a function that records a kernel at a size and returns the fault as text; empty if there is none.

    Parameters
    ----------
    engine
        Its process records the kernel, and may crash.
    cancel
        Set it from another thread to stop.
    """
    runs = itertools.count(1)

    def try_one(kernel: Kernel, problem: Problem) -> str:
        request = RecordRequest(
            next(runs),
            str(kernel.path),
            kernel.text,
            problem.m,
            problem.n,
            problem.k,
            kernel.defaults,
            order="verdict",
            deadline_s=_DEADLINE_S,
        )
        for reply in engine.run(request, cancel):
            if isinstance(reply, Recorded):
                return _verdict(recording_of(reply.recording))
            if isinstance(reply, Failed):
                if reply.kind == "compile" and (reply.line or 0) > _front_matter_lines(kernel):
                    raise BuildError(reply.message, reply.line)
                return reply.message
        return tr("the engine ended without an answer")

    return try_one


def _verdict(recording: Recording) -> str:
    # Threads that wait at different barriers are a defect of the code, but the launch is right.
    faults = [found.text for found in recording.diagnostics if found.kind != "barrier divergence" or recording.wrong]
    if faults:
        return faults[0]
    if recording.wrong:
        wrong, every = f"{recording.wrong:,}", f"{recording.m * recording.n:,}"
        return trn(
            "{count} of {all} elements of C is wrong",
            "{count} of {all} elements of C are wrong",
            recording.wrong,
            count=wrong,
            all=every,
        )
    return ""


def _front_matter_lines(kernel: Kernel) -> int:
    """Return the last line of the front matter: a compiler's message about a later line is about the source itself."""
    lines = kernel.text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.replace(" ", "").startswith("//---gemmviz")), 0)
    return next((i + 1 for i, line in enumerate(lines) if i > start and line.replace(" ", "") == "//---"), 0)
