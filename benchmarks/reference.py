"""Makes a reference result from result files: gemmviz shows it on machines without such a device.

    python benchmarks/reference.py resources/reference/nvidia-h200.json NEW... -o resources/reference/nvidia-h200.json
    python docs/results.py

The first adds new runs to the reference there is; the second brings docs/results.md and its charts up to date.

The files must come from one machine, and from kernels as they are now, but for those that --earlier names. Of two rows
of one case the one of more rounds counts, of equals the later file's; the protocol named is the last file's. Each row
keeps the time of its own run, and the best library's figure of that same run, so that its share of the library never
mixes two runs. Left out are rows of new runs that were cut short, most samples (their statistics stay), and what names
the machine: command lines, folders, the device's number. Profiles (``gemmviz claims s4-throughput s4-memory-bound
--save FILE``) are kept by case.
"""

import argparse
from pathlib import Path
from typing import Any

from gemmviz.bench import claims, results
from gemmviz.bench.document import Document
from gemmviz.bench.figures import size_of
from gemmviz.bench.ranking import LIBRARIES, rivals
from gemmviz.bench.row import Row
from gemmviz.catalogue.ladder import ladder

_KEPT_SAMPLES = 40
_KEPT_READINGS = 12
_HOW = ("rounds", "warmup_launches", "warmup_s", "min_samples", "min_time_s", "target_iqr", "timeout_s", "slow_s")
"""The facts that may differ between the runs of one reference: in their protocols, and in the machine's software."""
_WITH = ("driver", "nvrtc")
_CUT_SHORT = "cancelled after"
_EARLIER = "earlier-text"
"""The flag of a figure that was measured with an earlier text of its kernel."""


def case(row: Row) -> tuple[Any, ...]:
    """Return the key of a row in a reference."""
    return row["kernel"], row["M"], row["N"], row["K"], row["dtype_in"], tuple(sorted(row["params"].items()))


def with_run(document: Document) -> Document:
    """Return a new run whose rows have their start and their best library; a reference has both already."""
    if "runs" in document["protocol"]:
        return document
    rows = [row for row in document["results"] if not any(flag.startswith(_CUT_SHORT) for flag in row["flags"])]
    libraries = [row for row in rows if row["backend"] in LIBRARIES and row["gflops"]]

    known = {kernel.name: kernel for kernel in ladder()}  # of a row alone TF32 cannot be told from FP32

    def best(row: Row) -> float | None:
        """Return the GFLOPS of the best library that the kernel of a row is compared with, at its size."""
        kernel = known.get(row["kernel"])
        figures = {other["kernel"]: other["gflops"] for other in libraries if size_of(other) == size_of(row)}
        if kernel is None or not row["gflops"]:
            return None
        found = rivals(kernel, (known[name] for name in figures if name in known))
        return max((figures[one.name] for one in found), default=None)

    def dated(row: Row) -> Row:
        return row | {"run_utc": document["started_utc"], "library_gflops": best(row)}

    facts = {name: document["protocol"].get(name) for name in _HOW} | {n: document["env"].get(n) for n in _WITH}
    protocol = document["protocol"] | {"runs": {document["started_utc"]: facts}}
    return document | {"results": [dated(row) for row in rows], "protocol": protocol}


