"""Errors that a user can correct; their text is shown unchanged."""

from typing import Literal

Defect = Literal[
    "crash",
    "false assertion",
    "out of bounds",
    "misaligned vector access",
    "barrier divergence",
    "read of memory nobody wrote",
    "state left behind",
]
"""The kind of defect that ended a kernel: see `gemmviz.trace.hazards.Kind`."""


class GemmvizError(Exception):
    """A request that cannot be met; the message gives the fault, its place and the remedy."""


class FrontMatterError(GemmvizError):
    """A kernel file that does not describe itself correctly.

    ``line`` is the place, from 1, or None when unknown; ``about`` is the key at fault, or a part of the file that is at
    fault, from which `gemmviz.catalogue.fault_line` finds the place.
    """

    def __init__(self, message: str, line: int | None = None, about: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.about = about


class NoFrontMatter(FrontMatterError):
    """A file that does not describe itself at all."""


class ConstraintError(GemmvizError):
    """A size, parameter or launch shape that the kernel does not allow."""


class UnknownKernel(GemmvizError):
    """A name that no kernel of the ladder has, or a path where there is no file."""


NO_COMMA = " without a comma before "
"""Between an instruction and an operand, in the message about PTX that no assembler takes."""


class BuildError(GemmvizError):
    """A kernel file that the compiler refuses.

    ``line`` is the first line at fault in that file, from 1, or None; ``file`` the name of the file that is at fault
    where it is another one.
    """

    def __init__(self, message: str, line: int | None = None, file: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.file = file


class CompileStopped(BuildError):
    """A kernel file whose compiling took more time, memory or processes than it may have."""


class KernelFault(GemmvizError):
    """A kernel that crashed or did not end.

    ``line`` is the place in its file, from 1, or None when unknown; ``defect`` is the kind, and ``array`` the
    array concerned, where known.
    """

    def __init__(self, message: str, line: int | None = None, defect: Defect = "crash", array: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.defect = defect
        self.array = array


class KernelTimeout(KernelFault):
    """A kernel that was still running when its time was up."""


class Unavailable(GemmvizError):
    """A resource that this machine lacks: GPU, CuPy, compiler. The message gives the remedy."""
