"""Options that several commands share: the size and the parameters of a launch."""

import argparse
import os
from pathlib import Path

from gemmviz.bench import store
from gemmviz.catalogue.problem import Problem

KERNEL_HELP = (
    "a name from `gemmviz list`, or the path of a .cu or .c file; with ~CHANGE behind it, without what that takes away "
    "(see `gemmviz list --breaks`)"
)


def add_launch(parser: argparse.ArgumentParser, default_size: int) -> None:
    """Add --size, --m, --n, --k and --set."""
    parser.add_argument("--size", type=whole, metavar="N", help=f"M = N = K = N (default {default_size})")
    add_sides(parser)
    add_set(parser)
    parser.set_defaults(default_size=default_size)


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add --m, --n and --k."""
    for name in ("m", "n", "k"):
        parser.add_argument(f"--{name}", type=whole, metavar=name.upper(), help=f"{name.upper()} by itself")


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add --set, which may be repeated."""
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="value of a kernel parameter, for example TS=4; any value that the kernel's constraints allow",
    )


def problem(args: argparse.Namespace) -> Problem:
    """Return the size that `add_launch`'s options describe.

    Raises
    ------
    ConstraintError
        When a size is out of range.
    """
    size = args.default_size if args.size is None else args.size
    m, n, k = (size if own is None else own for own in (args.m, args.n, args.k))
    return Problem(m, n, k)


def params(args: argparse.Namespace) -> dict[str, int]:
    """Return the parameters that --set gave; the last one of a name counts."""
    return dict(args.settings)


def whole(text: str) -> int:
    """Read a whole number, for argparse."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def seconds(text: str) -> float:
    """Read a time from a millisecond to a day, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-3 <= value <= 86_400:  # neither does NaN hold
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.001 to 86400")
    return value


def block_range(text: str) -> tuple[int, int]:
    """Parse ``FIRST:END``, the first block and the one after the last."""
    first, colon, end = text.partition(":")
    if not colon or not first.isdecimal() or not end.isdecimal() or not int(first) < int(end):
        raise argparse.ArgumentTypeError(f"{text!r} is no range of blocks: write FIRST:END, as 0:4 for the first four")
    return int(first), int(end)


def output_file(text: str) -> str:
    """Check, for argparse and before any work, that the file can be written; ``-`` is the standard output."""
    path = Path(text)
    if text != "-":
        if path.is_dir():
            raise argparse.ArgumentTypeError(f"{text} is a folder")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return text


def result_file(name: str) -> Path:
    """Return the file that a name stands for: a path, or a stored run (``last``, ``last~1``, the start of an id).

    Raises
    ------
    GemmvizError
        When there is neither.
    """
    path = Path(name)
    return path if path.exists() or path.suffix == ".json" else store.find(name)


def _setting(text: str) -> tuple[str, int]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, for example TS=4")
    return name, whole(value)
