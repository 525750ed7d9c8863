"""The keys of presenter mode: those of a clicker, and those that play as in the window."""

from typing import Protocol

from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.window.actions import Action, cell_actions, language_actions, session_actions

# The keys of a clicker's buttons belong to the stops.
_OTHERS = ("phase_on", "phase_back")


class Presents(Protocol):
    """The actions of a `gemmviz.ui.present.presenter.Presenter`, by key."""

    session: Session
    stage: Stage

    def go(self, direction: int) -> None:
        """Go to the next stop or barrier, or to the one before."""

    def blacken(self) -> None:
        """Show nothing, or everything again."""

    def show_keys(self) -> None:
        """Show the list of keys, or hide it."""

    def escape(self) -> None:
        """Hide the list of keys, or the question, or end presenting."""

    def end(self) -> None:
        """End presenting."""

    def freeze(self) -> None:
        """Freeze the warp, or release it."""

    def resize_type(self, direction: int) -> None:
        """Choose larger (1) or smaller (-1) type, or the usual one (0)."""


def presenter_actions(presenter: Presents) -> list[Action]:
    """Return every action of presenter mode; no two share a key."""
    session, menu = presenter.session, "View"
    own = [
        Action("present_on", menu, tr("To the next stop (or barrier)"), ("PgDown",), lambda: presenter.go(1)),
        Action("present_back", menu, tr("To the stop (or barrier) before"), ("PgUp",), lambda: presenter.go(-1)),
        Action("present_black", menu, tr("Black screen"), ("B", "."), presenter.blacken),
        Action("present_predict", menu, tr("Predict what comes next"), ("P",), session.predict.toggle),
        Action("present_keys", menu, tr("These keys"), ("F1",), presenter.show_keys),
        Action(
            "present_escape",
            menu,
            tr("Close these keys or the question, or end presenting"),
            ("Esc",),
            presenter.escape,
        ),
        Action("present_end", menu, tr("End presenting"), ("F11", "Shift+F5"), presenter.end),
        Action("present_lesson", menu, tr("The lesson of this kernel"), ("Ctrl+L",), session.guide.toggle_lesson),
        Action("present_freeze", menu, tr("Freeze the warp / release it"), ("W",), presenter.freeze),
        Action("present_duel", menu, tr("Compare two kernels (in the window)"), ("D",), lambda: _say_duel(presenter)),
        *_type_actions(presenter),
        *language_actions(session, "present", menu),
    ]
    taken = {key for action in own for key in action.keys}
    playing = [a for a in session_actions(session) if a.id not in _OTHERS and not taken & set(a.keys)]
    return [*own, *playing, *cell_actions(presenter.stage.picking)]


def _say_duel(presenter: Presents) -> None:
    sentence = tr("Two kernels side by side are shown in the window: Esc leads back to it, and D begins.")
    presenter.session.messages.tell(Message(sentence, "info"))


def _type_actions(presenter: Presents) -> list[Action]:
    return [
        Action(
            "present_larger", "View", tr("Larger type"), ("Ctrl+Alt++", "Ctrl+Alt+="), lambda: presenter.resize_type(1)
        ),
        Action("present_smaller", "View", tr("Smaller type"), ("Ctrl+Alt+-",), lambda: presenter.resize_type(-1)),
        Action(
            "present_type", "View", tr("Type as large as at first"), ("Ctrl+Alt+0",), lambda: presenter.resize_type(0)
        ),
    ]
