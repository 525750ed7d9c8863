"""``gemmviz describe``: guesses the front matter of a kernel without it, tries it, and prints the reasons."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.encodings import decoded, encoded
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError, UnknownKernel
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import valid
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.matter_table import is_described
from gemmviz.catalogue.source_files import SOURCES
from gemmviz.catalogue.user_file import read_source, why_no_file, write_text
from gemmviz.cli import options
from gemmviz.engine.consent import Described
from gemmviz.engine.race_trials import race_trier
from gemmviz.engine.spending import Spending
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import device_trier, trier

_SCHEMA_VERSION = 1


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "describe",
        help=summary,
        description="Guesses entry, arguments and launch of a kernel from its source, records small problems "
        "to see whether C is right, and prints the front matter that gemmviz needs. The code itself is never changed.",
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a .cu, .c or header file (.cuh, .h, ...) without front matter"
    )
    parser.add_argument("--entry", metavar="NAME", help="the function to describe, if the file has several kernels")
    options.add_include(parser)
    parser.add_argument("--write", action="store_true", help="put the front matter at the top of the file")
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the guess as JSON; - is the standard output"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    text = _read(args.file)
    made = guess(text, args.file, args.entry, surroundings(args.file, text))
    if args.entry and args.entry not in {*made.entries, *(name.rpartition("::")[2] for name in made.entries)}:
        known = ", ".join(made.entries) or "none"
        raise UnknownKernel(f"{args.file.name} has no kernel {args.entry!r}; it has: {known}")
    if not made.entry:
        raise GemmvizError(made.doubts[0])
    made = tried(made)
    if args.json:
        _write_json(args.json, made)
    if args.json != "-":
        _print(made, () if args.entry else made.entries)
    if args.write:
        wrong = valid(made)
        if _unanswered(made):
            wrong = 'each "?" has to be filled in by hand'
        elif made.settled and not made.right:
            wrong = made.settled
        if wrong:
            raise GemmvizError(f"nothing was written: {wrong}")
        put_on_top(args.file, made.front_matter())
        Console(stderr=True).print(f"{args.file} has its front matter now", markup=False, highlight=False)
    return 0 if made.right else 1


def _read(path: Path) -> str:
    if path.suffix not in SOURCES:
        raise UnknownKernel(f"{path}: gemmviz describes files that end in {', '.join(SOURCES)}")
    if not path.exists():
        raise UnknownKernel(why_no_file(path))
    text = read_source(path)
    if is_described(text):
        with suppress(FrontMatterError):
            options.print_notes(parse(text, path))
        raise GemmvizError(
            f"{path.name} has front matter already: `gemmviz record {path}` records it, or names its mistake"
        )
    return text


def tried(made: Guess) -> Guess:
    """Return a guess that recordings of small problems have confirmed, or the given guess."""
    engine = Engine(Described(made.path, made.text))
    try:
        with Console(stderr=True).status("Recording small problems to see whether the guess is right"):
            try_one, try_random = (trier(engine, threading.Event(), random=random) for random in (False, True))
            try_device = device_trier(engine, threading.Event())
            return settle(
                made,
                try_one,
                try_random=try_random,
                try_device=try_device,
                try_race=race_trier(engine, threading.Event()),
                spent=Spending(engine),
            )
    finally:
        engine.close()


def _unanswered(made: Guess) -> bool:
    """Return whether the front matter has a ``?``, which has to be replaced by hand."""
    return not all(made.roles) or any(matrix not in made.boxes for matrix in made.mapped)


def put_on_top(path: Path, front_matter: str) -> None:
    """Put front matter at the top of a file; if that fails, the file stays unchanged.

    The file keeps its encoding, its line ends, its byte order mark and its permissions.
    """
    path = path.resolve()
    raw = path.read_bytes()
    text, _ = decoded(raw) or (raw.decode("utf-8", "surrogateescape"), "")
    block = front_matter.replace("\n", "\r\n") if "\r\n" in text else front_matter
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(encoded(block + text, raw))
        shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_json(target: str, made: Guess) -> None:
    body = {
        "schema_version": _SCHEMA_VERSION,
        "file": str(made.path),
        "entries": list(made.entries),
        "entry": made.entry,
        "parameters": [
            {"name": name, "type": kind, "role": role or None}
            for (name, kind), role in zip(made.parameters, made.roles, strict=True)
        ],
        "params": {name: list(values) for name, values in made.params.items()},
        "block": list(made.block),
        "grid": list(made.grid),
        "shared": made.shared,
        "requires": list(made.requires),
        "dtype": made.dtype,
        "accumulate": made.accumulate,
        "stores": made.stores,
        "column_major": sorted(made.column_major),
        "evidence": {key: {"confidence": round(e.confidence, 2), "why": e.why} for key, e in made.why.items()},
        "doubts": made.doubts,
        "right": made.right,
        "verdict": made.settled,
        "flaws": [{"kind": one.kind, "line": one.line, "text": one.text} for one in made.flaws],
        "front_matter": made.front_matter(),
    }
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(target), text)


def _print(made: Guess, entries: tuple[str, ...]) -> None:
    """Print a guess and its reasons; `entries` are the kernels that might have been meant instead."""
    console = Console()
    # Not through the console, which would break long lines: people copy this.
    sys.stdout.write(made.front_matter())
    sys.stdout.flush()
    table = Table(title="why", show_header=False, box=None)
    for (name, kind), role in zip(made.parameters, made.roles, strict=True):
        known = made.why.get(name)
        table.add_row(f"{kind} {name}".replace("* ", "*"), role or "?", known.why if known else "")
    has = {"params": bool(made.params), "shared": made.shared != "0"}
    for key in ("params", "block", "grid", "shared"):
        if key in made.why and has.get(key, True):
            table.add_row(key, "", made.why[key].why)
    console.print(table, markup=False, highlight=False)
    others = [name for name in entries if name != made.entry.partition("<")[0]]
    if others and made.right:
        console.print(f"other kernels of the file (--entry NAME): {', '.join(others)}", markup=False, highlight=False)
    for doubt in made.doubts:
        console.print(f"? {doubt}", markup=False, highlight=False)
    if not _unanswered(made):  # else nothing was recorded, and the questions give the reason
        console.print(made.settled, markup=False, highlight=False)
    for flaw in made.flaws:
        console.print(f"! {flaw}", markup=False, highlight=False)
