"""The result file: its rows, its head, writing and reading."""

import json
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal, cast

import numpy as np

from gemmviz import __version__
from gemmviz.backends.base import Build
from gemmviz.backends.driver import DeviceFacts
from gemmviz.backends.environment import Environment, cpu_of
from gemmviz.bench import schema
from gemmviz.bench.document import AppFacts, Document, Host, Measured
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import FAILURES, Order, Row, SampleStats, Status, StopReason, dtype_out
from gemmviz.bench.verify import Verdict
from gemmviz.catalogue import renamed
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.kernel import read as read_source
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual
from gemmviz.catalogue.user_file import RESULT_BYTES, parse_json, read_text, write_text

BROKEN = "broken on purpose"
"""The beginning of the flag of a variant with a known defect: its C may be right by chance."""


def new_row(kernel: Kernel, problem: Problem, params: Mapping[str, int]) -> Row:
    """Return the row of a kernel that has not run: it has all fields, most of them None."""
    stored: dict[str, Order] = {m: "column" if m in kernel.column_major else "row" for m in MATRICES}
    return {
        "kernel": kernel.name,
        "alias": kernel.alias,
        "label": kernel.entry or kernel.name,
        "backend": kernel.backend,
        "M": problem.m,
        "N": problem.n,
        "K": problem.k,
        "dtype_in": kernel.dtype,
        "dtype_acc": kernel.accumulate,
        "dtype_out": kernel.dtype_out,
        "layout": {"A": stored["A"], "B": stored["B"], "C": stored["C"]},
        "params": usual(kernel, problem, params),
        **deepcopy(schema.UNKNOWN),  # type: ignore[typeddict-item]  # for mypy it could have more keys
        "flags": [f"{BROKEN}: {', '.join(kernel.defects)}"] if kernel.defects else [],
        "exhibit": bool(kernel.exhibit),
        "source_sha256": kernel.sha256,
        "edited": _edited(kernel),
    }


def unreadable_row(path: Path, text: str, problem: Problem, message: str) -> Row:
    """Return the row of a file whose front matter cannot be read."""
    row = new_row(Kernel(path.stem, path, text, "c" if path.suffix == ".c" else "cuda", path.stem), problem, {})
    fail(row, "compile", message)
    return row


def describe_launch(row: Row, launch: Launch) -> None:
    """Fill in the launch."""
    row |= {"label": launch.label, "params": dict(launch.params)}
    if launch.kernel.backend == "cuda":
        row |= {"grid": list(launch.grid), "block": list(launch.block), "smem": launch.shared_bytes}
    if division := launch.kernel.division:
        a_bytes = launch.elements("A") * np.dtype(launch.kernel.dtype).itemsize
        row["devices"] = launch.devices
        crossing = division.link_bytes(launch.devices, a_bytes)
        if crossing is not None:
            row["link_bytes"] = crossing


def describe_build(row: Row, build: Build) -> None:
    """Fill in the compiler's results."""
    row |= {"compile_ms": build.compile_ms, "compile_flags": list(build.flags), "regs": build.registers}
    if build.shared_bytes is not None:
        row["smem"] = build.shared_bytes
    row["flags"] += build.notes


def describe_verdict(row: Row, when: Literal["before", "after"], verdict: Verdict | None) -> None:
    """Fill in a verification: `when` is ``"before"`` or ``"after"`` the timing; None: written outside C."""
    verify = row["verify"]
    verify[when] = "outside" if verdict is None else "ok" if verdict.ok else "wrong"
    if verdict is not None:
        row["verify"] = {"before": verify["before"], "after": verify["after"], **verdict.to_plain()}


def describe_samples(row: Row, seconds: list[float], stats: SampleStats, stop: StopReason | None, flops: int) -> None:
    """Fill in the figures; from now on the row counts as ok."""
    m, n, k = row["M"], row["N"], row["K"]
    read, written = np.dtype(row["dtype_in"]).itemsize, np.dtype(dtype_out(row)).itemsize
    compulsory = read * (m * k + k * n) + written * m * n
    row |= {
        "status": "ok",
        "samples_s": [float(f"{s:.6g}") for s in seconds],
        "stats": stats,
        "stop_reason": stop,
        "gflops": flops / stats["median"] / 1e9,
        "gbps": compulsory / stats["median"] / 1e9,
    }
    if stop == "timeout":
        row["flags"].append("noisy")


def fail(row: Row, status: Status, message: str, line: int | None = None) -> None:
    """Give the row a status other than ok, and remove its figures: a failed kernel is never ranked."""
    row |= {"status": status, "message": message, "line": line}
    row.update(deepcopy(schema.UNTIMED))  # type: ignore[typeddict-item]  # for mypy a Timing could have more keys


def document(env: Environment, device: DeviceFacts | None, protocol: Protocol) -> Document:
    """Return a result file without rows.

    Parameters
    ----------
    env, device
        From `gemmviz.backends.machine`.
    protocol
        The rules that were used.
    """
    return {
        "schema_version": schema.VERSION,
        "run_id": uuid.uuid4().hex,
        "started_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "argv": [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv else [],
        "app": app_facts(),
        "env": env.copy(),
        "device": device.copy() if device else None,
        "protocol": protocol.describe(),
        "results": [],
    }


