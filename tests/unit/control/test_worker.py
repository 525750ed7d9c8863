"""The thread that drives an engine: order, cancelling, faults, ends."""

import threading

import pytest
from fake_engines import FakeLoop

from gemmviz.control.worker import Worker
from gemmviz.engine.messages import Done, Failed, ProbeRequest, Progress

PATIENCE_S = 60.0


class FakeEngine:
    """Answers each request by `script`; a script that waits, waits for `cancel`."""

    def __init__(self, script):
        self._script = script
        self.threads = []
        self.closed = 0

    def run(self, request, cancel):
        self.threads.append(threading.current_thread())
        yield from self._script(request, cancel)

    def close(self):
        self.closed += 1


def answers(request, cancel):
    yield Progress(request.run, "at work")
    yield Done(request.run)


def waits(request, cancel):
    yield Progress(request.run, "at work")
    assert cancel.wait(PATIENCE_S)
    yield Failed(request.run, "cancelled", "cancelled")


@pytest.fixture
def drive():
    """Make a worker whose engine answers by a script, what it says, its loop and its engine."""
    made = []

    def make(script):
        loop, engine, replies = FakeLoop(), FakeEngine(script), []
        worker = Worker("tries", lambda: engine, loop)
        worker.replied.connect(lambda reply: replies.append((reply, threading.current_thread())))
        made.append(worker)
        return worker, replies, loop, engine

    yield make
    for worker in made:
        worker.close()
        assert not worker.running


def test_replies_come_in_order_and_in_the_loops_thread(drive):
    worker, replies, loop, engine = drive(answers)
    worker.submit(ProbeRequest(1))
    loop.turn_until(lambda: len(replies) == 2)
    assert [type(reply) for reply, _ in replies] == [Progress, Done]
    assert {thread for _, thread in replies} == {threading.current_thread()} and engine.threads != [replies[0][1]]


def test_a_new_request_takes_the_place_of_the_one_that_runs_and_of_all_that_wait(drive):
    worker, replies, loop, _ = drive(waits)
    worker.submit(ProbeRequest(1))
    loop.turn_until(lambda: replies)
    worker.submit(ProbeRequest(2))
    worker.submit(ProbeRequest(3))
    loop.turn_until(lambda: replies[-1][0] == Progress(3, "at work"))
    ends = [(reply.run, reply.kind) for reply, _ in replies if isinstance(reply, Failed)]
    assert ends == [(1, "cancelled"), (2, "cancelled")]


def test_a_fault_of_an_engine_is_a_message_and_the_thread_goes_on(drive, capsys):
    def breaks(request, cancel):
        if request.run == 1:
            raise ValueError("no such engine")
        yield Done(request.run)

    worker, replies, loop, _ = drive(breaks)
    worker.submit(ProbeRequest(1))
    loop.turn_until(lambda: replies)
    worker.submit(ProbeRequest(2))
    loop.turn_until(lambda: len(replies) == 2)
    assert [reply for reply, _ in replies] == [Failed(1, "internal", "ValueError: no such engine"), Done(2)]
    assert "no such engine" in capsys.readouterr().err


def test_a_function_is_computed_behind_the_requests_that_wait(drive):
    worker, replies, loop, engine = drive(answers)
    computed = []
    worker.computed.connect(lambda result: computed.append((result, len(replies))))
    worker.submit(ProbeRequest(1))
    worker.compute(lambda: threading.current_thread())
    loop.turn_until(lambda: computed)
    assert computed == [(engine.threads[0], 2)]


def test_a_worker_that_was_stopped_starts_anew_with_the_next_request(drive):
    worker, replies, loop, engine = drive(answers)
    worker.stop()  # nothing runs yet
    for run in (1, 2):
        worker.submit(ProbeRequest(run))
        loop.turn_until(lambda run=run: replies and replies[-1][0] == Done(run))
        worker.stop()
        assert not worker.running and engine.closed
    assert len(set(engine.threads)) == 2


def test_after_the_end_nothing_is_heard_or_started(drive):
    worker, replies, loop, engine = drive(waits)
    worker.submit(ProbeRequest(1))
    loop.turn_until(lambda: replies)
    worker.close()
    loop.turn()
    assert len(replies) == 1 and engine.closed
    worker.submit(ProbeRequest(2))
    assert not worker.running


def test_the_end_does_not_wait_for_an_analysis_that_goes_on():
    begun, may_end, loop, results = threading.Event(), threading.Event(), FakeLoop(), []
    worker = Worker("tries", lambda: FakeEngine(answers), loop)
    worker.computed.connect(results.append)
    worker.compute(lambda: begun.set() or may_end.wait(PATIENCE_S))
    assert begun.wait(PATIENCE_S)
    (thread,) = (one for one in threading.enumerate() if one.name == "tries")
    worker.close()
    assert thread.is_alive()  # it was not waited for
    may_end.set()
    thread.join(PATIENCE_S)
    loop.turn()
    assert not thread.is_alive() and not results
