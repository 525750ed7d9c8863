"""Works on the workers of a cluster, for ``--cluster`` of ``bench``, ``tune``, ``check``, ``claims`` and ``prove``."""

import argparse
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.markup import escape

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.figures import ON_GPU
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.cli.cluster_options import tls
from gemmviz.cli.driving import ctrl_c, progress_bar
from gemmviz.cluster.connection import connected
from gemmviz.cluster.course import Course, Heard, Job
from gemmviz.cluster.piece import Scheduler, Seat, free_seat
from gemmviz.cluster.pieces import deadline_s, flops, gathered, joined, piece_document, shares
from gemmviz.cluster.remote_engine import RemoteEngine, look
from gemmviz.cluster.sources import collected
from gemmviz.engine.consent import Consent, Named, refused
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Checked,
    CheckRequest,
    Counted,
    CountRequest,
    Failed,
    Progress,
    Reply,
    Request,
    Sample,
    TuneRequest,
)
from gemmviz.language import language
from gemmviz.proving import proofs
from gemmviz.proving.jobs import Job as ProofJob


def bench(
    args: argparse.Namespace, requests: Sequence[BenchRequest], kernels: Sequence[Kernel]
) -> tuple[Document, int]:
    """Measure on a cluster: the kernels of a request with the same types, at one size, are a piece.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    requests
        The requests to measure.
    kernels
        The named kernels: naming is consent, for the workers, too.

    Returns
    -------
    tuple
        The result file, and 0, or the exit code: 130 after a Ctrl-C, 1 if a piece was lost.

    Raises
    ------
    GemmvizError
        When the cluster cannot be used.
    """
    types = {str(kernel.path): kernel.types for kernel in kernels}
    sizes = [replace(request, sizes=[size]) for request in requests for size in request.sizes]
    parts = [
        part
        for number, one in enumerate(sizes)
        for part in shares(replace(one, run=number, language=language()), types)
    ]
    pieces = [part.request for part in parts]
    head = results.document({}, None, Protocol.from_plain(pieces[0].protocol))
    found, cancelled = _served(args, pieces, kernels)
    documents = [piece_document(piece, heard) for piece, heard in zip(pieces, found, strict=True)]
    for piece, heard in zip(pieces, found, strict=True):
        if heard.why and not cancelled:
            print(f"gemmviz: {Problem(*piece.sizes[0])} is not complete: {heard.why}", file=sys.stderr)
    ended = 130 if cancelled else int(any(heard.why for heard in found))
    return _with_head(head, gathered(parts, documents)), ended


def tune(args: argparse.Namespace, request: TuneRequest, kernel: Kernel) -> Reply:
    """Search for the fastest parameters on one worker of a cluster.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    request
        The search.
    kernel
        The kernel, which the user has named.

    Returns
    -------
    Reply
        `Searched`, with the best up to now if the search was cancelled or its worker was lost; else `Failed`.

    Raises
    ------
    GemmvizError
        When the cluster cannot be used.
    """
    request = replace(request, language=language())
    heard, _ = _served(args, [request], [kernel])
    if heard[0].last is None:
        print(f"gemmviz: the search is not complete: {heard[0].why}", file=sys.stderr)
    return joined(request, [request], heard)


def check(args: argparse.Namespace, request: CheckRequest, kernel: Kernel) -> list[Report]:
    """Look for defects on a cluster: each launch is a piece.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    request
        The launches.
    kernel
        The kernel, which the user has named.

    Returns
    -------
    list of Report
        A report per launch, in order.

    Raises
    ------
    GemmvizError
        When the cluster cannot be used, or a launch was lost: a check that is not complete says nothing.
    KeyboardInterrupt
        When Ctrl-C has ended it.
    """
    pieces = [replace(request, launches=[one], language=language()) for one in request.launches]
    found, cancelled = _served(args, pieces, [kernel], gpu=False)
    if cancelled:
        raise KeyboardInterrupt
    reports = []
    for piece, heard in zip(pieces, found, strict=True):
        if not isinstance(heard.last, Checked):
            (at,) = piece.launches
            raise _lost(f"{Problem(at['m'], at['n'], at['k'])} was not checked", heard)
        reports.append(heard.last.report)
    return reports


def count(
    args: argparse.Namespace, launches: Sequence[Sequence[Launch]], kernels: Sequence[Kernel]
) -> list[proofs.Proofs]:
    """Read counters on a cluster: the launches of each kernel are a piece.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    launches
        The launches of each kernel.
    kernels
        The kernels, which the user has named.

    Returns
    -------
    list
        Per kernel: the machine, and a proof for each launch, in order and without a prediction.

    Raises
    ------
    GemmvizError
        When the cluster cannot be used, or a kernel was lost.
    KeyboardInterrupt
        When Ctrl-C has ended it.
    """
    pieces = [
        CountRequest(number, [ProofJob.of(launch).to_plain() for launch in some], language())
        for number, some in enumerate(launches)
    ]
    found, cancelled = _served(args, pieces, kernels)
    if cancelled:
        raise KeyboardInterrupt
    files = []
    for kernel, piece, heard in zip(kernels, pieces, found, strict=True):
        if not isinstance(heard.last, Counted):
            raise _lost(f"{kernel.name} was not proved", heard)
        file = proofs.proofs_of(heard.last.document, heard.worker)
        if len(file.proofs) != len(piece.launches):
            raise GemmvizError(f"{heard.worker} sent {len(file.proofs)} proofs for {len(piece.launches)} launches")
        files.append(file)
    return files


