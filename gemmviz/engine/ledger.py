"""The results of the kernels of one size, kept outside the process that a kernel may crash."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gemmviz.bench import results, rows, transfers
from gemmviz.bench.entries import KernelEntry, kernel_of_entry
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row, Status
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Result

Size = tuple[int, int, int]
_ON_A_GPU = ("cuda", "cublas")


@dataclass
class _Job:
    """One entry of a request: its row so far, and whether the row is final."""

    entry: KernelEntry
    row: Row | None = None
    final: bool = False

    @property
    def is_transfer(self) -> bool:
        return "transfer" in self.entry


class Ledger:
    """The unfinished and the finished jobs of one size.

    Parameters
    ----------
    entries
        As in ``BenchRequest.kernels``.
    size
        M, N, K.
    """

    def __init__(self, entries: Sequence[KernelEntry], size: Size) -> None:
        self._jobs = [_Job(entry) for entry in [*entries, *_transfer(entries)]]
        self._size = size
        self._submitted: list[_Job] = []

    def submit(self) -> list[KernelEntry]:
        """Return the unfinished entries, each with its row up to now; replies refer to their index in this list."""
        self._submitted = [job for job in self._jobs if not job.final]
        return [{**job.entry, "row": job.row} if job.row else job.entry for job in self._submitted]

    def job(self, number: int) -> int:
        """Return the entry of the request for an index in a reply; the transfer has the last index."""
        return next(i for i, job in enumerate(self._jobs) if job is self._submitted[number])

    def take(self, reply: Result) -> None:
        """Keep a row."""
        job = self._submitted[reply.job]
        job.row, job.final = reply.row, reply.final

    def fail(self, number: int, status: Status, message: str) -> Row:
        """Keep and return the row of a job that crashed the process."""
        job = self._submitted[number]
        row = (job.row or self._blank(job.entry)).copy()
        results.fail(row, status, message)
        exhibit = _exhibit(job.entry)
        if exhibit:
            rows.explain_exhibit(row, exhibit)
        job.row, job.final = row, True
        return row

    def settle(self, protocol: Protocol) -> list[tuple[int, Row]]:
        """After a cancellation, conclude the unfinished jobs; return the rows that changed, with their entries."""
        changed = []
        for number, job in enumerate(self._jobs):
            if job.final:
                continue
            job.final = True
            if job.row is not None:
                job.row = job.row.copy()
                rows.cut_short(job.row, protocol, "cancelled", "cancelled")
                changed.append((number, job.row))
            elif not job.is_transfer:  # the transfer was not requested by name
                job.row = self._blank(job.entry)
        return changed

    def rows(self) -> list[Row]:
        """Return the rows in the order of the request, the transfer last."""
        return [job.row for job in self._jobs if job.row is not None]

    def _blank(self, entry: KernelEntry) -> Row:
        problem = Problem(*self._size)
        if "transfer" in entry:
            return transfers.new_row(problem, *entry["transfer"])
        path, params = Path(entry["path"]), dict(entry.get("params", {}))
        try:
            kernel = kernel_of_entry(entry)
        except GemmvizError as error:
            return results.unreadable_row(path, entry["text"], problem, str(error))
        row = results.new_row(kernel, problem, params)
        with suppress(GemmvizError):
            results.describe_launch(row, launch(kernel, problem, params))
        return row


def _transfer(entries: Sequence[KernelEntry]) -> list[KernelEntry]:
    """Return the entry for the copies to the GPU and back, if one of the kernels runs on it."""
    for entry in entries:
        with suppress(GemmvizError):
            kernel = kernel_of_entry(entry)
            if kernel.backend in _ON_A_GPU:
                return [{"transfer": [kernel.dtype, kernel.dtype_out]}]
    return []


def _exhibit(entry: KernelEntry) -> str:
    with suppress(GemmvizError, KeyError):
        return kernel_of_entry(entry).exhibit
    return ""
