"""The chosen kernel, as other models read it."""

from typing import Protocol

from gemmviz.catalogue.kernel import Kernel


class Chosen(Protocol):
    """See `gemmviz.session.models.choice.Choice`."""

    base: Kernel
    kernel: Kernel
    breaks: tuple[str, ...]
