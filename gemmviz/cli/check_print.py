"""Prints the findings of ``gemmviz check``: each finding once, with all other launches that have it."""

from rich.console import Console

from gemmviz.catalogue.kernel import Kernel
from gemmviz.checking import report_text
from gemmviz.checking.report import Report


def show(kernel: Kernel, reports: list[Report], left_out: list[str]) -> None:
    """Print the reports; findings of an earlier one are not repeated."""
    console = Console()
    holders: dict[object, list[Report]] = {}
    for report in reports:
        for thing in report.things:
            held = holders.setdefault(report_text.key(thing), [])
            if report not in held:
                held.append(report)
    quiet: list[Report] = []
    for report in reports:
        new = [thing for thing in report.things if holders[report_text.key(thing)][0] is report]
        if quiet and (new or bool(quiet[0].findings) != bool(report.findings)):
            _print_quiet(console, quiet)
            quiet = []
        if not new:
            quiet.append(report)
            continue
        console.print(str(report), style="bold", markup=False, highlight=False, soft_wrap=True)
        for thing in new:
            where = f"{kernel.path.name}:{thing.line}" if thing.line else kernel.path.name
            what = f"{report_text.kind(thing)}: {report_text.sentence(thing)}"
            others = holders[report_text.key(thing)][1:]
            everywhere = len(others) > 1 and len(others) == len(reports) - 1
            also = "all others below" if everywhere else report_text.names(others)
            _print_line(console, f"{where}: {what}" + (f"; also with {also}" if others else ""))
        if not report.findings:
            _print_line(console, "no defect found; the above costs time only")
    if quiet:
        _print_quiet(console, quiet)
    for what in left_out:
        _print_line(console, f"left out: {what}")


def _print_quiet(console: Console, reports: list[Report]) -> None:
    _print_line(
        console,
        f"{report_text.names(reports)}: {'nothing but the above' if reports[0].findings else 'no defect found'}",
    )


def _print_line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
