"""Tables of results for the terminal."""

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz.bench.document import Document
from gemmviz.bench.figures import TRANSFER, size_of
from gemmviz.bench.ranking import beside_base
from gemmviz.bench.row import Row, Sized, device_of, dtype_out, figure_of, stats_of
from gemmviz.bench.stats import significant
from gemmviz.bench.status_names import bound_text

_ON_GPU = frozenset({"cuda", "cublas"})
_LIBRARIES = frozenset({"numpy", "openblas", "cublas"})
_WIDTH = 160
_MANY = 4


def console() -> Console:
    """Return a console that does not narrow tables when its output goes into a file."""
    made = Console()
    return made if made.is_terminal else Console(width=_WIDTH)


def print_results(document: Document, where: str = "as measured on this machine now") -> None:
    """Print a result file: kernels, transfers, exhibits, and errors."""
    out = console()
    rows, skipped = _apart(document["results"])
    kernels = [row for row in rows if row["backend"] != TRANSFER and not row["exhibit"]]
    transfers = [row for row in rows if row["backend"] == TRANSFER]
    if kernels:
        _print_kernels(out, kernels, where)
        _print_variants(out, kernels)
        _print_bounds(out, kernels)
    if transfers:
        _print_transfers(out, transfers, where)
    _print_messages(out, [*kernels, *transfers, *skipped])
    exhibits = [row for row in rows if row["exhibit"]]
    if exhibits:
        out.print("Exhibits (verified, never timed, never ranked):", highlight=False)
    for row in exhibits:
        out.print(f"  {row['label']}  {size(row)}: {row['status']}: {row['message']}", markup=False, highlight=False)


def _apart(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Separate the rows that were skipped for a common reason, which is printed in one line."""
    reasons = Counter(row["message"] for row in rows if row["status"] == "skipped")
    shared = {reason for reason, count in reasons.items() if count >= _MANY}
    together = [row["status"] == "skipped" and row["message"] in shared for row in rows]
    return (
        [row for row, out in zip(rows, together, strict=True) if not out],
        [row for row, out in zip(rows, together, strict=True) if out],
    )


def size(row: Sized) -> str:
    """Return M x N x K, or N alone where they are equal."""
    m, n, k = row["M"], row["N"], row["K"]
    return str(m) if m == n == k else f"{m} x {n} x {k}"


def _print_kernels(out: Console, rows: list[Row], where: str) -> None:
    table = Table(title=f"GFLOPS {where}")
    # Names and sizes are never cut: a cut name cannot be typed.
    table.add_column("kernel", overflow="fold", min_width=16)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("status", overflow="fold")
    for name in ("GFLOPS", "hot", "median ms", "launch us", "spread", "of library", "of peak"):
        table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, _cells(row, rows)))
    out.print(table)
    out.print(
        "GFLOPS and median: caches cleared before each launch (GPU). hot: nothing cleared. launch: the host's time to "
        "queue one. of peak: modelled from the device's published limits.",
        highlight=False,
    )


def _print_variants(out: Console, rows: list[Row]) -> None:
    """Compare the time of each variant with that of its original kernel."""
    for row, base, ratio in beside_base(rows):
        costs = f"takes {significant(1 / ratio, stats_of(row)['iqr_rel'])} times as long as {base['label']}"
        out.print(f"{row['label']} at {size(row)}: {costs}", markup=False, highlight=False)


def _print_bounds(out: Console, rows: list[Row]) -> None:
    """Print which rows were not judged by a bound that always holds."""
    remark_of = {row["label"]: bound_text(row) for row in rows if row["stats"]}
    for remark in dict.fromkeys(remark_of.values()):
        labels = [label for label, text in remark_of.items() if text == remark]
        if remark:
            out.print(f"{', '.join(labels)}: {remark}", markup=False, highlight=False)


def _cells(row: Row, rows: list[Row]) -> list[str]:
    status: str = row["status"]
    if status == "skipped":
        status += ": " + row["message"].split(": ")[0].split(" (")[0]
    head, stats, hot = [row["label"], size(row)], row["stats"], row["hot"]
    if stats is None:
        return [*head, status, *["-"] * 7]
    if row["flags"]:
        status += f" ({', '.join(row['flags'])})"
    spread = stats["iqr_rel"]
    return [
        *head,
        status,
        significant(figure_of(row), spread),
        significant(hot["gflops"], hot["stats"]["iqr_rel"]) if hot else "-",
        significant(stats["median"] * 1e3, spread),
        "-" if row["host_launch_s"] is None else f"{row['host_launch_s'] * 1e6:.3g}",
        f"{spread:.1%}",
        _percent(_share(row, rows)),
        _percent(row["peak_fraction"]),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _share(row: Row, rows: list[Row]) -> float | None:
    """Return the row's GFLOPS divided by those of the best library for the same processor, size and types."""

    def task(of: Row) -> tuple[object, ...]:
        types = of["dtype_in"], of["dtype_acc"], dtype_out(of)
        return of["backend"] in _ON_GPU, of.get("devices", 1), device_of(of), size_of(of), types

    libraries = [other for other in rows if other["backend"] in _LIBRARIES and other["gflops"]]
    rivals = [figure_of(other) for other in libraries if task(other) == task(row)]
    return figure_of(row) / max(rivals) if rivals else None


def _print_transfers(out: Console, rows: list[Row], where: str) -> None:
    table = Table(title=f"Copies {where}")
    for name in ("copy", "size", "type", "status", "A, B to device ms", "C back ms", "all ms", "GB/s"):
        table.add_column(name, justify="left" if name in ("copy", "type", "status") else "right")
    for row in rows:
        times, stats = row["transfer"], row["stats"]
        cells = [row["label"], size(row), row["dtype_in"], row["status"]]
        if times is None or stats is None:
            table.add_row(*map(escape, cells), *["-"] * 4)
            continue
        spread = stats["iqr_rel"]
        seconds = (times["to_device_s"], times["to_host_s"], stats["median"])
        rate = "-" if row["gbps"] is None else significant(row["gbps"], spread)
        table.add_row(*map(escape, cells), *(significant(s * 1e3, spread) for s in seconds), rate)
    out.print(table)


def _print_messages(out: Console, rows: Iterable[Row]) -> None:
    rows = [row for row in rows if row["message"]]
    for status, message in dict.fromkeys((row["status"], row["message"]) for row in rows):
        labels = [r["label"] for r in rows if (r["status"], r["message"]) == (status, message)]
        who = labels[0] if len(labels) == 1 else f"{len(labels)} kernels"
        out.print(f"{who}: {status}: {message}", markup=False, highlight=False)
