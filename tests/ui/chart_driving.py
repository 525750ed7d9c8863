"""The figures of a ladder for the tests of charts, and the choice of a kernel."""

from result_rows import rung

LADDER = {"hostmult0": 1.0, "numpy": 100.0, "openblas": 200.0, "gpumult0": 500.0, "gputiled": 2000.0, "cublas": 8000.0}


def window_of(charts):
    """Return the window of some charts."""
    return charts.window()


def choose(charts, name):
    """Choose a kernel without recording it."""
    session = window_of(charts).session
    session.choice.auto = False
    session.choice.choose_kernel(rung(session, name))
    charts.refresh()
