"""The entries of requests to measure or profile: kernels with their texts, as another process takes them."""

from typing import TypedDict

from gemmviz.bench.row import Row
from gemmviz.catalogue.dtypes import ElementType


class KernelEntry(TypedDict, total=False):
    """A kernel with the parameters that are not its defaults, and its row as far as it is known; or a transfer.

    A transfer has ``transfer`` alone: the element types of A and B, and of C.
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
