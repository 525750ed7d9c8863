"""What the engine's process does with a bench request."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gemmviz.backends import facts
from gemmviz.backends.base import Backend
from gemmviz.backends.blas import NumpyBackend
from gemmviz.backends.cupy_check import cuda_verdict
from gemmviz.backends.native import NativeBackend
from gemmviz.bench import results
from gemmviz.bench.measure import Finished, Samples, Stage, measure
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.reference import References
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchRequest, Done, Header, Progress, Reply, Result, Sample

_GPU_BACKENDS = ("cuda", "cublas")


class Backends:
    """Makes each backend when it is first asked for: only a CUDA kernel pays for importing CuPy."""

    def __init__(self) -> None:
        self._made: dict[str, Backend] = {}

    def find(self, name: str) -> Backend:
        """Return the backend for ``kernel.backend``.

        Raises
        ------
        Unavailable
            When it cannot run here; the message says why and what to do.
        """
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Backend:
        if name == "c":
            return NativeBackend()
        if name == "numpy":
            return NumpyBackend()
        verdict = cuda_verdict()
        if not verdict.usable:
            raise Unavailable(str(verdict))
        from gemmviz.backends import cuda

        cuda.cupy()
        return cuda.CublasBackend() if name == "cublas" else cuda.CudaBackend()


def bench(request: BenchRequest, cancel: threading.Event, send: Callable[[Reply], None]) -> bool:
    """Measure what a request asks for; True when a kernel broke the GPU's context, so that the process must end.

    Parameters
    ----------
    request
        What to measure.
    cancel
        Checked after every record of every measurement.
    send
        Takes the replies.

    Raises
    ------
    GemmvizError
        For a size or a protocol that cannot be.
    """
    protocol = Protocol.from_plain(request.protocol)
    problems = [Problem(*size) for size in request.sizes]
    kernels = [_read(entry) for entry in request.kernels]
    backends = Backends()
    send(Progress(request.run, "Looking at this machine", 0.0))
    send(Header(request.run, _header(kernels, protocol, backends)))

    references = References(protocol.seed)
    pairs = list(zip(kernels, request.kernels, strict=True))
    jobs = [(problem, kernel, entry) for problem in problems for kernel, entry in pairs]
    for number, (problem, kernel, entry) in enumerate(jobs):
        if isinstance(kernel, str):
            row = results.unreadable_row(Path(entry["path"]), entry["text"], problem, kernel)
            send(Result(request.run, row))
            continue
        for record in measure(kernel, problem, entry.get("params", {}), protocol, backends.find, references):
            if cancel.is_set():
                break
            match record:
                case Stage():
                    share = (number + record.share) / len(jobs)
                    send(Progress(request.run, f"{record.text} at {problem}", share, record.deadline_s))
                case Samples():
                    size = (problem.m, problem.n, problem.k)
                    send(Sample(request.run, kernel.name, record.label, *size, record.seconds, record.gflops))
                case Finished():
                    send(Result(request.run, record.row))
                    if record.row["status"] == "crash":
                        return True
        if cancel.is_set():
            break
    send(Done(request.run))
    return False


def _read(entry: dict[str, Any]) -> Kernel | str:
    """Return the kernel, or why its file cannot be read: that costs its own rows only."""
    try:
        return parse(entry["text"], Path(entry["path"]))
    except GemmvizError as error:
        return str(error)


def _header(kernels: list[Kernel | str], protocol: Protocol, backends: Backends) -> results.Document:
    env = facts.environment()
    if any(isinstance(kernel, Kernel) and kernel.backend in _GPU_BACKENDS for kernel in kernels):
        with suppress(Unavailable):  # every row of these kernels says why
            env |= backends.find("cublas").environment()
    return results.document(env, facts.device(), protocol)
