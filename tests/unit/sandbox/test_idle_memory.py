"""A process of the engine that has nothing to do gives its freed memory back, once, and not between two requests."""

import queue
import socket
import threading

import pytest

from gemmviz.engine import child
from gemmviz.sandbox import heap, warden


@pytest.fixture
def collected(monkeypatch):
    """The calls of `heap.collect`, which does nothing."""
    calls = []
    monkeypatch.setattr(heap, "collect", lambda: calls.append(True))
    return calls


def test_an_idle_engine_gives_memory_back_before_it_waits_on(monkeypatch, collected):
    inbox: queue.SimpleQueue = queue.SimpleQueue()
    monkeypatch.setattr(heap, "IDLE_S", 0.0)
    monkeypatch.setattr(heap, "collect", lambda: inbox.put("the next request"))
    late = threading.Timer(10, inbox.put, ["nothing was collected"])
    late.start()
    assert child._next(inbox) == "the next request"
    late.cancel()


def test_an_engine_with_a_request_does_not_stop_to_collect(collected):
    inbox: queue.SimpleQueue = queue.SimpleQueue()
    inbox.put("a request")
    assert child._next(inbox) == "a request" and not collected


def test_an_idle_warden_gives_memory_back(monkeypatch, collected):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(heap, "IDLE_S", 0.0)
        warden._wait(theirs)
        assert collected == [True]
        ours.sendall(warden.END)
        warden._wait(theirs)
        assert collected == [True]
