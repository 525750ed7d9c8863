"""Result rows as a benchmark sends them, with chosen figures."""

from gemmviz.bench import results
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.problem import Problem


def rung(session, name):
    """Return the kernel with that name."""
    return next(k for k in session.choice.kernels if k.name == name)


def result(kernel, gflops, n=64, **more):
    """Return a finished row at M = N = K = n."""
    problem = Problem.cube(n)
    row = results.new_row(kernel, problem, {})
    seconds = [problem.flops / gflops / 1e9] * 5
    results.describe_samples(row, seconds, summarise(seconds), "steady", problem.flops)
    return row | {"gflops": gflops} | more


def add(window, figures, n=64, **more):
    """Give the session one row per rung: {name: GFLOPS}; then draw."""
    for name, gflops in figures.items():
        window.session.results.add_result(result(rung(window.session, name), gflops, n, **more))
    window.charts.refresh()


def add_reference(window, figures, sizes=(64,)):
    """Give the session results of an H200, one row per rung and size, on a machine that has no GPU."""
    session = window.session
    rows = [result(rung(session, name), gflops, n) for name, gflops in figures.items() for n in sizes]
    session.results.set_device("a laptop", None)
    session.results.set_references([ReferenceResults("NVIDIA H200", "Xeon", "2026-11-21", Figures(rows))])
    window.charts.refresh()
