"""A verdict on a kernel: whether C is right, and what was noticed, without the accesses."""

import threading

import hostile

from gemmviz.engine.messages import Progress, Recorded, RecordRequest
from gemmviz.trace.untrusted import checked_recording

WRONG = hostile.source(loops=hostile.LOOPS.replace("c[i * n + j] = sum", "c[i * n + j + (i == 1) * 40] = sum"))


def recorded(engine, text, order):
    request = RecordRequest(3, "/nowhere/mine.c", text, 4, 4, 4, order=order)
    *before, last = engine.run(request, threading.Event())
    assert isinstance(last, Recorded), last
    return [reply.text for reply in before if isinstance(reply, Progress)], last


def test_a_verdict_has_what_is_wrong_and_nothing_of_the_accesses(engine):
    _, whole = recorded(engine, WRONG, "grid")
    message, verdict = recorded(engine, WRONG, "verdict")
    full, short = checked_recording(whole.recording), checked_recording(verdict.recording)
    assert len(full.accesses) and not len(short.accesses)
    assert short.wrong == full.wrong > 0 and short.diagnostics == full.diagnostics != ()
    assert (verdict.timeline, verdict.traffic, verdict.findings) == (None, None, None)
    assert not [text for text in message if text.startswith("Ordering")]


def test_a_right_kernel_has_a_verdict_without_a_fault(engine):
    _, verdict = recorded(engine, hostile.RIGHT, "verdict")
    short = checked_recording(verdict.recording)
    assert (short.wrong, short.diagnostics) == (0, ())
