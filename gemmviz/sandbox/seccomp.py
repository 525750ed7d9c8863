"""Seccomp: the system calls that a process may make. A filter is a small program of the kernel's packet filter (BPF).

linux/seccomp.h, linux/filter.h, linux/audit.h.
"""

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass
from enum import Enum
from functools import cache

from gemmviz.sandbox import libc
from gemmviz.sandbox.syscalls import REFUSED, REFUSED_WHILE_RUNNING, RUNNING, numbers

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
# All threads of the process; without the mitigations of Spectre, which cost speed and are not needed here.
_TSYNC, _SPEC_ALLOW = 1, 4
_KILL_PROCESS, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
# Offsets in seccomp_data of the fields that a filter reads, in bytes: the low halves of the arguments.
_NUMBER, _ARCH, _ARGUMENT = 0, 4, (16, 24, 32, 40)
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_X32 = 0x40000000  # the first call number of the 32-bit variant of x86-64
# linux/sched.h
_CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x7E020000 | 0x00000080
_AF_UNIX = 1  # bits/socket.h
# asm-generic/ioctls.h: writes input to a user's terminal.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


class Filter(Enum):
    """The names of the filters: for the engine, the compiler, or a process that runs a kernel."""

    ENGINE, COMPILING, RUNNING = range(3)


@dataclass(frozen=True)
class _Step:
    code: int
    value: int
    yes: int = 0
    no: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


@cache
def offered() -> bool:
    """Return whether this kernel supports filters."""
    if not libc.LINUX or platform.machine() not in _SECCOMP:
        return False
    try:
        libc.call(
            _SECCOMP[platform.machine()],
            _GET_ACTION_AVAIL,
            0,
            ctypes.create_string_buffer(struct.pack("=I", _ERRNO), 4),
        )
    except OSError:
        return False
    return True


def restrict(which: Filter, *, forks: bool = True) -> None:
    """Apply a filter to all threads of this process and to its children. Needs ``no_new_privs``.

    Parameters
    ----------
    which
        The filter.
    forks
        Whether a process that runs a kernel may create processes, and not only threads.

    Raises
    ------
    OSError
        If the kernel does not support filters, or if the calls of this processor are not known.
    """
    number = _SECCOMP.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, platform.machine())
    steps = packed(which, forks)
    memory = ctypes.create_string_buffer(steps, len(steps))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(memory)), 16)
    libc.call(number, _SET_MODE_FILTER, _TSYNC | _SPEC_ALLOW, head)


@cache
def packed(which: Filter, forks: bool) -> bytes:
    """Return the filter's program for this machine in the kernel's form; made once, before later forks."""
    return b"".join(step.packed() for step in program(which, forks))


def program(which: Filter, forks: bool, machine: str | None = None) -> list[_Step]:
    """Return the filter's program."""
    machine = machine or platform.machine()
    known = numbers(machine)
    refuse = _Step(_RETURN, _ERRNO | errno.EPERM)
    unknown = _Step(_RETURN, _ERRNO | errno.ENOSYS)
    steps = [
        _Step(_LOAD, _ARCH),
        _Step(_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _Step(_RETURN, _KILL_PROCESS),
        _Step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [_Step(_AT_LEAST, _X32, 0, 1), _Step(_RETURN, _KILL_PROCESS)]

    def returns(names: frozenset[str], answer: _Step) -> None:
        for number in sorted(known[name] for name in names if name in known):
            steps.extend((_Step(_EQUAL, number, 0, 1), answer))

    def looks(name: str, argument: int, tests: list[_Step]) -> None:
        # Tests end in a return, or continue after the last one, where the call is allowed.
        body = [_Step(_LOAD, _ARGUMENT[argument]), *tests, _Step(_RETURN, _ALLOW)]
        steps.append(_Step(_EQUAL, known[name], 0, len(body)))
        steps.extend(body)

    looks("ioctl", 1, [_Step(_EQUAL, _TIOCSTI, 1, 0), _Step(_EQUAL, _TIOCLINUX, 0, 1), refuse])
    if which is Filter.ENGINE:
        # CUDA's driver listens on its own local socket from its start; other processes cannot be reached by it.
        looks("socket", 0, [_Step(_EQUAL, _AF_UNIX, 1, 0), refuse])
        returns(REFUSED - {"bind", "listen"}, refuse)
        return [*steps, _Step(_RETURN, _ALLOW)]
    # A filter cannot read the flags of clone3: the C library then uses clone.
    returns(frozenset({"clone3"}), unknown)
    tests = [_Step(_ANY_BIT, _CLONE_NEW, 0, 1), refuse]
    if which is Filter.RUNNING and not forks:
        tests += [_Step(_ANY_BIT, _CLONE_THREAD, 1, 0), refuse]
    looks("clone", 0, tests)
    if which is Filter.COMPILING:
        returns(REFUSED | {"unshare", "process_vm_readv"}, refuse)
        return [*steps, _Step(_RETURN, _ALLOW)]
    if not forks:
        returns(frozenset({"fork", "vfork"}), refuse)
    returns(RUNNING, _Step(_RETURN, _ALLOW))
    returns(REFUSED_WHILE_RUNNING, refuse)
    return [*steps, unknown]
