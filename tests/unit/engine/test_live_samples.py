"""Samples on their way from the engine to the session: every batch at once, in parts that a message may hold."""

import threading

import msgspec
import pytest

from gemmviz.bench.measure import Bench, Measurement
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.timing import Samples
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.benching import _Size
from gemmviz.engine.messages import MOST_LABEL, MOST_ROUNDS, MOST_SAMPLES, BenchRequest, Sample

SIZE = Problem.cube(16)


def sent(samples: Samples, rounds: int = 3) -> list[Sample]:
    """Return the messages that some samples become."""
    protocol = Protocol(rounds=rounds)
    shared = Bench(protocol, lambda name: pytest.fail(name), References(protocol.seed))
    replies: list[Sample] = []
    request = BenchRequest(7, [], [(16, 16, 16)], {})
    size = _Size(request, SIZE, shared, threading.Event(), replies.append, 0.0, 1.0)
    one = Measurement(find("hostmult1", ladder()), SIZE, {}, shared)
    one.row["verify"]["before"] = "ok"
    one.row["rounds"] = [{"round": 1, "n": 1, "median_s": 1.0, "gflops": 1.0}]
    size._samples(one, samples)
    return replies


def test_a_batch_says_its_round_and_that_c_was_verified() -> None:
    (reply,) = sent(Samples("hostmult1", [1e-3, 2e-3], 5.0, 0.5))
    assert (reply.run, reply.kernel, reply.m, reply.seconds) == (7, "hostmult1", 16, [1e-3, 2e-3])
    assert (reply.round, reply.rounds, reply.verified) == (2, 3, True)


def test_a_large_batch_goes_in_parts_and_keeps_its_order() -> None:
    seconds = [1e-6 * (n + 1) for n in range(MOST_SAMPLES + 3)]
    replies = sent(Samples("x" * 2 * MOST_LABEL, seconds, 5.0, 0.5), rounds=10 * MOST_ROUNDS)
    assert [len(reply.seconds) for reply in replies] == [MOST_SAMPLES, 3]
    assert [s for reply in replies for s in reply.seconds] == seconds
    assert all(len(reply.label) == MOST_LABEL and reply.rounds == MOST_ROUNDS for reply in replies)


@pytest.mark.parametrize(
    "more",
    [
        {"seconds": [0.0] * (MOST_SAMPLES + 1)},
        {"label": "x" * (MOST_LABEL + 1)},
        {"round": 0},
        {"rounds": MOST_ROUNDS + 1},
        {"verified": "yes"},
    ],
)
def test_a_message_beyond_its_limits_is_refused(more: dict[str, object]) -> None:
    plain: dict[str, object] = {"run": 1, "kernel": "k", "label": "k", "m": 1, "n": 1, "k": 1}
    plain |= {"seconds": [1.0], "gflops": 1.0}
    good = msgspec.msgpack.decode(msgspec.msgpack.encode(plain), type=Sample)
    assert (good.round, good.rounds, good.verified) == (1, 1, False)
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(plain | more), type=Sample)
