"""Options that several commands share: the size and the parameters of a launch, the selection, the appearance."""

import argparse
import os
import re
import sys
from pathlib import Path

from gemmviz.catalogue.includes import VARIABLE
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import read_ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.language import LANGUAGES

KERNEL_HELP = (
    "a name from `gemmviz list`, or the path of a .cu or .c file; NAME~CHANGE applies a declared change "
    "(see `gemmviz list --breaks`)"
)

OR_NEAREST = "or the nearest size that the kernel takes"

SET_HELP = "value of a kernel parameter, for example TS=4; any value that the kernel's constraints allow"


def add_launch(parser: argparse.ArgumentParser, default_size: int, *, grows: bool = False) -> None:
    """Add --size, --m, --n, --k and --set; `grows`: `picture_problem` may take a larger size than the default."""
    default = f"default: the kernel's demo, else {default_size}, "
    default += "or the smallest size with several blocks" if grows else OR_NEAREST
    parser.add_argument("--size", type=whole, metavar="N", help=f"M = N = K = N ({default})")
    add_sides(parser)
    add_set(parser)
    add_include(parser)
    parser.set_defaults(default_size=default_size)


class _IncludeFolder(argparse.Action):
    """Adds a folder to search for headers, for this process and its child processes."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        known = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = os.pathsep.join([*filter(None, [known]), str(Path(str(values)).absolute())])


def add_include(parser: argparse.ArgumentParser) -> None:
    """Add -I, which may be repeated."""
    parser.add_argument(
        "-I",
        action=_IncludeFolder,
        metavar="DIR",
        help="search DIR for headers, too; the file's folder and its repository are always searched",
    )


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add --m, --n and --k."""
    for name in ("m", "n", "k"):
        parser.add_argument(f"--{name}", type=whole, metavar=name.upper(), help=f"{name.upper()} by itself")


def add_set(parser: argparse.ArgumentParser, help_text: str = SET_HELP) -> None:
    """Add --set, which may be repeated; `help_text` is its help."""
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help=help_text,
    )


def add_order(parser: argparse.ArgumentParser, default: str | None = "grid") -> None:
    """Add --order."""
    parser.add_argument(
        "--order",
        choices=("grid", "block"),
        default=default,
        help="blocks move together (grid, the default) or one after another (block). In grid order, a block that waits "
        "for another one's flag may come before it",
    )


def add_view(parser: argparse.ArgumentParser, default: bool | None = False) -> None:
    """Add --as-written."""
    parser.add_argument(
        "--as-written",
        action="store_true",
        default=default,
        help="record every access in the text; by default as compiled: the compiler keeps values in registers if it "
        "can, as a GPU's compiler does",
    )


_FARTHEST_STEP = 1e9


def add_chosen(parser: argparse.ArgumentParser, between: bool = False) -> None:
    """Add --step, --block, --cell and --warp: the selection that is shown.

    Parameters
    ----------
    parser
        The parser to extend.
    between
        Whether a step may have a fraction: a position between two steps.
    """
    if between:
        parser.add_argument("--step", type=position, metavar="S", help="which step, from 1; 15.5: half way to step 16")
    else:
        parser.add_argument("--step", type=whole, metavar="S", help="which step, from 1")
    parser.add_argument(
        "--block", type=_block, metavar="X,Y", help="the chosen block, as blockIdx (default: the block of the cell)"
    )
    parser.add_argument(
        "--cell", type=_cell, metavar="ARRAY,ROW,COLUMN", help="the chosen cell, from 0, for example C,3,4"
    )
    parser.add_argument("--warp", type=whole, metavar="W", help="the chosen warp of that block, from 0")


def add_look(parser: argparse.ArgumentParser, default_theme: str | None) -> None:
    """Add --theme, --language and --type-scale."""
    default_text = f" (default {default_theme})" if default_theme else ""
    parser.add_argument("--theme", choices=("dark", "light"), default=default_theme, help=f"colours{default_text}")
    parser.add_argument("--language", choices=tuple(LANGUAGES), help="the language of texts (default en)")
    parser.add_argument(
        "--type-scale", type=_type_scale, metavar="X", help="the size of the text: 0.5 to 3 (default 1)"
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


def has_size(args: argparse.Namespace) -> bool:
    """Return whether --size, --m, --n or --k was given."""
    return any(side is not None for side in (args.size, args.m, args.n, args.k))


def params(args: argparse.Namespace) -> dict[str, int]:
    """Return the parameters that --set gave; the last value of a name counts."""
    return dict(args.settings)


def ladder() -> list[Kernel]:
    """Return the ladder, and print, on standard error, the files that are left out, with the reasons."""
    kernels, faults = read_ladder()
    for fault in faults:
        print(f"gemmviz: {fault}", file=sys.stderr)
    return kernels


def print_notes(*kernels: Kernel) -> None:
    """Print, on standard error, the notes about kernels' files: a line each."""
    for note in (note for kernel in kernels for note in kernel.notes):
        print(f"gemmviz: {note}", file=sys.stderr)


def whole(text: str) -> int:
    """Read a whole number, for argparse."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def position(text: str) -> float:
    """Read a step or a position between two steps, for argparse: a whole number, or one with a fraction."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) <= _FARTHEST_STEP:  # false for NaN, too
        raise argparse.ArgumentTypeError(f"{text!r} is not a step: write a number from 1, such as 15 or 15.5")
    return value


def seconds(text: str) -> float:
    """Read a time from a millisecond to a day, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-3 <= value <= 86_400:  # false for NaN, too
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.001 to 86400")
    return value


def block_range(text: str) -> tuple[int, int]:
    """Parse ``FIRST:END``, the first block and the one after the last."""
    first, colon, end = text.partition(":")
    if not colon or not first.isdecimal() or not end.isdecimal() or not int(first) < int(end):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a range of blocks: write FIRST:END, as 0:4 for the first four"
        )
    return int(first), int(end)


def step_range(text: str) -> tuple[int, int | None, int | None]:
    """Parse ``FIRST:END`` or ``FIRST:END:EVERY``, as Python's slices; omitted parts are the start, the end, None."""
    found = re.fullmatch(r"(\d*):(\d*)(?::(\d+))?", text)
    first, end, every = (int(part) if part else None for part in found.groups()) if found else (0, 0, 0)
    if found is None or every == 0 or (end is not None and not (first or 0) < end):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a range of steps: write FIRST:END, as 0:200 for the first 200, or FIRST:END:EVERY"
        )
    return first or 0, end, every


def resolution(text: str) -> tuple[int, int]:
    """Parse ``WIDTHxHEIGHT`` in pixels."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None or not all(64 <= int(side) <= 16384 for side in found.groups()):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT in pixels, for example 1920x1080")
    return int(found[1]), int(found[2])


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
    """Return the file of a name: a path, or a stored run (``last``, ``last~1``, the start of an id).

    Raises
    ------
    GemmvizError
        When there is neither.
    """
    from gemmviz.bench import store  # late: the window has its stored runs later

    path = Path(name)
    return path if path.exists() or path.suffix == ".json" else store.find(name)


def _setting(text: str) -> tuple[str, int]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, for example TS=4")
    return name, whole(value)


def _block(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(,\d+){0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a block: write X,Y as in blockIdx, for example 1,0")
    return tuple(map(int, text.split(",")))


def _cell(text: str) -> tuple[str, int, int]:
    found = re.fullmatch(r"([A-Za-z_]\w*),(\d+),(\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a cell: write ARRAY,ROW,COLUMN, for example C,3,4")
    return found[1], int(found[2]), int(found[3])


def _type_scale(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not a text size from 0.5 to 3")
    return value
