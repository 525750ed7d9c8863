"""The fields that all requests about one launch begin with."""

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem


def launched(run: int, kernel: Kernel, problem: Problem) -> tuple[int, str, str, int, int, int]:
    """Return the number of a request, the kernel's file and text, and M, N and K, in the order of the fields.

    Parameters
    ----------
    run
        The number of the request.
    kernel, problem
        The launch.
    """
    return run, str(kernel.path), kernel.text, problem.m, problem.n, problem.k
