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


def written(chart, monkeypatch):
    """Return all texts that a ladder paints."""
    from gemmviz.ui.charts.ladder_drawing import LadderDrawing

    texts, write = [], LadderDrawing._write

    def seen(self, painter, text, *rest, **more):
        texts.append(text)
        write(self, painter, text, *rest, **more)

    monkeypatch.setattr(LadderDrawing, "_write", seen)
    chart.plot.grab()
    return texts
