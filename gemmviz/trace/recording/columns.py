"""Turns the recorder's rows into the columns of a recording."""

import numpy as np

from gemmviz.simt.recorder import RawTrace
from gemmviz.trace.recording.accesses import Accesses
from gemmviz.trace.recording.tma_boxes import boxes_of_run


def accesses(raw: RawTrace) -> Accesses:
    """Return the accesses of a run, sorted by block, phase and thread.

    Parameters
    ----------
    raw
        From `gemmviz.simt.recorder.run`. Its columns become those of the accesses.
    """
    column = raw.columns
    found = boxes_of_run(raw.tma, raw.shared, raw.barriers)
    copies = raw.async_copies, found.copies
    return Accesses(
        site=column["site"],
        array=column["which"],
        write=column["write"],
        bytes=column["bytes"],
        element=column["element"],
        value=column["value"],
        block=column["block_of"],
        thread=column["thread_of"],
        phase=column["phase_of"],
        turn=column["turn_of"],
        more=raw.more,
        copies=np.concatenate(copies) if all(map(len, copies)) else max(copies, key=len),
        boxes=found.boxes,
        events=found.events,
    )
