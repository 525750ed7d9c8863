"""The text of a CUDA kernel as every compiler of kernels gets it: with its own headers, without host code."""

from collections.abc import Callable

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.launch import Launch


def source_of_device(launch: Launch, has_header: Callable[[str], bool] = lambda name: True) -> str:
    """Return what a launch needs of its kernel's file and of the headers that lie with it.

    Parameters
    ----------
    launch
        The launch of a CUDA kernel.
    has_header
        Says whether the compiler has a header of CUDA's.
    """
    kernel = launch.kernel
    return device_code(with_own_headers(kernel.text, kernel.path), launch.entry, has_header)
