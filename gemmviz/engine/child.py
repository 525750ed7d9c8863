"""The engine's process: compiles, records and times; everything in it may crash without harm to its parent.

The main thread serves one request after another. A second thread reads the pipe at the same time: it receives
cancellations, and ends the process when the parent has ended, even if the main thread is in an endless kernel.
"""

import errno
import os
import queue
import signal
import tempfile
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import get_args

from gemmviz.catalogue.errors import (
    BuildError,
    FrontMatterError,
    GemmvizError,
    KernelFault,
    KernelTimeout,
    Unavailable,
)
from gemmviz.engine import framing
from gemmviz.engine.messages import (
    AssembleRequest,
    BenchRequest,
    Cancel,
    Checked,
    CheckRequest,
    Counted,
    CountRequest,
    Done,
    Failed,
    Probed,
    ProbeRequest,
    Profiled,
    ProfileRequest,
    Progress,
    Recorded,
    RecordRequest,
    Reply,
    Request,
    TuneRequest,
)
from gemmviz.engine.setting import Setting
from gemmviz.language import set_language, tr
from gemmviz.language.numbers import thousands
from gemmviz.sandbox import confined, heap, processes, scratch

Send = Callable[[Reply], None]
# A search for defects in this many accesses takes a second or two: a recording must not be delayed longer.
_MOST_CHECKED_ALONG = 2_000_000


def main(connection: Connection, setting: Setting) -> None:
    """Serve requests until the parent closes the pipe. Called by `gemmviz.engine.start.main`.

    Parameters
    ----------
    connection
        This process's end of the pipe.
    setting
        The start conditions of the process.
    """
    # A kernel's printf must not write to the parent's standard output.
    _redirect_output()
    inbox: queue.SimpleQueue[tuple[Request, threading.Event]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, inbox, setting.scratch), name="reader", daemon=True).start()
    if setting.records:
        _import_for_recording()
        confined.start(setting.scratch, setting.limits)
    while True:
        request, cancel = _next(inbox)
        for_good = _serve(request, cancel, lambda reply: framing.send(connection.fileno(), reply), setting)
        if for_good:
            os._exit(0)


def _next(inbox: "queue.SimpleQueue[tuple[Request, threading.Event]]") -> tuple[Request, threading.Event]:
    try:
        return inbox.get(timeout=heap.IDLE_S)
    except queue.Empty:
        heap.collect()
        return inbox.get()


def _redirect_output() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error either, for example if a desktop starts the window
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


def _read(
    connection: Connection, inbox: "queue.SimpleQueue[tuple[Request, threading.Event]]", own_folder: Path
) -> None:
    receiver = framing.Receiver(connection.fileno(), (*get_args(Request), Cancel))
    cancels: dict[int, threading.Event] = {}
    while True:
        try:
            message = receiver.receive(None)
        except (EOFError, OSError, framing.NotAMessage):
            # First the child processes: those that a kernel started may be outside our group.
            processes.end_descendants()
            scratch.remove(own_folder)
            os.killpg(0, signal.SIGKILL)
        if isinstance(message, Cancel):
            if message.run in cancels:
                cancels[message.run].set()
        elif isinstance(message, Request):
            cancels = {message.run: threading.Event()}
            inbox.put((message, cancels[message.run]))


def _serve(request: Request, cancel: threading.Event, send: Send, setting: Setting) -> bool:
    """Answer one request; return True if this process must end, because a kernel may have broken it."""
    set_language(request.language)
    try:
        _import_for(request)
        # After the imports, so that its processes need not repeat them, and before CUDA is used.
        confined.start(setting.scratch, setting.limits)
        match request:  # late imports: see `_import_for`
            case BenchRequest():
                from gemmviz.engine.benching import bench  # late: an engine that records needs none of these

                return bench(request, cancel, send)
            case TuneRequest():
                from gemmviz.engine.tuning import tune

                return tune(request, cancel, send)
            case RecordRequest():
                _record(request, send)
            case CheckRequest():
                _check(request, cancel, send)
            case ProfileRequest():
                _profile(request, send)
            case CountRequest():
                _count(request, send)
            case AssembleRequest():
                from gemmviz.engine.assembling import assemble

                assemble(request, send)
            case ProbeRequest():
                from gemmviz.backends.machine import gather

                send(Probed(request.run, gather()))
    except BrokenPipeError:
        os._exit(1)
    except KernelFault as error:
        kind = "timeout" if isinstance(error, KernelTimeout) else "crash"
        send(Failed(request.run, kind, str(error), error.line, error.defect, error.array))
        return True
    except BuildError as error:
        send(Failed(request.run, "compile", str(error), error.line))
    except FrontMatterError as error:
        send(Failed(request.run, "refused", str(error), error.line))
    except Unavailable as error:
        send(Failed(request.run, "unsupported", str(error)))
    except GemmvizError as error:
        send(Failed(request.run, "refused", str(error)))
    except MemoryError:
        send(Failed(request.run, "oom", tr("this does not fit in memory; choose a smaller size")))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = error.filename or tempfile.gettempdir()
            send(Failed(request.run, "unsupported", tr("there is no room left to write {file}", file=where)))
        else:
            send(Failed(request.run, "internal", _where(error)))
    return False


