"""Tries a kernel in a child process: checks that C is right and that the kernel stays within its arrays."""

import itertools
import re
import threading
from collections.abc import Callable

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import AssembleRequest, Failed, Recorded, RecordRequest
from gemmviz.engine.other_results import factor_of, other_result, whole_result
from gemmviz.engine.readings import readings
from gemmviz.engine.rounding import rounding_fault
from gemmviz.engine.supervisor import Engine
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.untrusted import checked_recording

_DEADLINE_S = 15.0
# A kernel that it refuses is refused for older ones, too.
_NEWEST_ARCHITECTURE = "sm_90a"
_OF_ORDER = ("barrier divergence", "race")
_MISSES = ("out of bounds", "misaligned vector access")


def trier(engine: Engine, cancel: threading.Event, *, random: bool = False) -> Callable[[Kernel, Problem], Verdict]:
    """Return a function that records a kernel at a size and returns its verdict: an empty text if there is no fault.

    Parameters
    ----------
    engine
        Its process records the kernel, and may crash.
    cancel
        Set it from another thread to stop.
    random
        Whether A and B are random numbers: then only the error of C is judged, by a bound of rounding errors.

    Returns
    -------
    Callable
        It raises `BuildError`, with the line, where the kernel's own code does not compile.
    """
    runs = itertools.count(1)

    def try_one(kernel: Kernel, problem: Problem) -> Verdict:
        request = RecordRequest(
            next(runs),
            **launched(kernel, problem),
            params=kernel.defaults,
            order="verdict",
            deadline_s=_DEADLINE_S,
            random=random,
        )
        for reply in engine.run(request, cancel):
            if isinstance(reply, Recorded) and random:
                recording = checked_recording(reply.recording)
                return Verdict.of(rounding_fault(kernel, recording), ended=True, computes=whole_result(recording))
            if isinstance(reply, Recorded):
                return _verdict(checked_recording(reply.recording), kernel)
            if isinstance(reply, Failed):
                message, above = _on_file(reply.message, kernel), front_matter_lines(kernel)
                if reply.kind == "compile" and (reply.line or 0) > above:
                    raise BuildError(message, (reply.line or 0) - above)
                crashed = reply.kind in ("crash", "timeout")
                misses, refused = reply.defect in _MISSES, reply.kind == "refused"
                asserted = reply.defect == "false assertion"
                faulty = reply.kind == "crash" and not asserted
                return Verdict.of(
                    message, crashed=crashed, misses=misses, refused=refused, asserted=asserted, faulty=faulty
                )
        return Verdict(tr("the engine ended without an answer"))

    return try_one


def device_trier(engine: Engine, cancel: threading.Event) -> Callable[[Kernel, Problem], BuildError | None]:
    """Return a function that compiles a kernel for the GPU, and returns the compiler's error with the file's own line.

    It returns None if the compiler takes the kernel, or if there is none. It needs no GPU.

    Parameters
    ----------
    engine, cancel
        As for `trier`.
    """
    runs = itertools.count(1)

    def try_device(kernel: Kernel, problem: Problem) -> BuildError | None:
        request = AssembleRequest(
            next(runs),
            **launched(kernel, problem),
            params=kernel.defaults,
            architecture=_NEWEST_ARCHITECTURE,
        )
        for reply in engine.run(request, cancel):
            if isinstance(reply, Failed) and reply.kind == "compile":
                above = front_matter_lines(kernel)
                return BuildError(_on_file(reply.message, kernel), (reply.line or 0) - above)
        return None

    return try_device


def _verdict(recording: Recording, kernel: Kernel) -> Verdict:
    # Threads that do not wait for each other are a defect of the code, which hardware may survive; the launch is right.
    faults = [found for found in recording.diagnostics if found.kind not in _OF_ORDER or recording.wrong]
    plain = not kernel.epilogue and not kernel.has_d and not kernel.has_bias
    if faults and all(found.kind in _OF_ORDER for found in faults):
        # C may be wrong for another reason: then it is right when the matrices are read another way.
        shown = readings(recording, kernel.column_major) if plain else ()
        return Verdict.of(_on_file(faults[0].text, kernel), readings=shown, comparable=bool(shown))
    if faults:
        reads = all(one.kind == "out of bounds" and not one.writes for one in faults)
        if not reads or not recording.wrong:
            misses = plain and any(one.kind in _MISSES for one in faults) and not reads
            return Verdict.of(_on_file(faults[0].text, kernel), only_reads=reads, misses=misses)
        found = readings(recording, kernel.column_major) if plain else ()
        return Verdict.of(_on_file(faults[0].text, kernel), readings=found, ended=plain)
    if recording.wrong:
        wrong, every = thousands(recording.wrong), thousands(recording.m * recording.n)
        text = trn(
            "{count} of {all} elements of C is wrong",
            "{count} of {all} elements of C are wrong",
            recording.wrong,
            count=wrong,
            all=every,
        )
        found = readings(recording, kernel.column_major) if plain else ()
        computes = other_result(recording) if plain and not found else ""
        factor = factor_of(recording) if plain and not found and not computes else 0.0
        return Verdict.of(text, readings=found, comparable=plain, computes=computes, factor=factor)
    return Verdict()


def _on_file(message: str, kernel: Kernel) -> str:
    """Return a message with the lines of the file on disk: it does not have the front matter above its code yet."""
    above = front_matter_lines(kernel)

    def counted(found: re.Match[str]) -> str:
        return f"{found[1]}{max(int(found[2]) - above, 1)}"

    return re.sub(rf"(\b{re.escape(kernel.path.name)}:)(\d+)", counted, message)


def front_matter_lines(kernel: Kernel) -> int:
    """Return the last line of the front matter: a later line is one of the source itself.

    Parameters
    ----------
    kernel
        A kernel whose file may not have the front matter yet.
    """
    lines = kernel.text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.replace(" ", "").startswith("//---gemmviz")), 0)
    return next((i + 1 for i, line in enumerate(lines) if i > start and line.replace(" ", "") == "//---"), 0)
