"""Freed memory goes back to the system soon after a request, and once for several requests."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer

from gemmviz.sandbox.heap import free_bytes
from gemmviz.ui.window.freed_memory import FreedMemory

ROOT = Path(__file__).parents[2]
# Opens the program, waits until its fonts are open, and collects garbage.
RUNNING = """
from PySide6.QtCore import QTimer
from gemmviz.app import new_session
from gemmviz.engine.supervisor import Engine
from gemmviz.ui.look.open_fonts import OpenFonts
from gemmviz.ui.window import application
from gemmviz.ui.window.freed_memory import FreedMemory
from gemmviz.ui.window.garbage import GarbageTimer
from gemmviz.ui.window.window import Window

session, before = new_session(), []
running = application.application()
timer = QTimer()

def look():
    freed, fonts = running.findChild(FreedMemory), running.findChild(OpenFonts)
    if freed is None or not freed.given_back or fonts is None:
        return
    if not before:
        print("fonts", flush=True)
        before.append(freed.given_back)
        running.findChild(GarbageTimer).collect()
    elif freed.given_back > before[0]:
        print("given", flush=True)
        timer.stop()
        next(w for w in running.topLevelWidgets() if isinstance(w, Window)).end()

timer.timeout.connect(look)
timer.start(50)
application.show(session, lambda: Engine(session.permission.trust), None)
"""
_BLOCKS, _BYTES = 20_000, 2048


def resident() -> int:
    """Return this process's resident memory, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_two_requests_give_back_once(qtbot):
    owner = QObject()
    freed = FreedMemory(owner)
    freed.give_back_soon()
    freed.give_back_soon()
    qtbot.waitUntil(lambda: freed.given_back == 1)
    qtbot.wait(700)
    assert freed.given_back == 1


def test_requests_that_do_not_stop_still_give_back(qtbot):
    owner = QObject()
    freed, asking = FreedMemory(owner), QTimer()
    asking.timeout.connect(freed.give_back_soon)
    asking.start(100)
    qtbot.waitUntil(lambda: freed.given_back >= 1)


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
    qtbot.waitUntil(lambda: freed.given_back == 1)
    after = resident()
    for block in kept:
        libc.free(block)
    assert before - after > _BLOCKS * _BYTES // 2


@pytest.mark.skipif(not free_bytes(), reason="needs glibc 2.33")
def test_what_is_freed_after_giving_back_goes_back_without_a_request(qtbot):
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [libc.malloc(_BYTES) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BYTES)
    owner = QObject()
    freed = FreedMemory(owner)
    freed.give_back_soon()
    qtbot.waitUntil(lambda: freed.given_back == 1)
    kept, given = blocks[::100], [b for i, b in enumerate(blocks) if i % 100]
    for block in given:
        libc.free(block)
    before = resident()
    qtbot.waitUntil(lambda: freed.given_back == 2, timeout=15_000)
    after = resident()
    for block in kept:
        libc.free(block)
    assert before - after > _BLOCKS * _BYTES // 2


@pytest.mark.thorough
def test_the_program_gives_back_after_collecting_garbage_and_keeps_its_fonts_open(tmp_path):
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "STATE")}
    settings = os.environ | folders | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUNNING]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split() == ["fonts", "given"], done.stdout + done.stderr
