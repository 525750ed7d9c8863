"""``gemmviz compare``: two versions of a kernel, or two result files."""

import argparse
from pathlib import Path
from typing import Any

from gemmviz.bench.compare import NOISE
from gemmviz.catalogue.errors import ConstraintError, Unavailable, UnknownKernel
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import SUFFIXES, find
from gemmviz.catalogue.source_files import SOURCES
from gemmviz.cli import options
from gemmviz.cli.compare_kernels import compare_kernels
from gemmviz.cli.compare_runs import compare_runs
from gemmviz.cli.guessed import find_versions
from gemmviz.control.version_course import MEASURED_SIZE

_OF_KERNELS = (*SUFFIXES, *SOURCES)
_WHAT = "a kernel's name, a .cu or .c file, a result file or a stored run"


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help=summary,
        description="Compares two kernels, or two runs. Kernels (names or .cu and .c files) are recorded and checked "
        "at one size; one page shows the changes in accesses, sectors, wavefronts, findings and machine code. The "
        "window has the same page (F7). Runs "
        "are two files that `gemmviz bench --json` wrote, or two stored runs: `last`, `last~1`, or the first digits of "
        f"an id (see `gemmviz runs`). Measured differences below {NOISE:.0%} do not count.",
        epilog="Exit code 1 when the second kernel has a defect that the first one does not have, or when a kernel is "
        "slower or wrong in the second run only; 2 when a run is missing or damaged, or the runs come from "
        "different machines.",
    )
    parser.add_argument("before", metavar="BEFORE", help=_WHAT)
    parser.add_argument("after", metavar="AFTER", help="the second one, of the same kind")
    parser.add_argument("--json", action="store_true", help="as JSON")
    kernels = parser.add_argument_group("for kernels")
    kernels.add_argument("--changed", action="store_true", help="print only the figures that differ")
    kernels.add_argument(
        "--size", type=options.whole, metavar="N", help="M = N = K = N (default: a small size that both take)"
    )
    options.add_sides(kernels)
    options.add_set(kernels, "value of a parameter of one kernel or of both, for example TS=4")
    options.add_include(kernels)
    options.add_view(kernels)
    kernels.add_argument(
        "--arch", default="", metavar="ARCH", help="the architecture of the machine code, for example sm_80 (CUDA)"
    )
    kernels.add_argument("--measure", action="store_true", help="measure both on this machine, too")
    kernels.add_argument(
        "--measure-size",
        type=options.whole,
        metavar="N",
        help=f"M = N = K = N of the measurement (default {MEASURED_SIZE}); implies --measure",
    )
    kernels.add_argument("--quick", action="store_true", help="measure with fewer samples, less accurately")
    kernels.add_argument(
        "--deadline",
        type=options.seconds,
        default=20.0,
        metavar="S",
        help="give up a recording after S seconds of processor time",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    names = args.before, args.after
    if not any(map(_may_be_kernel, names)):
        return compare_runs(names, as_json=args.json)
    known = options.ladder()
    are = [_is_kernel(name, known) for name in names]
    if not any(are):
        try:
            return compare_runs(names, as_json=args.json)
        except Unavailable as error:
            raise Unavailable(f"{error}; and no kernel has this name: see `gemmviz list`") from None
    if not all(are):
        kernel, other = names if are[0] else names[::-1]
        raise ConstraintError(f"{kernel} is a kernel and {other} is not: compare two kernels, or two runs")
    return compare_kernels(names, find_versions(names, known), args)


def _may_be_kernel(name: str) -> bool:
    """Return whether a name can be that of a kernel: it is neither a file of another kind nor the last stored run."""
    path = Path(_without_changes(name))
    if path.suffix:
        return path.suffix in _OF_KERNELS
    return not path.exists() and path.name != "last"


def _is_kernel(name: str, known: list[Kernel]) -> bool:
    """Return whether a name is that of a kernel, or of a kernel's file, which need not exist."""
    if not _may_be_kernel(name):
        return False
    base = _without_changes(name)
    if Path(base).suffix in _OF_KERNELS:
        return True
    try:
        find(base, known)
    except UnknownKernel:
        return False
    return True


def _without_changes(name: str) -> str:
    """Return a kernel's name or file without the declared changes after its ``~``."""
    return name if Path(name).suffix in _OF_KERNELS else name.rpartition("~")[0] or name
