"""The fields that requests about one kernel begin with."""

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_kernel import PlainKernel, kernel_of, plain_kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import AssembleRequest, CheckRequest, RecordRequest, TuneRequest


class PlainLaunch(PlainKernel):
    """A kernel, and M, N and K."""

    m: int
    n: int
    k: int


def launched(kernel: Kernel, problem: Problem) -> PlainLaunch:
    """Return the fields of a request that launches a kernel at a size."""
    return {**plain_kernel(kernel), "m": problem.m, "n": problem.n, "k": problem.k}


def requested(request: RecordRequest | CheckRequest | TuneRequest | AssembleRequest) -> Kernel:
    """Return the kernel of a request.

    Raises
    ------
    FrontMatterError
        As `gemmviz.catalogue.kernel.parse` does.
    """
    return kernel_of(request.path, request.text, request.folders)
