"""Prints the comparison of two kernels: one table, then the findings."""

from rich.markup import escape
from rich.table import Table

from gemmviz.checking import report_text
from gemmviz.cli.tables import console
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.versions.changes import Change
from gemmviz.versions.comparison import Comparison
from gemmviz.versions.figure import Figure
from gemmviz.versions.version import Version

_MARK = {"new": "+", "gone": "-", "unclear": "?", "both": " "}
_DIFFERS = "*"
_LARGE = 1000  # from here on figures have no decimals


def show(found: Comparison, *, changed_only: bool) -> None:
    """Print a comparison, or only the figures that changed; ``*`` marks them."""
    out = console()
    versions = found.before, found.after
    problem = found.before.launch.problem
    table = Table(title=escape(f"{found.before.name} and {found.after.name} at {problem}"))
    table.add_column("")
    table.add_column("")
    for version in versions:
        table.add_column(escape(version.name), justify="right", overflow="fold")
    table.add_column("after / before", justify="right")
    notes, origin = [], ""
    for group in found.groups:
        if group.note:
            notes.append(f"{group.title.lower()}: {group.note}")
        figures = [figure for figure in group.figures if figure.differs or not changed_only]
        if figures:
            table.add_section()
            said = f"   ({escape(group.origin)})" if group.origin != origin else ""
            table.add_row("", f"[bold]{escape(group.title)}[/]{said}", "", "", "")
            origin = group.origin
            for figure in figures:
                table.add_row(*_cells(figure))
    for version in versions:
        out.print(f"{version.name}: {_launch(version)}", markup=False, highlight=False, soft_wrap=True)
    out.print(table)
    out.print(f"{_DIFFERS} differs", markup=False, highlight=False)
    for note in notes:
        out.print(note, markup=False, highlight=False, soft_wrap=True)
    for line in _findings(found):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    if figure.id == "wrong":
        return _DIFFERS if figure.differs else "", "C", _verdict(figure.before), _verdict(figure.after), ""
    ratio = "=" if figure.before == figure.after else "" if figure.ratio is None else f"{figure.ratio:.3g}"
    return _DIFFERS if figure.differs else "", escape(figure.name), _text(figure.before), _text(figure.after), ratio


def _launch(version: Version) -> str:
    made = version.launch
    if made.kernel.backend != "cuda":
        return made.label
    block, grid = (" x ".join(map(str, shape)) for shape in (made.block, made.grid))
    return f"{made.label}, {grid} blocks of {block} threads"


def _verdict(wrong: float | None) -> str:
    return "not recorded" if wrong is None else f"WRONG in {wrong:,.0f} elements" if wrong else "right"


def _text(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) or value >= _LARGE else f"{value:.4g}"


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
            lines += [title, *(_line(change, versions) for change in those)]
        elif defects:
            lines.append("No defect in either at this size.")
    unclear = any(change.state == "unclear" for change in found.changes)
    lines += ["? one has it, and the other one ended too early to show it."] if unclear else []
    return [*lines, "+ only the second, - only the first, else both; `gemmviz check` tries other sizes."]


def _line(change: Change, versions: tuple[Version, Version]) -> str:
    version, thing = (versions[0], change.before) if change.after is None else (versions[1], change.after)
    assert thing is not None
    where = f"{version.name}:{thing.line}" if thing.line else version.name
    said = f"{_MARK[change.state]} {where}: {report_text.kind(thing)}: {report_text.sentence(thing)}"
    if change.state == "both":
        assert change.before is not None
        also = [f"line {change.before.line}"] if change.before.line != thing.line else []
        if isinstance(change.before, SiteTraffic) and isinstance(thing, SiteTraffic):
            units = [f"{one.units_per_request:.3g}" for one in (change.before, thing)]
            also += [f"{units[0]} per request"] if units[0] != units[1] else []
        said += f" ({versions[0].name}: {', '.join(also)})" if also else ""
    return said
