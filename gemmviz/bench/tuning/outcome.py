"""The outcome of a search, as plain data: the command line prints and writes it, and the window shows it."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypedDict

from gemmviz.backends.environment import cpu_of
from gemmviz.bench.document import Machine, Measured
from gemmviz.bench.row import Row, Sized, Verification
from gemmviz.bench.tuning.search import Search
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

VERSION = 1
_ON_GPU = ("cuda", "cublas")


class Candidate(TypedDict):
    """One combination of parameters with its known results, without its samples; a ``gflops`` of None: no figure.

    ``of_best`` is its speed divided by the current winner's, in the interleaved rounds that both have, else in their
    looks. The ratio of their ``gflops`` differs from it if one has fewer rounds, as a machine's speed varies with time.
    """

    number: int
    place: int
    params: dict[str, int]
    status: str
    message: str
    flags: list[str]
    gflops: float | None
    rounds: int
    of_best: float | None
    verify: Verification
    grid: list[int] | None
    block: list[int] | None
    smem: int | None
    regs: int | None
    local_bytes: int | None
    compile_ms: float | None


class DefaultFigure(TypedDict):
    """The default parameters, and their GFLOPS."""

    params: dict[str, int]
    gflops: float


class Outcome(Machine, Sized):
    """The outcome of a finished or cancelled search.

    ``params`` and ``gflops`` are those of the fastest candidate, None if none has a figure; ``default`` is None if the
    defaults cannot run or have no figure; ``gain`` is the speed of the fastest divided by that of the default.
    ``flags`` are those of both. ``candidates`` has all tried candidates, the fastest first.
    """

    schema_version: int
    kernel: str
    source_sha256: str | None
    backend: str
    tuned_on: str
    date_utc: str
    params: dict[str, int] | None
    gflops: float | None
    default: DefaultFigure | None
    gain: float | None
    rounds: int
    equals: list[dict[str, int]]
    combinations: int
    tried: int
    untried: int
    failed: dict[str, int]
    left_out: dict[str, int]
    seconds: float
    cancelled: bool
    flags: list[str]
    candidates: list[Candidate]


def device_name(backend: str, header: Measured) -> str:
    """Return the name of the device that runs a kernel: the GPU, or the processor with its number of cores.

    Parameters
    ----------
    backend
        The kernel's backend.
    header
        A result file, or the engine's probe: ``device`` and ``env`` are used.
    """
    if backend in _ON_GPU:
        device = header.get("device")
        return str(device["name"] or "") if device else ""
    cpu = cpu_of(header.get("env"))
    return f"{cpu['model'] or 'unknown processor'} ({cpu['cores']} cores)"


def outcome(
    kernel: Kernel, problem: Problem, search: Search, header: Machine, spent_s: float, cancelled: bool
) -> Outcome:
    """Return the outcome of a finished or cancelled search.

    Parameters
    ----------
    kernel, problem
        The tuned kernel, and the size.
    search
        Its state.
    header
        The machine: a result file without rows.
    spent_s
        The duration of the search.
    cancelled
        Whether the user stopped it.
    """
    winner, default = search.winner, search.space.default_number
    has_default = default in search.usable
    failed = Counter(row["status"] for row in search.rows.values() if row["status"] != "ok")
    return {
        "started_utc": header["started_utc"],
        "argv": header["argv"],
        "app": header["app"],
        "env": header["env"],
        "device": header["device"],
        "protocol": header["protocol"],
        "schema_version": VERSION,
        "kernel": kernel.name,
        "source_sha256": kernel.sha256,
        "backend": kernel.backend,
        "tuned_on": device_name(kernel.backend, header),
        "date_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "M": problem.m,
        "N": problem.n,
        "K": problem.k,
        "params": None if winner is None else search.space.candidates[winner],
        "gflops": None if winner is None else search.gflops(winner),
        "default": (
            {"params": search.space.default, "gflops": search.gflops(default)}
            if default is not None and has_default
            else None
        ),
        "gain": search.gain(winner, default) if winner is not None and default is not None and has_default else None,
        "rounds": 0 if winner is None else search.rounds(winner),
        "equals": [search.space.candidates[i] for i in sorted(_tied(search)) if i != winner],
        "combinations": search.space.combinations,
        "tried": len(search.order),
        "untried": len(search.space.candidates) - len(search.order),
        "failed": dict(failed.most_common()),
        "left_out": dict(search.space.left_out),
        "seconds": round(spent_s, 3),
        "cancelled": cancelled,
        "flags": _flags(search, winner, default),
        "candidates": [candidate(search, number) for number in _ranked(search)],
    }


def candidate(search: Search, number: int) -> Candidate:
    """Return the known results of one candidate."""
    row: Row = search.rows[number]
    winner = search.winner
    right = number in search.usable
    return {
        "number": number,
        "place": search.order.index(number) + 1,
        "params": search.space.candidates[number],
        "status": row["status"],
        "message": row["message"],
        "flags": list(row["flags"]),
        "gflops": search.gflops(number) if right else None,
        "rounds": search.rounds(number) if right else 0,
        "of_best": search.gain(number, winner) if right and winner is not None else None,
        "verify": row["verify"],
        "grid": row["grid"],
        "block": row["block"],
        "smem": row["smem"],
        "regs": row["regs"],
        "local_bytes": row["local_bytes"],
        "compile_ms": row["compile_ms"],
    }


def _flags(search: Search, *numbers: int | None) -> list[str]:
    """Return the flags of some candidates, each once: see `gemmviz.bench.quality_flags`."""
    found = (search.rows[number]["flags"] for number in numbers if number in search.rows)
    return list(dict.fromkeys(flag for flags in found for flag in flags))


def _tied(search: Search) -> set[int]:
    return {*search.equals, *([search.best] if search.best is not None else [])}


def _ranked(search: Search) -> list[int]:
    """Return all tried candidates: the winner, its equals, the others by their figures, and those without a figure."""
    usable, tied, winner = search.usable, _tied(search), search.winner
    right = (
        [] if winner is None else sorted(usable, key=lambda i: (i != winner, i not in tied, -search.gain(i, winner)))
    )
    return right + [i for i in search.order if i not in usable]


def params_text(params: Mapping[str, int]) -> str:
    """Return parameters as text: TS=32 WPT=8."""
    return " ".join(f"{name}={value}" for name, value in params.items())
