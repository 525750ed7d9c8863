"""Launches without a C to add: a kernel may take a null pointer in its place, and then beta has no effect."""

import re

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_code import plain_code

CALLED_C = re.compile(r"(?:(?:d|dev|mat|matrix|ptr|g)_?)?c(?:_?(?:in|d|dev|ptr|mat|matrix|src))?", re.IGNORECASE)
"""The names of a matrix C that is only read, beside the D that is written."""
_NONE = "0"
_NAME = re.compile(r"[A-Za-z_]\w*")


def has_no_c(kernel: Kernel) -> bool:
    """Return whether a kernel's launch has a null pointer in place of a C that the kernel only reads.

    Parameters
    ----------
    kernel
        Its `args` have a 0 for such a pointer, and its result in another parameter.
    """
    if kernel.has_d or kernel.structs or _NONE not in kernel.args:
        return False
    name = kernel.entry.partition("<")[0].rpartition("::")[2]
    head = re.search(rf"\b{re.escape(name)}\s*\(([^()]*)\)\s*\{{", plain_code(kernel.text)) if name else None
    parameters = head[1].split(",") if head else []
    if len(parameters) != len(kernel.args):
        return False
    pointers = (one for one, role in zip(parameters, kernel.args, strict=True) if role == _NONE and "*" in one)
    return any(CALLED_C.fullmatch(words[-1]) for one in pointers if (words := _NAME.findall(one)))
