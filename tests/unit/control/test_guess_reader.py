"""Guesses in a thread of their own: in order, and not after a cancel."""

import threading
from pathlib import Path

import pytest

from gemmviz.control import guess_reader
from gemmviz.control.guess_reader import GuessReader, guess_file

KERNEL = """__global__ void mine(const float *A, const float *B, float *C, int M, int N, int K)
{
    int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    if (r >= M || c >= N) return;
    float s = 0;
    for (int i = 0; i < K; i++) s += A[r * K + i] * B[i * N + c];
    C[r * N + c] = s;
}
"""


class Posts:
    """A loop that keeps what is posted until the test runs it."""

    def __init__(self):
        self.calls, self.came = [], threading.Semaphore(0)

    def post(self, call):
        self.calls.append(call)
        self.came.release()

    def later(self, milliseconds, call):
        raise AssertionError("no timer is needed")

    def run_one(self):
        assert self.came.acquire(timeout=60)
        self.calls.pop(0)()


@pytest.fixture
def loop():
    return Posts()


def test_files_are_given_in_order_and_in_the_thread_of_the_loop(loop, tmp_path):
    reader, got = GuessReader(loop), []
    for name, text in (("a.cu", KERNEL), ("b.cu", "int main() { return 0; }")):
        reader.read(tmp_path / name, text, lambda file: got.append((file, threading.current_thread())))
    assert reader.pending == 2 and not got
    loop.run_one()
    loop.run_one()
    assert [file.path.name for file, _ in got] == ["a.cu", "b.cu"] and reader.pending == 0
    assert {thread for _, thread in got} == {threading.current_thread()}
    assert [file.guess.entry for file, _ in got] == ["mine", ""] and got[1][0].kernel is None
    reader.close()


def test_after_a_cancel_nothing_is_given_and_the_next_file_is(loop, tmp_path):
    reader, got = GuessReader(loop), []
    reader.read(tmp_path / "a.cu", KERNEL, got.append)
    reader.cancel()
    reader.read(tmp_path / "b.cu", KERNEL, got.append)
    loop.run_one()
    loop.run_one()
    assert [file.path.name for file in got] == ["b.cu"] and reader.pending == 0
    reader.close()


def test_an_error_is_raised_in_the_thread_that_asked_and_the_next_file_is_guessed(loop, tmp_path, monkeypatch):
    def guess(path: Path, text: str):
        if path.name == "a.cu":
            raise OSError("no disk")
        return guess_file(path, text)

    monkeypatch.setattr(guess_reader, "guess_file", guess)
    reader, got = GuessReader(loop), []
    reader.read(tmp_path / "a.cu", KERNEL, got.append)
    reader.read(tmp_path / "b.cu", KERNEL, got.append)
    with pytest.raises(OSError, match="no disk"):
        loop.run_one()
    loop.run_one()
    assert [file.path.name for file in got] == ["b.cu"]
    reader.close()
