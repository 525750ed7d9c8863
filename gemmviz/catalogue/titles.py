"""The title of a kernel in the chosen language: those of gemmviz's own kernels are translated."""

from functools import cache
from pathlib import Path

from gemmviz import data
from gemmviz.catalogue.kernel_type import Kernel
from gemmviz.language import tr


def title_text(kernel: Kernel) -> str:
    """Return a kernel's title; that of a user's file as it is there: ``race.cu`` is no "race", but a file's name."""
    return tr(kernel.title) if kernel.title and kernel.path.is_relative_to(_shipped()) else kernel.title


@cache
def _shipped() -> Path:
    return data.root("kernels")
