"""Damaged files of every kind that gemmviz opens, made of its own files, or of nothing."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from damaging.data import changed_alike, changed_bytes, changed_tree, json_text, made_tree, strange_value, toml_value
from damaging.front_matter import changed_matter, expression, made_matter
from damaging.source import changed_source
from gemmviz import data
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.kernel import Kernel, code
from gemmviz.catalogue.ladder import ladder

KINDS = ("front-matter", "kernels", "states", "lessons", "results", "preferences")
_STATE = (
    *("state_version", "kernel", "breaks", "size", "params", "order", "as_written", "step", "loop", "loop_range"),
    *("block", "warp", "lane", "frozen", "beside", "cell", "unit", "speed", "theme", "language", "type_scale", "calm"),
    *("view", "stops"),
)
_LESSON = ("kernel", "size", "params", "order", "as_written", "title", "stop")
_RESULT = ("schema_version", "run_id", "started_utc", "device", "env", "protocol", "results", "recordings", "profiles")
_PREFERENCES = {"language": "en", "theme": "dark", "type_scale": 1.0, "calm": False}
_TUNED = {
    "schema_version": 1,
    "kernel": "gputiled",
    "source_sha256": "",
    "tuned_on": "a processor",
    "date_utc": "2026-11-22T11:00:00+00:00",
    **dict.fromkeys("MNK", 512),
    "params": {"TS": 16},
    "gflops": 9.5,
    "gain": 1.2,
    "rounds": 3,
}
_BODIES = (
    "__global__ void k(float *C, const float *A, const float *B, int M, int N, int K) { C[threadIdx.x] = A[0]; }\n",
    "void k(float *c, const float *a, const float *b, int n) { c[0] = a[0] * b[0]; }\n",
    "template <int TS> __global__ void k(float *A) {}\n",
    "",
    "int x;\n",
)
_ROWS, _PROFILES = 10, 3


@dataclass(frozen=True)
class Damaged:
    """A file to open: ``sort`` is finer than its kind (a result may be a run, proofs or tuned parameters)."""

    sort: str
    suffix: str
    raw: bytes


def damaged_files(kind: str, random: Random, states: Sequence[dict[str, Any]] = ()) -> Iterator[Damaged]:
    """Yield damaged files of a kind (see `KINDS`) without end.

    Parameters
    ----------
    kind
        Which files; of ``"results"`` also ``"run"``, ``"tuned"`` or ``"proofs"`` alone.
    random
        Where chance comes from: the same seed gives the same files.
    states
        What state files hold that gemmviz itself has written; needed for ``"states"``.
    """
    made: dict[str, Callable[[Random], Damaged]] = {
        "front-matter": _front_matter,
        "kernels": _kernel,
        "states": lambda random: _state(states, random),
        "lessons": _lesson,
        "results": lambda random: _result(random.choice(("run",) * 5 + ("tuned", "proofs")), random),
        "run": lambda random: _result("run", random),
        "tuned": lambda random: _result("tuned", random),
        "proofs": lambda random: _result("proofs", random),
        "preferences": _preference,
    }
    while True:
        yield made[kind](random)


@cache
def _kernels() -> list[Kernel]:
    return [kernel for kernel in ladder() if kernel.recordable]


def _matter_of(kernel: Kernel) -> dict[str, Any]:
    found = FENCE.search(kernel.text)
    assert found is not None
    return tomllib.loads(re.sub(r"^// ?", "", found["body"], flags=re.MULTILINE))


@cache
def _lessons() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((data.root("resources") / "lessons").glob("*.toml"))]


@cache
def _run() -> dict[str, Any]:
    """Return some rows of the reference, of every backend and status."""
    path = next((data.root("resources") / "reference").glob("*.json"))
    whole = json.loads(path.read_text(encoding="utf-8"))
    rows, seen = [], set()
    for row in whole["results"]:
        sort = row["backend"], row["status"], row["N"] == row["K"]
        if sort not in seen or len(rows) < _ROWS // 2:
            seen.add(sort)
            rows.append(row | {"samples_s": row["samples_s"][:5]})
    return whole | {"results": rows[:_ROWS], **{k: whole[k][:_PROFILES] for k in ("recordings", "profiles")}}


@cache
def _proofs() -> dict[str, Any]:
    path = next((data.root("resources") / "proofs").glob("*.json"))
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole["proofs"] = whole["proofs"][:2]
    return whole


def _front_matter(random: Random) -> Damaged:
    kernel = random.choice(_kernels())
    way, suffix = random.random(), kernel.path.suffix
    start = FENCE.search(kernel.text)
    assert start is not None
    if way < 0.5:
        text = changed_matter(_matter_of(kernel), random) + kernel.text[start.end() :]
    elif way < 0.65:
        text = made_matter(random) + random.choice((*_BODIES, kernel.text[start.end() :]))
    elif way < 0.75:  # the table of declared changes behind the code
        text = kernel.text[: start.end()] + _changed_breaks(kernel.text[start.end() :], random)
    else:
        raw = kernel.text.encode()
        upto = len(kernel.text[: start.end()].encode())
        return Damaged("front-matter", suffix, changed_bytes(raw[:upto], random) + raw[upto:])
    return Damaged("front-matter", suffix, text.encode("utf-8", "surrogatepass"))


def _changed_breaks(text: str, random: Random) -> str:
    if "// ---gemmviz" not in text:
        change = {"title": "A change", "find": expression(random), "replace": expression(random)}
        lines = [f"// {key} = {toml_value(value)}" for key, value in changed_tree(change, random).items()]
        return text + "\n".join(["// ---gemmviz breaks", "// [a-change]", *lines, "// ---", ""])
    at = text.rindex("// ---gemmviz")
    return text[:at] + changed_bytes(text[at:].encode(), random).decode("utf-8", "replace")


def _kernel(random: Random) -> Damaged:
    kernel = random.choice(_kernels())
    start, end = code(kernel.text)
    if random.random() < 0.05:
        parts = (part.encode() for part in (kernel.text[:start], kernel.text[start:end], kernel.text[end:]))
        before, own, behind = parts
        return Damaged("kernels", kernel.path.suffix, before + changed_bytes(own, random) + behind)
    text = changed_source(kernel.text, (start, end), random)
    return Damaged("kernels", kernel.path.suffix, text.encode("utf-8", "surrogatepass"))


def _state(states: Sequence[dict[str, Any]], random: Random) -> Damaged:
    way = random.random()
    state = random.choice(states)
    if way < 0.4:
        raw = json_text(changed_alike(state, random), random).encode("utf-8", "surrogatepass")
    elif way < 0.75:
        raw = json_text(changed_tree(state, random), random).encode("utf-8", "surrogatepass")
    elif way < 0.85:
        tree = made_tree(_STATE, random) | {"state_version": 1, "kernel": {"name": "gputiled"}}
        raw = json_text(tree, random).encode("utf-8", "surrogatepass")
    else:
        raw = changed_bytes(json.dumps(state, indent=1).encode(), random)
    return Damaged("states", ".gemmviz", raw)


def _lesson(random: Random) -> Damaged:
    text, way = random.choice(_lessons()), random.random()
    if way < 0.4:
        text = _toml_text(changed_alike(tomllib.loads(text), random))
    elif way < 0.7:
        text = _toml_text(changed_tree(tomllib.loads(text), random))
    elif way < 0.85:
        tree = {"kernel": "gputiled", "size": 8, "title": "Mine"} | made_tree(_LESSON, random)
        tree["stop"] = [_stop(random) for _ in range(random.randint(0, 3))] or strange_value(random)
        text = _toml_text(tree)
    else:
        return Damaged("lessons", ".toml", changed_bytes(text.encode(), random))
    return Damaged("lessons", ".toml", text.encode("utf-8", "replace"))


def _stop(random: Random) -> dict[str, Any]:
    places: tuple[Any, ...] = (
        *({"step": 1}, {"step": 10**9}, {"share": 0.5}, {"share": 2}, {"end": True}, {"phase": 2}, {"tile": 1}),
        *({"demo": True}, {"line": "sum", "nth": 2}, {"line": "float sum = 0;"}, {"line": ""}, {"step": -1}, {}),
        strange_value(random),
    )
    says = ("Look.", "{steps} {sectors:A} {TS}", "{", "{nothing}", "{reads:Q}", {"ko": "봐"}, "{times:C}", "{{x}}")
    stop = {"at": random.choice(places), "say": random.choice((*says, strange_value(random)))}
    more = {
        "cell": ({"array": "C", "row": 1, "column": 2}, {"array": "As", "row": 99, "column": 0}, strange_value(random)),
        "block": ([0, 0], [9, 9], [-1, 0], strange_value(random)),
        "warp": (0, 1, 99, -1, 2**62, strange_value(random)),
        "panel": ("warp", "thread", "origin", strange_value(random)),
        "next": ("gpumult1", "nothing", strange_value(random)),
    }
    return stop | {key: random.choice(more[key]) for key in random.sample([*more], random.randint(0, 3))}


def _result(sort: str, random: Random) -> Damaged:
    way = random.random()
    whole = {"run": _run, "tuned": lambda: _TUNED, "proofs": _proofs}[sort]()
    if way < 0.4:
        raw = json_text(changed_alike(whole, random), random).encode("utf-8", "surrogatepass")
    elif sort == "run" and way < 0.5:
        tree = made_tree(_RESULT, random) | {"schema_version": 2, "device": None, "env": {}}
        raw = json_text(tree | {"results": [_row(random)]}, random).encode("utf-8", "surrogatepass")
    elif sort == "run" and way < 0.7:  # one field of a row, where most values are
        rows = [row | made_tree(tuple(random.sample([*row], 3)), random) for row in whole["results"][-3:]]
        raw = json_text(whole | {"results": [*whole["results"], *rows]}, random).encode("utf-8", "surrogatepass")
    elif way < 0.9:
        raw = json_text(changed_tree(whole, random), random).encode("utf-8", "surrogatepass")
    else:
        raw = changed_bytes(json.dumps(whole, indent=1).encode(), random)
    return Damaged(sort, ".json", raw)


def _row(random: Random) -> dict[str, Any]:
    row = {"kernel": "gputiled", "backend": "cuda", "M": 64, "N": 64, "K": 64, "status": "ok", "message": ""}
    row |= {"gflops": 9.0, "stats": {"median": 0.1}}
    changed: dict[str, Any] = changed_tree(row, random)
    return changed


def _preference(random: Random) -> Damaged:
    way = random.random()
    if way < 0.5:
        raw = json_text(changed_tree(_PREFERENCES, random), random).encode("utf-8", "surrogatepass")
    elif way < 0.7:
        raw = json_text(made_tree(tuple(_PREFERENCES), random), random).encode("utf-8", "surrogatepass")
    elif way < 0.8:
        raw = json_text(strange_value(random), random).encode("utf-8", "surrogatepass")
    else:
        raw = changed_bytes(json.dumps(_PREFERENCES, indent=1).encode(), random)
    return Damaged("preferences", ".json", raw)


def _toml_text(tree: dict[str, Any]) -> str:
    """Return a table as a lesson's file: its values, then its stops."""
    stops = tree.get("stop")
    several = isinstance(stops, list) and stops and all(isinstance(stop, dict) for stop in stops)
    lines = [f"{_key(key)} = {toml_value(value)}" for key, value in tree.items() if not (several and key == "stop")]
    for stop in stops if several else ():
        lines += ["", "[[stop]]", *(f"{_key(key)} = {toml_value(value)}" for key, value in stop.items())]
    return "\n".join(lines) + "\n"


def _key(key: Any) -> str:
    return str(key) if re.fullmatch(r"\w+", str(key), re.ASCII) else json.dumps(str(key))