def _import_for(request: Request) -> None:
    """Import the modules that a request needs: a recording does not import those for measuring, and vice versa."""
    match request:
        case BenchRequest() | TuneRequest():
            import gemmviz.engine.tuning
        case RecordRequest():
            _import_for_recording()
        case CheckRequest():
            import gemmviz.checking.examine
        case AssembleRequest():
            import gemmviz.engine.assembling
        case ProbeRequest():
            import gemmviz.backends.machine  # noqa: F401


def _import_for_recording() -> None:
    # numpy.unique imports numpy.ma at its first call, and the first inputs import numpy.random. Before the warden is
    # forked that is faster: no page must be copied.
    import numpy.ma
    import numpy.random  # noqa: F401

    import gemmviz.trace.cost.traffic
    import gemmviz.trace.hazards.defects
    import gemmviz.trace.order.timeline
    import gemmviz.trace.recording.record  # noqa: F401


def _record(request: RecordRequest, send: Send) -> None:
    # Late: see `_import_for`.
    from gemmviz.catalogue.launch import launch
    from gemmviz.catalogue.problem import Problem
    from gemmviz.engine.launched import requested
    from gemmviz.trace import hazards
    from gemmviz.trace.cost import traffic
    from gemmviz.trace.order import timeline
    from gemmviz.trace.recording.record import TOTALS_BYTES, record, room

    concrete = launch(requested(request), Problem(request.m, request.n, request.k), request.params)

    def progress(text: str, within_s: float | None) -> None:
        send(Progress(request.run, text, deadline_s=within_s))

    sends_accesses = request.order not in ("totals", "verdict")
    most = room() if sends_accesses else room(TOTALS_BYTES)
    recording = record(
        concrete,
        deadline_s=request.deadline_s,
        progress=progress,
        blocks=request.blocks,
        capacity=most if request.capacity is None else min(most, request.capacity),
        as_written=request.as_written,
        random=request.random,
    )
    if request.order == "verdict":
        send(Recorded(request.run, recording.without_accesses()))
        return
    progress(tr("Ordering {count} accesses", count=thousands(len(recording.accesses))), None)
    order = None
    if request.order in ("grid", "block"):
        order = timeline.build(recording, "block" if request.order == "block" else "grid")
    counted = traffic.measure(recording, order)
    found = None
    if not sends_accesses:
        recording = recording.without_accesses()
    elif len(recording.accesses) <= _MOST_CHECKED_ALONG:
        found = hazards.find(recording, c_is_input=concrete.kernel.reads_result)
    send(Recorded(request.run, recording, order, counted, found))


def _check(request: CheckRequest, cancel: threading.Event, send: Send) -> None:
    # Late: see `_import_for`.
    from gemmviz.catalogue.launch import launch
    from gemmviz.catalogue.problem import Problem
    from gemmviz.checking.examine import examine
    from gemmviz.checking.fault_reason import blame_locals
    from gemmviz.engine.launched import requested

    kernel = requested(request)
    for number, entry in enumerate(request.launches):
        if cancel.is_set():
            send(Failed(request.run, "cancelled", tr("cancelled")))
            return
        job = request.first + number
        share = number / len(request.launches)

        def progress(text: str, within_s: float | None, job: int = job, share: float = share) -> None:
            send(Progress(request.run, text, share, within_s, job))

        problem = Problem(entry["m"], entry["n"], entry["k"])
        progress(tr("Preparing {kernel} at {size}", kernel=kernel.name, size=problem), None)
        if request.watches:
            blame_locals(launch(kernel, problem, entry["params"]), deadline_s=request.deadline_s, progress=progress)
            continue
        report = examine(kernel, problem, entry["params"], deadline_s=request.deadline_s, progress=progress)
        send(Checked(request.run, report, job))
    send(Done(request.run))


def _profile(request: ProfileRequest, send: Send) -> None:
    # Late: see `_import_for`.
    from gemmviz.proving import ncu, profiling
    from gemmviz.proving.jobs import Job

    def progress(text: str) -> None:
        send(Progress(request.run, text))

    jobs = [Job.from_plain(plain) for plain in request.launches]
    send(Profiled(request.run, profiling.profile(jobs, ncu.tool(), progress)))


def _count(request: CountRequest, send: Send) -> None:
    # Late: see `_import_for`.
    from gemmviz.proving import ncu, proofs, proving
    from gemmviz.proving.jobs import Job

    def progress(text: str) -> None:
        send(Progress(request.run, text))

    launches = [Job.from_plain(plain).launch() for plain in request.launches]
    machine, found = proving.counted(launches, ncu.tool(), progress)
    send(Counted(request.run, proofs.document(machine, found)))


def _where(error: Exception) -> str:
    """Return the error with the place where it was raised: it is a defect of gemmviz that users can report."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{place}"
