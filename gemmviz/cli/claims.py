"""``gemmviz claims``: makes the figures of the documents' claims, measured and recorded, and judges the claims."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gemmviz.bench import claims as judging
from gemmviz.bench import results
from gemmviz.bench.claims import Claim, ClaimVerdict, Evidence
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.plain import Plain
from gemmviz.cli import cluster_options, options
from gemmviz.cli.bench import keep
from gemmviz.cli.claim_tables import print_list, print_verdicts
from gemmviz.cli.driving import driving
from gemmviz.cli.gathering import Gathering
from gemmviz.engine.consent import Named


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "claims",
        help=summary,
        description="Measures and records what the claims of the five documents need. Shows for each claim whether it "
        "holds here, does not hold, or cannot be judged here, with the document's figures beside ours.",
        epilog="Exit code 1 when a kernel failed; a claim that does not hold is not a failure. "
        "Shares of the peak need Nsight Compute (ncu).",
    )
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="claims, or documents such as s4 (default: all claims except those that take many minutes; name these)",
    )
    parser.add_argument("--list", action="store_true", help="list the claims without running anything")
    parser.add_argument(
        "--from",
        dest="sources",
        action="append",
        default=[],
        metavar="RUN",
        help="judge from a result file or a stored run, without running anything; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--save", type=options.output_file, metavar="FILE", help="write the results, as a result file for --from"
    )
    cluster_options.add(parser)
    parser.add_argument("--quick", action="store_true", help="a first impression: fewer samples, less accuracy")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    chosen = _choose(judging.load(), args.ids)
    if args.list:
        if args.json:
            _write([_describe(claim) for claim in chosen])
        else:
            print_list(chosen)
        return 0
    faults: list[str] = []
    interrupted = False
    left_out = [claim.id for claim in chosen if claim.long and claim.id not in map(str.lower, args.ids)]
    if args.sources:
        documents = [results.read_results(options.result_file(source)) for source in args.sources]
        machines = list(dict.fromkeys(map(results.machine, documents)))
        if len(machines) > 1:
            raise ConstraintError(
                f"these runs come from different machines, {' and '.join(machines)}: judge each one separately"
            )
        document = results.merged(documents)
    else:
        plan = judging.plan(
            [c for c in chosen if c.id not in left_out], protocol=Protocol.quick() if args.quick else Protocol()
        )
        consent = Named(ladder())
        elsewhere = None
        if args.cluster:
            from gemmviz.cli import clustering  # late: few people have a cluster

            elsewhere = clustering.engine(args, consent)
        with driving(consent, elsewhere) as driver:
            gathering = Gathering(driver)
            gathering.run(plan)
            document, faults, interrupted = gathering.document(), gathering.faults, driver.interrupted
        keep(document)
    if args.save and args.save != "-":
        results.write_results(document, Path(args.save))
    evidence = Evidence.of(document, reference=bool(args.sources))
    verdicts = [judging.judge(claim, evidence) for claim in chosen]
    if args.save == "-":
        sys.stdout.write(results.to_json(document))
    elif args.json:
        _write([_describe(claim) | _found(verdict) for claim, verdict in zip(chosen, verdicts, strict=True)])
    else:
        print_verdicts(chosen, verdicts)
        if left_out and not args.sources:
            print(f"Not run, because it takes many minutes: {', '.join(left_out)}. Name it to run it.")
    for fault in faults:
        print(f"gemmviz: {fault}", file=sys.stderr)
    if interrupted:
        return 130
    return 1 if faults or (not args.sources and results.failed(document["results"])) else 0


def _choose(claims: list[Claim], ids: list[str]) -> list[Claim]:
    wanted = {name.lower() for name in ids}
    known = {claim.id for claim in claims} | {claim.source.lower() for claim in claims}
    unknown = sorted(wanted - known)
    if unknown:
        raise ConstraintError(f"no claim {unknown[0]!r}; `gemmviz claims --list` lists them")
    return [claim for claim in claims if not wanted or {claim.id, claim.source.lower()} & wanted]


def _describe(claim: Claim) -> Plain:
    fields = ("id", "source", "title", "statement", "figures", "where", "why", "note")
    return {name: getattr(claim, name) for name in fields}


def _found(verdict: ClaimVerdict) -> Plain:
    return {"verdict": {key: value for key, value in verdict.to_plain().items() if key != "claim"}}


def _write(content: Any) -> None:
    sys.stdout.write(json.dumps(content, indent=1, allow_nan=False) + "\n")
