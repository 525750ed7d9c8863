"""The signs of a fault after a damaged file: exceptions, Python's own words, processes that are left."""

import ctypes
import faulthandler
import os
import re
import sys
import tempfile
import threading
import traceback
from pathlib import Path

from PySide6.QtCore import qInstallMessageHandler

_PR_SET_CHILD_SUBREAPER = 36
_PYTHONS_OWN = b"multiprocessing.resource_tracker"
_EXPECTED = ("This plugin does not support propagateSizeHints", "OpenType support missing")  # of the machine
# Words of Python about its objects, which no message for people contains.
_UGLY = re.compile(
    r"Traceback|\b[A-Z]\w*(?:Error|Exception)\b|<[\w.]+ object|object at 0x|\bPosixPath\(|NoneType|'\w+' object|"
    r"unhashable|not subscriptable|not iterable|invalid literal|positional argument|codec can't|embedded null"
)
_PYTHONS_VALUES = re.compile(r"\b(?:None|True|False)\b")


class Watch:
    """Collects hidden faults: exceptions in slots and threads, tracebacks on stderr, Qt's warnings."""

    def __init__(self):
        self._seen = []
        self._kept = os.dup(2)
        faulthandler.enable(self._kept)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        os.dup2(self._file.fileno(), 2)
        sys.excepthook = lambda kind, error, trace: self._take(error)
        threading.excepthook = lambda args: self._take(args.exc_value)
        sys.unraisablehook = lambda args: self._take(args.exc_value)
        qInstallMessageHandler(self._on_qt)

    def expect_end(self, seconds):
        """End this program with a traceback of all threads, unless `end_came` is called before."""
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._kept)

    def end_came(self):
        """Cancel `expect_end`."""
        faulthandler.cancel_dump_traceback_later()

    def taken(self):
        """Return the faults since the last call."""
        self._file.seek(0)
        output = self._file.read().decode("utf-8", "replace")
        self._file.seek(0)
        self._file.truncate()
        seen, self._seen = self._seen, []
        return seen + ([output] if "Traceback" in output else [])

    def close(self):
        """Let stderr be as it was."""
        qInstallMessageHandler(None)
        os.dup2(self._kept, 2)

    def _take(self, error):
        self._seen.append("".join(traceback.format_exception(error)))

    def _on_qt(self, kind, context, text):
        if not any(part in text for part in _EXPECTED):
            self._seen.append(f"Qt: {text}")


def adopt_orphans():
    """Let processes that lose their parent become children of this one, so that none is overlooked."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes_left():
    """Return the command lines of all processes that come from this one, however often they were forked."""
    parents, commands = {}, {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            stat = (place / "stat").read_text(errors="replace").rpartition(")")[2].split()
            commands[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if stat[0] not in "ZX":
            parents[int(place.name)] = int(stat[1])
    below, level = [], [os.getpid()]
    while level := [pid for pid, parent in parents.items() if parent in level]:
        below += level
    return [f"{pid} {commands[pid]!r}" for pid in below if _PYTHONS_OWN not in commands[pid]]


def ugly(text, raw):
    """Return the part of a message that is Python's and not for people; empty if there is none."""
    found = _UGLY.search(text)
    if found and found[0].encode() not in raw:
        return found[0]
    found = _PYTHONS_VALUES.search(text)
    return found[0] if found and found[0].encode() not in raw else ""
