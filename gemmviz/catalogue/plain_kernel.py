"""A kernel as plain data: another process makes the same kernel of its file, its text and the folders in its name."""

from pathlib import Path
from typing import TypedDict

from gemmviz.catalogue.kernel import Kernel, parse


class PlainKernel(TypedDict):
    """A kernel's file, its whole text, and the folders in its name: see `Kernel`."""

    path: str
    text: str
    folders: str


def plain_kernel(kernel: Kernel) -> PlainKernel:
    """Return a kernel as plain data."""
    return {"path": str(kernel.path), "text": kernel.text, "folders": kernel.folders}


def kernel_of(path: str, text: str, folders: str) -> Kernel:
    """Undo `plain_kernel`.

    Raises
    ------
    FrontMatterError
        As `parse` does.
    """
    return parse(text, Path(path), folders)
