"""Freed memory goes back to the system soon after a request, and once for several requests."""

import ctypes
import platform
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from gemmviz.ui.window.allocator import FreedMemory

_BLOCKS, _BYTES = 20_000, 2048


def resident() -> int:
    """Return this process's resident memory, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_two_requests_give_back_once(qtbot):
    owner = QObject()
    freed = FreedMemory(owner)
    freed.give_back_soon()
    freed.give_back_soon()
    qtbot.waitUntil(lambda: freed.given_back == 1, timeout=5000)
    qtbot.wait(700)
    assert freed.given_back == 1


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_pages_between_blocks_in_use_go_back(qtbot):
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [libc.malloc(_BYTES) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BYTES)
    # One block in a hundred stays: the heap cannot shrink at its end.
    kept, given = blocks[::100], [b for i, b in enumerate(blocks) if i % 100]
    for block in given:
        libc.free(block)
    before = resident()
    owner = QObject()
    freed = FreedMemory(owner)
    freed.give_back_soon()
    qtbot.waitUntil(lambda: freed.given_back == 1, timeout=5000)
    after = resident()
    for block in kept:
        libc.free(block)
    assert before - after > _BLOCKS * _BYTES // 2
