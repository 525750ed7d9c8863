"""Every action of the window as one record: the menus, the shortcuts and the help list are made from this table."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.language import LANGUAGES, tr
from gemmviz.session import Message, Session
from gemmviz.ui.stage.score_text import ABSENT


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

    def jump(unit: str, direction: int) -> Callable[[], object]:
        def go() -> None:
            if not session.jump(unit, direction) and session.playable is not None and unit not in session.units:
                session.tell(Message(tr(ABSENT[unit]), "info"))

        return go

    return [
        Action("play", "Play", tr("Play / pause"), ("Space",), session.toggle),
        Action("forward", "Play", tr("On by one step or chosen unit"), ("Right",), lambda: session.step_unit(1)),
        Action("back", "Play", tr("Back by one step or chosen unit"), ("Left",), lambda: session.step_unit(-1)),
        Action("unit_next", "Play", tr("Step by the next unit"), ("U",), lambda: session.next_unit(1)),
        Action("unit_last", "Play", tr("Step by the unit before"), ("Shift+U",), lambda: session.next_unit(-1)),
        Action("phase_on", "Play", tr("To the next barrier"), ("PgDown",), jump("phase", 1)),
        Action("phase_back", "Play", tr("To the barrier before"), ("PgUp",), jump("phase", -1)),
        Action("tile_on", "Play", tr("To the next tile"), ("T",), jump("tile", 1)),
        Action("tile_back", "Play", tr("To the tile before"), ("Shift+T",), jump("tile", -1)),
        Action("request_on", "Play", tr("To the warp's next request"), ("R",), jump("request", 1)),
        Action("request_back", "Play", tr("To the warp's request before"), ("Shift+R",), jump("request", -1)),
        Action("element_on", "Play", tr("To the cell's next access"), ("E",), jump("element", 1)),
        Action("element_back", "Play", tr("To the cell's access before"), ("Shift+E",), jump("element", -1)),
        Action(
            "same_line", "Play", tr("To the next step of this line"), ("N",), lambda: session.seek_line(session.line)
        ),
        Action("start", "Play", tr("To the first step"), ("Home",), lambda: session.seek(0)),
        Action("end", "Play", tr("To the last step"), ("End",), lambda: session.seek(session.steps - 1)),
        Action("faster", "Play", tr("Faster"), ("+", "="), lambda: session.faster(1)),
        Action("slower", "Play", tr("Slower"), ("-",), lambda: session.faster(-1)),
        Action("loop", "Play", tr("Loop"), ("L",), lambda: session.set_loop(not session.loop)),
        Action("loop_from", "Play", tr("Loop from here"), ("[",), session.loop_from_here),
        Action("loop_to", "Play", tr("Loop to here"), ("]",), session.loop_to_here),
        Action("loop_all", "Play", tr("Loop all"), ("\\",), session.loop_all),
        Action(
            "as_written",
            "Run",
            tr("Record as written / as compiled"),
            ("Ctrl+Alt+R",),
            lambda: session.choose(as_written=not session.as_written),
        ),
        Action(
            "theme",
            "View",
            tr("Dark / light"),
            ("Ctrl+T",),
            lambda: session.set_theme("light" if session.theme == "dark" else "dark"),
        ),
    ]


def language_actions(session: Session, prefix: str, menu: str) -> list[Action]:
    """Return an action per language, named in itself: whoever is lost in another one finds it."""

    def speak(code: str) -> Callable[[], object]:
        return lambda: session.speak(code)

    return [
        Action(f"{prefix}_{code}", menu, name, (f"Ctrl+Alt+{number}",), speak(code))
        for number, (code, name) in enumerate(LANGUAGES.items(), 1)
    ]
