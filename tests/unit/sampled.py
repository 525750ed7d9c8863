"""The sample of a sweep: a test that repeats one behaviour over all rungs, sizes, themes or languages.

README's command runs the sample, ``-m thorough`` the rest. A sweep is marked with what stays:

``@pytest.mark.sweep``
    The cases of the rungs in `SAMPLE`.
``@pytest.mark.sweep("id", "other-*")``
    The cases with these ids.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

SAMPLE = (
    *("loop_order", "blocked", "simd", "hostmult_threads"),  # C: loops, blocks, vectors, threads
    *("gpumult1", "gputiled", "CC"),  # a thread per element, shared tiles, both matrices by columns
    *("vectorised", "async_pipeline", "stream_k"),  # several elements per thread, copies in flight, flags
    *("matmul_tc_2d_warp_tiling", "mma_swizzle"),  # fragments, inline PTX
    "every_shape_c16",  # C in 16 bits
    *("warp_specialised", "cluster"),  # Hopper: the copy engine, barriers, warp groups, blocks that share
    "gather",  # several GPUs
)
"""A rung of each kind: each way to compute, to copy and to wait."""

FEW = ("simd", "gputiled", "async_pipeline", "mma_swizzle", "warp_specialised")
"""A rung of each generation of hardware. A costly sweep about `SAMPLE`'s kinds takes only these, if another test tries
all of `SAMPLE`."""


def mark_the_rest(items: Iterable[Any], whole: bool) -> None:
    """Mark all cases of sweeps `thorough` that are not in their sample.

    Parameters
    ----------
    items
        The collected tests.
    whole
        Whether whole files were collected: then the sample of each sweep has to be there.

    Raises
    ------
    pytest.UsageError
        If no case of a sweep stays, or if one of the ids that should stay is that of no case.
    """
    cases: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("sweep"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, swept in cases.items():
        patterns = swept[0].get_closest_marker("sweep").args
        stay = [item for item in swept if in_the_sample(item.callspec, patterns)]
        ids = [item.callspec.id for item in stay]
        missed = [pattern for pattern in patterns if not any(fnmatchcase(one, pattern) for one in ids)]
        if whole and (missed or not stay):
            raise pytest.UsageError(f"{name}: no case of this sweep is {' or '.join(missed) or 'in the sample'}")
        for item in swept:
            if item not in stay:
                item.add_marker(pytest.mark.thorough)


def by_rung(items: list[Any]) -> None:
    """Put the cases of a file's sweeps that are about the same rung together, in the order of the rungs.

    What one of them has found out about the recording of a rung is still there for the next one.
    """
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if item.get_closest_marker("sweep"):
            places.setdefault(item.nodeid.partition("::")[0], []).append(place)
    for swept in places.values():
        first: dict[str, int] = {}
        order = sorted(swept, key=lambda place: first.setdefault(_about(items[place]), place))
        for place, item in zip(swept, [items[other] for other in order], strict=True):
            items[place] = item


def _about(item: Any) -> str:
    """Return the rung that a case is about; its whole id if it is about none."""
    names = [rung_of(value) for value in item.callspec.params.values()]
    return next((name for name in names if isinstance(name, str) and name in _rungs()), item.nodeid)


@cache
def _rungs() -> frozenset[str]:
    from gemmviz.catalogue.ladder import ladder

    return frozenset(kernel.name for kernel in ladder())


def in_the_sample(case: Any, patterns: tuple[str, ...]) -> bool:
    """Return whether a case of a sweep stays: by its id, or because it is about a rung of `SAMPLE`."""
    if patterns:
        return any(fnmatchcase(case.id, pattern) for pattern in patterns)
    return any(rung_of(value) in SAMPLE for value in case.params.values())


def rung_of(value: object) -> object:
    """Return the name of the rung that a parameter of a test is about: it, its kernel or its lesson may stand there."""
    return value if isinstance(value, str) else getattr(value, "kernel", getattr(value, "name", None))
