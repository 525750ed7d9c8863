"""``gemmviz trust``: the foreign texts and folders that this user allows to run in the window."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from gemmviz.catalogue.errors import ConstraintError, UnknownKernel
from gemmviz.cli.tables import console
from gemmviz.session.trust.trust import Trust

_EVERYTHING = "all"


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "trust",
        help=summary,
        description="The window shows a kernel that does not come with gemmviz, and runs it only when you have allowed "
        "its text or trust its folder. This lists what you have allowed. A command that opens no window runs the "
        "kernel file that you name, this one time.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the permissions (the default)")
    what.add_argument("--folder", metavar="DIR", type=Path, help="allow the files in this folder, or below it, to run")
    what.add_argument(
        "--forget",
        metavar="WHAT",
        help=f"forget a folder, a file, or the text whose hash begins so (8 digits or more); {_EVERYTHING}: everything",
    )
    parser.add_argument("--json", action="store_true", help="list as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    trust = Trust()
    if args.json and (args.folder or args.forget):
        raise ConstraintError("--json lists the permissions; it cannot be combined with --folder and --forget")
    if args.folder:
        trust.allow_folder(args.folder)
        print(f"trusted: {args.folder.resolve()}")
    elif args.forget:
        gone = trust.store.forget(None if args.forget == _EVERYTHING else args.forget)
        if not gone and args.forget != _EVERYTHING:
            raise UnknownKernel(f"there is no permission for {args.forget}; `gemmviz trust` lists all")
        print(f"forgotten: {gone}")
    else:
        _list(trust, args.json)
    return 0


def _list(trust: Trust, as_json: bool) -> None:
    kept = trust.kept
    if kept.fault:
        print(f"gemmviz: {kept.fault}", file=sys.stderr)
    if as_json:
        body = {"folders": list(map(str, kept.folders)), "texts": [asdict(text) for text in kept.texts]}
        sys.stdout.write(json.dumps(body, indent=1, ensure_ascii=False) + "\n")
        return
    if not kept.texts and not kept.folders:
        print("Only kernels of gemmviz, and texts typed in the window, may run in the window.")
        return
    table = Table(title=f"What may run ({trust.store.path})")
    for name in ("what", "where", "hash", "allowed"):
        table.add_column(name, overflow="fold")
    for folder in kept.folders:
        table.add_row("folder", escape(str(folder)), "", "")
    for text in kept.texts:
        table.add_row("text", escape(text.file), text.sha256[:8], text.date)
    console().print(table)
