"""Makes the pictures of ``docs/tour.md``: the real window, offscreen, at the places that the page speaks of.

``python docs/tour_pictures.py`` writes them to ``docs/images``. The settings of the user are neither read nor changed.
"""

import sys

from driven_window import DrivenWindow, driven_window

PICTURES = (
    "stage-dark.png",
    "lesson-light.png",
    "duel-dark.png",
    "broken-light.png",
    "charts.png",
    "claims.png",
    "predict-dark.png",
)
_SIZE = (1440, 900)


def main() -> int:
    """Drive the window through the page's places, and save a picture of each."""
    with driven_window(*_SIZE) as driven:
        for name, draw in zip(PICTURES, (_stage, _lesson, _duel, _broken, _charts, _claims), strict=False):
            driven.session.preferences.set_theme("light" if draw in (_lesson, _broken, _charts, _claims) else "dark")
            draw(driven)
            driven.save(name)
            _leave(driven)
        driven.session.preferences.set_theme("dark")
        _predict(driven)
    return 0


def _leave(driven: DrivenWindow) -> None:
    """Go back to the stage, without lesson, duel or message."""
    session = driven.session
    session.guide.leave()
    session.side_by_side.stop()
    session.messages.tell(None)
    driven.window.pages.turn_to("stage")
    driven.window.inspector.show_panel("source")


def _stage(driven: DrivenWindow) -> None:
    """Ask where the values of one element of C come from."""
    driven.choose("gputiled")
    driven.session.cursor.seek(driven.session.cursor.steps // 2)
    driven.session.cursor.pick((2, 1), 0)
    driven.window.inspector.show_panel("origin")
    driven.wait(driven.recorded)


def _lesson(driven: DrivenWindow) -> None:
    """Stand at the first stop of the lesson that the second door opens."""
    tour = driven.session.tour
    driven.session.guide.start_rung("matmul_kernel_naive")
    driven.wait(lambda: tour.stop is not None and not tour.waiting and driven.recorded())


def _duel(driven: DrivenWindow) -> None:
    """Put the layout that has bank conflicts beside the one that has none, with the lens of banks."""
    driven.choose("CC")
    comparison = driven.session.comparison
    driven.session.side_by_side.start_named("RR")
    driven.wait(lambda: comparison.match is not None)
    driven.session.lens.show("banks")
    driven.wait(lambda: comparison.match is not None)


def _broken(driven: DrivenWindow) -> None:
    """Show the wrong elements of C without the second barrier, and the findings."""
    driven.choose("gputiled")
    driven.session.choice.break_it(("no-second-barrier",))
    driven.wait(driven.recorded)
    driven.session.cursor.seek(driven.session.cursor.steps - 1)
    driven.window.inspector.show_panel("findings")
    driven.wait(driven.recorded)


def _charts(driven: DrivenWindow) -> None:
    driven.choose("gputiled")
    driven.window.pages.turn_to("charts")
    driven.wait(lambda: bool(driven.session.results.references))


def _claims(driven: DrivenWindow) -> None:
    driven.window.pages.turn_to("claims")
    driven.wait(lambda: driven.window.pages.made("claims"))


def _predict(driven: DrivenWindow) -> None:
    """Ask a class for the wavefronts of a request."""
    driven.choose("RR")
    session, presenting = driven.session, driven.window.presenting
    presenting.start()
    assert presenting.presenter is not None
    # The offscreen screen is smaller than the picture.
    presenting.presenter.showNormal()
    presenting.presenter.resize(1440, 810)
    session.predict.toggle()
    driven.wait(lambda: session.predict.question is not None)
    driven.save(PICTURES[-1], presenting.presenter)
    session.predict.toggle()
    presenting.end()


if __name__ == "__main__":
    sys.exit(main())
