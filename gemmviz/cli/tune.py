"""``gemmviz tune``: searches for the fastest parameters of a kernel on this machine, and keeps them."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from gemmviz.bench import results
from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.outcome import Candidate, Outcome, params_text
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.ladder import find
from gemmviz.cli import cluster_options, options
from gemmviz.cli.driving import driving
from gemmviz.cli.tables import console, size
from gemmviz.engine import messages
from gemmviz.engine.consent import Named
from gemmviz.engine.launched import launched

_DEFAULT_SIZE = 1024
_DEFAULT_SECONDS = 120.0
_SHOWN = 10
# The exception for each reason of a failed run; any other reason is a `GemmvizError`.
_ERRORS: dict[str, type[GemmvizError]] = {"unsupported": Unavailable, "refused": ConstraintError}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "tune",
        help=summary,
        description="Tries the values that a kernel declares for its parameters, on this machine: each combination is "
        "verified, then timed a few times; the fastest ones are compared in interleaved rounds. If two cannot be "
        "distinguished, the first declared one is taken. The result is kept for this device, size and text of the "
        "kernel: see --list, and `gemmviz bench --tuned`.",
        epilog="Ctrl-C ends the search and keeps the best so far.  Exit code 1 when no combination gives a right C, "
        "2 when the kernel cannot be tuned on this machine.",
    )
    parser.add_argument("kernel", nargs="?", metavar="KERNEL", help=options.KERNEL_HELP)
    parser.add_argument("--size", type=options.whole, metavar="N", help=f"M = N = K = N (default {_DEFAULT_SIZE})")
    options.add_sides(parser)
    options.add_set(parser, "fix a parameter at one value, for example TS=16; all others are searched")
    options.add_include(parser)
    parser.add_argument(
        "--seconds",
        type=options.seconds,
        default=_DEFAULT_SECONDS,
        metavar="S",
        help=f"the time limit (default {_DEFAULT_SECONDS:g}); the default parameters are tried in any case",
    )
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write all candidates; - is the standard output"
    )
    parser.add_argument("--list", action="store_true", help="list the tuned parameters that are kept")
    parser.add_argument("--forget", metavar="KERNEL", help="delete the kept parameters of a kernel")
    cluster_options.add(parser)
    parser.set_defaults(run=_run, default_size=_DEFAULT_SIZE)


def _run(args: argparse.Namespace) -> int:
    if sum((args.kernel is not None, args.list, args.forget is not None)) != 1:
        raise ConstraintError("gemmviz tune takes one of KERNEL, --list and --forget KERNEL")
    if args.list:
        return _list()
    if args.forget is not None:
        return _forget(args.forget)
    kernel, problem = find(args.kernel, options.ladder()), options.problem(args)
    options.print_notes(kernel)
    request = messages.TuneRequest(1, **launched(kernel, problem), held=options.params(args), seconds=args.seconds)
    if args.cluster:
        from gemmviz.cli import clustering  # late: few people have a cluster

        reply = clustering.tune(args, request, kernel)
    else:
        with driving(Named([kernel])) as driver:
            reply = driver.run(request)
    document = _outcome(reply)
    try:
        path = kept.keep(document)
    except GemmvizError as error:  # not a failure of the search
        print(f"gemmviz: {error}", file=sys.stderr)
        path = None
    if args.json != "-":
        _print(document, path)
    else:
        sys.stdout.write(results.to_json(document))
    if args.json and args.json != "-":
        results.write_results(document, Path(args.json))
    if document["cancelled"]:
        return 130
    return 0 if document["params"] is not None else 1


def _outcome(reply: messages.Reply) -> Outcome:
    if isinstance(reply, messages.Searched):
        return reply.document
    if not isinstance(reply, messages.Failed):
        raise GemmvizError("the engine ended without an answer")
    raise _ERRORS.get(reply.kind, GemmvizError)(reply.message)


def _print(document: Outcome, path: Path | None) -> None:
    out = console()
    right = [c for c in document["candidates"] if c["gflops"]]
    default = document["default"]["params"] if document["default"] else None
    if right:
        out.print(_table(document, right, default))
        out.print(
            "of best: in the rounds that both have, or in the first measurement if one of them has no rounds.",
            highlight=False,
        )
        if len(right) > _SHOWN:
            out.print(f"and {len(right) - _SHOWN} slower ones: --json FILE writes all", highlight=False)
    for line in _summary(document):
        out.print(line, markup=False, highlight=False)
    for failed in document["candidates"]:
        if not failed["gflops"]:
            why = failed["message"].splitlines()[0] if failed["message"] else ""
            out.print(f"{params_text(failed['params'])}: {failed['status']}: {why}", markup=False, highlight=False)
    if path is not None:
        out.print(
            f"Kept for `gemmviz bench {document['kernel']} --tuned` and the window.", markup=False, highlight=False
        )


def _table(document: Outcome, right: list[Candidate], default: dict[str, int] | None) -> Table:
    table = Table(title=f"{document['kernel']} at {size(document)}, as measured on {document['tuned_on']} now")
    for name in ("", "parameters", "GFLOPS", "of best", "rounds", "registers", "shared B"):
        table.add_column(name, justify="left" if name in ("", "parameters") else "right", overflow="fold")
    shown = right[:_SHOWN] + [c for c in right[_SHOWN:] if c["params"] == default]
    for candidate in shown:
        params = candidate["params"]
        marks = ["best"] if params == document["params"] else ["equal"] if params in document["equals"] else []
        marks += ["default"] if params == default else []
        table.add_row(
            ", ".join(marks),
            escape(params_text(params)),
            f"{candidate['gflops']:.4g}",
            f"{candidate['of_best']:.1%}",
            str(candidate["rounds"] or "look"),
            "-" if candidate["regs"] is None else str(candidate["regs"]),
            "-" if candidate["smem"] is None else str(candidate["smem"]),
        )
    return table


def _summary(document: Outcome) -> list[str]:
    """Return the result of a search as sentences."""
    best, default = document["params"], document["default"]
    lines = []
    if best is None:
        lines.append("No combination has a figure.")
    elif default is None:
        lines.append(f"Best: {params_text(best)}, {document['gflops']:.4g} GFLOPS. The defaults cannot run here.")
    elif best == default["params"]:
        phrase = "are the best" if not document["equals"] else "cannot be distinguished from the best"
        lines.append(f"The defaults {phrase}: {params_text(best)}, {document['gflops']:.4g} GFLOPS.")
    else:
        lines.append(
            f"Default: {params_text(default['params'])}, {default['gflops']:.4g} GFLOPS. "
            f"Best: {params_text(best)}, {document['gflops']:.4g} GFLOPS: {document['gain']:.3g} times as fast."
        )
    if document["equals"] and best is not None:
        others = "; ".join(params_text(params) for params in document["equals"][:4])
        lines.append(f"Within the noise of the best: {others}. Of equal combinations the first declared one is taken.")
    if document["flags"]:
        lines.append(f"Flags of the timing: {', '.join(document['flags'])}.")
    left_out = sum(document["left_out"].values())
    counted = f"{document['tried']} of {document['combinations']} combinations tried in {document['seconds']:.0f} s"
    lines.append(
        f"{counted}, {document['untried']} not tried, because time was over"
        + (" (cancelled)" if document["cancelled"] else "")
        + (f", {left_out} left out:" if left_out else ".")
    )
    lines += [f"  {count} x {reason}" for reason, count in document["left_out"].items()]
    return lines


def _list() -> int:
    found, faults = kept.kept()
    for fault in faults:
        print(f"gemmviz: {fault}", file=sys.stderr)
    if not found:
        print("No tuned parameters are kept yet; `gemmviz tune KERNEL` finds them.")
        return 0
    texts = {kernel.name: kernel for kernel in options.ladder()}
    table = Table(title="Tuned parameters kept on this machine")
    for name in ("kernel", "size", "parameters", "GFLOPS", "of the defaults", "tuned on", "date", ""):
        right = name in ("size", "GFLOPS", "of the defaults")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for one in found:
        kernel = texts.get(one.kernel)
        table.add_row(
            escape(one.kernel),
            str(one.N) if one.M == one.N == one.K else f"{one.M} x {one.N} x {one.K}",
            escape(params_text(one.params)),
            f"{one.gflops:.4g}",
            "-" if one.gain is None else f"{one.gain:.1%}",
            escape(one.tuned_on),
            one.date_utc[:10],
            "" if kernel is None or one.fits(kernel) else "the kernel has changed: tune again",
        )
    console().print(table)
    return 0


def _forget(kernel: str) -> int:
    count = kept.forget(kernel)
    if not count:
        raise ConstraintError(f"no parameters are kept for {kernel!r}; `gemmviz tune --list` lists the kept ones")
    print(f"forgot {count} tuned sets of parameters of {kernel}")
    return 0
