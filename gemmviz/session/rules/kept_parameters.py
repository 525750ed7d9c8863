"""Measures with the parameters that a search has found, and with those that are kept from earlier searches."""

from gemmviz.catalogue.problem import Problem
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.tuning import Tuning


class KeptParameters:
    """Chooses found and kept parameters for measuring.

    Parameters
    ----------
    choice
        The parameters to measure the chosen kernel with.
    tuning
        The last search, and the kept parameters.
    """

    def __init__(self, choice: Choice, tuning: Tuning) -> None:
        self._choice, self._tuning = choice, tuning
        self._seen: tuple[str, str, Problem] | None = None
        choice.chosen.connect(self._on_chosen)
        choice.bench_chosen.connect(self._on_chosen)
        tuning.known.connect(self._apply)
        tuning.kept_wanted.connect(self._on_wanted)

    def use_found(self) -> bool:
        """Measure with the found parameters; return False if there are none, or if the kernel is not chosen."""
        found, kernel = self._tuning.found, self._tuning.kernel
        if found is None or kernel is None or self._choice.kernel.name != kernel.name:
            return False
        self._choice.choose_bench(params=found)
        return True

    def _apply(self) -> None:
        """Choose the kept parameters for measuring the chosen kernel, if kept parameters are wanted."""
        choice, tuning = self._choice, self._tuning
        one = tuning.kept_for(choice.kernel, [choice.bench_problem]) if tuning.wanted else None
        if one is not None and choice.bench_params != choice.bench_params | one.params:
            choice.choose_bench(params=one.params)

    def _on_wanted(self) -> None:
        if self._tuning.wanted:
            self._apply()
        else:
            self._choice.choose_bench(params=self._choice.kernel.defaults)

    def _on_chosen(self) -> None:
        seen = self._choice.kernel.name, self._choice.kernel.sha256, self._choice.bench_problem
        if seen != self._seen:
            self._seen = seen
            self._apply()
