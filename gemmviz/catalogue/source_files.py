"""The files that hold kernels, by their ending."""

from pathlib import Path

CUDA = (".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")
"""A header, or a part of a file, may hold a kernel, and is one of CUDA then."""
C = (".c",)
SOURCES = (*CUDA, *C)


def is_cuda(path: Path) -> bool:
    """Return whether a file's kernels are CUDA's, and not C's."""
    return path.suffix in CUDA