def merged(documents: Sequence[Document]) -> Document:
    """Combine several result files: the first one, with rows, recordings and profiles of all.

    Missing facts about the machine, such as a compiler that the first run did not need, come from the other files of
    the same machine. Files of a cluster's machines keep these apart: see `Document.machines`.
    """
    whole = documents[0] | {"results": [row for content in documents for row in content["results"]]}
    machines: list[Host] = []
    for content in documents:
        machines += [one for one in content.get("machines", []) if _identity(one) not in map(_identity, machines)]
    if machines:
        whole["machines"] = machines
    for content in documents[1:]:
        if list(map(_identity, content.get("machines", []))) != list(map(_identity, documents[0].get("machines", []))):
            continue
        others: Mapping[str, object] = content["env"]
        env = {name: others.get(name) if fact is None else fact for name, fact in whole["env"].items()}
        whole["env"] = cast(Environment, env)
    if recordings := [one for content in documents for one in content.get("recordings", [])]:
        whole["recordings"] = recordings
    if profiles := [one for content in documents for one in content.get("profiles", [])]:
        whole["profiles"] = profiles
    return whole


def _identity(machine: Host) -> tuple[str, str | None]:
    """Return the identity of a machine of a cluster: its host, and its GPU."""
    device = machine["device"]
    return machine["host"], device.get("uuid") if device else None


@cache
def app_facts() -> AppFacts:
    """Return gemmviz's version and, in a checkout, its commit and whether files differ from it; else None."""
    checkout = Path(__file__).parents[2]
    facts: AppFacts = {"version": __version__, "git_sha": None, "dirty": None}
    if (checkout / ".git").exists():
        sha, status = _git(checkout, "rev-parse", "HEAD"), _git(checkout, "status", "--porcelain")
        facts |= {"git_sha": sha or None, "dirty": None if status is None else bool(status)}
    return facts


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def failed(rows: Iterable[Row]) -> bool:
    """Return whether a row failed because of its kernel, unless it is an exhibit."""
    return any(row["status"] in FAILURES and not row.get("exhibit") and not is_broken(row) for row in rows)


def is_broken(row: Row) -> bool:
    """Whether a row is of a variant with a known defect, which may have no effect in this run."""
    return any(flag.startswith(BROKEN) for flag in row.get("flags") or ())


def machine(content: Measured) -> str:
    """Return the machine of the rows, for people: GPU and processor; of a cluster, all machines of a kind once."""
    several: Sequence[Host] = content.get("machines", [])  # type: ignore[assignment]  # only a whole file has them
    if len(several) > 1:
        counts = Counter(map(_one_machine, several))
        return "; ".join(f"{count} x {name}" if count > 1 else name for name, count in sorted(counts.items()))
    return _one_machine(content)


def _one_machine(content: Measured) -> str:
    device, cpu = content.get("device"), cpu_of(content.get("env"))
    names = (device.get("name") if device else "", cpu["model"])
    return " / ".join(str(name) for name in names if name) or "unknown machine"


def to_json(content: Mapping[str, object]) -> str:
    """Return the document as JSON text, in which each row (a figure, a recording, a profile) has one line."""
    parts = [f" {json.dumps(name)}: {_laid_out(value)}" for name, value in content.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _laid_out(value: object) -> str:
    """Return a part of a document as JSON: a list of objects has one object per line, other parts are indented."""
    if value and isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return "[\n" + ",\n".join(f"  {json.dumps(row, allow_nan=False)}" for row in value) + "\n ]"
    return json.dumps(value, indent=1, allow_nan=False).replace("\n", "\n ")


def write_results(content: Mapping[str, object], path: Path) -> None:
    """Write a result file completely, or not at all.

    Raises
    ------
    GemmvizError
        When it cannot be written.
    """
    write_text(path, to_json(content))


def read_results(path: Path) -> Document:
    """Read a result file of this or an older gemmviz; the document has the current schema and the current kernel names.

    Raises
    ------
    GemmvizError
        When it is truncated, damaged, from a newer gemmviz, or not a result file. The file is not changed.
    """
    try:
        content = parse_json(read_text(path, RESULT_BYTES))
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise GemmvizError(f"{path} is truncated or not JSON (line {error.lineno})") from None
    except ValueError as error:
        raise GemmvizError(f"{path} is not a result file of gemmviz: it has {error}") from None
    document = schema.checked(content, path)
    document["results"] = [renamed.row_of_today(row) for row in document["results"]]
    if "recordings" in document:
        document["recordings"] = [renamed.row_of_today(row) for row in document["recordings"]]
    if "profiles" in document:
        document["profiles"] = [renamed.row_of_today(row) for row in document["profiles"]]
    return document


def _edited(kernel: Kernel) -> bool:
    """Whether the text differs from the file it names."""
    try:
        return read_source(kernel.path) != kernel.text
    except (OSError, FrontMatterError):
        return True
