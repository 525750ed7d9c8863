"""Serves a bench request, in the engine's process."""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gemmviz.backends import machine
from gemmviz.backends.base import Backend
from gemmviz.backends.blas import NumpyBackend
from gemmviz.backends.cupy_check import cuda_verdict
from gemmviz.backends.native import NativeBackend
from gemmviz.backends.openblas import OpenblasBackend
from gemmviz.bench import results, transfers
from gemmviz.bench.document import Document
from gemmviz.bench.entries import KernelEntry, kernel_of_entry
from gemmviz.bench.measure import Bench, Finished, Measurement, MeasureStep
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.rounds import take_turns
from gemmviz.bench.timing import Samples
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import (
    MOST_LABEL,
    MOST_ROUNDS,
    MOST_SAMPLES,
    BenchRequest,
    Done,
    Header,
    Progress,
    Reply,
    Result,
    Sample,
)
from gemmviz.language import tr


class Backends:
    """Makes each backend at its first use: CuPy is imported only for a CUDA kernel."""

    def __init__(self) -> None:
        self._made: dict[str, Backend] = {}

    def find(self, name: str) -> Backend:
        """Return the backend for ``kernel.backend``.

        Raises
        ------
        Unavailable
            When it cannot run here; the message gives the reason and the remedy.
        """
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Backend:
        if name == "c":
            return NativeBackend()
        if name == "numpy":
            return NumpyBackend()
        if name == "openblas":
            return OpenblasBackend()
        verdict = cuda_verdict()
        if not verdict.usable:
            raise Unavailable(str(verdict))
        from gemmviz.backends import cuda  # late: it imports CuPy, which kernels of the CPU do not need

        cuda.cupy()
        return cuda.CublasBackend() if name == "cublas" else cuda.CudaBackend()


def bench(request: BenchRequest, cancel: threading.Event, send: Callable[[Reply], None]) -> bool:
    """Serve a request; return True if a kernel broke the GPU's context, so that the process must end.

    Parameters
    ----------
    request
        The kernels, the sizes and the protocol.
    cancel
        Checked after every record of every measurement.
    send
        Takes the replies.

    Raises
    ------
    GemmvizError
        For an impossible size or protocol.
    """
    machine.schedule_for_this_gpu()
    protocol = Protocol.from_plain(request.protocol)
    problems = [Problem(*size) for size in request.sizes]
    kernels = {job: _read(entry) for job, entry in enumerate(request.kernels) if "text" in entry}
    backends = Backends()
    send(Progress(request.run, tr("Looking at this machine"), 0.0))
    header = machine_header(kernels.values(), protocol, backends)
    send(Header(request.run, header))

    shared = Bench(protocol, backends.find, References(protocol.seed), header["device"])
    for number, problem in enumerate(problems):
        size = _Size(request, problem, shared, cancel, send, number / len(problems), 1 / len(problems))
        if size.measure(kernels):
            return True
        if cancel.is_set():
            break
        size.measure_transfers()
    send(Done(request.run))
    return False


@dataclass(frozen=True)
class _Size:
    """One of a request's sizes; `start` and `part` are its place in the request."""

    request: BenchRequest
    problem: Problem
    shared: Bench
    cancel: threading.Event
    send: Callable[[Reply], None]
    start: float
    part: float

    def measure(self, kernels: Mapping[int, Kernel | str]) -> bool:
        """Measure the kernels in turns; return True if one of them broke the GPU's context."""
        run, entries = self.request.run, self.request.kernels
        jobs: list[int] = []
        measurements: list[Measurement] = []
        for job, kernel in kernels.items():
            entry = entries[job]
            if isinstance(kernel, str):
                row = results.unreadable_row(Path(entry["path"]), entry["text"], self.problem, kernel)
                self.send(Result(run, row, job))
                continue
            jobs.append(job)
            measurements.append(
                Measurement(kernel, self.problem, entry.get("params", {}), self.shared, entry.get("row"))
            )
        with closing(take_turns(measurements, self.shared.protocol.rounds)) as turns:
            for index, share, record in turns:
                if self.cancel.is_set():
                    return False
                match record:
                    case MeasureStep():
                        self._progress(record, jobs[index], share)
                    case Samples():
                        self._samples(measurements[index], record)
                    case Finished():
                        self.send(Result(run, record.row, jobs[index], record.final))
                        if record.row["status"] == "crash":
                            return True
        return False

    def _samples(self, one: Measurement, samples: Samples) -> None:
        """Send new samples, in parts that a message may hold."""
        p, seconds, verified = self.problem, samples.seconds, one.row["verify"]["before"] == "ok"
        number, rounds = (min(n, MOST_ROUNDS) for n in (one.rounds + 1, self.shared.protocol.rounds))
        whole = Sample(
            run=self.request.run,
            kernel=one.kernel.name,
            label=samples.label[:MOST_LABEL],
            m=p.m,
            n=p.n,
            k=p.k,
            seconds=[],
            gflops=samples.gflops,
            round=number,
            rounds=rounds,
            verified=verified,
        )
        for start in range(0, len(seconds), MOST_SAMPLES):
            self.send(replace(whole, seconds=seconds[start : start + MOST_SAMPLES]))

    def measure_transfers(self) -> None:
        """Measure the copies that the request asks for, after all kernels."""
        for job, entry in enumerate(self.request.kernels):
            if "transfer" not in entry:
                continue
            dtype, dtype_out = entry["transfer"]
            with closing(transfers.measure(self.problem, dtype, dtype_out, self.shared)) as records:
                for record in records:
                    if self.cancel.is_set():
                        return
                    if isinstance(record, MeasureStep):
                        self._progress(record, job, 1.0)
                    else:
                        self.send(Result(self.request.run, record, job))

    def _progress(self, stage: MeasureStep, job: int, share: float) -> None:
        text, whole = tr("{what} at {size}", what=stage.text, size=self.problem), self.start + share * self.part
        self.send(Progress(self.request.run, text, min(whole, 1.0), stage.deadline_s, job))


def _read(entry: KernelEntry) -> Kernel | str:
    """Return the kernel, or the reason why its file cannot be read: other kernels are still measured."""
    try:
        return kernel_of_entry(entry)
    except GemmvizError as error:
        return str(error)


def machine_header(kernels: Iterable[Kernel | str], protocol: Protocol, backends: Backends) -> Document:
    """Return a result file without rows: the machine and the protocol of a measurement."""
    env = machine.environment()
    for name in dict.fromkeys(kernel.backend for kernel in kernels if isinstance(kernel, Kernel)):
        with suppress(Unavailable):  # every row of these kernels has the reason
            env |= backends.find(name).environment()
    return results.document(env, machine.device(), protocol)
