"""Damaged files as Hypothesis draws them: by a seed, so that a failure names the file."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from damaging.files import Damaged, damaged_files

Test = Callable[..., None]
_SEEDS = 2**32


def files(kind: str, states: Callable[[], Sequence[dict[str, Any]]] = tuple) -> st.SearchStrategy[Damaged]:
    """Return a strategy for damaged files of a kind; see `damaging.files.damaged_files`; `states` is called late."""
    return st.integers(0, _SEEDS - 1).map(lambda seed: next(damaged_files(kind, Random(seed), states())))


def tried_on(strategy: st.SearchStrategy[Damaged], count: int) -> Callable[[Test], Test]:
    """Try a test on a number of files, the same ones everywhere and however fast the machine is."""

    def decorated(test: Test) -> Test:
        slow = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large)
        bounded = settings(
            max_examples=count,
            derandomize=True,
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=slow,
        )
        decorated_test: Test = bounded(given(damaged=strategy)(test))
        return decorated_test

    return decorated
