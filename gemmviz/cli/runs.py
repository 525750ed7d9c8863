"""``gemmviz runs``: the runs that were stored on this machine."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from gemmviz.bench import export, results, store
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.user_file import write_text
from gemmviz.cli import options
from gemmviz.cli.tables import console, print_results


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "runs",
        help=summary,
        description="Lists the runs that `gemmviz bench`, `gemmviz claims` and the window stored, newest first. "
        "RUN is `last`, `last~1` (the run before it) and so on, or the first digits of a run's id.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", metavar="RUN", help="print a run as `gemmviz bench` does")
    what.add_argument("--csv", metavar="RUN", help="write a run as CSV, one line per row")
    what.add_argument("--samples", metavar="RUN", help="write every sample of a run as CSV, one line each")
    what.add_argument("--delete", metavar="RUN", help="delete a run")
    parser.add_argument("--json", action="store_true", help="list as JSON")
    parser.add_argument(
        "-o", "--output", type=options.output_file, default="-", metavar="FILE", help="where --csv and --samples write"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    chosen = args.show or args.csv or args.samples or args.delete
    if args.json and chosen:
        raise ConstraintError("--json lists the runs; it cannot be combined with the other options")
    if args.delete:
        print(f"deleted {store.delete(args.delete)}")
    elif args.show:
        document = results.read_results(store.find(args.show))
        print_results(document, f"as measured on {results.machine(document)}, {document['started_utc'][:10]}")
    elif chosen:
        document = results.read_results(store.find(chosen))
        _write(export.to_csv(document) if args.csv else export.samples_to_csv(document), args.output)
    else:
        _list(args.json)
    return 0


def _write(text: str, target: str) -> None:
    if target == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(target), text)


def _list(as_json: bool) -> None:
    runs, faults = store.runs()
    for fault in faults:
        print(f"gemmviz: {fault}", file=sys.stderr)
    if as_json:
        listed = [
            {
                "run_id": run.run_id,
                "started_utc": run.started_utc.isoformat(),
                "device": run.device,
                "kernels": run.kernels,
                "rows": run.rows,
                "path": str(run.path),
            }
            for run in runs
        ]
        sys.stdout.write(json.dumps(listed, indent=1) + "\n")
        return
    if not runs:
        print("No run is stored yet; `gemmviz bench` stores one.")
        return
    table = Table(title="Stored runs")
    for name in ("run", "id", "started (UTC)", "measured on", "kernels", "rows"):
        table.add_column(name, justify="right" if name in ("kernels", "rows") else "left", overflow="fold")
    for number, run in enumerate(runs):
        name = f"last~{number}" if number else "last"
        cells = (name, run.run_id[:8], f"{run.started_utc:%Y-%m-%d %H:%M:%S}", run.device)
        table.add_row(*map(escape, cells), str(run.kernels), str(run.rows))
    console().print(table)
