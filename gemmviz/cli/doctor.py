"""``gemmviz doctor``: the parts that work on this machine, and how to repair the others.

Qt is searched without importing it, and CuPy is tried in the engine's process only.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gemmviz import data
from gemmviz.assembly.toolkit import INSTALL, toolkit
from gemmviz.backends.machine import Fact
from gemmviz.catalogue.errors import Unavailable
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import Failed, Probed, ProbeRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.session.trust.trust import Trust
from gemmviz.ui.look.display import how_to_install, missing_libraries

_MARK = {"ok": "[green]ok[/]", "missing": "[red]missing[/]", "absent": "[yellow]none[/]"}


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help=summary,
        description="Shows what works on this machine, and how to repair the rest.",
        epilog="Exit code 1 when something that gemmviz needs is missing. A GPU is not needed.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    probed, rest = _probe()
    facts = [*probed, assembly_fact(), *window_facts(os.environ), cache_fact(), trust_fact()]
    if args.json:
        sys.stdout.write(json.dumps({"facts": [asdict(f) for f in facts], **rest}, indent=1) + "\n")
    else:
        _print(facts)
    return 1 if any(fact.state == "missing" for fact in facts) else 0


def _probe() -> tuple[list[Fact], Mapping[str, object]]:
    """Return the engine's facts and notes; if the engine fails, its failure is the only fact."""
    engine = Engine(Named())
    try:
        for reply in engine.run(ProbeRequest(1), threading.Event()):
            if isinstance(reply, Probed):
                rest = {key: value for key, value in reply.facts.items() if key != "facts"}
                return [Fact(**fact) for fact in reply.facts["facts"]], rest
            if isinstance(reply, Failed):
                return [Fact("Engine", "fails", "missing", reply.message)], {}
    finally:
        engine.close()
    return [Fact("Engine", "gives no answer", "missing")], {}


def window_facts(environment: Mapping[str, str]) -> list[Fact]:
    """Return the facts about the window's requirements: Qt, pyqtgraph, system libraries, a display, fonts.

    Parameters
    ----------
    environment
        ``os.environ``, or a test's.
    """
    return [
        _package("PySide6", "PySide6-Essentials"),
        _package("pyqtgraph", "pyqtgraph"),
        _libraries(),
        _display(environment),
        _fonts(),
    ]


def assembly_fact() -> Fact:
    """Return whether the machine code of CUDA kernels can be shown."""
    try:
        tools = toolkit()
    except Unavailable:
        return Fact("Machine code", "none", "absent", f"for the tab Assembly: {INSTALL}")
    return Fact("Machine code", f"{tools.nvrtc.name}, nvdisasm")


def cache_fact() -> Fact:
    """Return whether compiled kernels can be kept."""
    folder, note = data.cache_folder("recorders")
    if not note:
        return Fact("Cache folder", str(folder.parent))
    return Fact("Cache folder", str(folder), "absent", f"{note}; let XDG_CACHE_HOME name a folder that can be written")


def trust_fact() -> Fact:
    """Return the number of foreign texts and folders that the user lets the window run."""
    kept = Trust().kept
    if kept.fault:
        return Fact("Trust", "nothing is allowed", "absent", kept.fault)
    texts, folders = (
        f"{len(held)} {name if len(held) == 1 else name + 's'}"
        for held, name in ((kept.texts, "text"), (kept.folders, "folder"))
    )
    how = "`gemmviz trust` lists them, `gemmviz trust --forget WHAT` removes one"
    return Fact("Trust", f"{texts} and {folders} from elsewhere may run in the window", remedy=how)


def _package(module: str, package: str) -> Fact:
    if find_spec(module) is None:
        return Fact(module, "none", "missing", f"for the window: pip install {package}")
    try:
        return Fact(module, version(package))
    except PackageNotFoundError:
        return Fact(module, "installed, version unknown")


def _libraries() -> Fact:
    lacking = missing_libraries(x11=bool(os.environ.get("DISPLAY")))
    if not lacking:
        return Fact("System libraries", "all that Qt needs are installed")
    return Fact("System libraries", "some are missing", "missing", f"for the window: {how_to_install(lacking)}")


def _display(environment: Mapping[str, str]) -> Fact:
    platform = environment.get("QT_QPA_PLATFORM")
    if platform:
        return Fact("Display", f"QT_QPA_PLATFORM={platform}")
    for variable in ("WAYLAND_DISPLAY", "DISPLAY"):
        if environment.get(variable):
            return Fact("Display", f"{variable}={environment[variable]}")
    remedy = "the commands list, record, bench and render work without one; with ssh, use ssh -X"
    return Fact("Display", "none", "absent", remedy)


def _fonts() -> Fact:
    if shutil.which("fc-list") is None:
        return Fact("Fonts", "unknown", "absent", "to list them: apt-get install fontconfig")
    found, korean = _count_fonts(), _count_fonts(":lang=ko")
    if not found:
        return Fact("Fonts", "none", "missing", "text would be empty boxes: apt-get install fonts-dejavu-core")
    if not korean:
        return Fact("Fonts", f"{found}, none with Korean", "absent", "for Korean: apt-get install fonts-noto-cjk")
    return Fact("Fonts", f"{found}, {korean} with Korean")


def _count_fonts(pattern: str = ":") -> int:
    try:
        answer = subprocess.run(
            ["fc-list", pattern, "family"], capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return len({line for line in answer.stdout.splitlines() if line.strip()})


def _print(facts: list[Fact]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for fact in facts:
        text = escape(fact.value) + (f"\n[dim]-> {escape(fact.remedy)}[/]" if fact.remedy else "")
        table.add_row(_MARK[fact.state], fact.name, text)
    console.print(table)
