"""Errors that a user can mend; their text is shown as it is."""

from typing import Literal

Defect = Literal["crash", "out of bounds", "misaligned vector access", "barrier divergence"]
"""What a kernel's end counts as: see `gemmviz.trace.hazards.Kind`."""


class GemmvizError(Exception):
    """Something a user asked for cannot be done; the message says what, where and what to do."""


class FrontMatterError(GemmvizError):
    """A kernel file does not describe itself correctly. ``line`` is where, from 1, or None when unknown."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class NoFrontMatter(FrontMatterError):
    """A file that does not describe itself at all."""


class ConstraintError(GemmvizError):
    """A size, parameter or launch shape that the kernel does not allow."""


class UnknownKernel(GemmvizError):
    """A name that no kernel of the ladder has, or a path where there is no file."""


class BuildError(GemmvizError):
    """A kernel file that the compiler refuses. ``line`` is the first line at fault in that file, from 1, or None."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class KernelFault(GemmvizError):
    """A kernel that crashed or did not end.

    ``line`` is where, in its file, from 1, or None when unknown; ``defect`` is what it counts as, and ``array`` the
    array that it is about, where known.
    """

    def __init__(self, message: str, line: int | None = None, defect: Defect = "crash", array: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.defect = defect
        self.array = array


class KernelTimeout(KernelFault):
    """A kernel that was still running when its time was up."""


class Unavailable(GemmvizError):
    """Something this machine lacks: no GPU, no CuPy, no compiler. The message says what to do about it."""
