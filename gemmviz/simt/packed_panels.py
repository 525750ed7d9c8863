"""The arrays that a C kernel made while it ran: panels, which it packs parts of A and B into."""

import ctypes as ct
from typing import Any

from gemmviz.simt.debuginfo import SharedArray
from gemmviz.simt.layout import Panels


def panels_of_run(code: ct.CDLL) -> list[SharedArray]:
    """Return the arrays that the last run of a recorder made, in the order in which they are watched.

    Parameters
    ----------
    code
        The recorder.

    Returns
    -------
    list
        Each with its name, (panels, depth, width) and dtype ``"float32"``; ``offset`` is 0, as no symbol stands for it.
    """
    made: Any = ct.POINTER(Panels)()
    count = code.gv_panels_made(ct.byref(made))
    return [SharedArray(p.name.decode(errors="replace"), 0, tuple(p.shape), "float32") for p in made[:count]]
