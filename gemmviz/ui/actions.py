"""Every action of the window as one record: the menus, the shortcuts and the help list are made from this table."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.session import Session

_NO_WRAP = 'style="white-space: nowrap"'
_HELP_COLUMNS = 3


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
        Action("same_line", "Play", "To the next step of this line", ("N",), lambda: session.seek_line(session.line)),
        Action(
            "theme",
            "View",
            "Dark / light",
            ("Ctrl+T",),
            lambda: session.set_theme("light" if session.theme == "dark" else "dark"),
        ),
    ]


def help_text(actions: list[Action]) -> str:
    """Return the list of shortcuts as rich text."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in actions:
        keys = " or ".join(action.keys).replace("<", "&lt;")
        groups.setdefault(action.menu, []).append((f"<code>{keys}</code>", action.title))
    groups["Mouse"] = [
        ("click a cell", "who owns it and who touches it"),
        ("click a line number", "to its next execution"),
        ("Ctrl+click a line", "the same, as a double-click while locked"),
        ("wheel, drag", "zoom and shift the stage"),
    ]
    groups["While the source is edited"] = [
        ("<code>Ctrl+Z</code>, <code>Ctrl+Shift+Z</code>", "undo, redo (a revert, too)"),
        ("<code>Tab</code>, <code>Shift+Tab</code>", "indent by 4, and back"),
        ("<code>Ctrl+/</code>", "comment lines out, or in"),
        ("<code>Esc</code>", "to the stage, where keys play"),
    ]
    groups["Everywhere"] = [
        ("<code>Tab</code>", "to the next box or button"),
        ("<code>Space, arrows</code>", "there: press, choose"),
    ]
    columns: list[list[str]] = [[] for _ in range(_HELP_COLUMNS)]
    for menu, entries in groups.items():
        rows = [f"<tr><td colspan=2><br><b>{menu}</b></td></tr>"]
        rows += [
            f"<tr><td {_NO_WRAP}>{keys}&nbsp;&nbsp;</td><td {_NO_WRAP}>{title}</td></tr>" for keys, title in entries
        ]
        min(columns, key=len).extend(rows)
    cells = "".join(f"<td><table>{''.join(rows)}</table></td><td>&nbsp;&nbsp;&nbsp;</td>" for rows in columns)
    return f"<table><tr>{cells}</tr></table>"
