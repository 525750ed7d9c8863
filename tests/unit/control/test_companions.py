"""Measuring on several devices at the same time: each gets the request, and its figures stay its own."""

import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.ladder import find
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.control.checks import Checks
from gemmviz.control.elsewhere import Elsewhere
from gemmviz.control.measuring import Measuring
from gemmviz.engine.messages import BenchDone, Failed, Header, Progress, Result

LAB = Scheduler("127.0.0.1:8786")
FIRST, SECOND = (
    Seat(address=f"tcp://lab:{n}", host="lab", gpu="NVIDIA H200", uuid=f"GPU-{n}", cpu="Xeon (16 cores)", busy=False)
    for n in (1, 2)
)
ENVIRONMENT = {"cpu": {"model": "Xeon", "cores": 16}}


@pytest.fixture
def measuring(session, engines, kept):
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    session.places.name(LAB)
    session.places.found([FIRST, SECOND])
    return Measuring(session, engines, Checks(session, engines))


def row(gflops, size=64):
    return {
        "kernel": "hostmult1",
        "label": "hostmult1",
        "backend": "c",
        "M": size,
        "N": size,
        "K": size,
        "params": {},
        "status": "ok",
        "gflops": gflops,
    }


def head():
    return results.document({}, None, Protocol()) | {"env": ENVIRONMENT, "device": {"name": "NVIDIA H200"}}


def test_each_device_gets_the_request_and_keeps_its_own_figures(session, engines, measuring, kept):
    session.places.measure_beside(SECOND, True)
    measuring.measure_this()
    (worker,) = engines._further
    (mine,), (theirs,) = engines.bench.requests[-1:], worker.requests
    assert (mine.kernels, mine.sizes, mine.protocol) == (theirs.kernels, theirs.sizes, theirs.protocol)
    assert mine.run != theirs.run and session.progress.is_any("beside")
    worker.replied.emit(Header(theirs.run, head()))
    worker.replied.emit(Progress(theirs.run, "hostmult1: timing", 0.5))
    assert session.progress["beside"] == ("NVIDIA H200 on lab #2: hostmult1: timing", 0.5)
    changes = []
    session.results.referenced.connect(lambda: changes.append("referenced"))
    session.results.measured.connect(changes.append)
    engines.bench.replied.emit(Result(mine.run, row(10.0), 0, True))
    worker.replied.emit(Result(theirs.run, row(20.0), 0, True))
    worker.replied.emit(Result(theirs.run, row(21.0, 128), 0, True))
    assert changes == ["hostmult1", "referenced", "hostmult1"]
    (other,) = session.results.elsewhere
    assert (other.gpu, other.cpu, other.cores, other.host) == ("NVIDIA H200", "Xeon (16 cores)", 16, "lab #2")
    assert [r["gflops"] for r in other.figures] == [20.0, 21.0]
    assert [r["gflops"] for r in session.results.figures] == [10.0]
    worker.replied.emit(BenchDone(theirs.run, head() | {"results": [row(20.0)]}))
    assert session.progress["beside"] is None and [d["results"][0]["gflops"] for d in kept] == [20.0]
    # A reply that comes after the end is of no run.
    worker.replied.emit(Result(theirs.run, row(99.0), 0, True))
    assert 99.0 not in [r["gflops"] for r in other.figures]


def test_the_least_progress_is_shown_and_a_lost_device_says_so(session, engines, measuring):
    session.places.choose(None)
    for seat in (FIRST, SECOND):
        session.places.measure_beside(seat, True)
    measuring.measure_this()
    one, two = engines._further
    one.replied.emit(Progress(one.requests[0].run, "timing", 0.9))
    two.replied.emit(Progress(two.requests[0].run, "timing", 0.2))
    assert session.progress["beside"] == ("NVIDIA H200 on lab #2: timing", 0.2)
    two.replied.emit(Failed(two.requests[0].run, "unsupported", "NVIDIA H200 on lab: the worker is lost"))
    assert session.messages.current.text == "NVIDIA H200 on lab: the worker is lost"
    assert session.progress["beside"] == ("NVIDIA H200 on lab #1: timing", 0.9)
    session.messages.tell(None)
    one.replied.emit(Failed(one.requests[0].run, "cancelled", "cancelled"))
    assert session.progress["beside"] is None and session.messages.current is None


def test_a_device_that_is_chosen_or_given_up_measures_no_longer_beside(session, engines, measuring):
    session.places.measure_beside(SECOND, True)
    session.places.measure_beside(FIRST, True)
    measuring.measure_this()
    second, first = engines._further
    session.places.choose(SECOND)
    assert session.places.beside == [FIRST] and second.closed and engines._further == [first]
    session.places.measure_beside(SECOND, True)
    assert session.places.beside == [FIRST]  # it measures already
    session.places.name(None)
    assert session.places.beside == [] and first.closed and engines._further == []
    assert session.progress["beside"] is None


def test_two_workers_of_one_device_count_as_one(session, engines, measuring):
    again = Seat(address="tcp://lab:9", host="lab", gpu="NVIDIA H200", uuid="GPU-2", cpu="Xeon (16 cores)", busy=False)
    session.places.found([FIRST, SECOND, again])
    assert session.places.further == [FIRST, SECOND]
    session.places.choose(again)
    assert session.places.further == [FIRST]
    session.places.measure_beside(SECOND, True)
    assert session.places.beside == []


def test_nothing_changes_while_something_is_measured(session, engines, measuring):
    elsewhere = Elsewhere(session, engines, lambda: None)
    session.progress.set("beside", ("measuring", None))
    elsewhere.measure_beside(SECOND, True)
    assert session.places.beside == []
    assert "wait for it, or cancel it first" in session.messages.current.text
    elsewhere.choose(FIRST)
    assert session.places.chosen is None
    session.progress.set("beside", None)
    elsewhere.measure_beside(SECOND, True)
    assert session.places.beside == [SECOND]
