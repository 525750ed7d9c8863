"""The actions on two rungs side by side, for the table of actions."""

from gemmviz.language import tr
from gemmviz.ui.comparison.arena import Arena
from gemmviz.ui.window.actions import Action


def actions(arena: Arena) -> list[Action]:
    """Return the actions of a comparison."""
    comparison = arena.comparison
    return [
        Action("beside", "View", tr("Another kernel beside / one stage"), ("D",), comparison.toggle),
        Action("beside_which", "View", tr("Choose the kernel beside…"), ("Ctrl+D",), arena.choose),
        Action(
            "beside_pace", "View", tr("In step by work on K / by bytes moved"), ("Ctrl+Shift+D",), comparison.next_pace
        ),
    ]