def one_device(args: argparse.Namespace, kernels: Sequence[Kernel]) -> Callable[[str], str]:
    """Return a function that returns, for a backend, the name of the device that all workers of a cluster have.

    If a kernel needs a GPU, only workers with a GPU count, as only they get pieces.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    kernels
        The kernels to measure.

    Raises
    ------
    ConstraintError
        When workers have different devices: a piece goes to any worker, and parameters are tuned on one device.
    GemmvizError
        When the cluster cannot be used.
    """
    found = _seats(_scheduler(args))
    backends = {kernel.backend for kernel in kernels}
    if backends & set(ON_GPU):
        found = [seat for seat in found if seat.gpu] or found
    names: dict[str, str] = {}
    for backend in sorted(backends):
        devices = sorted({seat.gpu if backend in ON_GPU else seat.cpu for seat in found})
        if len(devices) > 1:
            listed = ", ".join(device or "no GPU" for device in devices)
            raise ConstraintError(f"--tuned needs workers with the same device; this cluster has {listed}")
        names[backend] = devices[0]
    return lambda backend: names[backend]


def engine(args: argparse.Namespace, consent: Consent) -> RemoteEngine:
    """Return an engine on one device of a cluster: the first one that is free, a GPU if there is one.

    All figures of a command that uses it are of this device.

    Parameters
    ----------
    args
        With the options of `gemmviz.cli.cluster_options.add`.
    consent
        Decides which texts may run.

    Raises
    ------
    GemmvizError
        When the cluster cannot be used.
    """
    scheduler = _scheduler(args)
    seat = free_seat(_seats(scheduler))
    print(f"gemmviz: measured on {seat.device} of {seat.host}", file=sys.stderr)
    return RemoteEngine(consent, scheduler, seat)


def _scheduler(args: argparse.Namespace) -> Scheduler:
    files = tls(args)
    named = (files.ca, files.certificate, files.key) if files else ()
    return Scheduler(args.cluster, *map(str, named))


def _seats(scheduler: Scheduler) -> list[Seat]:
    """Return the workers of a cluster, at least one."""
    found = look(scheduler)
    if not found:
        raise Unavailable("no worker of the cluster answers")
    return found


def _lost(text: str, heard: Heard) -> GemmvizError:
    """Return the error about a piece without its result."""
    missing = isinstance(heard.last, Failed) and heard.last.kind == "unsupported"
    return (Unavailable if missing else GemmvizError)(f"{text}: {heard.why}")


def _served(
    args: argparse.Namespace,
    requests: Sequence[Request],
    kernels: Sequence[Kernel],
    gpu: bool = True,
) -> tuple[list[Heard], bool]:
    """Serve requests on the cluster, with a progress bar; return the replies about each, and whether Ctrl-C ended it.

    `gpu`: kernels of a GPU need one; without, they are recorded only.
    """
    if any(refused(request, Named(kernels)) for request in requests):
        raise GemmvizError("a text without your consent is not sent")
    shipped = ladder()
    on_gpu = gpu and any(kernel.backend in ON_GPU for kernel in kernels)
    jobs = [Job(*collected(one, shipped), on_gpu, deadline_s(one), flops(one)) for one in requests]
    cancel = threading.Event()
    with connected(args.cluster, tls(args)) as client, ctrl_c(cancel), progress_bar() as bar:
        course = Course(client, jobs)
        for note in course.notes:
            print(f"gemmviz: {note}", file=sys.stderr)
        if on_gpu and not course.has_gpu:
            print("gemmviz: no worker announces a GPU (--resources GPU=1)", file=sys.stderr)
        task = bar.add_task("Starting", total=1.0)
        shares = [0.0] * len(jobs)
        for number, reply in course.run(cancel):
            text, shares[number] = _progress(reply, shares[number])
            shown = escape(f"{course.heard[number].worker}: {text}") if text else None
            bar.update(task, completed=sum(shares) / len(shares), description=shown)
    return course.heard, cancel.is_set()


def _with_head(head: Document, found: Document) -> Document:
    """Return the rows and machines of a result file with this command's head; its machine is the first one."""
    machines = found.get("machines", [])
    if not machines:
        return head | {"results": found["results"]}
    first = machines[0]
    return head | {"env": first["env"], "device": first["device"], "results": found["results"], "machines": machines}


def _progress(reply: Reply, share: float) -> tuple[str, float]:
    """Return a sentence about a reply, and the finished share of its piece."""
    match reply:
        case Progress():
            return reply.text, max(share, reply.share or 0.0)
        case Sample():
            return f"{reply.label}: {reply.gflops:.4g} GFLOPS at {Problem(reply.m, reply.n, reply.k)}", share
        case Checked():
            return f"{reply.report}", 1.0
        case BenchDone():
            return f"{Problem(*_size(reply))} is complete" if reply.document["results"] else "", 1.0
    return "", share


def _size(reply: BenchDone) -> tuple[int, int, int]:
    row = reply.document["results"][0]
    return row["M"], row["N"], row["K"]
