"""Makes the results of docs/results.md: the tables between its two markers, and the charts beside them.

``python docs/results.py`` reads `resources/reference/nvidia-h200.json` (made by `benchmarks/reference.py`) and
`docs/results-cpu.json` (made by `benchmarks/cpu.py --json`). What is not in those two is shown as not measured.
"""

import json
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import results_chart
from results_data import NOT_MEASURED, SIDE, SWEEP, TYPES, Rung, last_rungs, rungs, share, sweep

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.figures import Row
from gemmviz.bench.ranking import LIBRARIES
from gemmviz.bench.stats import significant
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder

_DOCS = Path(__file__).parent
ROOT = _DOCS.parent
REFERENCE, CPU = ROOT / "resources" / "reference" / "nvidia-h200.json", _DOCS / "results-cpu.json"
PAGE = _DOCS / "results.md"
BEGIN = "<!-- results: made by docs/results.py, down to the next mark -->\n"
END = "<!-- end of the results -->\n"
GROUPS = {
    **{"FP32": ("float32",), "Tensor cores": ("float16", "bfloat16")},
    **{"TF32 and FP8": ("tf32", "float8_e4m3fn"), "Integers": ("int32", "int8")},
}
_CPU_SIZES = (1024, 2048)
_NOTHING = (NOT_MEASURED, "–", "–")
_LETTERS = {
    "throttled": "t",
    "noisy": "n",
    "rounds-disagree": "r",
    "contended": "c",
    "above-peak": "a",
    "clock-moved": "m",
    "slower-than-numpy": "s",
}
_MEANING = {
    "t": "the GPU's power limit lowered its clock",
    "n": "the samples spread by more than 1%",
    "r": "the rounds differ by more than 2%",
    "c": "others wanted the same device",
    "a": "faster than the modelled peak",
    "m": "the CPU's clock moved by more than 5%",
    "s": "NumPy is faster",
    "e": "measured with an earlier text of the kernel",
}


def times(ratio: float | None) -> str:
    """Return a speed-up as text, marked if it is none."""
    if ratio is None:
        return "–"
    text = f"{ratio:.1f}" if ratio >= 9.95 else f"{ratio:.2f}"
    return f"{text}x, slower" if float(text) < 1 else f"{text}x"


def percent(ratio: float | None) -> str:
    """Return a share as text."""
    return "–" if ratio is None else f"{ratio:.1%}"


def marks(kernel: Kernel, row: Row) -> list[str]:
    """Return the remarks on a figure, a letter each."""
    found = [_LETTERS[flag] for flag in row["flags"] if flag in _LETTERS]
    earlier = row["source_sha256"] not in (None, kernel.sha256)
    return [*found, *(["e"] if earlier else []), *(["p"] if _changed(kernel, row) else [])]


def figure(kernel: Kernel, row: Row) -> str:
    """Return GFLOPS with as many digits as they support, and the marks behind."""
    letters = " ".join(marks(kernel, row))
    text = significant(row["gflops"], row["stats"]["iqr_rel"])
    return f"{text} <sup>{letters}</sup>" if letters else text


def ladder_table(found: Sequence[Rung]) -> str:
    """Return the table of one group of rungs."""
    rows = []
    for rung in found:
        kernel, row = rung.kernel, rung.row
        step = f"{rung.step:.2f}x, within the spread" if rung.step and not rung.is_clear else times(rung.step)
        cells = [figure(kernel, row), percent(share(row)), step] if row else [rung.status, *_NOTHING[1:]]
        rows.append([_name(kernel, row), *cells, _plain(kernel.idea)])
    return _table(["rung", "GFLOPS", "of cuBLAS", "over the rung before", "why"], rows, (0, 4))


def sweep_table(document: Document, kernels: Sequence[Kernel]) -> str:
    """Return the table of the last rungs over N, each beside the library of its types."""
    columns = [(kernel, sweep(document, kernel)) for kernel in last_rungs(kernels)]
    rows = []
    for at, n in enumerate(SWEEP):
        pairs = [(kernel, found[at]) for kernel, found in columns]
        cells = [(figure(k, row), percent(share(row))) if row else _NOTHING[:2] for k, row in pairs]
        rows.append([str(n), *(cell for both in cells for cell in both)])
    heads = [head for k, _ in columns for head in (f"`{k.alias}`, {TYPES[k.dtype]}", "of cuBLAS")]
    return _table(["N", *heads], rows, ())


def cpu_table(measured: dict[str, Any] | None, kernels: Sequence[Kernel]) -> str:
    """Return the table of the CPU's rungs, and of OpenBLAS at its best core type on as many threads."""
    found = {(row["kernel"], row["threads"], row["N"]): row for row in (measured or {"rows": []})["rows"]}
    rows: list[list[str]] = []
    # By size, the threads and figure of each row: one is compared with the last of at most as many threads.
    before: dict[int, list[tuple[int, float]]] = {n: [] for n in _CPU_SIZES}
    for kernel in (k for k in kernels if k.backend in ("c", "openblas")):
        for threads in sorted({key[1] for key in found if key[0] == kernel.name}) or [None]:
            cells: list[str] = []
            for n in _CPU_SIZES:
                row = found.get((kernel.name, threads, n))
                last = next((figure for used, figure in reversed(before[n]) if used <= (threads or 0)), None)
                step = row["gflops"] / last if row and last and kernel.backend not in LIBRARIES else None
                if row:
                    before[n].append((threads, row["gflops"]))
                cells += (
                    (f"{row['gflops']:#.3g}".removesuffix("."), percent(row["of_openblas"]), times(step))
                    if row
                    else _NOTHING
                )
            rows.append([_name(kernel), str(threads or "–"), *cells, _plain(kernel.idea)])
    heads = [head for n in _CPU_SIZES for head in (f"GFLOPS at {n}", "of OpenBLAS", "over the one before")]
    return _table(["rung", "threads", *heads, "why"], rows, (0, 8))


