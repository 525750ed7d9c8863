"""Concepts (C++20) in the heads of templates: ``template <std::floating_point T>`` takes a type, and no number."""

import re
from collections.abc import Iterable
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function

_CONCEPT = re.compile(r"\bconcept\s+(\w+)\s*=")
_OF_STD = {"integral", "signed_integral", "unsigned_integral", "floating_point", "same_as", "convertible_to"}


def concepts(texts: Iterable[str]) -> frozenset[str]:
    """Return the names of the concepts that texts define, and of those of the C++ library.

    Parameters
    ----------
    texts
        Without comments.
    """
    return frozenset(_OF_STD.union(*map(_CONCEPT.findall, texts)))


def with_types(function: Function, known: frozenset[str]) -> Function:
    """Return a function in whose template a parameter with a concept is a type.

    Parameters
    ----------
    function
        The function.
    known
        From `concepts`.
    """
    if all(kind not in known for kind, _, _ in function.template):
        return function
    template = tuple(("typename" if kind in known else kind, name, rest) for kind, name, rest in function.template)
    return replace(function, template=template)
