"""What the memory of the window's process is made of: mappings by name, the heap, Python's objects, arrays, widgets."""

import ctypes
import gc
import os
import re
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QApplication

_Cache = type(lru_cache(int))
_KINDS = ("RssAnon", "RssFile", "RssShmem")
_LARGE = 1 << 16  # bytes of a text or of a buffer that is counted by itself
_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$")
_FONTS = (".ttf", ".ttc", ".otf", ".pfb")
_ARENAS = re.compile(r"^# arenas allocated current += +([\d,]+)", re.MULTILINE)


class _Heap(ctypes.Structure):
    """`mallinfo2`, see mallinfo(3)."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def parts():
    """Return the parts of this process's memory, in bytes, and counts of what may fill it, by name."""
    found = Counter(_status())
    found |= _mappings()
    found |= _heap() | _objects()
    found["arenas of Python"] = _arenas()
    application = QApplication.instance()
    found["widgets"] = len(application.allWidgets())
    tops = [*application.topLevelWidgets(), application]
    found["QObjects"] = sum(1 + len(top.findChildren(QObject)) for top in tops)
    found["threads"] = len(list(Path("/proc/self/task").iterdir()))
    found |= _descriptors()
    return found


def large_mappings(least=1 << 20):
    """Return the resident bytes of each anonymous mapping with at least so many, largest first."""
    sizes, anonymous = [], False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        if (mapping := _MAPPING.match(line)) is not None:
            anonymous = not mapping[1] or mapping[1].startswith("/memfd")
        elif anonymous and line.startswith("Rss:"):
            sizes.append(int(line.split()[1]) * 1024)
    return sorted((size for size in sizes if size >= least), reverse=True)


def _descriptors():
    """Return the open descriptors by kind, and the bytes of files in memory."""
    found = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            to = str(entry.readlink())
            kind = to.split(":", 1)[0]
            if to.startswith("/memfd"):
                kind = "file in memory"
                found["bytes of files in memory"] += entry.stat().st_size
            found[f"descriptors: {'file' if kind.startswith('/') else kind}"] += 1
    return found


def _status():
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return {name: int(lines[name].split()[0]) * 1024 for name in _KINDS}


def _mappings():
    """Return resident bytes by the name of the mapping, and how often font files are mapped."""
    found, name = Counter(), ""
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        if (mapping := _MAPPING.match(line)) is not None:
            name = Path(mapping[1]).name or "anonymous"
            found["font files open"] += mapping[1].endswith(_FONTS)
        else:
            key, _, value = line.partition(":")
            if key == "Size":
                size = int(value.split()[0]) * 1024
                if name == "anonymous":
                    name += " > 16 MiB" if size > 16 << 20 else " > 1 MiB" if size > 1 << 20 else ""
            elif key == "Rss":
                found[f"mapped {name}"] += int(value.split()[0]) * 1024
    return found


def _heap():
    """Return what the C library's heap holds."""
    with suppress(OSError, AttributeError):
        ask = ctypes.CDLL(None).mallinfo2
        ask.restype = _Heap
        found = ask()
        return {"heap in use": found.uordblks, "heap free": found.fordblks, "heap mapped singly": found.hblkhd}
    return {}


def _arenas():
    """Return the bytes of Python's own arenas for small objects."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            sys._debugmallocstats()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        found = _ARENAS.search(file.read().decode(errors="replace"))
    return int(found[1].replace(",", "")) << 20 if found else 0


def _objects():
    """Return bytes of arrays and of large texts and buffers by the kind of their owner, and counts of Python's objects.

    What was there when collecting was frozen (see `gemmviz.ui.window.garbage`) is counted, too: from the first call on
    it is collected like all else.
    """
    gc.unfreeze()
    found, seen = Counter(), set()
    things = gc.get_objects()
    for owner in things:
        if type(owner).__name__ == "Playable":
            found["recordings"] += 1
        if isinstance(owner, _Cache):
            found[f"kept by {owner.__module__}.{owner.__qualname__}"] = owner.cache_info().currsize
        for thing in gc.get_referents(owner):
            while isinstance(thing, np.ndarray) and thing.base is not None:
                thing = thing.base
            if id(thing) in seen:
                continue
            if isinstance(thing, QPixmap | QImage):
                seen.add(id(thing))
                found[f"picture of {_named(owner)}"] += thing.width() * thing.height() * thing.depth() // 8
                found["all pictures"] += thing.width() * thing.height() * thing.depth() // 8
                continue
            if not isinstance(thing, np.ndarray | bytes | bytearray | str):
                continue
            size = thing.nbytes if isinstance(thing, np.ndarray) else sys.getsizeof(thing)
            if size < _LARGE and not isinstance(thing, np.ndarray):
                continue
            seen.add(id(thing))
            found[f"{type(thing).__name__} of {_named(owner)}"] += size
            found[f"all {type(thing).__name__}"] += size
    found["Python's objects"] = len(things)
    return found


def _named(owner):
    """Return a name for an object that holds others: its type, or the first keys."""
    kind = type(owner)
    if kind is dict:
        return "a dict of " + ", ".join(str(key)[:24] for key in list(owner)[:4])
    return f"{kind.__module__}.{kind.__qualname__}"
