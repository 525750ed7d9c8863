"""Makes the tables of docs/strangers.md: kernels of other repositories, as they stand there.

``python docs/strangers.py TABLE`` takes over the table of ``benchmarks/wild.py --json`` and ``benchmarks/wild_gpu.py``
into docs/strangers.json, without any source text. ``--figures`` takes over only what a GPU has measured: a count keeps
what the checker said at its time. Without a table only the page is made.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parent
ROOT = _DOCS.parent
LIST = ROOT / "benchmarks" / "wild_kernels.tsv"
DATA, PAGE, READ = _DOCS / "strangers.json", _DOCS / "strangers.md", _DOCS / "strangers_read.toml"
BEGIN = "<!-- tables: made by docs/strangers.py, down to the next mark -->\n"
END = "<!-- end of the tables -->\n"
PARTS = {
    "development": "Used while gemmviz was made",
    "held out 2": "Held out once: tried before, then used for repairs",
    "held out 3": "Held out (134 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 4": "Held out (128 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 5": "Held out (142 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 6": "Held out (157 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 7": "Held out (133 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 8": "Held out (36 kernels with inline PTX): first tried when gemmviz was finished, then used for repairs",
    "open 9": "The open kernels of the list two before (129): used for repairs before they were counted",
    "held out 9": "Held out (55 kernels): first tried when gemmviz was finished, then used for repairs",
    "open 10": "The open kernels of the list before (80): used for repairs",
    "held out 10": "Held out (41 kernels): first tried when gemmviz was finished, then used for repairs",
    "held out 11": "Held out (103 kernels): first tried when gemmviz was finished",
    "held out 12": "Held out (80 kernels): first tried when gemmviz was finished",
    "held out 13": "Held out (104 kernels): first tried when gemmviz was finished",
    "held out 14": "Held out (68 kernels): first tried when gemmviz was finished",
    "held out 15": "Held out (103 kernels of 51 repositories): first tried when gemmviz was finished",
    "held out 16": "Held out (113 kernels of 60 repositories): first tried when gemmviz was finished",
    "held out 17": "Held out (113 kernels of 68 repositories): first tried when gemmviz was finished",
    "held out 18 ptx": "Held out (43 kernels with inline PTX): first tried when gemmviz was finished",
    "held out 18": "Held out (65 kernels of 37 repositories): first tried when gemmviz was finished",
    "open 19": "The open kernels of the list four before (75): used for repairs",
    "held out 19": "Held out (37 kernels): first tried when gemmviz was finished",
    "open 20": "The open kernels of the list three before (145): tried, then used for repairs",
    "held out 20": "Held out (75 kernels of 44 repositories): first tried when gemmviz was finished",
    "open 22": "The open kernels of the list two before (99): tried, then used for repairs",
    "held out 22": "Held out (60 kernels of 20 repositories): first tried when gemmviz was finished",
    "open 23": "The open kernels of the list before (73): tried, then used for repairs",
    "held out 23": "Held out (47 kernels of 24 repositories): first tried before the last repairs",
    "open 24": "The open kernels of the newest list (44): tried, then used for repairs",
    "held out 24": "Held out (31 kernels of 21 repositories), the newest: first tried before the last repairs",
}
"""The parts of the list that have a section, with its heading; the first has what the others have not."""
Row = dict[str, Any]
_SHOWN = 110


def taken_over(table: Sequence[Row], lines: Sequence[Sequence[str]], old: Sequence[Row]) -> list[Row]:
    """Return the rows for the page: names and figures, in the order of the list.

    Parameters
    ----------
    table
        The rows of ``wild.py``.
    lines
        The list: repository, file, kernel, part and commit.
    old
        The rows for the page so far; a kernel that the table lacks keeps its row.
    """
    named = {_name(row): row for row in table}
    before = {_name(row): row for row in old}
    rows: list[Row] = []
    for repository, file, kernel, part, commit in lines:
        name = repository, file, kernel
        found = named.get(name)
        if found is None:
            rows += [before[name]] if name in before else []
            continue
        kinds = [one.split(": ")[2] for one in found["findings"]]
        row = dict(zip(("repository", "file", "kernel", "part", "commit"), (*name, part, commit), strict=True))
        rows.append(
            row
            | {key: found[key] for key in ("described", "recorded", "right", "asm", "measured", "size")}
            | {
                "gflops": round(found["gflops"], 1),
                "seconds": round(found["seconds"], 1),
                "findings": list(dict.fromkeys(kinds)),
                "why": "" if found["described"] else found["why"][:_SHOWN],
            }
        )
    return rows


def with_figures(table: Sequence[Row], old: Sequence[Row]) -> list[Row]:
    """Return the rows of the page with the figures of a table that a GPU has measured.

    Parameters
    ----------
    table
        The rows of ``wild_gpu.py``.
    old
        The rows for the page so far.
    """
    named = {_name(row): row for row in table if row["measured"]}
    rows = []
    for row in old:
        found = named.get(_name(row))
        if found and row["described"]:
            row = row | {key: found[key] for key in ("measured", "size")} | {"gflops": round(found["gflops"], 1)}
        rows.append(row)
    return rows


def _name(row: Row) -> tuple[str, str, str]:
    return row["repository"], row["file"], row["kernel"]


def section(rows: Sequence[Row]) -> str:
    """Return the text between the markers."""
    parts = []
    first, *others = PARTS
    for part in reversed([first, *others]):
        some = [row for row in rows if row["part"] == part or (part == first and row["part"] not in PARTS)]
        if some:
            parts += [
                f"## {PARTS[part]}\n",
                _summary(some),
                f"### {PARTS[part].split(':')[0]}: each kernel\n",
                _each(some),
            ]
    return "\n".join([*parts, *_findings(rows)])


def _findings(rows: Sequence[Row]) -> list[str]:
    """Return the table of the findings that a person has read in the source."""
    read = tomllib.loads(READ.read_text(encoding="utf-8"))["read"]
    # Some files have entries for single kernels.
    apart = {(one["repository"], one["file"], one["kernel"]) for one in read if "kernel" in one}
    found = {
        (row["repository"], row["file"], row["kernel"] if _name(row) in apart else ""): row
        for row in rows
        if row["findings"]
    }
    lines = [_line(["file", "finding", "true", "why"]), _line(["---"] * 4)]
    for one in read:
        row = found.get((one["repository"], one["file"], one.get("kernel", "")))
        if row:
            name = f"{one['repository']}: {one['file']}"
            lines.append(_line([name, ", ".join(row["findings"]), "yes" if one["true"] else "no", one["why"]]))
    return ["## Findings, read in the source\n", "".join(lines)] if len(lines) > 2 else []


_COUNTS: dict[str, Callable[[Row], bool]] = {
    "described": lambda row: row["described"],
    "recorded, C right or a finding": lambda row: row["described"] and (row["right"] or bool(row["findings"])),
    "with findings": lambda row: bool(row["findings"]),
    "measured on a GPU": lambda row: row["measured"] == "ok",
}


def _summary(rows: Sequence[Row]) -> str:
    lines = [_line(["repository", "kernels", *_COUNTS]), _line(["---", *["---:"] * (1 + len(_COUNTS))])]
    for repository in sorted({row["repository"] for row in rows}, key=str.lower):
        some = [row for row in rows if row["repository"] == repository]
        lines.append(_line([repository, str(len(some)), *(str(sum(map(test, some))) for test in _COUNTS.values())]))
    counts = [sum(map(test, rows)) for test in _COUNTS.values()]
    lines.append(_line(["**all**", str(len(rows)), *(f"**{n}** ({n / len(rows):.0%})" for n in counts)]))
    return "".join(lines)


def _each(rows: Sequence[Row]) -> str:
    heads = ["file, kernel", "described", "C", "findings", "GFLOPS", "why not"]
    lines, repository = [_line(heads), _line(["---", "---", "---", "---", "---:", "---"])], ""
    for row in sorted(rows, key=lambda row: tuple(word.lower() for word in _name(row))):
        if row["repository"] != repository:
            repository = row["repository"]
            lines.append(_line([f"**{repository}** at {row['commit'][:8]}", *[""] * 5]))
        described = "yes" if row["described"] else "no"
        right = ("right" if row["right"] else "wrong") if row["described"] else "–"
        size = row["size"]
        cube = f"{size[0]}" if len(set(size)) == 1 else " x ".join(map(str, size))
        figure = f"{row['gflops']:,.0f} at {cube}" if row["measured"] == "ok" else "–"
        refused = row["measured"] if row["measured"] not in ("", "ok") else ""
        why = row["why"] or refused[:_SHOWN]
        name = f"{row['file']}: `{row['kernel']}`"
        lines.append(_line([name, described, right, ", ".join(row["findings"]) or "–", figure, _plain(why)]))
    return "".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _plain(text: str) -> str:
    """Return text in which Markdown finds nothing to do."""
    return re.sub(r"([_*<>|\[\]])", r"\\\1", text)


def filled(page: str, text: str) -> str:
    """Return the page with the text between its markers."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}"


def read() -> list[Row]:
    """Return the rows of the page."""
    return list(json.loads(DATA.read_text(encoding="utf-8"))) if DATA.exists() else []


def main() -> int:
    """Take tables over, and make the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", type=Path, metavar="TABLE")
    parser.add_argument("--figures", action="store_true", help="only what a GPU has measured")
    asked = parser.parse_args()
    if asked.tables:
        lines = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if line.strip()]
        rows = read()
        for table in asked.tables:
            found = json.loads(table.read_text(encoding="utf-8"))
            rows = with_figures(found, rows) if asked.figures else taken_over(found, lines, rows)
        DATA.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), section(read())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
