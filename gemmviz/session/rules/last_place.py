"""Keeps where the user is, for the next start: the chosen kernel, and the stop of its lesson."""

from gemmviz.session.models.choice import Choice
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.models.tour import Tour
from gemmviz.session.tour.lessons import lesson_path


def keep_place(choice: Choice, tour: Tour, preferences: Preferences) -> None:
    """Keep the chosen kernel and the stop of its lesson in the preferences, from now on."""

    def note() -> None:
        kernel, lesson, at = choice.base, tour.lesson, tour.at
        # The lesson of another file could not be found again.
        found = lesson is not None and at is not None and lesson.path == lesson_path(kernel)
        preferences.note_place(kernel.name, at + 1 if found and at is not None else 0)

    choice.chosen.connect(note)
    tour.moved.connect(note)
