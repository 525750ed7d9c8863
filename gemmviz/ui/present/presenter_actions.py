"""The keys of presenter mode: those of a clicker, and those that play as in the window."""

from typing import TYPE_CHECKING

from gemmviz.language import tr
from gemmviz.ui.actions import Action, session_actions

if TYPE_CHECKING:
    from gemmviz.ui.present.presenter import Presenter

# What a clicker's buttons send is taken by the stops.
_OTHERS = ("phase_on", "phase_back")


def presenter_actions(presenter: "Presenter") -> list[Action]:
    """Return every action of presenter mode; no two share a key."""
    session, menu = presenter.session, "View"
    own = [
        Action("present_on", menu, tr("To the next stop (or barrier)"), ("PgDown",), lambda: presenter.go(1)),
        Action("present_back", menu, tr("To the stop (or barrier) before"), ("PgUp",), lambda: presenter.go(-1)),
        Action("present_black", menu, tr("Black screen"), ("B", "."), presenter.blacken),
        Action("present_predict", menu, tr("Predict what comes next"), ("P",), session.predict.toggle),
        Action("present_keys", menu, tr("These keys"), ("F1",), lambda: presenter.keys.toggle()),
        Action("present_end", menu, tr("End presenting"), ("Esc", "F11", "Shift+F5"), presenter.left.emit),
    ]
    taken = {key for action in own for key in action.keys}
    playing = [a for a in session_actions(session) if a.id not in _OTHERS and not taken & set(a.keys)]
    return [*own, *playing]
