"""Two kernels of ``gemmviz compare``: records, checks, compiles and measures both, and shows one page."""

import argparse
import json
import sys

from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import options
from gemmviz.cli.bench import keep
from gemmviz.cli.compare_print import show
from gemmviz.cli.driving import EngineDriver, driving
from gemmviz.cli.record import failure
from gemmviz.control.version_course import MEASURED_SIZE, RequestFailed, Wanted, course
from gemmviz.engine.consent import Named
from gemmviz.versions.comparison import Comparison


def compare_kernels(names: tuple[str, str], kernels: tuple[Kernel, Kernel], args: argparse.Namespace) -> int:
    """Print the comparison of two kernels; return the exit code.

    Parameters
    ----------
    names
        As the user named them.
    kernels
        The kernels.
    args
        The command line.

    Raises
    ------
    GemmvizError
        When one of them does not take this launch, does not compile, or cannot be recorded here.
    """
    for kernel in kernels:
        if not kernel.recordable:
            raise ConstraintError(f"{kernel.name} is a library call: there is no source to compare")
    options.print_notes(*kernels)
    settings = options.params(args)
    for name in settings:
        if not any(name in kernel.params for kernel in kernels):
            raise ConstraintError(f"none of these kernels has a parameter {name!r}")
    size = Problem.cube(args.measure_size or MEASURED_SIZE) if args.measure or args.measure_size else None
    wanted = Wanted(
        names,
        kernels,
        problem=_problem(args),
        params=settings,
        as_written=bool(args.as_written),
        architecture=args.arch,
        deadline_s=args.deadline,
        measured_at=size,
        protocol=(Protocol.quick() if args.quick else Protocol()).to_plain(),
        not_measured="not measured; --measure does so on this machine",
        keep=keep,
    )
    with driving(Named(kernels)) as driver:
        found = _driven(driver, wanted)
    if args.json:
        sys.stdout.write(json.dumps(found.to_plain(), indent=1) + "\n")
    else:
        show(found, changed_only=args.changed)
    return 1 if found.worse else 0


def _problem(args: argparse.Namespace) -> Problem | None:
    """Return the size that the options give; None if they give no size."""
    if not options.has_size(args):
        return None
    sides = [args.m, args.n, args.k]
    if args.size is None and None in sides:
        raise ConstraintError("give --m, --n and --k together, or add --size")
    return Problem(*(args.size if side is None else side for side in sides))


def _driven(driver: EngineDriver, wanted: Wanted) -> Comparison:
    """Run the requests of a comparison, one after the other."""
    steps = course(wanted)
    part = 1 / wanted.requests
    done = 0
    try:
        request = next(steps)
        while True:
            replies = driver.replies(request, done * part, part)
            if driver.interrupted:
                raise KeyboardInterrupt
            done += 1
            request = steps.send(replies)
    except StopIteration as end:
        found: Comparison = end.value
        return found
    except RequestFailed as error:
        raise failure(error.reply) from None
