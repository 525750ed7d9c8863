"""Memory for large results: what the engine reads, and when nobody can change it any longer."""

import mmap
import os
import signal
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


def child(memory, ends):
    """Start a process that sends two arrays in the memory through a pipe; return the pipe and the process's number."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            result_memory.use(memory.descriptor)
            result_memory.zeros(20 * PAGE // 4, FLOATS, shared=True)[:] = 7  # left behind
            one, two = (result_memory.zeros(LENGTH // part, FLOATS, shared=True) for part in (2, 3))
            one[:], two[:] = 1, 2
            wire.send(writing, b"t" * wire.TOKEN_BYTES, (one, two))
            if not ends:
                signal.pause()
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


def test_memory_that_a_process_can_still_write_is_not_used(memory):
    reading, pid = child(memory, ends=False)
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
