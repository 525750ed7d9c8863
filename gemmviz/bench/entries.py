"""The entries of requests to measure or profile: kernels as plain data for another process."""

from collections.abc import Mapping
from typing import TypedDict

from gemmviz.bench.row import Row
from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_kernel import PlainKernel, kernel_of, plain_kernel


class KernelEntry(TypedDict, total=False):
    """A kernel with the parameters that differ from its defaults, and its row up to now; or a transfer.

    A transfer has only ``transfer``: the element types of A and B, and of C.
    """

    path: str
    text: str
    folders: str
    params: dict[str, int]
    row: Row
    transfer: list[ElementType]


class ProfileEntry(PlainKernel):
    """A launch to be read by Nsight Compute."""

    m: int
    n: int
    k: int
    params: dict[str, int]


def kernel_entry(kernel: Kernel, params: Mapping[str, int]) -> KernelEntry:
    """Return the entry of a kernel with the parameters that differ from its defaults."""
    plain = plain_kernel(kernel)
    return {"path": plain["path"], "text": plain["text"], "folders": plain["folders"], "params": dict(params)}


def kernel_of_entry(entry: KernelEntry) -> Kernel:
    """Return the kernel of an entry.

    Raises
    ------
    FrontMatterError
        As `gemmviz.catalogue.kernel.parse` does.
    """
    return kernel_of(entry["path"], entry["text"], entry.get("folders", ""))
