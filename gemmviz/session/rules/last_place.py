"""Keeps where the user is, for the next start: the chosen kernel, its file, and the stop of its lesson."""

from gemmviz.session.models.choice import Choice
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.models.tour import Tour
from gemmviz.session.tour.lessons import lesson_path


def keep_place(choice: Choice, tour: Tour, preferences: Preferences) -> None:
    """Keep the chosen kernel, its file if it is the user's own, and the stop of its lesson, from now on."""

    def note() -> None:
        kernel, lesson, at = choice.base, tour.lesson, tour.at
        # The lesson of another file could not be found again.
        found = lesson is not None and at is not None and lesson.path == lesson_path(kernel)
        file = "" if choice.is_shipped_file(kernel) else str(kernel.path)
        preferences.note_place(kernel.name, at + 1 if found and at is not None else 0, file)

    choice.chosen.connect(note)
    tour.moved.connect(note)
