"""Measures on this machine's GPU the kernels of other repositories that `wild.py` found right.

The table is that of ``wild.py --json``; each row gets its size, its GFLOPS and the outcome. A kernel runs with the
front matter that was guessed, at the size nearest to the wanted one. Rows that were measured before are left as they
are.
"""

import argparse
import sys
import threading
from pathlib import Path

from wild import Row, read_rows, write_rows

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import read_source
from gemmviz.engine.messages import BenchDone, BenchRequest, Failed
from gemmviz.engine.supervisor import Engine

_PROTOCOL = {"rounds": 1, "min_samples": 20, "min_time_s": 0.1, "timeout_s": 1}


class Listed:
    """Allows the described texts of the table: starting this script is consent to run them."""

    def __init__(self) -> None:
        self.texts: set[tuple[Path, str]] = set()

    def allows(self, path: Path, text: str) -> bool:
        """See `gemmviz.engine.consent.Consent`."""
        return (path, text) in self.texts


def measure(row: Row, path: Path, engine: Engine, listed: Listed, wanted: int) -> None:
    """Measure a row's kernel; the row says how it went.

    Parameters
    ----------
    row
        Described and right.
    path
        Its file.
    engine
        With ``listed`` as its consent.
    listed
        Gets the described text.
    wanted
        M, N and K; the nearest size that the kernel takes is measured, or one near to a half, a quarter and so on.
    """
    try:
        text = row.matter + read_source(path).removeprefix("\ufeff")
        kernel = parse(text, path)
        smaller = (Problem.cube(wanted >> halved) for halved in range(6))
        found = (nearest_size(kernel, size, kernel.defaults) for size in smaller)
        nearest = next((size for size in found if size is not None), Problem.cube(wanted))
        row.size = (nearest.m, nearest.n, nearest.k)
        listed.texts.add((path, text))
        entry = {"path": str(path), "text": text, "params": {}}
        row.measured = "the engine ended without an answer"
        for reply in engine.run(BenchRequest(1, [entry], [row.size], _PROTOCOL), threading.Event()):
            if isinstance(reply, Failed):
                row.measured = reply.message
            if isinstance(reply, BenchDone):
                (measured,) = (one for one in reply.document["results"] if one["backend"] != "transfer")
                row.measured = measured["message"] or measured["status"]
                row.gflops = measured.get("gflops") or 0.0
    except (GemmvizError, OSError) as error:
        row.measured = f"{type(error).__name__}: {error}"


def main() -> int:
    """Measure every row that is described and right, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, help="the JSON file of wild.py")
    parser.add_argument("folder", type=Path, help="where the repositories lie, as owner+name")
    parser.add_argument("--size", type=int, default=2048, metavar="N", help="M, N and K, where the kernel takes them")
    args = parser.parse_args()
    rows = read_rows(args.table)
    listed = Listed()
    engine = Engine(listed)
    try:
        for row in rows.values():
            if row.described and not row.measured:
                measure(row, row.path(args.folder), engine, listed, args.size)
                write_rows(args.table, rows.values())
                print(
                    f"{row.gflops:10.0f} GFLOPS {row.size} {row.repository} {row.file} {row.kernel}: {row.measured}",
                    flush=True,
                )
    finally:
        engine.close()
    tried = [row for row in rows.values() if row.measured]
    print(f"{sum(row.measured == 'ok' for row in tried)} of {len(tried)} were measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
