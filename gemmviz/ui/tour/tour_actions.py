"""The actions of demos, lessons and stops, for the window's table of actions."""

from gemmviz.language import mark, tr
from gemmviz.session import Session
from gemmviz.ui.tour.my_stops import StopsList
from gemmviz.ui.window.actions import Action

MENU = mark("Lesson")


def actions(session: Session, stops: StopsList) -> list[Action]:
    """Return the actions of a rung's demo, of a tour and of one's own stops."""
    return [
        Action(
            "demo",
            MENU,
            tr("The demo of this kernel: the picture that shows its idea"),
            ("Ctrl+Shift+L",),
            session.demonstration.show,
        ),
        Action(
            "lesson", MENU, tr("The lesson of this kernel: begin / leave"), ("Ctrl+L",), session.guide.toggle_lesson
        ),
        Action("next_stop", MENU, tr("Next stop"), ("Ctrl+PgDown",), lambda: session.guide.next(1)),
        Action("previous_stop", MENU, tr("Previous stop"), ("Ctrl+PgUp",), lambda: session.guide.next(-1)),
        Action("bookmark", MENU, tr("Set a stop here…"), ("B",), stops.bookmark),
        Action("my_stops", MENU, tr("My stops…"), ("Ctrl+Shift+B",), stops.show_list),
    ]
