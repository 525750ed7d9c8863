"""Memory for large results: what the engine reads, and when nobody can change it any longer."""

import faulthandler
import mmap
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from gemmviz.sandbox import result_memory, wire
from gemmviz.sandbox.result_memory import NotSealed, ResultMemory

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memfd_create is a call of Linux")
PAGE, LENGTH = mmap.PAGESIZE, 50_000
FLOATS = np.dtype(np.float32)


@pytest.fixture
def memory():
    made = ResultMemory.of(64 * PAGE)
    yield made
    made.close()


def child(memory, ends, keeps=False):
    """Start a process that sends two arrays in the memory through a pipe; return the pipe and the process's number.

    `ends`: whether it ends then; `keeps`: whether it has the memory at another place, too.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            other = mmap.mmap(memory.descriptor, 64 * PAGE) if keeps else None
            result_memory.use(memory.descriptor)
            result_memory.zeros(20 * PAGE // 4, FLOATS, shared=True)[:] = 7  # left behind
            one, two = (result_memory.zeros(LENGTH // part, FLOATS, shared=True) for part in (2, 3))
            one[:], two[:] = 1, 2
            wire.send(writing, b"t" * wire.TOKEN_BYTES, (one, two))
            while not ends:
                signal.pause()
            del other
        finally:
            os._exit(0)
    os.close(writing)
    return reading, pid


def received(reading, memory):
    return wire.receive(reading, b"t" * wire.TOKEN_BYTES, {}, 1 << 20, left=memory)


def test_arrays_in_result_memory_are_not_sent_and_their_other_pages_are_freed(memory):
    reading, pid = child(memory, ends=True)
    one, two = received(reading, memory)
    os.waitpid(pid, 0)
    assert os.fstat(memory.descriptor).st_blocks * 512 > 20 * PAGE
    memory.seal()
    assert (len(one), set(one), len(two), set(two)) == (LENGTH // 2, {1.0}, LENGTH // 3, {2.0})
    pages = -(-one.nbytes // PAGE) + -(-two.nbytes // PAGE)
    assert os.fstat(memory.descriptor).st_blocks * 512 == pages * PAGE
    one[0] = 5  # a copy of its own: the memory itself cannot change
    with pytest.raises(PermissionError):
        os.pwrite(memory.descriptor, b"x", 20 * PAGE)


def test_memory_is_sealed_while_the_process_that_has_left_it_lives(memory):
    reading, pid = child(memory, ends=False)
    one, two = received(reading, memory)
    memory.seal()
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert (set(one), set(two)) == ({1.0}, {2.0})


def test_small_arrays_and_parts_of_arrays_are_sent_and_do_not_keep_the_memory(memory):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        result_memory.use(memory.descriptor)
        whole = result_memory.zeros(LENGTH, FLOATS, shared=True)
        whole[:] = np.arange(LENGTH)
        wire.send(writing, b"t" * wire.TOKEN_BYTES, (whole[:10], whole[7:], whole[::2]), readable=True)
        signal.pause()
    os.close(writing)
    few, unaligned, every_other = received(reading, memory)
    memory.seal()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    expected = np.arange(LENGTH)
    assert np.array_equal(few, expected[:10])
    assert np.array_equal(unaligned, expected[7:]) and np.array_equal(every_other, expected[::2])


def test_an_array_that_was_handed_over_cannot_be_used(memory):
    pid = os.fork()
    if pid == 0:
        faulthandler.disable()
        result_memory.use(memory.descriptor)
        array = result_memory.zeros(LENGTH, FLOATS, shared=True)
        result_memory.hand_over()
        print(array[0])
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGSEGV


_ENGINE = """
import os, sys, time
from pathlib import Path
import numpy as np
from gemmviz.sandbox import confined, processes, result_memory
from gemmviz.sandbox.limits import Limits


def filled(forks):
    array = result_memory.zeros(100_000, np.dtype(np.float32), shared=True)
    array[:] = 3
    if forks and os.fork() == 0:
        while True:
            array[:] = 4
    return array


def closed(session):
    ends.append(session)
    close(session)


ends, close = [], confined.Session.close
confined.Session.close = closed
scratch = Path(sys.argv[1])
confined.start(scratch, Limits())
for forks in (False, True):
    array = confined.call(filled, (forks,), scratch, (), forks=forks, result_bytes=400_000)
    kept = array.copy()
    time.sleep(0.1)
    assert np.array_equal(array, kept) and (forks or set(array) == {3})
    print(len(ends))
"""


def test_the_end_of_a_run_is_only_waited_for_if_a_process_of_it_keeps_the_memory(tmp_path):
    command = [sys.executable, "-c", _ENGINE, str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    # The second run first waits for the end of the one before.
    assert answer.stdout.split() == ["0", "2"], answer.stderr


def test_memory_that_a_process_can_still_write_is_not_used(memory):
    reading, pid = child(memory, ends=False, keeps=True)
    try:
        received(reading, memory)
        with pytest.raises(NotSealed):
            memory.seal()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    memory.seal()


def test_its_size_cannot_be_changed(memory):
    for size in (PAGE, 128 * PAGE):
        with pytest.raises(PermissionError):
            os.ftruncate(memory.descriptor, size)


@pytest.mark.parametrize("place", [1, 64 * PAGE, 63 * PAGE, -PAGE, 1 << 70], ids=str)
def test_a_place_outside_of_it_is_refused(memory, place):
    reading, writing = os.pipe()
    text = b'{"array": {"dtype": "<f4", "shape": [2000], "place": %d}}' % place
    os.write(writing, b"t" * wire.TOKEN_BYTES + len(text).to_bytes(8, "little") + bytes(8) + text)
    with pytest.raises(wire.Malformed):
        received(reading, memory)


def test_a_place_without_memory_is_refused():
    reading, writing = os.pipe()
    text = b'{"array": {"dtype": "<f4", "shape": [4], "place": 0}}'
    os.write(writing, b"t" * wire.TOKEN_BYTES + len(text).to_bytes(8, "little") + bytes(8) + text)
    with pytest.raises(wire.Malformed):
        wire.receive(reading, b"t" * wire.TOKEN_BYTES, {}, 1 << 20)


def test_without_such_memory_an_array_has_pages_of_its_own():
    made = result_memory.zeros(1000, FLOATS, shared=False)
    assert (made.dtype, len(made), made.any()) == (FLOATS, 1000, False)
    assert result_memory.place(made) is None
