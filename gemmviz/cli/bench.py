"""``gemmviz bench``: verifies kernels and measures their GFLOPS."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemmviz.bench import export, results, store
from gemmviz.bench.document import Document
from gemmviz.bench.entries import KernelEntry, kernel_entry
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import write_text
from gemmviz.cli import cluster_options, options
from gemmviz.cli.driving import EngineDriver, driving
from gemmviz.cli.own_size import fitting
from gemmviz.cli.schedule_print import reasons
from gemmviz.cli.tables import print_results
from gemmviz.cli.tuned_entries import this_machine, tuned_entries
from gemmviz.engine import messages
from gemmviz.engine.consent import Named

_DEFAULT_SIZE = 512


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help=summary,
        description="Verifies each kernel against a float64 reference, then measures it. A wrong kernel has no GFLOPS. "
        "A variant is compared only with its own kernel. Every run is kept on this machine: see `gemmviz runs`.",
        epilog="Exit code 1 when a kernel is wrong, does not compile, crashes or hangs, unless it is an exhibit; "
        "a skipped kernel is not a failure.",
    )
    parser.add_argument(
        "kernels",
        nargs="*",
        metavar="KERNEL",
        help=f"{options.KERNEL_HELP} (default: all kernels)",
    )
    parser.add_argument(
        "--size",
        type=options.whole,
        nargs="+",
        metavar="N",
        help=f"M = N = K = N (default {_DEFAULT_SIZE}; for a kernel that is named, {options.OR_NEAREST})",
    )
    for name in "mnk":
        parser.add_argument(f"--{name}", type=options.whole, metavar=name.upper(), help=f"{name.upper()} by itself")
    options.add_set(parser)
    options.add_include(parser)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the result file; - is the standard output"
    )
    parser.add_argument(
        "--csv",
        type=options.output_file,
        metavar="FILE",
        help="write one line per row as CSV; - is the standard output",
    )
    parser.add_argument("--quick", action="store_true", help="a first impression: fewer samples, less accuracy")
    parser.add_argument(
        "--timeout",
        type=options.seconds,
        metavar="S",
        help="stop sampling a kernel at one size after S seconds; a figure that still spreads is flagged noisy "
        f"(default {Protocol().timeout_s:g}, with --quick {Protocol.quick().timeout_s:g})",
    )
    parser.add_argument(
        "--tuned",
        action="store_true",
        help="use the parameters that `gemmviz tune` found on this device for the nearest size; --set overrides them. "
        "With --cluster, the workers must have the same device",
    )
    cluster_options.add(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.json == "-" and args.csv == "-":
        raise ConstraintError(
            "--json - and --csv - would both write to the standard output: give a file for one of them"
        )
    known = options.ladder()
    kernels = [find(name, known) for name in args.kernels] or known
    options.print_notes(*kernels)
    size_given = args.size is not None or options.has_size(args)
    sizes = _sizes(args)
    protocol = Protocol.quick() if args.quick else Protocol()
    if args.timeout:
        protocol = replace(protocol, timeout_s=args.timeout)
    # Named kernels are measured at a size that they take; the whole ladder is compared at one size.
    own = bool(args.kernels) and not size_given
    groups = list(_by_size(kernels, _entries(kernels, options.params(args)), sizes, own=own))
    if args.cluster:
        from gemmviz.cli import clustering  # late: few people have a cluster

        jobs = _jobs(groups, clustering.one_device(args, kernels) if args.tuned else None)
        document, ended = clustering.bench(args, _requests(jobs, protocol), kernels)
    else:
        with driving(Named(kernels)) as driver:
            jobs = _jobs(groups, this_machine(driver) if args.tuned else None)
            document = _drive(driver, _requests(jobs, protocol))
            ended = 130 if driver.interrupted else 0
    keep(document)
    if "-" not in (args.json, args.csv):
        print_results(document, *([f"as measured on {results.machine(document)} now"] if args.cluster else []))
        for reason in reasons(document, kernels):
            print(reason)
    for target, text in ((args.json, results.to_json), (args.csv, export.to_csv)):
        if target == "-":
            sys.stdout.write(text(document))
    if args.json and args.json != "-":
        results.write_results(document, Path(args.json))
    if args.csv and args.csv != "-":
        write_text(Path(args.csv), export.to_csv(document))
    if ended:
        return ended
    return 1 if results.failed(document["results"]) else 0


def keep(document: Document) -> None:
    """Store a run that has results; if it cannot be stored, a message says so, and the measurement still counts."""
    if not document.get("recordings") and all(row["status"] == "cancelled" for row in document["results"]):
        return
    try:
        store.save(document)
    except GemmvizError as error:
        print(f"gemmviz: {error}", file=sys.stderr)


def _sizes(args: argparse.Namespace) -> list[Problem]:
    return [
        Problem(*(size if own is None else own for own in (args.m, args.n, args.k)))
        for size in args.size or [_DEFAULT_SIZE]
    ]


def _entries(kernels: list[Kernel], settings: dict[str, int]) -> list[KernelEntry]:
    """Give each kernel the settings of its own parameters."""
    for name in settings:
        if not any(name in kernel.params for kernel in kernels):
            raise ConstraintError(f"none of these kernels has a parameter {name!r}")
    return [kernel_entry(k, {n: v for n, v in settings.items() if n in k.params}) for k in kernels]


def _by_size(
    kernels: list[Kernel], entries: list[KernelEntry], sizes: list[Problem], *, own: bool
) -> Iterator[tuple[list[Kernel], list[KernelEntry], list[Problem]]]:
    """Yield groups of kernels, their entries and sizes: one group, or with `own` a group per size that kernels take."""
    if not own:
        yield kernels, entries, sizes
        return
    groups: dict[Problem, list[int]] = {}
    for at, (kernel, entry) in enumerate(zip(kernels, entries, strict=True)):
        groups.setdefault(fitting(kernel, sizes[0], entry["params"]), []).append(at)
    for size, places in groups.items():
        yield [kernels[at] for at in places], [entries[at] for at in places], [size]


def _jobs(
    groups: Iterable[tuple[list[Kernel], list[KernelEntry], list[Problem]]], device_of: Callable[[str], str] | None
) -> list[tuple[list[KernelEntry], list[Problem]]]:
    """Return the entries and sizes to measure; with the names of devices, with the parameters tuned on them."""
    if device_of is None:
        return [(entries, sizes) for _, entries, sizes in groups]
    return [job for group in groups for job in tuned_entries(device_of, *group)]


def _requests(
    jobs: Iterable[tuple[list[KernelEntry], list[Problem]]], protocol: Protocol
) -> list[messages.BenchRequest]:
    return [
        messages.BenchRequest(1, entries, [(p.m, p.n, p.k) for p in at], protocol.to_plain()) for entries, at in jobs
    ]


def _drive(driver: EngineDriver, requests: list[messages.BenchRequest]) -> Document:
    """Run the requests, up to a Ctrl-C; return the result file."""
    documents = []
    for number, request in enumerate(requests):
        reply = driver.run(request, number / len(requests), 1 / len(requests))
        if not isinstance(reply, messages.BenchDone):
            message = reply.message if isinstance(reply, messages.Failed) else "the engine ended without an answer"
            raise GemmvizError(message)
        documents.append(reply.document)
    return documents[0] if len(documents) == 1 else results.merged(documents)
