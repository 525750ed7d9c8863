"""Compiles programs and runs compute-sanitizer's tools on each, side by side; needs nothing but Python and CUDA."""

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_COMPILE_S, _RUN_S = 120, 60
_FLAGS = ("-w", "-lineinfo", "-std=c++17")
_KERNELS = Path(__file__).resolve().parents[1] / "kernels"
_INCLUDES = [f"-I{_KERNELS / folder}" for folder in ("cuda", "include")]
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
_PLACE = re.compile(r"\bin (?:\S*/)?([\w.-]+\.cuh?):(\d+)")
_KIND = re.compile(
    r"^=========\s+(?:Error: )?((?:Invalid|Uninitialized|Barrier|Race|Warning: Race|Misaligned|Unused)[^:(\n]*)", re.M
)


def run(folder: Path, jobs: int) -> int:
    """Write ``sanitizer.json`` and ``sanitizer.md`` into a folder that ``mutants.py --write`` has filled."""
    for need in ("nvcc", "compute-sanitizer"):
        if shutil.which(need) is None:
            print(f"{need} is not on the PATH: put CUDA's bin folder there", file=sys.stderr)
            return 2
    mutants = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))
    extra = _options()

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


def _options() -> dict[str, list[str]]:
    """Return what each tool is given: initcheck looks at shared memory as well where this version can."""
    usage = _run(["compute-sanitizer", "--help"], 30)[1]
    space = ["--initcheck-address-space", "all"] if "--initcheck-address-space" in usage else []
    return {tool: space if tool == "initcheck" else [] for tool in TOOLS}


def _run(command: list[str], limit_s: float) -> tuple[int | None, str]:
    """Return exit code and output; None when the time was up."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
        return None, output.decode(errors="replace") if isinstance(output, bytes) else output
    return done.returncode, done.stdout + done.stderr


def _look_at(source: Path, exactly: str, extra: dict[str, list[str]]) -> dict[str, Any]:
    program = source.with_suffix("")
    # An architecture that has to be met exactly is lost on -arch.
    architecture = f"-gencode=arch={exactly.replace('sm', 'compute')},code={exactly}" if exactly else "-arch=native"
    command = ["nvcc", *_FLAGS, architecture, *_INCLUDES, str(source), "-o", str(program)]
    code, output = _run(command, _COMPILE_S)
    if code != 0:
        return {"status": "does not compile", "tools": {}, "output": output[-2000:]}
    code, output = _run([str(program)], _RUN_S)
    wrong = re.search(r"C: (\d+) of", output)
    status = "timeout" if code is None else f"{wrong[1]} wrong" if wrong else output.strip()[-200:]
    tools = {}
    for tool in TOOLS:
        command = ["compute-sanitizer", "--tool", tool, "--print-limit", "50", *extra[tool], str(program)]
        tools[tool] = _read(*_run(command, _RUN_S))
    return {"status": status, "tools": tools}


def _read(code: int | None, output: str) -> dict[str, Any]:
    errors = [int(number) for number in _SUMMARY.findall(output)]
    places = list(dict.fromkeys(f"{name}:{line}" for name, line in _PLACE.findall(output) if name != "main.cu"))
    kinds = list(dict.fromkeys(kind.partition(" at ")[0].strip() for kind in _KIND.findall(output)))
    return {
        **{"errors": max(errors) if errors else None, "lines": [int(p.rpartition(":")[2]) for p in places]},
        **{"places": places[:6], "kinds": kinds[:4], "timeout": code is None},
        "tail": "" if errors else output[-600:],
    }


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
