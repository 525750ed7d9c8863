"""The table of the window's actions. The menus, the shortcuts and the help list are made from it."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.language import LANGUAGES, tr
from gemmviz.session import Message, Session
from gemmviz.trace.order.stepping_units import Unit
from gemmviz.ui.stage.picking import Picking
from gemmviz.ui.stage.score_text import ABSENT


@dataclass(frozen=True)
class Action:
    """A user's action: its place in the menus, its text, its keys and its function."""

    id: str
    menu: str
    title: str
    keys: tuple[str, ...]
    callback: Callable[[], object]


def cell_actions(picking: Picking) -> list[Action]:
    """Return the actions that choose a cell of a stage."""
    beside, menu = picking.beside, "Cell"
    return [
        Action("cell_left", menu, tr("Choose the cell to the left"), ("Shift+Left",), lambda: beside(0, -1)),
        Action("cell_right", menu, tr("Choose the cell to the right"), ("Shift+Right",), lambda: beside(0, 1)),
        Action("cell_up", menu, tr("Choose the cell above"), ("Shift+Up",), lambda: beside(-1, 0)),
        Action("cell_down", menu, tr("Choose the cell below"), ("Shift+Down",), lambda: beside(1, 0)),
        Action("cell_array", menu, tr("Choose in the next array"), ("X",), picking.next_array),
        Action("cell_none", menu, tr("Choose no cell"), ("Backspace",), picking.let_go),
    ]


def session_actions(session: Session) -> list[Action]:
    """Return the actions that need only the session."""

    def jump(unit: Unit, direction: int) -> Callable[[], object]:
        def go() -> None:
            if (
                not session.cursor.jump(unit, direction)
                and session.cursor.playable is not None
                and unit not in session.cursor.units
            ):
                session.messages.tell(Message(tr(ABSENT[unit]), "info"))

        return go

    return [
        Action("play", "Play", tr("Play / pause"), ("Space",), session.playback.toggle),
        Action("forward", "Play", tr("Forward by one step or chosen unit"), ("Right",), lambda: session.step_unit(1)),
        Action("back", "Play", tr("Back by one step or chosen unit"), ("Left",), lambda: session.step_unit(-1)),
        Action("unit_next", "Play", tr("Step by the next unit"), ("U",), lambda: session.cursor.next_unit(1)),
        Action(
            "unit_last", "Play", tr("Step by the previous unit"), ("Shift+U",), lambda: session.cursor.next_unit(-1)
        ),
        Action("phase_on", "Play", tr("To the next barrier"), ("PgDown",), jump("phase", 1)),
        Action("phase_back", "Play", tr("To the previous barrier"), ("PgUp",), jump("phase", -1)),
        Action("tile_on", "Play", tr("To the next tile"), ("T",), jump("tile", 1)),
        Action("tile_back", "Play", tr("To the previous tile"), ("Shift+T",), jump("tile", -1)),
        Action("request_on", "Play", tr("To the warp's next request"), ("R",), jump("request", 1)),
        Action("request_back", "Play", tr("To the warp's previous request"), ("Shift+R",), jump("request", -1)),
        Action("element_on", "Play", tr("To the cell's next access"), ("E",), jump("element", 1)),
        Action("element_back", "Play", tr("To the cell's previous access"), ("Shift+E",), jump("element", -1)),
        Action(
            "same_line",
            "Play",
            tr("To the next step of this line"),
            ("N",),
            lambda: session.playback.seek_line(session.cursor.line),
        ),
        Action("start", "Play", tr("To the first step"), ("Home",), lambda: session.cursor.seek(0)),
        Action("end", "Play", tr("To the last step"), ("End",), lambda: session.cursor.seek(session.cursor.steps - 1)),
        Action("faster", "Play", tr("Faster"), ("+", "="), lambda: session.playback.faster(1)),
        Action("slower", "Play", tr("Slower"), ("-",), lambda: session.playback.faster(-1)),
        Action(
            "lens",
            "View",
            tr("Next lens / none"),
            ("Shift+L",),
            lambda: _next_lens(session),
        ),
        Action("loop", "Play", tr("Loop"), ("L",), lambda: session.playback.set_loop(not session.playback.loop)),
        Action("loop_from", "Play", tr("Loop from here"), ("[",), session.playback.loop_from_here),
        Action("loop_to", "Play", tr("Loop to here"), ("]",), session.playback.loop_to_here),
        Action("loop_all", "Play", tr("Loop all"), ("\\",), session.playback.loop_all),
        Action(
            "as_written",
            "Run",
            tr("Record as written / as compiled"),
            ("Ctrl+Alt+R",),
            lambda: session.choice.choose(as_written=not session.choice.as_written),
        ),
        Action(
            "theme",
            "View",
            tr("Dark / light"),
            ("Ctrl+T",),
            lambda: session.preferences.set_theme("light" if session.preferences.theme == "dark" else "dark"),
        ),
    ]


def language_actions(session: Session, prefix: str, menu: str) -> list[Action]:
    """Return an action per language. Its name is in that language, so that its speakers find it in any language."""

    def speak(code: str) -> Callable[[], object]:
        return lambda: session.preferences.speak(code)

    return [
        Action(f"{prefix}_{code}", menu, name, (f"Ctrl+Alt+{number}",), speak(code))
        for number, (code, name) in enumerate(LANGUAGES.items(), 1)
    ]


def _next_lens(session: Session) -> None:
    from gemmviz.ui.lenses.registry import suiting  # late: the first picture has none

    session.lens.next(suiting(session.cursor.playable))
