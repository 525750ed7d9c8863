"""The actions on two rungs side by side, for the table of actions."""

from gemmviz.language import tr
from gemmviz.ui.comparison.arena import Arena
from gemmviz.ui.window.actions import Action

_MENU = "View > Second kernel"


def actions(arena: Arena) -> list[Action]:
    """Return the actions of a comparison."""
    session = arena.session
    return [
        Action("beside", _MENU, tr("Another kernel beside / one stage"), ("D",), session.side_by_side.toggle),
        Action("beside_which", _MENU, tr("Choose the kernel beside…"), ("Ctrl+D",), arena.choose),
        Action(
            "beside_pace",
            _MENU,
            tr("In step by work on K / by bytes moved"),
            ("Ctrl+Shift+D",),
            session.comparison.next_pace,
        ),
    ]
