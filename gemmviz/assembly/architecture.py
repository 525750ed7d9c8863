"""The architecture that a kernel is compiled for: ``"sm_80"``, ``"sm_90a"``."""

import re
from collections.abc import Sequence

from gemmviz.catalogue import capability
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.language import tr

DEFAULT = "sm_90"
"""The architecture if there is no GPU and the kernel needs no later one."""
_FORM = re.compile(r"sm_(\d+)(\d)([af]?)")
# From this architecture on, there are instructions that only one architecture has (CUDA C++ Programming Guide,
# "Architecture-Specific Features").
_FIRST_EXACT = 90


def checked(text: str) -> str:
    """Return the name of an architecture after checking it.

    Raises
    ------
    ConstraintError
        When it is not an architecture.
    """
    if not _FORM.fullmatch(text):
        raise ConstraintError(
            tr("{text} is not an architecture: write sm_80 or sm_90a, for example", text=repr(text[:40]))
        )
    return text


def chosen(wanted: str, needed: str, device: str) -> str:
    """Return the architecture to compile a kernel for.

    Parameters
    ----------
    wanted
        The user's choice; empty: that of the GPU, if it can run the kernel.
    needed
        The compute capability that the kernel declares; empty without one.
    device
        The GPU's compute capability, for example ``"8.6"``; empty if there is none.

    Raises
    ------
    ConstraintError
        When the kernel cannot be compiled for the user's choice.
    """
    if not wanted:
        if device and capability.suits(needed, device):
            return capability.architecture(needed) or _named(capability.number(device))
        least = _named(capability.number(needed))
        return capability.architecture(needed) or max(DEFAULT, least, key=order)
    found = _FORM.fullmatch(checked(wanted))
    assert found is not None
    has = f"{found[1]}.{found[2]}"
    if not capability.suits(needed, has):
        raise ConstraintError(tr("this kernel {needs}, not {arch}", needs=capability.need(needed), arch=wanted))
    return capability.architecture(needed) or wanted


def offered(numbers: Sequence[int]) -> list[str]:
    """Return the names of the architectures that NVRTC knows, given their numbers (``nvrtcGetSupportedArchs``)."""
    names = {f"sm_{number}" for number in numbers}
    names |= {f"sm_{number}a" for number in numbers if number >= _FIRST_EXACT}
    return sorted(names, key=order)


def order(name: str) -> tuple[int, str]:
    """Return the sort key of an architecture: the number, then the letter."""
    found = _FORM.fullmatch(name)
    return (int(found[1] + found[2]), found[3]) if found else (0, "")


def _named(cc: tuple[int, int]) -> str:
    return "sm_{}{}".format(*cc)
