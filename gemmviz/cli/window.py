"""``gemmviz``: opens the window, in its first state or in the state that the options give."""

import argparse
from pathlib import Path
from typing import Any, cast

from gemmviz.catalogue.errors import ConstraintError, UnknownKernel
from gemmviz.catalogue.ladder import SUFFIXES
from gemmviz.catalogue.matter_table import is_described
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.source_files import SOURCES
from gemmviz.catalogue.user_file import read_source, why_no_file
from gemmviz.cli import options
from gemmviz.session import SPEEDS
from gemmviz.session.files.snapshot_form import FURTHEST_SHIFT, ZOOMS, Snapshot
from gemmviz.session.models.comparison import PACES
from gemmviz.trace.order.stepping_units import UNITS

_PAGES = ("stage", "charts", "claims", "versions")
_PANELS = ("source", "warp", "thread", "origin", "counters", "assembly", "findings")
_DEFAULT_SIZE = 8


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "window",
        help=summary,
        description="Opens the window. The options set its state; in the window, Ctrl+Shift+C copies the "
        "command line that opens it in the same state.",
    )
    parser.add_argument(
        "file", nargs="?", help="a .cu or .c file, a lesson (.toml) or a state (.gemmviz) to open, or a kernel's name"
    )
    parser.add_argument("--kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    options.add_launch(parser, default_size=_DEFAULT_SIZE, grows=True)
    options.add_order(parser, default=None)
    options.add_view(parser, default=None)
    options.add_chosen(parser)
    parser.add_argument("--lane", type=options.whole, metavar="L", help="the chosen lane of that warp, from 0")
    parser.add_argument("--frozen", action="store_true", default=None, help="freeze that warp")
    parser.add_argument("--beside", metavar="KERNEL", help="a second kernel beside the first")
    parser.add_argument(
        "--in-step", choices=PACES, help="both advance by equal work (the default), or equal bytes moved"
    )
    parser.add_argument(
        "--loop",
        type=options.step_range,
        metavar="FIRST:END",
        help="the steps that are repeated: 0:200 are the first 200",
    )
    parser.add_argument("--no-loop", action="store_true", help="stop at the end")
    parser.add_argument("--unit", choices=UNITS, help="how far an arrow key goes")
    parser.add_argument("--speed", type=_speed, metavar="X", help=f"one of {', '.join(f'{s:g}' for s in SPEEDS)}")
    options.add_look(parser, default_theme=None)
    parser.add_argument("--calm", action="store_true", default=None, help="reduced motion")
    parser.add_argument("--page", choices=_PAGES, help="the page to open")
    parser.add_argument("--panel", choices=_PANELS, help="the tab that is shown beside the stage")
    parser.add_argument(
        "--view", type=_view, metavar="ZOOM,X,Y", help="the stage's zoom, and its shift in units of its width"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from gemmviz import app  # late: everything else works without Qt

    if args.file and not args.kernel and not Path(args.file).suffix and not Path(args.file).exists():
        args.kernel, args.file = args.file, None
    if args.file and not Path(args.file).exists():
        raise UnknownKernel(why_no_file(Path(args.file)))
    chosen = snapshot(args)
    if args.file and chosen.keys() - {"theme", "language", "type_scale", "calm"}:
        _take_as_kernel(args)
        chosen = snapshot(args)
    return app.run_window(args, chosen)


def _take_as_kernel(args: argparse.Namespace) -> None:
    """Take the file to open, with options about it, for the value of ``--kernel``.

    Raises
    ------
    ConstraintError
        When it cannot be both: it has a state of its own, has no front matter, or another kernel is named.
    """
    path = Path(args.file)
    if path.suffix not in SOURCES:
        raise ConstraintError(f"{args.file} already gives the state to open: leave out the file, or the options")
    if args.kernel:
        raise ConstraintError(f"{args.file} and --kernel {args.kernel}: open one of them")
    if not is_described(read_source(path)):
        raise ConstraintError(
            f"{args.file} has no front matter, which size and parameters belong to: open it without these options and "
            f"choose them in the window (S), or write its front matter with `gemmviz describe {args.file} --write`"
        )
    args.kernel, args.file = args.file, None


def snapshot(args: argparse.Namespace) -> Snapshot:
    """Return the options in the form of `gemmviz.session.files.snapshot`; an option that is not given is left out.

    Raises
    ------
    GemmvizError
        When there is no such kernel, size or parameter.
    ConstraintError
        When a loop has no end, or has a distance between its steps.
    """
    plain: Plain = {}
    if args.kernel:
        plain["kernel"], plain["breaks"] = _kernel(args.kernel)
    if options.has_size(args):
        problem = options.problem(args)
        plain["size"] = [problem.m, problem.n, problem.k]
    if args.settings:
        plain["params"] = options.params(args)
    if args.loop:
        first, end, every = args.loop
        if end is None or every is not None:
            raise ConstraintError("--loop takes FIRST:END, for example 0:200")
        plain["loop_range"] = [first + 1, end]
    if args.no_loop:
        plain["loop"] = False
    for key in (
        *("order", "as_written", "step", "warp", "lane", "frozen"),
        *("unit", "speed", "theme", "language", "type_scale", "calm"),
    ):
        if getattr(args, key) is not None:
            plain[key] = getattr(args, key)
    if args.beside:
        plain["beside"] = {"kernel": args.beside, "pace": args.in_step or PACES[0]}
    for key in ("block", "cell"):
        if getattr(args, key):
            plain[key] = list(getattr(args, key))
    view = {key: getattr(args, key) for key in ("page", "panel") if getattr(args, key)}
    if args.view:
        zoom, *shift = args.view
        view |= {"zoom": zoom, "shift": shift}
    return cast(Snapshot, plain | ({"view": view} if view else {}))


def _kernel(name: str) -> tuple[dict[str, str], list[str]]:
    """Split the name of a kernel with changes into the kernel and its changes."""
    base, mark, changes = name.rpartition("~")
    if not mark or Path(name).suffix in SUFFIXES:
        base, changes = name, ""
    is_file = Path(base).suffix in SUFFIXES
    return {"path": str(Path(base).resolve())} if is_file else {"name": base}, changes.split("+") if changes else []


def _speed(text: str) -> float:
    speed = next((s for s in SPEEDS if text in (f"{s:g}", repr(s))), None)
    if speed is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(f'{s:g}' for s in SPEEDS)}")
    return speed


def _view(text: str) -> tuple[float, ...]:
    try:
        zoom, x, y = map(float, text.split(","))
    except ValueError:
        zoom = x = y = 0.0
    if not (ZOOMS[0] <= zoom <= ZOOMS[1] and abs(x) <= FURTHEST_SHIFT and abs(y) <= FURTHEST_SHIFT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a view: write ZOOM,X,Y, for example 2,-0.5,-0.5")
    return zoom, x, y
