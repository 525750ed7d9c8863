"""The entries of requests to measure or profile: kernels with their texts, as plain data for another process."""

from typing import TypedDict

from gemmviz.bench.row import Row
from gemmviz.catalogue.dtypes import ElementType


class KernelEntry(TypedDict, total=False):
    """A kernel with the parameters that differ from its defaults, and its row up to now; or a transfer.

    A transfer has only ``transfer``: the element types of A and B, and of C.
    """

    path: str
    text: str
    params: dict[str, int]
    row: Row
    transfer: list[ElementType]


class ProfileEntry(TypedDict):
    """A launch to be read by Nsight Compute."""

    path: str
    text: str
    m: int
    n: int
    k: int
    params: dict[str, int]
