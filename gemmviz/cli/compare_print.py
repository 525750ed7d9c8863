"""Prints the comparison of two kernels: one table, then the findings."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from gemmviz.cli.tables import console
from gemmviz.versions.comparison import Comparison
from gemmviz.versions.figure import Figure
from gemmviz.versions.words import change_text, launch_text, name_text, ratio_text, values_text

_MARK = {"new": "+", "gone": "-", "unclear": "?", "both": " "}
_DIFFERS = "*"


def show(found: Comparison, *, changed_only: bool) -> None:
    """Print a comparison, or only the figures that changed; ``*`` marks them."""
    out = console()
    versions = found.before, found.after
    problem = found.before.launch.problem
    heads = _short(found.before.name, found.after.name)
    table = Table(title=escape(f"{heads[0]} and {heads[1]} at {problem}"))
    table.add_column("")
    table.add_column("")
    for head in heads:
        table.add_column(escape(head), justify="right", overflow="fold")
    table.add_column("after / before", justify="right")
    notes, origin = [], ""
    for group in found.groups:
        if group.note:
            notes.append(f"{group.title.lower()}: {group.note}")
        figures = [figure for figure in group.figures if figure.differs or not changed_only]
        if figures:
            table.add_section()
            origin_text = f"   ({escape(group.origin)})" if group.origin != origin else ""
            table.add_row("", f"[bold]{escape(group.title)}[/]{origin_text}", "", "", "")
            origin = group.origin
            for figure in figures:
                table.add_row(*_cells(figure))
    for version in versions:
        out.print(f"{version.name}: {launch_text(version)}", markup=False, highlight=False, soft_wrap=True)
    out.print(table)
    out.print(f"{_DIFFERS} differs", markup=False, highlight=False)
    for note in notes:
        out.print(note, markup=False, highlight=False, soft_wrap=True)
    for line in _findings(found):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _short(before: str, after: str) -> tuple[str, str]:
    """Return the names of two files without the folders in which both lie."""
    one, other = Path(before).parts, Path(after).parts
    same = 0
    while same < min(len(one), len(other)) - 1 and one[same] == other[same]:
        same += 1
    return str(Path(*one[same:])), str(Path(*other[same:]))


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    mark = _DIFFERS if figure.differs else ""
    return mark, escape(name_text(figure)), *values_text(figure), ratio_text(figure)


def _findings(found: Comparison) -> list[str]:
    versions = found.before, found.after
    if not found.checked:
        return [f"{version.name} was not checked: {version.no_report}" for version in versions if version.no_report]
    if not found.changes:
        return ["No defect and no wasted traffic in either at this size."]
    lines = []
    for defects, title in ((True, "Defects at this size:"), (False, "Wasted traffic, which costs time only:")):
        those = [change for change in found.changes if change.defect is defects]
        if those:
            lines += [title, *(f"{_MARK[change.state]} {change_text(change, versions)}" for change in those)]
        elif defects:
            lines.append("No defect in either at this size.")
    unclear = any(change.state == "unclear" for change in found.changes)
    lines += ["? one has it, and the other one ended too early to know."] if unclear else []
    return [*lines, "+ only the second, - only the first, else both; `gemmviz check` tries other sizes."]
