"""The batch of a front matter: one launch that computes several products of one size."""

from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.matrices import MATRICES, D

COUNT = "batch"
STRIDES = {f"stride{matrix}": matrix for matrix in (*MATRICES, D)}
"""Roles of parameters: by name, the matrix whose entries lie so many elements apart. D lies as C does."""
SUFFIX = ".pointers"
POINTERS = tuple(matrix + SUFFIX for matrix in (*MATRICES, D))
"""Roles of parameters: an array of pointers to the entries of a matrix."""
ROLES = (COUNT, *STRIDES, *POINTERS)


@dataclass(frozen=True)
class BatchForm:
    """The batch of a front matter: the number of its entries, and by matrix how many elements lie between two."""

    count: Expression
    strides: Mapping[str, Expression]
