"""Landlock: this thread, and all processes that it starts, may open only the given files. It cannot be undone.

linux/landlock.h; the versions are those of the kernel's documentation, "Landlock: unprivileged access control".
"""

import ctypes
import os
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gemmviz.sandbox import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << n for n in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = (1 << n for n in range(13, 16))
_READ = _READ_FILE | _READ_DIR
_CHANGE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
# Rights that can be granted on a file; the others apply to folders.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_UNIX, _SCOPE_SIGNAL = 1, 2


@dataclass(frozen=True)
class Access:
    """The files that may be opened, or folders with all their files.

    Attributes
    ----------
    read
        May be read only.
    write
        May be read and changed.
    execute
        May be read, and started as programs.
    devices
        May be read, written and controlled.
    """

    read: Sequence[Path] = ()
    write: Sequence[Path] = ()
    execute: Sequence[Path] = ()
    devices: Sequence[Path] = ()


@cache
def version() -> int:
    """Return this kernel's version of Landlock; 0 if there is none."""
    if not libc.LINUX:
        return 0
    try:
        return libc.call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


class Rules:
    """Rules that are collected, and then applied once. Rights that this kernel's Landlock does not know are left out.

    Attributes
    ----------
    descriptor
        The file of the rules; open until they are applied.

    Raises
    ------
    OSError
        If there is no Landlock.
    """

    def __init__(self) -> None:
        known = version()
        handled = (1 << 13) - 1
        handled |= (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0) | (_IOCTL_DEV if known >= 5 else 0)
        net = _BIND_TCP | _CONNECT_TCP if known >= 4 else 0
        scoped = _SCOPE_ABSTRACT_UNIX | _SCOPE_SIGNAL if known >= 6 else 0
        attributes = struct.pack("=QQQ", handled, net, scoped)[: 24 if known >= 6 else 16 if known >= 4 else 8]
        text = ctypes.create_string_buffer(attributes, len(attributes))
        self.descriptor = libc.call(_CREATE_RULESET, text, len(attributes), 0)
        self._handled = handled

    def allow(self, access: Access) -> None:
        """Add rights. A path that does not exist is ignored."""
        self._grant(access.read, _READ)
        self._grant(access.write, _READ | _CHANGE)
        self._grant(access.execute, _READ | _EXECUTE)
        self._grant(access.devices, _READ | _WRITE_FILE | _IOCTL_DEV)

    def apply(self) -> None:
        """Leave this thread these rights only, and the threads and processes that it starts from now on.

        Needs ``no_new_privs``. It cannot be undone.
        """
        try:
            libc.call(_RESTRICT_SELF, self.descriptor, 0)
        finally:
            os.close(self.descriptor)

    def _grant(self, paths: Sequence[Path], rights: int) -> None:
        rights &= self._handled
        for path in paths:
            try:
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                folder = stat.S_ISDIR(os.fstat(handle).st_mode)
                rule = struct.pack("=Qi", rights if folder else rights & _OF_FILES, handle)
                text = ctypes.create_string_buffer(rule, len(rule))
                libc.call(_ADD_RULE, self.descriptor, _RULE_PATH_BENEATH, text, 0)
            finally:
                os.close(handle)


def restrict(access: Access) -> None:
    """Leave this thread, and the threads and processes that it starts from now on, these rights only.

    Needs ``no_new_privs``. A path that does not exist is ignored.

    Raises
    ------
    OSError
        If there is no Landlock.
    """
    rules = Rules()
    rules.allow(access)
    rules.apply()


def keeps() -> dict[str, bool]:
    """Return which of files, truncation, TCP, devices and signals this kernel's version of Landlock can restrict."""
    known = version()
    return {
        "files": known >= 1,
        "truncation": known >= 3,
        "tcp": known >= 4,
        "devices": known >= 5,
        "signals": known >= 6,
    }
