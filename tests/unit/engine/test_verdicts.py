"""A verdict on a kernel: whether C is right, and what was noticed, without the accesses."""

import threading
from pathlib import Path

import hostile

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Progress, Recorded, RecordRequest
from gemmviz.engine.trying import trier
from gemmviz.trace.untrusted import checked_recording

WRONG = hostile.source(loops=hostile.LOOPS.replace("c[i * n + j] = sum", "c[i * n + j + (i == 1) * 40] = sum"))
ASSERTS = """// ---gemmviz
// entry = "mine"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["N"]
// grid = ["M"]
// ---
__global__ void mine(const float *A, const float *B, float *C, int M, int N, int K)
{
    assert(M % 16 == 0);
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[blockIdx.x * K + k] * B[k * N + threadIdx.x];
    C[blockIdx.x * N + threadIdx.x] = sum;
}
"""


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


def test_a_false_assertion_is_no_other_crash(engine):
    kernel = parse(ASSERTS, Path("/nowhere/mine.cu"))
    verdict = trier(engine, threading.Event())(kernel, Problem(4, 4, 4))
    assert verdict.asserted and verdict.crashed
