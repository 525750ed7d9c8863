"""Every action of the window as one record: the menus, the shortcuts and the help list are made from this table."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.session import Session


@dataclass(frozen=True)
class Action:
    """One thing that a user can do: where it stands in the menus, its keys and what it does."""

    id: str
    menu: str
    title: str
    keys: tuple[str, ...]
    callback: Callable[[], object]


def session_actions(session: Session) -> list[Action]:
    """Return the actions that need nothing but the session."""
    return [
        Action("play", "Play", "Play / pause", ("Space",), session.toggle),
        Action("forward", "Play", "One step on", ("Right",), lambda: session.step_by(1)),
        Action("back", "Play", "One step back", ("Left",), lambda: session.step_by(-1)),
        Action("phase_on", "Play", "To the next barrier", ("PgDown",), lambda: session.seek_phase(1)),
        Action("phase_back", "Play", "To the last barrier", ("PgUp",), lambda: session.seek_phase(-1)),
        Action("start", "Play", "To the first step", ("Home",), lambda: session.seek(0)),
        Action("end", "Play", "To the last step", ("End",), lambda: session.seek(session.steps - 1)),
        Action("faster", "Play", "Faster", ("+", "="), lambda: session.faster(1)),
        Action("slower", "Play", "Slower", ("-",), lambda: session.faster(-1)),
        Action("loop", "Play", "Loop", ("L",), lambda: session.set_loop(not session.loop)),
        Action("theme", "View", "Dark / light", ("Ctrl+T",),
               lambda: session.set_theme("light" if session.theme == "dark" else "dark")),
    ]


def help_text(actions: list[Action]) -> str:
    """Return the list of shortcuts as rich text."""
    rows = []
    menu = ""
    for action in actions:
        if action.menu != menu:
            menu = action.menu
            rows.append(f"<tr><td colspan=2><br><b>{menu}</b></td></tr>")
        keys = " or ".join(action.keys).replace("<", "&lt;")
        rows.append(f"<tr><td><code>{keys}</code>&nbsp;&nbsp;</td><td>{action.title}</td></tr>")
    rows.append(
        "<tr><td colspan=2><br><b>Mouse</b></td></tr>"
        "<tr><td>click a cell&nbsp;&nbsp;</td><td>who owns it and who touches it</td></tr>"
        "<tr><td>click a line&nbsp;&nbsp;</td><td>to its next execution</td></tr>"
        "<tr><td>wheel, drag&nbsp;&nbsp;</td><td>zoom and shift the stage</td></tr>")
    return f"<table>{''.join(rows)}</table>"
