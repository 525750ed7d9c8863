"""How long a recorded kernel may take, in processor time and by the clock.

On a busy machine a kernel gets only a part of a processor, so its time by the clock says nothing about the kernel.
"""

# A machine on which a kernel gets less than a tenth of a processor is too busy to record.
_TIMES = 10


def clock_s(deadline_s: float) -> float:
    """Return the time limit in seconds by the clock, for a kernel that has `deadline_s` of processor time.

    A kernel that sleeps is ended earlier: when it has used no processor for `deadline_s` (`runtime/stop.c`).
    """
    return _TIMES * deadline_s
