"""Limits of sizes, where a shared array has a fixed place for each element of a row or column."""

from collections.abc import Iterator

from gemmviz.catalogue.guessing.indexing import Indexing, Loop
from gemmviz.catalogue.guessing.polynomial import Polynomial
from gemmviz.catalogue.guessing.roles import Roles


def limits(indexing: Indexing, roles: Roles) -> Iterator[str]:
    """Yield the conditions of such arrays: ``K <= 512`` for ``for (int k = ...; k < K; ...) row[k] = ...``.

    Parameters
    ----------
    indexing, roles
        The accesses of a kernel, and the roles of its parameters.
    """
    for size in "MNK":
        name = roles.parameter(size)
        loops = [one for one in indexing.loops if name and one.whole and one.bound == Polynomial.name(name)]
        counted = [_values(one) for one in loops]
        places = [
            extent.value
            for array, extents in indexing.shared.items()
            for access in indexing.shared_terms.get(array, ())
            for index, extent in zip(access, extents, strict=False)
            if index in counted and extent.value
        ]
        if places:
            yield f"{size} <= {min(places)}"


def _values(loop: Loop) -> Polynomial:
    """Return the values of a loop's variable."""
    return loop.start + loop.step * Polynomial.name(f"{loop.variable}#")
