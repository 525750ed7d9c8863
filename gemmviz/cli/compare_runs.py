"""Compares two result files for ``gemmviz compare``: the kernels that became faster or slower."""

import json
import sys
from collections import Counter
from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from gemmviz.bench import results
from gemmviz.bench.compare import RowComparison, compare, protocol_differences
from gemmviz.bench.document import Document
from gemmviz.bench.stats import significant
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable
from gemmviz.cli import options
from gemmviz.cli.tables import console

_COLOUR = {"FASTER": "green", "SLOWER": "red", "SAME": "default", "UNCLEAR": "yellow"}


def compare_runs(names: tuple[str, str], *, as_json: bool) -> int:
    """Print the kernels that became faster or slower between two files or stored runs; return the exit code.

    Raises
    ------
    Unavailable
        When one is missing or damaged.
    ConstraintError
        When they come from different machines.
    """
    before, after = map(_read, names)
    machines = [results.machine(document) for document in (before, after)]
    by_row = any("machines" in document for document in (before, after))  # then each row has its device
    if machines[0] != machines[1] and not by_row:
        raise ConstraintError(
            f"these runs come from different machines, {' and '.join(machines)}: ratios would not be about the code"
        )
    rows, rules = list(compare(before, after)), protocol_differences(before, after)
    if as_json:
        listed = [asdict(row) | {"ratio": row.ratio} for row in rows]
        sys.stdout.write(
            json.dumps({"machine": machines[0], "protocol_differences": rules, "rows": listed}, indent=1) + "\n"
        )
    else:
        _print(rows)
        if rules:
            print(f"The two runs were not measured by the same rules ({'; '.join(rules)}).")
    return 1 if any(row.verdict == "SLOWER" for row in rows) else 0


def _read(name: str) -> Document:
    try:
        return results.read_results(options.result_file(name))
    except GemmvizError as error:  # exit code 1 is kept for regressions
        raise Unavailable(str(error)) from None


def _print(rows: list[RowComparison]) -> None:
    out = console()
    table = Table()
    for name in ("kernel", "size", "before", "now", "unit", "now / before", "verdict"):
        table.add_column(name, justify="right" if "before" in name or "now" in name else "left")
    for row in rows:
        m, n, k = row.size
        size = str(m) if m == n == k else f"{m} x {n} x {k}"
        figures = ["-" if value is None else significant(value, 0.0) for value in (row.before, row.after)]
        ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
        verdict = f"[{_COLOUR[row.verdict]}]{row.verdict}[/]" + (f" {escape(row.reason)}" if row.reason else "")
        table.add_row(escape(row.label), size, *figures, row.unit, ratio, verdict)
    out.print(table)
    counts = Counter(row.verdict for row in rows)
    out.print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) or "no rows")
