"""Messages between the processes: a sent message arrives, and no other bytes become a message."""

import os
import pickle
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import get_args

import msgspec
import numpy as np
import pytest
from arriving import arrived
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import rung

from gemmviz.catalogue.problem import Problem
from gemmviz.engine import framing
from gemmviz.engine.framing import NotAMessage, Receiver, send
from gemmviz.engine.messages import BenchRequest, Cancel, Failed, Message, ProbeRequest, Progress, Reply

ALL = get_args(Message)


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def frame(body: bytes, sizes: tuple[int, ...] = (), mark: bytes = b"gmv1", length: int | None = None) -> bytes:
    head = struct.pack("<4sII", mark, len(body) if length is None else length, len(sizes))
    return head + b"".join(struct.pack("<Q", size) for size in sizes) + body


def answer(sent: bytes, kinds: tuple[type, ...] = ALL, room: int | None = None) -> Message | None:
    """Return the result of a receiver for some bytes from a sender that stays alive."""
    with pair() as (here, there):
        there.sendall(sent)
        return Receiver(here.fileno(), kinds, lambda: room).receive(0.05)


@pytest.mark.parametrize(
    "message",
    [
        ProbeRequest(1),
        Cancel(7),
        BenchRequest(2, [{"path": "x.c", "text": "void x() {}", "params": {"TS": 4}}], [(1, 2, 3)]),
        Failed(3, "oom", "x", 4),
        Progress(4, "half", 0.5, float("inf"), None),
    ],
)
def test_messages_arrive_as_they_were_sent(message: Message) -> None:
    with pair() as (here, there):
        send(there.fileno(), message)
        assert Receiver(here.fileno(), ALL).receive(5) == message


def test_arrays_arrive_as_they_were_sent() -> None:
    columns = {
        "site": np.random.default_rng(1).integers(0, 255, 12_000_000, np.uint8),
        "value": np.zeros((0, 3), np.int64),
        "turn": np.arange(6.0).reshape(2, 3).T,
        "write": np.array([True, False]),
        "bytes": np.array(3.5, np.float32),
    }
    recording = rung("gputiled", Problem.cube(16))
    sent = replace(recording, wrong=np.int64(3), accesses=replace(recording.accesses, **columns))
    found = arrived(sent).recording
    assert (found.wrong, found.text, found.params) == (3, recording.text, recording.params)
    for name, array in columns.items():
        column = getattr(found.accesses, name)
        assert column.dtype == array.dtype and column.shape == array.shape and (column == array).all()
    found.accesses.site[0] = 1  # the receiver of an array may change it


def test_a_message_that_arrives_in_pieces_is_kept_until_it_is_whole() -> None:
    with pair() as (here, there):
        sent = frame(msgspec.msgpack.encode(["Cancel", {"run": 5}]))
        receiver = Receiver(here.fileno(), (Cancel,))
        for byte in sent[:-1]:
            there.send(bytes([byte]))
            assert receiver.receive(0) is None
        there.send(sent[-1:])
        assert receiver.receive(1) == Cancel(5)


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense, and more than a head of it",
        frame(b"", mark=b"evil"),
        frame(b"x", length=framing.MOST_BODY + 1),
        struct.pack("<4sII", b"gmv1", 1, framing.MOST_ARRAYS + 1),
        frame(msgspec.msgpack.encode(["Nothing", {}])),
        frame(msgspec.msgpack.encode(["Probed", {}])),
        frame(msgspec.msgpack.encode(["Progress", {"run": "one", "text": 2}])),
        frame(msgspec.msgpack.encode({"type": "Done", "run": 1})),
        frame(b"\x91" * 100_000),
        frame(pickle.dumps(print)),
        frame(msgspec.msgpack.encode(["Probed", {"run": 1, "facts": {"x": msgspec.msgpack.Ext(9, b"")}}])),
        frame(
            msgspec.msgpack.encode(
                ["Probed", {"run": 1, "facts": {"x": msgspec.msgpack.Ext(1, msgspec.msgpack.encode([0, "|O", [1]]))}}]
            ),
        ),
    ],
)
def test_bytes_that_are_no_message_are_refused(sent: bytes) -> None:
    with pytest.raises(NotAMessage):
        answer(sent)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("|O", [1]), ("<f8", [2]), ("<f8", [-1, 3]), ("<f8", [1 << 62]), ("V8", [1])]
)
def test_an_array_is_made_of_its_bytes_only(dtype: str, shape: list[int]) -> None:
    entry = msgspec.msgpack.Ext(1, msgspec.msgpack.encode([0, dtype, shape]))
    body = msgspec.msgpack.encode(["Probed", {"run": 1, "facts": {"x": entry}}])
    with pytest.raises(NotAMessage):
        answer(frame(body, (8,)) + bytes(8))


def test_an_array_is_not_handed_out_twice() -> None:
    entry = msgspec.msgpack.Ext(1, msgspec.msgpack.encode([0, "<f8", [1]]))
    body = msgspec.msgpack.encode(["Probed", {"run": 1, "facts": {"x": entry, "y": entry}}])
    with pytest.raises(NotAMessage):
        answer(frame(body, (8,)) + bytes(8))


def test_arrays_that_do_not_fit_are_refused_before_they_are_read() -> None:
    with pytest.raises(NotAMessage, match="do not fit in memory"):
        answer(frame(b"x", (1 << 50,)), room=1 << 30)


def test_a_reply_cannot_be_a_request() -> None:
    with pytest.raises(NotAMessage, match="not expected here"):
        answer(frame(msgspec.msgpack.encode(["ProbeRequest", {"run": 1}])), get_args(Reply))


def test_a_sender_that_stops_in_the_middle_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "STALL_S", 0.1)
    with pair() as (here, there):
        there.send(frame(b"", length=1000) + b"x")
        with pytest.raises(NotAMessage, match="in the middle of a message"):
            Receiver(here.fileno(), ALL).receive(None)


def test_an_end_that_closes_in_the_middle_of_an_array_is_noticed() -> None:
    with pair() as (here, there):
        there.send(frame(b"x", (1_000_000,)))
        there.close()
        with pytest.raises((EOFError, OSError)):
            Receiver(here.fileno(), ALL).receive(None)


def test_sending_to_a_process_that_reads_nothing_ends() -> None:
    with pair() as (_, there):
        os.set_blocking(there.fileno(), False)
        with pytest.raises(TimeoutError):
            send(there.fileno(), Failed(1, "internal", "x" * 10_000_000), 0.1)


@given(st.binary(max_size=300))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_message_of_ours_or_refused(sent: bytes) -> None:
    for start in (b"", struct.pack("<4sII", b"gmv1", len(sent), 0)):
        with pair() as (here, there):
            there.sendall(start + sent)
            there.close()
            try:
                found = Receiver(here.fileno(), get_args(Reply)).receive(1)
            except (NotAMessage, EOFError, OSError):
                continue
            assert isinstance(found, Reply)