def spread(values: list[float], most: int) -> list[float]:
    """Return at most so many of the values, evenly spaced."""
    return values if len(values) <= most else [values[i * len(values) // most] for i in range(most)]


def condense(row: Row, full_clock_mhz: float) -> Row:
    """Return the row without the fields that a reference does not need."""
    row = row | {"samples_s": spread(row["samples_s"], _KEPT_SAMPLES)}
    row["compile_flags"] = [flag for flag in row["compile_flags"] or [] if "/" not in flag] or None
    if row["hot"]:
        row["hot"] = row["hot"] | {"samples_s": spread(row["hot"]["samples_s"], _KEPT_SAMPLES)}
    if row["telemetry"]:
        # Runs from before sensors were read so: at the full clock nothing is held back.
        if min(row["telemetry"]["sm_mhz"], default=0.0) >= full_clock_mhz:
            row["telemetry"] = row["telemetry"] | {"throttle": []}
            row["flags"] = [flag for flag in row["flags"] if flag != "throttled"]
        series = ("sm_mhz", "power_w", "temp_c")
        row["telemetry"] = row["telemetry"] | {n: spread(row["telemetry"][n], _KEPT_READINGS) for n in series}
    return row


def of_case(plain: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key of a recording or a profile; recordings have a view, too."""
    size, params = (plain["M"], plain["N"], plain["K"]), tuple(sorted(plain["params"].items()))
    return plain["kernel"], size, params, plain.get("as_written", False)


def recordings(documents: list[Document]) -> list[dict[str, Any]]:
    """Return the counts of recordings that claims ask for: the later of two of one case."""
    asked = {
        (job.case.kernel, job.case.size, job.case.params, job.case.as_written)
        for job in claims.plan(claims.load()).record
    }
    kept = {of_case(counts): counts for document in documents for counts in document.get("recordings", [])}
    return [counts for key, counts in kept.items() if key in asked]


def profiles(documents: list[Document], current: dict[str, str]) -> list[dict[str, Any]]:
    """Return the profiles: the later of two of one case, none of another text, none with a fault."""
    found = [profile for document in documents for profile in document.get("profiles", [])]
    right = [one for one in found if not one["fault"] and one["source_sha256"] == current.get(one["kernel"])]
    return list({of_case(profile): profile for profile in right}.values())


def main() -> None:
    """Read the files, merge and condense them, and write one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument(
        "--recordings",
        type=Path,
        help="another file with counts of recordings, which replace the others' of the same case",
    )
    parser.add_argument(
        "--earlier",
        nargs="+",
        default=[],
        metavar="KERNEL",
        help="keep rows of an earlier text of these kernels, flagged so, where the present text has none",
    )
    args = parser.parse_args()
    documents = [with_run(results.read_results(path)) for path in args.files]
    machines = {results.machine(document) for document in documents}
    if len(machines) > 1:
        parser.error(f"these files are from several machines: {', '.join(sorted(machines))}")
    current = {kernel.name: kernel.sha256 for kernel in ladder()}
    kept: dict[tuple[Any, ...], Row] = {}
    stale = set()
    for row in results.merged(documents)["results"]:
        earlier = row["source_sha256"] not in (None, current.get(row["kernel"]))
        if earlier and row["kernel"] not in args.earlier:
            stale.add(row["kernel"])
        elif row["status"] in ("ok", "wrong", "compile"):
            flags = [flag for flag in row["flags"] if flag != _EARLIER]
            row = row | {"flags": [*flags, *([_EARLIER] if earlier else [])]}
            older = kept.get(case(row))
            was_earlier = older is not None and _EARLIER in older["flags"]
            if (
                older is None
                or was_earlier > earlier
                or (was_earlier == earlier and len(older["rounds"]) <= len(row["rounds"]))
            ):
                kept.pop(case(row), None)  # a newer row follows all older ones
                kept[case(row)] = condense(row, documents[0]["device"]["clock_mhz"])
    # The protocol comes from the last file: the run with the whole protocol goes there.
    measured = [document for document in documents if document["results"]]
    whole = measured[-1] | {"results": list(kept.values()), "argv": ["gemmviz", "bench"]}
    runs = {utc: how for document in documents for utc, how in document["protocol"]["runs"].items()}
    used = {row["run_utc"] for row in kept.values()}
    whole["protocol"] = whole["protocol"] | {"runs": {utc: how for utc, how in sorted(runs.items()) if utc in used}}
    whole["env"] = whole["env"] | {"os": whole["env"]["os"].split()[0]}
    whole["device"] = whole["device"] | {"uuid": ""}
    counted = [*documents, *([results.read_results(args.recordings)] if args.recordings else [])]
    whole["recordings"] = recordings(counted)
    whole["profiles"] = profiles(documents, current)
    results.write_results(whole, args.output)
    print(f"{len(kept)} rows, {len(whole['profiles'])} profiles, {args.output.stat().st_size / 1e6:.2f} MB")
    if stale:
        print("left out, as their source has changed:", ", ".join(sorted(stale)))


if __name__ == "__main__":
    main()
