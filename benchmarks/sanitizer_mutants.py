"""The reports of compute-sanitizer on mutants, beside those of `gemmviz check`; needs only Python and CUDA."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sanitizer_tools import TOOLS, build, look_at, missing, options, plain_run


def run(folder: Path, jobs: int) -> int:
    """Write ``sanitizer.json`` and ``sanitizer.md`` into a folder that ``mutants.py --write`` has filled."""
    if lacking := missing("nvcc", "compute-sanitizer"):
        print(lacking, file=sys.stderr)
        return 2
    mutants = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))
    extra = options()

    def one(mutant: dict[str, Any]) -> dict[str, Any]:
        found = mutant | _look_at(folder / mutant["file"], mutant.get("arch", ""), extra)
        print(f"{found['name']}: {found['status']}", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(one, mutants))
    (folder / "sanitizer.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    table = markdown(found)
    (folder / "sanitizer.md").write_text(table, encoding="utf-8")
    print(table)
    return 0


def _look_at(source: Path, exactly: str, extra: dict[str, list[str]]) -> dict[str, Any]:
    if output := build(source, exactly):
        return {"status": "does not compile", "tools": {}, "output": output}
    program = source.with_suffix("")
    return {"status": plain_run(program), "tools": {tool: look_at(program, tool, extra) for tool in TOOLS}}


def _found(row: dict[str, Any], tool: str) -> bool:
    seen = row["tools"].get(tool)
    return bool(seen and seen["errors"])


def _on_line(row: dict[str, Any], tool: str) -> bool:
    """Whether a tool names a line that counts as right for gemmviz: the mistaken one, or one where it shows."""
    counting = {row["line"], *(line for _, line in row["here"] if row["right_line"])}
    return bool(counting & set(row["tools"][tool]["lines"]))


def markdown(found: list[dict[str, Any]]) -> str:
    """Return a table of how many mutants of each operator each tool reports, and gemmviz check."""
    rows = [r for r in found if r["tools"]]
    head = [
        "mistake",
        "mutants",
        "C wrong on the GPU",
        "gemmviz check",
        *TOOLS,
        "any of the four",
        "on a line that counts",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    operators = [o for o in dict.fromkeys(r["operator"] for r in rows) if o != "(none)"]
    for operator in [*operators, "all mutants", "(none)"]:
        mine = [
            r for r in rows if r["operator"] == operator or (operator == "all mutants" and r["operator"] != "(none)")
        ]
        counts = [len(mine), sum(not r["status"].startswith("0 wrong") for r in mine), sum(r["reported"] for r in mine)]
        counts += [sum(_found(r, tool) for r in mine) for tool in TOOLS]
        counts.append(sum(any(_found(r, tool) for tool in TOOLS) for r in mine))
        counts.append(sum(any(_found(r, t) and _on_line(r, t) for t in TOOLS) for r in mine))
        name = "the kernels as they are" if operator == "(none)" else operator
        lines.append("| " + " | ".join([name, *map(str, counts)]) + " |")
    only_there = [r for r in rows if not r["reported"] and any(_found(r, t) for t in TOOLS)]
    only_wrong = [r for r in rows if not r["reported"] and not r["status"].startswith("0 wrong")]
    text = "\n".join(lines) + "\n"
    for what, rest in (
        ("Reported by compute-sanitizer alone", only_there),
        ("Wrong on the GPU, reported by nobody here", only_wrong),
    ):
        names = ", ".join(f"{r['name']} ({', '.join(t for t in TOOLS if _found(r, t))})" for r in rest) or "none"
        text += f"\n{what}: {names}.\n"
    return text
