"""Makes the tables of 40 sizes in docs/every-shape.md and README.md, each between two marks.

    python docs/shapes.py                          from docs/results-shapes.json
    python docs/shapes.py FIRST.json SECOND.json   keeps there the rows that `benchmarks/shapes.py --json` has written

The tables have the cards side by side, numbered in the order in which they were measured. Of a type that some rows have
measured with the kernel's present text, and with the parameters that its schedule chooses now, the others are left out.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual

_DOCS = Path(__file__).parent
DATA, PAGE, README = _DOCS / "results-shapes.json", _DOCS / "every-shape.md", _DOCS.parent / "README.md"
BEGIN = "<!-- made by docs/shapes.py -->\n"
END = "<!-- end of shapes.py -->\n"
# By type of `benchmarks/shapes.py`: its name here, the kernel, and the ratio that its interval shall reach.
TYPES = {
    "fp32": ("FP32", "every_shape_fp32", 1.0),
    "fp16": ("FP16", "every_shape", 0.97),
    "bf16": ("BF16", "every_shape_bf16", 0.97),
    "fp16-c16": ("FP16, C in 16 bits", "every_shape_c16", 0.97),
    "bf16-c16": ("BF16, C in 16 bits", "every_shape_bf16_c16", 0.97),
    "tf32": ("TF32, B by columns", "tf32", 0.98),
    "tf32-by-rows": ("TF32, B by rows", "tf32_by_rows", 0.98),
    "fp8-in-turns": ("FP8", "fp8_in_turns", 0.97),
}
SHORT = ("fp32", "fp16", "bf16", "tf32", "fp8-in-turns")
TABLES = (("fp32", "tf32", "tf32-by-rows", "fp8-in-turns"), ("fp16", "bf16"), ("fp16-c16", "bf16-c16"))
_KEPT = ("type", "size", "sha256", "uuid", "device", "driver", "utc", "rung_s", "cublas_s", "over_cublas", "lt_s")
_KEPT += ("over_lt", "error_before", "error_after", "params", "sm_mhz", "power_w")
Row = dict[str, Any]


def kept(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of files of `benchmarks/shapes.py`, with what the tables need, numbers with six digits."""
    rows = [row for path in paths for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    now = {row["type"] for row in rows if _present(row)}
    return [
        {name: _rounded(row[name]) for name in _KEPT if name in row}
        for row in rows
        if _present(row) or row["type"] not in now
    ]


def cards(rows: Sequence[Row]) -> list[str]:
    """Return the numbers (UUID) of the cards, in the order in which they were measured."""
    first: dict[str, str] = {}
    for row in rows:
        first[row["uuid"]] = min(row["utc"], first.get(row["uuid"], row["utc"]))
    return sorted(first, key=first.__getitem__)


def table(rows: Sequence[Row], types: Sequence[str]) -> str:
    """Return a table of some types: a line for each size, a column for each type and card."""
    marks = {uuid: f" ({number})" for number, uuid in enumerate(cards(rows), 1)}
    columns = [
        (kind, uuid) for kind in types for uuid in marks if any((r["type"], r["uuid"]) == (kind, uuid) for r in rows)
    ]
    heads = [TYPES[kind][0] + (marks[uuid] if len(marks) > 1 else "") for kind, uuid in columns]
    of = {(row["type"], row["uuid"], tuple(row["size"])): row for row in rows}
    lines = [
        [" x ".join(map(str, size)), *(_cell(of.get((kind, uuid, size))) for kind, uuid in columns)]
        for size in dict.fromkeys(tuple(row["size"]) for row in rows)
    ]
    return _table(["M x N x K", *heads], lines)


def summary(rows: Sequence[Row]) -> str:
    """Return a table with a line for each type: the mean and the least, with a figure for each card."""
    lines = []
    for kind, (name, kernel, aim) in TYPES.items():
        found = [[row for row in rows if (row["type"], row["uuid"]) == (kind, uuid)] for uuid in cards(rows)]
        found = [some for some in found if some]
        if not found:
            continue
        means = [[row["over_cublas"][0] for row in some] for some in found]
        cubes = [{row["size"][0]: row["over_cublas"][0] for row in some if len({*row["size"]}) == 1} for some in found]
        reached = [f"{sum(row['over_cublas'][2] >= aim for row in some)} of {len(some)}" for some in found]
        lines.append(
            [
                *(f"{name}: `{kernel}`", _figures(map(_mean, means), bold=True), _figures(map(min, means))),
                _figures(map(_mean, ([_over_both(row) for row in some] for some in found))),
                *(_figures(of.get(size) for of in cubes) for size in (1024, 4096, 8192)),
                f"{', '.join(reached)} ({aim:.2f})",
            ]
        )
    heads = ["type", "mean", "least", "mean over the better call", "1024", "4096", "8192", "sizes that reach the aim"]
    return _table(heads, lines)


def short(rows: Sequence[Row]) -> str:
    """Return a table of two lines for README: mean and least of the types whose C has 32 bits, of all cards.

    Each size counts once: of the cards that have it, their mean.
    """
    found = {kind: [row["over_cublas"][0] for row in rows if row["type"] == kind] for kind in SHORT}
    found = {kind: ratios for kind, ratios in found.items() if ratios}
    sizes = {kind: {tuple(row["size"]) for row in rows if row["type"] == kind} for kind in found}
    devices = " and ".join(f"{_count(rows, device)} {device}" for device in sorted({row["device"] for row in rows}))
    heads = [f"cuBLAS's time / ours, {devices}", *(TYPES[kind][0].partition(",")[0] for kind in found)]
    least = [f"{min(ratios):.2f}" for ratios in found.values()]
    means = [f"{_mean(_of_size(rows, kind, size) for size in sizes[kind]):.2f}" for kind in found]
    return _table(heads, [["mean", *means], ["least", *least]])


def measured(rows: Sequence[Row]) -> str:
    """Return a sentence that says where and when the rows were measured, and whether C was right."""
    days = sorted({datetime.fromisoformat(row["utc"]).strftime("%-d %B %Y") for row in rows})
    wrong = sum(max(row["error_before"], row["error_after"]) > 1 for row in rows)
    devices = " and ".join(sorted({row["device"] for row in rows}))
    several = f"{len(cards(rows))} cards" if len(cards(rows)) > 1 else "one card"
    drivers = ", ".join(sorted({row["driver"] for row in rows}))
    right = f"C was right in all {len(rows)} races" if not wrong else f"C was wrong in {wrong} of {len(rows)} races"
    earlier = {row["type"] for row in rows if not _present(row)}
    changed = ", ".join(f"`{TYPES[kind][1]}`" for kind in TYPES if kind in earlier)
    late = f" Measured with an earlier text of the kernel: {changed}." if changed else ""
    return f"*Measured* on {several} ({devices}), {', '.join(days)}, driver {drivers}. {right}, before and after.{late}"


def made() -> dict[Path, str]:
    """Return the texts of both pages, with the tables of the kept rows."""
    rows = json.loads(DATA.read_text(encoding="utf-8"))["rows"]
    everything = "\n".join(f"{table(rows, types)}\n" for types in TABLES)
    parts = {PAGE: f"\n{measured(rows)}\n\n{summary(rows)}\n\n{everything}\n", README: f"{short(rows)}\n"}
    return {path: filled(path.read_text(encoding="utf-8"), text) for path, text in parts.items()}


def filled(page: str, text: str) -> str:
    """Return a page with another text between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{text}{END}{rest.split(END)[1]}"


def main() -> int:
    """Run the command line."""
    if files := [Path(name) for name in sys.argv[1:]]:
        lines = ",\n".join(json.dumps(row) for row in kept(files))
        DATA.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
    return 0


def _count(rows: Sequence[Row], device: str) -> int:
    return len({row["uuid"] for row in rows if row["device"] == device})


@cache
def _kernel(name: str) -> Kernel:
    return find(name, ladder())


def _present(row: Row) -> bool:
    """Return whether a row was measured with the kernel's present text and the parameters of its present schedule."""
    kernel = _kernel(TYPES[row["type"]][1])
    return bool(row["sha256"] == kernel.sha256 and row["params"] == usual(kernel, Problem(*row["size"])))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _cell(row: Row | None) -> str:
    if row is None:
        return "–"
    mean, low, high = row["over_cublas"]
    return f"{mean:.3f} ({low:.3f}-{high:.3f})"


def _over_both(row: Row) -> float:
    """Return the ratio over the faster one of cuBLAS's usual call and of the algorithms that cuBLASLt proposes."""
    return min(row[name][0] for name in ("over_cublas", "over_lt") if name in row)


def _mean(ratios: Iterable[float]) -> float:
    return exp(fmean(log(one) for one in ratios))


def _of_size(rows: Sequence[Row], kind: str, size: tuple[int, ...]) -> float:
    """Return the mean ratio of the cards at a size."""
    return _mean(row["over_cublas"][0] for row in rows if row["type"] == kind and tuple(row["size"]) == size)


def _figures(ratios: Iterable[float | None], bold: bool = False) -> str:
    text = ", ".join("–" if ratio is None else f"{ratio:.3f}" for ratio in ratios)
    return f"**{text}**" if bold else text


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = f"|---|{'---:|' * (len(heads) - 1)}"
    head, *rest = (f"| {' | '.join(cells)} |" for cells in (heads, *lines))
    return "\n".join([head, rule, *rest])


if __name__ == "__main__":
    sys.exit(main())
