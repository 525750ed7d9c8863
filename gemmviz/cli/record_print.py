"""Prints the result of ``gemmviz record``."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from gemmviz.language.numbers import thousands
from gemmviz.trace.cost import link
from gemmviz.trace.cost.memory_levels import Levels, levels
from gemmviz.trace.cost.sites import by_line
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.recording.recording import Recording


def show(recording: Recording, traffic: Traffic, *, lines: bool) -> None:
    """Print the totals of a recording, its levels of memory, and with `lines` the cost of each line."""
    console = Console()
    on_gpu = recording.backend == "cuda"
    found = levels(recording, traffic)
    console.print(_arrays(recording, traffic, on_gpu))
    if on_gpu:
        console.print("units: sectors of 32 bytes in global memory, wavefronts in shared memory")
    console.print(_reuse(found, on_gpu))
    console.print(_levels(found))
    moved = "; moved: whole sectors and wavefronts" if on_gpu else ""
    console.print(f"compulsory: each element used crosses once; asked: by the threads{moved}")
    if lines:
        console.print(_lines(traffic, on_gpu))
        if on_gpu:
            console.print("least: units of the same requests without waste or conflicts; degree: units / least")
    if on_gpu:
        block, grid = (" x ".join(map(str, shape)) for shape in (recording.block, recording.grid))
        blocks = "1 block" if recording.blocks == 1 else f"{recording.blocks} blocks ({grid})"
        console.print(f"{blocks} of {recording.threads} threads ({block})")
        if recording.scope:
            first, end = recording.scope
            console.print(f"recorded: blocks {first} to {end - 1}, {end - first} of {recording.blocks}")
        console.print(
            f"global load sectors {thousands(traffic.sectors(False))}, store sectors {thousands(traffic.sectors(True))}"
        )
    if traffic.tile_steps:
        steps = "1 tile step" if traffic.tile_steps == 1 else f"{traffic.tile_steps} tile steps"
        degree = f"{traffic.conflict_degree():.3g}"
        waves = "wavefront" if degree == "1" else "wavefronts"
        console.print(f"{steps} per block, {degree} {waves} per shared request")
    if recording.sharing is not None:
        console.print(link.sentence(recording), soft_wrap=True)
    written = " that these blocks write" if recording.scope else ""
    verdict = f"WRONG in {recording.wrong} elements" if recording.wrong else f"right in every element{written}"
    console.print(
        f"C as recorded is {verdict}; {thousands(traffic.accesses)} accesses in {recording.run_seconds:.2g} s"
    )
    for note in recording.notes:
        console.print(f"! {note}", markup=False)


def _table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(title=title)
    for name in texts:
        table.add_column(name)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _arrays(recording: Recording, traffic: Traffic, on_gpu: bool) -> Table:
    table = _table(
        f"{recording.label}  at {recording.m} x {recording.n} x {recording.k}   (recorded, {recording.view})",
        ("array", "memory"),
        ("reads", "writes", "bytes read", "bytes written", *(("requests", "units") if on_gpu else ())),
    )
    for a in traffic.arrays:
        counts = [a.reads, a.writes, a.read_bytes, a.write_bytes]
        if on_gpu:
            counts += [a.read_requests + a.write_requests, a.read_units + a.write_units]
        table.add_row(a.name, a.space if on_gpu else "memory", *(thousands(v) for v in counts))
    return table


def _reuse(found: Levels, on_gpu: bool) -> Table:
    table = _table(
        "bytes, and how often they are used   (recorded)",
        ("array", "memory"),
        ("loaded", "asked for", *(("moved",) if on_gpu else ()), "reads/element"),
    )
    for array in found.arrays:
        counts = [array.loaded_bytes, array.asked_bytes, *((array.moved_bytes,) if on_gpu else ())]
        written = [*(thousands(v) for v in counts), f"{array.reads_per_element:.4g}"]
        table.add_row(array.name, array.space if on_gpu else "memory", *written)
    return table


def _levels(found: Levels) -> Table:
    table = _table(
        f"arithmetic intensity of {thousands(found.flops)} FLOP   (recorded)", ("bytes",), ("in all", "FLOP/byte")
    )
    for level in found.levels:
        if level.intensity is not None:
            table.add_row(level.name, thousands(level.bytes), f"{level.intensity:.3g}")
    return table


def _lines(traffic: Traffic, on_gpu: bool) -> Table:
    numbers = ("requests", "per request", "units", "least", "degree") if on_gpu else ("accesses", "bytes asked for")
    table = _table("per line   (recorded)", ("line", "array", "does"), numbers)
    for site in by_line(traffic.sites):
        if on_gpu:
            row = [thousands(site.requests), f"{site.units_per_request:.3g}"]
            row += [thousands(site.units), thousands(site.least_units), f"{site.degree:.3g}"]
        else:
            row = [thousands(site.accesses), thousands(site.asked_bytes)]
        table.add_row(str(site.line or "?"), site.array, "write" if site.write else "read", *row)
    return table
