"""Finds the default kernel for a comparison: the nearest earlier kernel that is clearly slower."""

from gemmviz.bench.row import figure_of
from gemmviz.catalogue.kernel import Kernel
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.results import Results

_SLOWER = 0.9
"""A share of the chosen kernel's GFLOPS: a kernel above this share counts as equally fast."""


def nearest_slower(choice: Choice, results: Results) -> Kernel | None:
    """Return the last kernel before the chosen one that is clearly slower and can be recorded.

    Parameters
    ----------
    choice
        The chosen kernel, and all others in the order in which they are taught.
    results
        Their figures: measured here, or references.

    Returns
    -------
    Kernel or None
        None if the chosen kernel has no figure, or no earlier kernel is slower at the same size.
    """
    mine, base = results.shown(choice.base.name), choice.base
    if mine is None:
        return None
    size = mine.row["M"], mine.row["N"], mine.row["K"]
    before = [kernel for kernel in choice.kernels[: choice.kernels.index(base)] if kernel.recordable]
    for kernel in reversed(before):
        shown = results.shown(kernel.name)
        if shown is None or kernel.exhibit or kernel.backend != base.backend or kernel.dtype != base.dtype:
            continue
        same_size = (shown.row["M"], shown.row["N"], shown.row["K"]) == size
        if same_size and shown.origin == mine.origin and figure_of(shown.row) < _SLOWER * figure_of(mine.row):
            return kernel
    return None
