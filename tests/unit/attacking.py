"""Runs kernels that attack, in an engine with the program's limits or others."""

import threading

import attacks
import hostile
from consenting import AllowsAll

from gemmviz.engine.messages import BenchDone, BenchRequest, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine

FAST = {"warmup_launches": 1, "warmup_s": 0, "min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 1}


def limited(**limits):
    from gemmviz.sandbox.limits import Limits

    return Engine(AllowsAll(), Limits(**limits))


def record(engine, text, path="/nowhere/mine.c", n=4, **others):
    return list(engine.run(RecordRequest(1, path, text, n, n, n, **others), threading.Event()))[-1]


def result_of(engine, body, top=""):
    """Return the number that an attack reports: see `attacks.attack`."""
    reply = record(engine, attacks.attack(body, top))
    assert isinstance(reply, Recorded), reply
    return reply.recording.c[0, 0]


def measured(engine, text):
    kernel = {"path": "/nowhere/mine.c", "text": text, "params": {}}
    reply = list(engine.run(BenchRequest(1, [kernel], [(6, 5, 4)], FAST), threading.Event()))[-1]
    assert isinstance(reply, BenchDone)
    return reply.document["results"][0]


def assert_goes_on(engine):
    assert isinstance(record(engine, hostile.RIGHT), Recorded)
