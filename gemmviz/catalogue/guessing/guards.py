"""The comparisons that keep a kernel within its matrices."""

import re

from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.roles import Roles, kind_of


def flat(indexing: Indexing, roles: Roles, body: str, *, strided: bool) -> str:
    """Return M * N where one index covers all elements of C up to this product; else an empty text."""
    if "blockIdx . y" in body:
        return ""
    # A grid-stride loop compares in its head.
    compared = [*indexing.compared, *((loop.start, loop.bound) for loop in indexing.loops)]
    for left, right in compared:
        for index, bound in ((left, right), (right, left)):
            sizes = [[roles.of.get(n, "") for n in product] for product in bound.terms]
            of_blocks = any("blockIdx" in name for product in index.terms for name in product)
            # Where C's index has a row and a column, both must be computed from the number of the thread.
            if strided and index.terms.get(("threadIdx.x",)) != 1:
                continue
            if of_blocks and len(sizes) == 1 and len(sizes[0]) == 2 and set(sizes[0]) <= {"M", "N", "K"}:
                return " * ".join(sizes[0])
    return ""


def guarded(size: str, indexing: Indexing, roles: Roles) -> bool:
    """Return whether a comparison keeps the rows (M) or columns (N) of C within its bounds."""
    name = roles.parameter(size) or next((roles.parameter(other) for role, other in roles.equal if role == size), "")
    atoms = set(roles.rows if size == "M" else roles.columns)
    for left, right in indexing.compared:
        for index, bound in ((left, right), (right, left)):
            in_bound = {n for product in bound.terms for n in product}
            in_index = {n for product in index.terms for n in product}
            if name and name in in_bound and in_index & atoms:
                return True
    return False


def k_of(roles: Roles) -> str:
    """Return the name of the parameter with the role K."""
    return roles.parameter("K") or next((roles.parameter(other) for role, other in roles.equal if role == "K"), "")


def tail_guarded(indexing: Indexing, roles: Roles, body: str) -> bool:
    """Return whether a comparison guards an incomplete last step along k.

    ``k0 < K`` alone does not guard it: it only tests whether a step begins inside K. ``k0 + threadIdx.x < K`` tests
    each element of the step.
    """
    k = k_of(roles)
    if not k or re.search(rf"\b{re.escape(k)} (\) )?% ", body):
        return bool(k)
    for left, right in indexing.compared:
        for index, bound in ((left, right), (right, left)):
            in_bound = {w for product in bound.terms for name in product for w in re.findall(r"\w+", name)}
            kinds = [kind_of(name) for name in sorted({n for product in index.terms for n in product})]
            if k in in_bound and "loop" in kinds and ("thread" in kinds or kinds.count("loop") > 1):
                return True
    return False