def protocol(document: Document, shown: Sequence[Row]) -> str:
    """Return the machine, the dates and the protocols of the shown rows; runs of one protocol are grouped."""
    device, runs = document["device"], document["protocol"]["runs"]
    lines = [
        f"*Reference*: one {device['name']}, {device['sms']} SMs. A figure is the median of all samples, the L2",
        "cleared before each; every kernel was verified before and after each round. A share of cuBLAS compares",
        "figures of the same run and of the same types.",
        "",
    ]
    alike: dict[tuple[Any, ...], list[str]] = {}
    for row in sorted(shown, key=lambda row: row["run_utc"]):
        alike.setdefault(tuple(runs[row["run_utc"]].items()), []).append(row["run_utc"])
    for facts, when in alike.items():
        how, many = dict(facts), len(set(when))
        began = _date(when[0]) if many == 1 else f"{many} runs, {_date(when[0])} to {_date(when[-1])}"
        lines += [
            f"* {began} ({len(when)} of the figures):",
            f"  driver {how['driver']}, NVRTC {how['nvrtc']}; {how['rounds']} interleaved rounds, each after "
            f"{how['warmup_s']:g} s of warming up;",
            f"  at least {how['min_samples']} samples and {how['min_time_s']:g} s, up to a spread below "
            f"{how['target_iqr']:.0%} or {how['timeout_s']:g} s.",
        ]
    return "\n".join([*lines, ""])


def cpu_words(measured: dict[str, Any] | None) -> str:
    """Return which processor measured the CPU's rungs, when and how."""
    if measured is None:
        return f"{NOT_MEASURED.capitalize()}; `python benchmarks/cpu.py --json docs/{CPU.name}` does it.\n"
    cpu = measured["cpu"]
    return (
        f"*Reference*: {cpu['model']} ({cpu['cores']} cores), {_date(measured['started_utc'])}, FP32.\n"
        f"Kernels and OpenBLAS ({measured['core']}, the core type that is fastest there) take turns; rounds: "
        f"{measured['rounds']}; a figure is their median.\n"
        "A share compares equal numbers of threads. One thread is timed by its own CPU time, several by the clock.\n"
    )


def section(document: Document, measured: dict[str, Any] | None, kernels: Sequence[Kernel]) -> str:
    """Return the text between the markers."""
    groups = {name: rungs(document, kernels, types) for name, types in GROUPS.items()}
    shown = [(rung.kernel, rung.row) for found in groups.values() for rung in found if rung.row]
    shown += [(kernel, row) for kernel in last_rungs(kernels) for row in sweep(document, kernel) if row]
    letters = {letter for kernel, row in shown for letter in marks(kernel, row)}
    others = dict.fromkeys(" ".join(_changed(kernel, row)) for kernel, row in shown)
    meaning = _MEANING | {"p": f"with other parameters than the default ones, {', '.join(filter(None, others))}"}
    notes = [f"*{letter}*: {text}" for letter, text in meaning.items() if letter in letters]
    parts = [
        protocol(document, list({id(row): row for _, row in shown}.values())),
        _picture("results", "TFLOPS of the ladder, rung by rung, beside cuBLAS"),
        *(f"## {name}, N = {SIDE}\n\n{ladder_table(found)}" for name, found in groups.items()),
        f"## The last rungs from {SWEEP[0]} to {SWEEP[-1]}\n\n{sweep_table(document, kernels)}",
        *(["; ".join(notes) + ".\n"] if notes else []),
        f"## On a CPU\n\n{cpu_words(measured)}\n{cpu_table(measured, kernels)}",
    ]
    return "\n".join(parts)


def filled(page: str, text: str) -> str:
    """Return the page with the text between its markers."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}"


def made() -> dict[Path, str]:
    """Return every file that this makes, with its text."""
    kernels, document = ladder(), results.read_results(REFERENCE)
    measured = json.loads(CPU.read_text(encoding="utf-8")) if CPU.exists() else None
    drawings = results_chart.drawings(document, kernels)
    return {PAGE: filled(PAGE.read_text(encoding="utf-8"), section(document, measured, kernels))} | {
        _DOCS / "images" / name: drawing for name, drawing in drawings.items()
    }


def main() -> int:
    """Write the page's section and the charts."""
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


def _plain(text: str) -> str:
    """Return text in which Markdown finds nothing to do."""
    return re.sub(r"([_*<>|])", r"\\\1", text)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> str:
    rule = ["---" if number in left else "---:" for number in range(len(heads))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, rule, *rows))


def _name(kernel: Kernel, row: Row | None = None) -> str:
    """Return a kernel's name, which leads to its source, and its parameters where they are not the default ones."""
    text = f"[`{kernel.alias}`](../{kernel.path.relative_to(ROOT).as_posix()})"
    return " ".join([text, *(_changed(kernel, row) if row else [])])


def _changed(kernel: Kernel, row: Row) -> list[str]:
    """Return the parameters that a row was measured with and that are not the default ones."""
    return [f"{name}={value}" for name, value in row["params"].items() if kernel.defaults.get(name, value) != value]


def _date(utc: str) -> str:
    return f"{(when := datetime.fromisoformat(utc)).day} {when:%B %Y, %H:%M} UTC"


def _picture(name: str, what: str) -> str:
    """Return the mark-up of a chart that has a dark and a light file."""
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="images/{name}-dark.svg">'
        f'<img alt="{what}" src="images/{name}-light.svg"></picture>\n'
    )


if __name__ == "__main__":
    sys.exit(main())
