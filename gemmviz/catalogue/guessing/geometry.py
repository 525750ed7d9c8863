"""Facts about a kernel's parameters from its indices: rows, columns, layouts, votes for each size."""

import re
from collections.abc import Callable

from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.polynomial import Polynomial
from gemmviz.catalogue.guessing.roles import GuessReason, Roles, Term, kind_of, terms
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.language import mark, tr

_SHARES_ROWS, _SHARES_COLUMNS = mark("{name} shares its rows with C"), mark("{name} shares its columns with C")


def _primary(found: list[Term]) -> tuple[str, ...]:
    for kind in ("block", "thread", "loop"):
        atoms = tuple(dict.fromkeys(t.atom for t in found if kind_of(t.atom) == kind))
        if atoms:
            return atoms
    return ()


Votes = dict[str, dict[str, list[str]]]
# The summands in the index of each matrix: those with a stride as a factor (True), and the others (False).
_Sides = dict[str, dict[bool, list[Term]]]


def geometry(indexing: Indexing, roles: Roles, sizes: set[str]) -> Votes:
    """Find rows, columns and layouts, and return the votes for the role of each size parameter."""
    votes: Votes = {name: {} for name in sizes}
    names = {role: roles.parameter(role) for role in MATRICES}
    if not all(names.values()):
        return votes
    side: _Sides = {}
    for role, name in names.items():
        found = terms(indexing, name, sizes)
        side[role] = {strided: [t for t in found if bool(t.size) == strided] for strided in (True, False)}
    strided, unit = _primary(side["C"][True]), _primary(side["C"][False])
    turned = _turned(side, roles, names, _strided_is_rows(side, strided, unit))
    if turned:
        _exchange(side, roles, names, turned)
    strided_is_rows = _strided_is_rows(side, strided, unit)
    roles.rows, roles.columns = (strided, unit) if strided_is_rows else (unit, strided)
    roles.column_major = _by_columns(side, roles) | ({"C"} if not strided_is_rows and strided else set())

    def vote(name: str, role: str, why: str) -> None:
        if name in votes:
            votes[name].setdefault(role, []).append(why)

    stride_of = {"A": ("K", "M"), "B": ("N", "K"), "C": ("N", "M")}
    for matrix, by in stride_of.items():
        by_columns = matrix in roles.column_major
        far = mark("is the distance between columns of {matrix}"), mark("is the distance between rows of {matrix}")
        why = tr(far[0] if by_columns else far[1], matrix=matrix)
        for name in sorted({t.size for t in side[matrix][True]}):
            vote(name, by[by_columns], why)
            vote(name, f"ld{matrix.lower()}", why)
    _bounds(indexing, roles, {t.atom for both in side["C"].values() for t in both}, vote)
    return votes


def _turned(side: _Sides, roles: Roles, names: dict[str, str], strided_is_rows: bool) -> str:
    """Return the evidence that A and B are exchanged, ``"strides"`` or ``"sides"``; an empty text without evidence."""
    if any(roles.why[names[matrix]].confidence >= 0.8 for matrix in "AB"):
        return ""
    strides = {matrix: {t.size.lower() for t in side[matrix][True]} for matrix in "AB"}
    if "ldb" in strides["A"] or "lda" in strides["B"]:
        return "strides"
    return "" if strided_is_rows or "lda" in strides["A"] or "ldb" in strides["B"] else "sides"


def _exchange(side: _Sides, roles: Roles, names: dict[str, str], turned: str) -> None:
    """Exchange A and B in all arguments."""
    side["A"], side["B"] = side["B"], side["A"]
    names["A"], names["B"] = names["B"], names["A"]
    for matrix in "AB":
        name, shared = names[matrix], _SHARES_ROWS if matrix == "A" else _SHARES_COLUMNS
        roles.of[name] = matrix
        stride = f"ld{matrix.lower()}"
        by_stride = GuessReason(0.8, tr("{name} is indexed with the stride {stride}", name=name, stride=stride))
        roles.why[name] = by_stride if turned == "strides" else GuessReason(0.6, tr(shared, name=name))


def _by_columns(side: _Sides, roles: Roles) -> frozenset[str]:
    """Return the matrices of A and B that are stored by columns.

    The stride multiplies the row index of a matrix stored by rows, and the column index of one stored by columns.
    """
    found = set()
    for matrix, atoms, strided_means_row in (("A", roles.rows, True), ("B", roles.columns, False)):
        in_strided, in_unit = (any(t.atom in atoms for t in side[matrix][strided]) for strided in (True, False))
        if in_strided != in_unit and in_strided != strided_means_row:
            found.add(matrix)
    return frozenset(found)


def _strided_is_rows(side: _Sides, strided: tuple[str, ...], unit: tuple[str, ...]) -> bool:
    """Return whether the part of C's index with the stride selects the row. Then A has this part, and B does not."""
    score = 0
    for matrix, sign in (("A", 1), ("B", -1)):
        atoms = {t.atom for t in (*side[matrix][True], *side[matrix][False])}
        score += sign * (bool(atoms & set(strided)) - bool(atoms & set(unit)))
    return score >= 0


def _bounds(indexing: Indexing, roles: Roles, in_c: set[str], vote: Callable[[str, str, str], None]) -> None:
    def say(bound: Polynomial, role: str, why: str) -> None:
        for product in bound.terms:
            for text in product:
                for name in re.findall(r"[A-Za-z_]\w*", text):
                    vote(name, role, why)

    for left, right in indexing.compared:
        for index, bound in ((left, right), (right, left)):
            atoms = {name for product in index.terms for name in product if kind_of(name)}
            if not atoms or any(kind_of(n) for product in bound.terms for n in product):
                continue
            if atoms & set(roles.rows) and not atoms & set(roles.columns):
                say(bound, "M", mark("bounds the rows of C"))
            elif atoms & set(roles.columns) and not atoms & set(roles.rows):
                say(bound, "N", mark("bounds the columns of C"))
            elif any(kind_of(a) == "loop" for a in atoms - in_c) and not any(kind_of(a) == "block" for a in atoms):
                say(bound, "K", mark("bounds the sum"))
    for loop in indexing.loops:
        atom = f"{loop.variable}#"
        if atom in roles.rows:
            say(loop.bound, "M", mark("bounds the loop over the rows"))
        elif atom in roles.columns:
            say(loop.bound, "N", mark("bounds the loop over the columns"))
        elif atom not in in_c:
            say(loop.bound, "K", mark("bounds the loop of the sum"))
