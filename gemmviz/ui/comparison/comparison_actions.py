"""What can be done with two rungs side by side, for the table of actions."""

from typing import TYPE_CHECKING

from gemmviz.language import tr
from gemmviz.ui.window.actions import Action

if TYPE_CHECKING:
    from gemmviz.ui.window.window import Window


def actions(window: "Window") -> list[Action]:
    """Return the actions of a comparison."""
    comparison = window.session.comparison
    return [
        Action("beside", "View", tr("Another rung beside / one stage"), ("D",), comparison.toggle),
        Action("beside_which", "View", tr("Choose the rung beside…"), ("Ctrl+D",), window.arena.choose),
        Action(
            "beside_pace", "View", tr("In step by work on K / by bytes moved"), ("Ctrl+Shift+D",), comparison.next_pace
        ),
    ]
