"""The arrays that a C kernel allocates while it runs: panels, into which it packs parts of A and B."""

import ctypes as ct
from typing import Any

from gemmviz.simt.layout import Panels
from gemmviz.simt.shared_array import SharedArray


def panels_of_run(code: ct.CDLL) -> list[SharedArray]:
    """Return the arrays that the kernel allocated in the last run of a recorder, in the order of the watched arrays.

    Parameters
    ----------
    code
        The recorder.

    Returns
    -------
    list
        Arrays of packed panels, each with its name, (panels, depth, width) and dtype ``"float32"``; ``offset`` is 0, as
        it has no symbol.
    """
    made: Any = ct.POINTER(Panels)()
    count = code.gv_panels_made(ct.byref(made))
    return [
        SharedArray(p.name.decode(errors="replace"), 0, tuple(p.shape), "float32", panels=True) for p in made[:count]
    ]
