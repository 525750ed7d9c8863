"""``gemmviz``: opens the window."""

import argparse
from typing import Any


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("window", help=summary, description="Opens the window.")
    parser.add_argument("file", nargs="?", help="a .cu or .c file with front matter to open")
    parser.add_argument("--theme", choices=("dark", "light"), help="colours")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from gemmviz import app  # late: everything else works without Qt

    return app.run_window(args)
