"""The text of a kernel for all compilers: for CUDA with its own headers, without host code."""

from collections.abc import Callable

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.given_constants import with_constants
from gemmviz.catalogue.launch import Launch


def source_of_device(launch: Launch, has_header: Callable[[str], bool] = lambda name: True) -> str:
    """Return the parts of a kernel's file and of its own headers that a launch needs.

    Parameters
    ----------
    launch
        The launch of a CUDA kernel.
    has_header
        Returns whether the compiler has a header of CUDA.
    """
    kernel = launch.kernel
    text = with_constants(with_own_headers(kernel.text, kernel.path), launch.constants, kernel.path.name)
    return device_code(text, launch.entry, has_header)


def source_of_host(launch: Launch) -> str:
    """Return the text of a C kernel's file and of its own headers, with the launch's values for its size constants."""
    kernel = launch.kernel
    return with_constants(with_own_headers(kernel.text, kernel.path), launch.constants, kernel.path.name)
