"""System calls for which Python has no function."""

import ctypes
import mmap
import os
import sys
from functools import cache

LINUX = sys.platform.startswith("linux")
# linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 38, 24, 36
_PROT_NONE, _MAP_FIXED, MAP_NORESERVE = 0, 0x10, 0x4000  # mmap(2); Python has no names for them


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call.

    Parameters
    ----------
    number
        The number of the call.
    arguments
        Integers, buffers (their address is passed), or None for a null pointer.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    function = _library().syscall
    function.restype = ctypes.c_long
    answer = function(ctypes.c_long(number), *plain)
    if answer < 0:
        _refused()
    return int(answer)


def prctl(option: int, *arguments: int) -> int:
    """Change something about this thread: see prctl(2).

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    filled = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    answer = _library().prctl(ctypes.c_int(option), *filled)
    if answer < 0:
        _refused()
    return int(answer)


def unshare(flags: int) -> None:
    """Leave namespaces: see unshare(2).

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    if _library().unshare(ctypes.c_int(flags)) < 0:
        _refused()


def capset(header: ctypes.Structure, data: ctypes.Array[ctypes.c_uint32]) -> None:
    """Set capabilities: see capset(2).

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    if _library().capset(ctypes.byref(header), data) < 0:
        _refused()


def read_memory(process: int, address: int, into: int, size: int) -> int:
    """Copy memory of another process to an address of this one: see process_vm_readv(2). Return the number of bytes.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    here = (ctypes.c_size_t * 2)(into, size)
    there = (ctypes.c_size_t * 2)(address, size)
    function = _library().process_vm_readv
    function.restype = ctypes.c_ssize_t
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    count = function(ctypes.c_int(process), here, one, there, one, none)
    if count <= 0:
        _refused()
    return int(count)


def remove_memory(address: int, size: int) -> None:
    """Remove whole pages from this process. Nothing else gets their addresses: any use of them is a fault.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    _map_again(address, size, _PROT_NONE, mmap.MAP_PRIVATE | MAP_NORESERVE)


def replace_memory(address: int, size: int, *, shared: bool) -> None:
    """Replace whole pages of this process by new ones of zeros. Linux counts them as memory that will be used.

    Raises
    ------
    OSError
        When the kernel refuses it.
    """
    kind = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    _map_again(address, size, mmap.PROT_READ | mmap.PROT_WRITE, kind)


def _map_again(address: int, size: int, protection: int, kind: int) -> None:
    function = _library().mmap
    function.restype = ctypes.c_void_p
    flags = ctypes.c_int(kind | mmap.MAP_ANONYMOUS | _MAP_FIXED)
    pages, none = (ctypes.c_void_p(address), ctypes.c_size_t(size)), (ctypes.c_int(-1), ctypes.c_long(0))
    if function(*pages, ctypes.c_int(protection), flags, *none) != address:
        _refused()


def _refused() -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))
