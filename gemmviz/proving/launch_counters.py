"""Nsight Compute's counters of one launch: totals, and the memory instructions of the machine code."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from gemmviz.proving import lines

# NVIDIA Nsight Compute documentation, "Metrics Reference": units of the L1 cache (l1tex), its load/store pipe (lsu).
COUNTERS = {
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}


# Instructions of the uniform datapath: a warp executes them or does not.
_FOR_A_WARP = re.compile(r"(?:@\S+ )?U")
_THREADS = "Thread Instructions Executed", "Predicated-On Thread Instructions Executed"
_COLUMNS = (
    "Address Space",
    "Access Operation",
    "Access Size",
    "Instructions Executed",
    "L1 Tag Requests Global",
    "L2 Theoretical Sectors Global",
    "L1 Wavefronts Shared",
)


class Instruction(msgspec.Struct, frozen=True, array_like=True):
    """One memory instruction of the machine code; in a file of proofs, a list of its fields.

    Attributes
    ----------
    line
        In the kernel's own file, from 1; 0 if the instruction comes from a header.
    text
        The instruction as printed by the disassembler.
    space
        ``"global"``, ``"shared"``, or another one in small letters.
    write
        Whether it stores.
    bits
        Per thread.
    executed
        By warps. An instruction for the whole warp, such as a box of the copy engine, counts only where its predicate
        was true.
    requests, sectors
        To global memory.
    wavefronts
        In shared memory.
    """

    line: int
    text: str
    space: str
    write: bool
    bits: int
    executed: int
    requests: int
    sectors: int
    wavefronts: int


@dataclass(frozen=True)
class LaunchCounters:
    """One launch: its counters by the names of `COUNTERS`, and its memory instructions."""

    counters: dict[str, int]
    instructions: list[Instruction]

    def condensed(self) -> "LaunchCounters":
        """Return the counters with one entry for all instructions of the same line, operation and width."""
        total: dict[tuple[object, ...], Instruction] = {}
        for i in self.instructions:
            operation = next(word for word in i.text.split() if not word.startswith("@"))
            key = i.line, operation, i.space, i.write, i.bits
            alike = total.get(key, Instruction(i.line, operation, i.space, i.write, i.bits, 0, 0, 0, 0))
            total[key] = replace(
                alike,
                executed=alike.executed + i.executed,
                requests=alike.requests + i.requests,
                sectors=alike.sectors + i.sectors,
                wavefronts=alike.wavefronts + i.wavefronts,
            )
        return LaunchCounters(self.counters, list(total.values()))

    def shifted(self, first: int, by: int) -> "LaunchCounters":
        """Return the counters with all lines from `first` on moved down by `by` lines: see `gemmviz.proving.lines`."""
        return LaunchCounters(
            self.counters, [replace(i, line=lines.shifted(i.line, first, by)) for i in self.instructions]
        )


def read_counters(raw: str, sources: Sequence[str], files: Sequence[str]) -> list[LaunchCounters]:
    """Read the output of ``ncu --csv`` for a report.

    Parameters
    ----------
    raw
        Of ``--page raw``: a table with a row per launch, in order.
    sources
        Of ``--page source --print-source cuda,sass``, one text per launch: a table per source file.
    files
        The name of each launch's own source file.

    Raises
    ------
    ValueError
        When the texts have an unknown form.
    """
    counters = [{name: int(value) for name, value in row.items()} for row in table(raw, COUNTERS)]
    if len(counters) != len(sources):
        raise ValueError(f"{len(counters)} launches were counted, and {len(sources)} have a source")
    return [LaunchCounters(*pair) for pair in zip(counters, map(instructions, sources, files), strict=True)]


def table(raw: str, metrics: Mapping[str, str]) -> list[dict[str, float]]:
    """Return the metrics of every launch of a report, in order.

    Parameters
    ----------
    raw
        Of ``--page raw``.
    metrics
        Nsight Compute's name of each metric by our name; a metric that a report does not have is left out.

    Raises
    ------
    ValueError
        When the text has an unknown form.
    """
    rows = list(csv.reader(io.StringIO(raw)))
    head = next((i for i, row in enumerate(rows) if row and row[0] == "ID"), None)
    if head is None:
        raise ValueError("no table of counters")
    column = {metric: place for place, metric in enumerate(rows[head])}
    return [
        {name: _number(row[column[metric]]) for name, metric in metrics.items() if metric in column}
        for row in rows[head + 2 :]  # after the header comes the row of units
        if len(row) == len(rows[head])
    ]


def instructions(source: str, file: str) -> list[Instruction]:
    """Return the memory instructions of one launch, in the order of their addresses.

    Parameters
    ----------
    source
        A table per source file: the code of a header's function is in the table of the header, with the header's lines.
    file
        The name of the kernel's own file.
    """
    found: dict[str, Instruction] = {}
    columns: dict[str, int] = {}
    line, own = 0, True
    for row in csv.reader(io.StringIO(source)):
        match row:
            case ["File Path", path]:
                own = path.replace("\\", "/").rsplit("/", 1)[-1] == file
            case ["Line No", *_]:
                columns = {name: place for place, name in enumerate(row)}  # the second "Source" is the machine code
                line = 0
            case [number, _, "-", *_] if number.isdecimal():
                line = int(number) if own else 0
            case ["", "", address, text, *_] if address.startswith("0x") and row[columns["Address Space"]].strip("-"):
                # A kernel without shared memory has no column for it.
                space, way, *figures = (row[columns[name]] if name in columns else "0" for name in _COLUMNS)
                if line or address not in found:
                    code = " ".join(text.split())
                    bits, executed, *moved = map(_whole, figures)
                    if _FOR_A_WARP.match(code) and all(name in columns for name in _THREADS):
                        began, did = (_whole(row[columns[name]]) for name in _THREADS)
                        executed = executed * did // max(began, 1)
                    found[address] = Instruction(line, code, space.lower(), way == "Store", bits, executed, *moved)
    return [found[address] for address in sorted(found)]


def _number(text: str) -> float:
    return float(text.replace(",", "")) if text not in ("", "-") else 0.0


def _whole(text: str) -> int:
    return int(_number(text))
