"""Splits a request into pieces for the workers of a cluster, and joins their replies into one last reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.problem import Problem
from gemmviz.cluster.course import Heard
from gemmviz.engine.attempts import Attempts
from gemmviz.engine.ledger import Ledger
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    CheckRequest,
    CountRequest,
    Failed,
    Reply,
    Request,
    TuneRequest,
)
from gemmviz.simt.time_limits import clock_s

# Compiling, verifying, and waiting for the compiler's caches: a generous upper limit per kernel and per piece.
_EXTRA_S, _START_S = 120.0, 600.0


def split(request: Request) -> list[Request]:
    """Return the pieces of a request: one for each size of a benchmark; any other request is one piece."""
    if isinstance(request, BenchRequest):
        return [replace(request, sizes=[size]) for size in request.sizes]
    return [request]


@dataclass(frozen=True)
class Share:
    """A piece of a benchmark: the kernels that are compared with each other at one size.

    Attributes
    ----------
    request
        The piece.
    places
        The places of its kernels in the benchmark, from 0.
    """

    request: BenchRequest
    places: list[int]


def shares(request: BenchRequest, types: Mapping[str, object]) -> list[Share]:
    """Return the pieces of a benchmark: for each size, the kernels with the same element types and their references.

    Kernels of other types are not compared with them, so that another device may measure these at the same time.

    Parameters
    ----------
    request
        The benchmark.
    types
        `Kernel.types` by the path of a kernel.
    """
    groups: dict[object, list[int]] = {}
    for place, entry in enumerate(request.kernels):
        groups.setdefault(types.get(entry.get("path", "")), []).append(place)
    return [
        Share(replace(request, kernels=[request.kernels[place] for place in places], sizes=[size]), places)
        for size in request.sizes
        for places in groups.values()
    ]


def gathered(parts: Sequence[Share], documents: Sequence[Document]) -> Document:
    """Combine the result files of `shares`: the rows of a size are in the order of the benchmark, its copies last."""
    keyed = []
    for part, content in zip(parts, documents, strict=True):
        request = part.request
        for number, row in enumerate(content["results"]):
            copies = number >= len(part.places)
            keyed.append(((request.run, copies, 0 if copies else part.places[number]), row))
    keyed.sort(key=lambda one: one[0])
    return results.merged(documents) | {"results": [row for _, row in keyed]}


def deadline_s(piece: Request) -> float:
    """Return the longest time that a piece may take, in seconds."""
    match piece:
        case BenchRequest():
            protocol = Protocol.from_plain(piece.protocol)
            return _START_S + len(piece.kernels) * (2 * protocol.timeout_s + protocol.deadline_s + _EXTRA_S)
        case TuneRequest():
            return piece.seconds + _START_S
        case CheckRequest():
            return clock_s(piece.deadline_s) + _START_S
        case CountRequest():
            return len(piece.launches) * _EXTRA_S + _START_S
    return _START_S


def flops(piece: Request) -> int:
    """Return the floating-point operations of a piece: one launch of each kernel, or each of its launches, added up.

    They tell which of a request's pieces takes longest: its sizes in a benchmark, its launches in a check or where
    counters are read. 0 for other requests, which are one piece.
    """
    match piece:
        case BenchRequest():
            return len(piece.kernels) * sum(Problem(*size).flops for size in piece.sizes)
        case CheckRequest() | CountRequest():
            return sum(Problem(one["m"], one["n"], one["k"]).flops for one in piece.launches)
    return 0


def joined(request: Request, parts: Sequence[Request], heard: Sequence[Heard], cancelled: bool = False) -> Reply:
    """Return the last reply to a request.

    Parameters
    ----------
    request, parts
        The request and its pieces, from `split`.
    heard
        The replies about each piece.
    cancelled
        Whether the request was cancelled: then a lost reply is no failure.

    Returns
    -------
    Reply
        `BenchDone` for a benchmark: rows that never arrived give the reason. `Searched` for a search, with the best up
        to now if it was cancelled or its worker was lost. Else the last reply, or `Failed`.
    """
    if isinstance(request, BenchRequest):
        pairs = zip(parts, heard, strict=True)
        documents = [piece_document(piece, one) for piece, one in pairs if isinstance(piece, BenchRequest)]
        return BenchDone(request.run, results.merged(documents))
    (one,) = heard
    if one.last is not None:
        return one.last
    if isinstance(request, TuneRequest):
        attempts = Attempts(request)
        attempts.header = one.header.document if one.header else None
        for tried in one.tried:
            attempts.take(tried)
        found = attempts.conclude()
        if found is not None:
            return found
    return Failed(request.run, "cancelled" if cancelled else "internal", one.why)


def piece_document(piece: BenchRequest, heard: Heard) -> Document:
    """Return the result file of a piece of one size; rows that never arrived give the reason."""
    if isinstance(heard.last, BenchDone):
        return heard.last.document
    ledger = Ledger(piece.kernels, piece.sizes[0])
    ledger.submit()
    final = set()
    for result in heard.results:
        if result.final and result.job < len(piece.kernels):
            ledger.take(result)
            final.add(result.job)
    for job in range(len(piece.kernels)):
        if job not in final:
            ledger.fail(job, "cancelled", heard.why)
    header = heard.header.document if heard.header else results.document({}, None, Protocol.from_plain(piece.protocol))
    return header | {"results": ledger.rows()}
