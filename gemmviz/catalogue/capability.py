"""The compute capability that a kernel needs, compared with the compute capability of a device.

``"8.0"`` is the minimum. The letter of ``"9.0a"`` stands for instructions that only this very architecture has: such a
kernel runs on no later one (CUDA C++ Programming Guide, "Architecture-Specific Features").
"""

import re

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.language import tr

TMA = "9.0"
"""The first one with a copy engine (TMA) and clusters."""
_FORM = re.compile(r"(\d+)\.(\d)(a?)")


def checked(text: str) -> str:
    """Return a declared capability, checked.

    Raises
    ------
    FrontMatterError
        When it is not a capability.
    """
    if text and not _FORM.fullmatch(text):
        message = tr(
            "capability must be a compute capability, for example {examples}, not {value}",
            examples='"8.0", "9.0a"',
            value=repr(text),
        )
        raise FrontMatterError(message, about="capability")
    return text


def number(text: str) -> tuple[int, int]:
    """Return ``"9.0a"`` as (9, 0), which can be compared; (0, 0) if nothing is declared or known."""
    found = _FORM.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def architecture(text: str) -> str:
    """Return the compiler's name of an architecture that has to match exactly, ``"sm_90a"``; else an empty text."""
    return "sm_{}{}a".format(*number(text)) if text.endswith("a") else ""


def suits(needed: str, device: str) -> bool:
    """Return whether a device's compute capability meets the kernel's.

    Parameters
    ----------
    needed
        The kernel's declaration; empty without one.
    device
        The device's, for example ``"8.6"``.
    """
    exactly = needed.endswith("a")
    return number(needed) == number(device) if exactly else number(needed) <= number(device)


def need(needed: str, device: str = "") -> str:
    """Return a sentence, without a full stop, about the capability that a device lacks for a kernel; "" if it has it.

    Parameters
    ----------
    needed
        The kernel's declaration.
    device
        The device's compute capability; empty if there is no GPU, or none is known.
    """
    if not needed or (device and suits(needed, device)):
        return ""
    least = needed.removesuffix("a")
    if not needed.endswith("a"):
        text = tr("needs compute capability {needed} or later", needed=least)
    else:
        text = tr("needs exactly compute capability {needed}", needed=least)
    return text if not device else tr("{needs}; this GPU has {device}", needs=text, device=device)
