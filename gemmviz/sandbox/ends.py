"""The reasons why processes end, as text for people."""

import resource
import signal

from gemmviz.language import mark, tr

_SIGNALS = {
    signal.SIGSEGV: mark("segmentation fault"),
    signal.SIGBUS: mark("bus error"),
    signal.SIGFPE: mark("division by zero, or of the smallest integer by -1"),
    signal.SIGABRT: mark("abort"),
    signal.SIGILL: mark("illegal instruction"),
    signal.SIGKILL: mark("killed from outside, perhaps because memory ran out"),
}


# The signal by which `backends/stack_guard.c` ends a process; it exists only on Linux, which never sends it.
_STACK_FULL = getattr(signal, "SIGSTKFLT", None)


def by_signal(number: int) -> str:
    """Return the meaning of a signal that ended a process."""
    if number == _STACK_FULL:
        size, _ = resource.getrlimit(resource.RLIMIT_STACK)
        return tr(
            "the stack is full ({size}): a function that calls itself without end, or too large an array among the "
            "local variables",
            size=tr("unlimited") if size == resource.RLIM_INFINITY else f"{size >> 20} MB",
        )
    try:
        known = signal.Signals(number)
    except ValueError:
        return tr("signal {number}", number=number)
    unnamed = signal.strsignal(known) or tr("signal {number}", number=number)
    what = tr(_SIGNALS[known]) if known in _SIGNALS else unnamed
    return f"{what} ({known.name})"


def too_much(why: str, most: int) -> str:
    """Return why the sandbox ended a run.

    Parameters
    ----------
    why
        ``"memory"``, ``"processes"``, ``"time"`` or ``"processor time"``.
    most
        The limit, in bytes, processes or seconds.
    """
    match why:
        case "memory":
            return tr("stopped: it took more than {size} GiB of memory, which is the limit", size=f"{most / 2**30:.2g}")
        case "processes":
            return tr("stopped: it started more than {count} processes, which is the limit", count=most)
        case "processor time":
            return tr("stopped: it took more than {time} s of processor time, which is the limit", time=most)
    return tr("stopped: it took more than {time} s, which is the limit", time=most)
