"""The watch of a soak: exceptions in all threads, Qt's warnings, memory, and the child processes."""

import faulthandler
import gc
import sys
import threading
import traceback
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QtMsgType, qInstallMessageHandler

from gemmviz.engine.messages import Failed
from gemmviz.sandbox import processes

MIB = 1 << 20
# About the platform without a screen, not about the window.
_ABOUT_THE_PLATFORM = ("This plugin does not support",)
_HARMLESS = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
_RECENT = 8


class Faults:
    """Collects faults, with the actions before each of them."""

    def __init__(self):
        self.texts = []
        self._recent = deque(maxlen=_RECENT)
        faulthandler.enable()
        sys.excepthook = self._on_exception
        threading.excepthook = lambda args: self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)
        sys.unraisablehook = lambda args: self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)
        qInstallMessageHandler(self._on_qt)

    def end(self):
        """Leave Qt's messages to Qt: while the interpreter ends, no function of Python may be called."""
        qInstallMessageHandler(None)

    def after(self, action):
        """Note an action: the next fault is shown with it."""
        self._recent.append(action)

    def note(self, text):
        """Take down a fault and print it."""
        self.texts.append(text)
        print(f"FAULT after {', '.join(self._recent) or 'the start'}:\n{text.rstrip()}", flush=True)

    def on_reply(self, reply):
        """Note an exception that a worker's thread caught: see `gemmviz.control.worker.Worker`."""
        if isinstance(reply, Failed) and reply.kind == "internal":
            self.note(f"a worker failed: {reply.message}")

    def _on_exception(self, kind, error, where):
        self.note("".join(traceback.format_exception(kind, error, where)))

    def _on_qt(self, kind, _, text):
        if kind not in _HARMLESS and not text.startswith(_ABOUT_THE_PLATFORM):
            self.note(f"Qt: {text}")


@dataclass(frozen=True)
class Sample:
    """Memory in bytes, at a moment.

    Attributes
    ----------
    at_s
        Seconds since the start.
    window, own
        Resident memory of the window's process, and how much of it belongs to no file. The rest is pages of libraries
        and fonts, which the system shares between processes and can drop.
    others, count
        The shares of the processes below it, and how many these are.
    """

    at_s: float
    window: int
    own: int
    others: int
    count: int


def sample(at_s):
    """Return the memory in use now, in bytes."""
    below = processes_below()
    own = _memory("self", "Anonymous")
    return Sample(at_s, _memory("self", "Rss"), own, sum(_memory(pid, "Pss") for pid in below), len(below))


def processes_below():
    """Return the processes below this one, and those that lost their parent there; not Python's own helper.

    An ended process that still waits for its parent to collect its exit code does not count.
    """
    found = [process.listed for process in processes.descendants(processes.own_listed_number())]
    return [pid for pid in found if (command := _command(pid)) and "resource_tracker" not in command]


def shares_below():
    """Return the number, the parent's number and the share of memory in bytes of each process of `processes_below`."""
    found = []
    for pid in processes_below():
        with suppress(OSError):
            parent = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            found.append((pid, parent, _memory(pid, "Pss")))
    return found


def describe(pid):
    """Return the number and the command of a process."""
    return f"{pid}: {_command(pid)[:120]}"


def _command(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _memory(pid, key):
    """Return resident memory (``"Rss"``), its part outside files (``"Anonymous"``), or its share (``"Pss"``)."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return 0


def objects():
    """Return how many objects of each type there are."""
    gc.collect()
    return Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
