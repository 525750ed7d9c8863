"""A run is cancelled softly, and keeps what was measured."""

import threading

import hostile
from benching import FAST, bench, entry, result_rows, rows

from gemmviz.engine.messages import (
    BenchRequest,
    ProbeRequest,
    Progress,
    Result,
    Sample,
)


def test_cancelling_an_endless_kernel_keeps_finished_rows(engine):
    cancel = threading.Event()
    kernels = [entry(t, f"mine{i}.c") for i, t in enumerate((hostile.RIGHT, hostile.ENDLESS, hostile.RIGHT))]
    replies = []
    # Were the cancellation lost, the row would end as a timeout.
    for reply in engine.run(BenchRequest(1, kernels, [(6, 5, 4)], FAST | {"deadline_s": 30, "min_samples": 1}), cancel):
        replies.append(reply)
        if isinstance(reply, Progress) and "for the first time" in reply.text and len(result_rows(replies)) == 1:
            cancel.set()
    assert [r["status"] for r in rows(replies)] == ["ok", "cancelled", "cancelled"]


def test_cancelling_between_rounds_keeps_rows_with_enough_samples_and_flags_them(engine):
    cancel = threading.Event()
    replies = []
    kernels = [entry(hostile.RIGHT, f"mine{i}.c") for i in range(2)]
    # One sample is enough: on a busy machine there is no time for more in the first round.
    for reply in engine.run(BenchRequest(1, kernels, [(6, 5, 4)], FAST | {"min_samples": 1}), cancel):
        replies.append(reply)
        if isinstance(reply, Result):
            cancel.set()
    kept, cut = rows(replies)
    assert kept["status"] == "ok" and kept["gflops"] > 0
    assert "cancelled after round 1 of 3" in kept["flags"]
    assert cut["status"] == "cancelled"
    last = [r for r in replies if isinstance(r, Result) and r.job == 0][-1]
    assert last.final and last.row == kept


def test_cancelling_a_long_measurement_asks_softly_and_keeps_the_process(engine):
    cancel = threading.Event()
    replies = []
    request = BenchRequest(1, [entry(hostile.RIGHT)], [(6, 5, 4)], FAST | {"min_samples": 10**9, "timeout_s": 60})
    for reply in engine.run(request, cancel):
        replies.append(reply)
        if isinstance(reply, Sample):
            cancel.set()
    assert [r["status"] for r in rows(replies)] == ["cancelled"]
    pid = engine.pid
    assert pid is not None
    assert [r["status"] for r in rows(bench(engine, hostile.RIGHT))] == ["ok"]
    assert engine.pid == pid


def test_a_run_that_is_cancelled_before_it_starts_never_starts(engine):
    cancel = threading.Event()
    cancel.set()
    replies = bench(engine, hostile.RIGHT, cancel=cancel)
    assert [r["status"] for r in rows(replies)] == ["cancelled"]
    (failed,) = engine.run(ProbeRequest(2), cancel)
    assert failed.kind == "cancelled"
    assert engine.pid is None


def test_a_caller_that_stops_listening_leaves_no_stale_answers(engine):
    replies = engine.run(BenchRequest(1, [entry(hostile.ENDLESS)], [(6, 5, 4)], FAST), threading.Event())
    next(replies)
    replies.close()
    assert [r["status"] for r in rows(bench(engine, hostile.RIGHT))] == ["ok"]
