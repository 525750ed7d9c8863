"""Claims and their verdicts on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz.bench.claims import Claim, ClaimVerdict, VerdictTable, sources
from gemmviz.bench.claims.claim_text import figure
from gemmviz.cli.tables import console

_STYLE = {"holds": "green", "does not hold": "red", "cannot be judged here": "yellow", "not run": "default"}


def print_list(claims: Sequence[Claim]) -> None:
    """Print the claims of the documents."""
    table = Table(title="Claims of the documents")
    for name in ("id", "claim", "the document's figures"):
        table.add_column(name, overflow="fold", no_wrap=name == "id")
    for claim in claims:
        table.add_row(*map(escape, (claim.id, claim.statement, claim.figures)))
    out = console()
    out.print(table)
    _print_sources(out, claims)


def print_verdicts(claims: Sequence[Claim], verdicts: Sequence[ClaimVerdict]) -> None:
    """Print the verdicts with both figures and the rule, then the tables."""
    out = console()
    table = Table(title="Claims", show_lines=True)
    table.add_column("claim", ratio=3, overflow="fold")
    table.add_column("verdict", ratio=1, overflow="fold")
    table.add_column("the document's figure, ours, and the condition", ratio=4, overflow="fold")
    for claim, verdict in zip(claims, verdicts, strict=True):
        heading = f"[bold]{escape(claim.id)}[/]\n{escape(claim.statement)}"
        state = f"[{_STYLE[verdict.state]}]{verdict.state}[/]"
        found = [f"{f.label}: {f.sentence}" for f in verdict.findings] or [verdict.sentence]
        if claim.note:
            found.append(claim.note)
        table.add_row(heading, state, escape("\n".join(dict.fromkeys(found))))
    out.print(table)
    for claim, verdict in zip(claims, verdicts, strict=True):
        if verdict.table is not None:
            _print_table(out, claim, verdict.table)
    _print_sources(out, claims)


def _print_table(out: Console, claim: Claim, found: VerdictTable) -> None:
    ours_known, theirs_known = (_any_figure(cells) for cells in (found.ours, found.theirs))
    if not (ours_known or theirs_known):
        return
    where = f" on {claim.where}" if claim.where else ""
    whose = f"ours / theirs{where}" if theirs_known else "ours (theirs: not stated)"
    table = Table(title=f"{claim.id}: {found.title}, {found.unit}: {whose}")
    table.add_column(f"{found.row_axis} \\ {found.column_axis}")
    for column in found.columns:
        table.add_column(escape(column), justify="right")
    for label, ours, theirs in zip(found.rows, found.ours, found.theirs, strict=True):
        pairs = ((figure(our, ""), figure(their, "")) for our, their in zip(ours, theirs, strict=True))
        cells = (f"{our} / {their}" if theirs_known else our for our, their in pairs)
        table.add_row(escape(label), *cells)
    out.print(table)
    if ours_known:
        out.print(f"ours: {found.origin}", markup=False, highlight=False)


def _any_figure(cells: Sequence[Sequence[float | None]]) -> bool:
    return any(value is not None for line in cells for value in line)


def _print_sources(out: Console, claims: Sequence[Claim]) -> None:
    used = {claim.source for claim in claims}
    for source in sources():
        if source.id in used:
            year = f", {source.year}" if source.year else ""
            out.print(
                f'{source.id}: {source.kind} "{source.title}" ({source.language}{year})', markup=False, highlight=False
            )
