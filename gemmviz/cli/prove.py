"""``gemmviz prove``: compares predictions from recordings with a GPU's own counters."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz.backends.machine import schedule_for_this_gpu
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import Launch, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import cluster_options, options
from gemmviz.cli.tables import console
from gemmviz.language.numbers import thousands
from gemmviz.proving import ncu, proofs
from gemmviz.proving.proofs import Machine, Proof
from gemmviz.proving.proving import counted, predicted

# A size that tiles divide, with figures known from other sources; and one whose sides differ and leave edges.
_USUAL = (Problem.cube(256), Problem(200, 136, 72))
_COLOUR = {"equal": "green", "explained": "yellow", "differs": "red"}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "prove",
        help=summary,
        description="Runs kernels under Nsight Compute and compares the GPU's counters with the predictions of their "
        "recordings: sectors and requests of global memory, wavefronts and bank conflicts of shared memory, and C.",
        epilog="Exit code 1 when something differs without an explanation, 2 when counters cannot be read here. "
        "`gemmviz prove --kept` needs no GPU: it shows the proofs that gemmviz ships.",
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="names or files; by default every CUDA kernel")
    parser.add_argument("--size", type=options.whole, nargs="+", metavar="N", help="M = N = K = N (default: two sizes)")
    options.add_sides(parser)
    options.add_set(parser)
    options.add_include(parser)
    parser.add_argument("--kept", action="store_true", help="show the proofs that gemmviz ships")
    parser.add_argument(
        "--counted",
        type=Path,
        metavar="FILE",
        help="take the GPU's counters from a file that --json wrote, and predict them again; needs no GPU",
    )
    cluster_options.add(parser)
    parser.add_argument(
        "--json", type=options.output_file, metavar="FILE", help="write the proofs as JSON; - is the standard output"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    rungs = options.ladder()
    if args.kernels:
        kernels = [find(name, rungs) for name in args.kernels]
        options.print_notes(*kernels)
    else:
        kernels = [kernel for kernel in rungs if kernel.backend == "cuda" and not (kernel.exhibit or kernel.division)]
    for kernel in kernels:
        if kernel.backend != "cuda":
            raise ConstraintError(f"{kernel.name} does not run on a GPU, or has no source: there is nothing to prove")
        if kernel.division:
            raise ConstraintError(f"{kernel.name} runs on several GPUs: the counters are those of one")
    if args.kept or args.counted:
        if args.size or args.settings or [args.m, args.n, args.k] != [None] * 3 or (args.kept and args.counted):
            raise ConstraintError("--kept and --counted take no sizes and no --set, and exclude each other")
        if args.cluster:
            raise ConstraintError("--kept and --counted need no cluster: leave out --cluster")
        return (
            _show_kept(kernels, args.json)
            if args.kept
            else _again(proofs.read_proofs(args.counted), kernels, args.json)
        )
    if args.cluster:
        return _elsewhere(args, kernels)
    schedule_for_this_gpu()
    try:
        command = ncu.tool()
    except Unavailable as error:
        raise Unavailable(f"{error}; `gemmviz prove --kept` shows the kept proofs of other machines") from None
    chosen = [job for kernel in kernels for job in _launches(kernel, _sizes(args), options.params(args))]
    with Console(stderr=True).status("Starting") as status:
        machine, found = counted(chosen, command, status.update)
        found = predicted(found, chosen, status.update)
    _out(args.json, machine, found)
    return 0 if all(proof.holds for proof in found) else 1


def _elsewhere(args: argparse.Namespace, kernels: list[Kernel]) -> int:
    """Read the counters on the workers of a cluster, and predict them here: a table, and a file, for each machine."""
    from gemmviz.cli import clustering  # late: few people have a cluster

    chosen = [_launches(kernel, _sizes(args), options.params(args)) for kernel in kernels]
    of_machine: dict[Machine, list[tuple[Proof, Launch]]] = {}
    for launches, file in zip(chosen, clustering.count(args, chosen, kernels), strict=True):
        own = zip(file.proofs, launches, strict=True)
        of_machine.setdefault(file.machine, []).extend(own)
    holds = True
    for number, (machine, pairs) in enumerate(of_machine.items()):
        with Console(stderr=True).status("Starting") as status:
            found = predicted([proof for proof, _ in pairs], [job for _, job in pairs], status.update)
        _out(_numbered(args.json, number), machine, found)
        holds &= all(proof.holds for proof in found)
    return 0 if holds else 1


def _numbered(json_file: str | None, number: int) -> str | None:
    """Return the name of the file for a further machine: a file of proofs is of one machine."""
    if not json_file or json_file == "-" or not number:
        return json_file
    path = Path(json_file)
    return str(path.with_name(f"{path.stem}-{number + 1}{path.suffix}"))


def _sizes(args: argparse.Namespace) -> list[Problem]:
    sides = [args.m, args.n, args.k]
    if not args.size and sides == [None] * 3:
        return list(_USUAL)
    return [Problem(*(cube if side is None else side for side in sides)) for cube in args.size or [_USUAL[0].m]]


def _launches(kernel: Kernel, sizes: list[Problem], params: dict[str, int]) -> list[Launch]:
    """Return the launches of a kernel at the nearest sizes that it takes, each size once."""
    chosen = kernel.defaults | params
    nearest = [nearest_size(kernel, size, chosen) or size for size in sizes]
    return [launch(kernel, size, params) for size in dict.fromkeys(nearest)]


def _again(file: proofs.Proofs, kernels: list[Kernel], json_file: str | None) -> int:
    """Predict the counters of a file again."""
    pairs = [(proof, kernel) for kernel in kernels for proof in file.of(kernel)]
    if not pairs:
        raise GemmvizError("the file has no counters for the current sources")
    launches = [launch(kernel, Problem(proof.m, proof.n, proof.k), proof.params) for proof, kernel in pairs]
    with Console(stderr=True).status("Starting") as status:
        found = predicted([proof for proof, _ in pairs], launches, status.update)
    _out(json_file, file.machine, found)
    return 0 if all(proof.holds for proof in found) else 1


def _show_kept(kernels: list[Kernel], json_file: str | None) -> int:
    shown: list[Proof] = []
    for file in proofs.kept():
        found = [proof for kernel in kernels for proof in file.of(kernel)]
        if found:
            _out(json_file, file.machine, found)
            shown += found
    if not shown:
        raise GemmvizError("there is no proof for this source: run `gemmviz prove` on a machine with Nsight Compute")
    return 0 if all(proof.holds for proof in shown) else 1


def _out(json_file: str | None, machine: Machine, found: list[Proof]) -> None:
    if json_file == "-":
        sys.stdout.write(proofs.document(machine, found))
        return
    if json_file:
        proofs.write_proofs(Path(json_file), machine, found)
    _print(machine, found)


def _print(machine: Machine, found: list[Proof]) -> None:
    out = console()
    table = Table(title=f"Predicted (recorded) and measured on {machine.gpu}, {machine.date}")
    table.add_column("kernel", overflow="fold", min_width=16)
    table.add_column("size")
    table.add_column("counter")
    for name in ("predicted", "measured"):
        table.add_column(name, justify="right")
    table.add_column("verdict", overflow="fold")
    for proof in found:
        head = (escape(proof.label), proof.size)
        if proof.error:
            table.add_row(*head, "", "", "", f"[red]not proved[/]: {escape(proof.error)}")
        wrong = [(proof.recorded_wrong, "recorded"), (proof.gpu_wrong, "on the GPU")]
        for count, where in wrong:
            if count:
                table.add_row(*head, f"C {where}", "0", thousands(count), "[red]wrong elements of C[/]")
        for row in proof.compared:
            note = f": {escape(row.note)}" if row.note else ""
            verdict = f"[{_COLOUR[row.verdict]}]{row.verdict}[/]{note}"
            table.add_row(*head, row.what, thousands(row.predicted), thousands(row.measured), verdict)
            head = ("", "")
        for one in proof.unseen:
            table.add_row(*head, "", "", "", f"[dim]{escape(one.words)}[/]")
            head = ("", "")
    out.print(table)
    rows = [row for proof in found for row in proof.compared]
    counts = {name: sum(row.verdict == name for row in rows) for name in _COLOUR}
    same = sum(proof.recorded_wrong == 0 and proof.gpu_wrong == 0 for proof in found)
    out.print(
        f"{same} of {len(found)} launches: C is exact on small integers, as recorded and on the GPU. "
        f"{counts['equal']} counters equal, {counts['explained']} explained, {counts['differs']} differ."
    )
