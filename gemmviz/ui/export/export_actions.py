"""Actions on the content of the screen: export it, save it, copy it as a command line."""

from gemmviz.language import tr
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.saver import Saver


def actions(saver: Saver) -> list[Action]:
    """Return the actions of the exports."""
    states = saver.states
    return [
        Action("export", "File", tr("Export steps (GIF, MP4, PNG, SVG)…"), ("Ctrl+Shift+P",), saver.export),
        Action("save_state", "File", tr("Save what is on screen…"), ("Ctrl+Alt+W",), states.save),
        Action(
            "copy_command", "File", tr("Copy the command line of what is on screen"), ("Ctrl+Shift+C",), states.copy
        ),
    ]
