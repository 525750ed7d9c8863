"""Measuring on a device of a cluster: who is asked, what is kept, what is refused."""

from dataclasses import replace

import pytest
from fake_engines import FakeLoop

from gemmviz.catalogue.errors import Unavailable
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.cluster.remote_engine import RemoteEngine
from gemmviz.control.elsewhere import Elsewhere, engine_maker
from gemmviz.control.engines import Engines
from gemmviz.engine.messages import Failed, ProbeRequest

LAB = Scheduler("tls://lab:8786", "ca.pem", "own.pem", "own.key")
SEAT = Seat(address="tls://lab:4000", host="lab", gpu="NVIDIA H200", uuid="GPU-1", cpu="Xeon (16 cores)", busy=False)


@pytest.fixture
def probes():
    return []


@pytest.fixture
def elsewhere(session, engines, probes):
    return Elsewhere(session, engines, lambda: probes.append(session.places.key))


def test_the_devices_of_a_named_cluster_are_looked_for_in_a_thread(session, engines, elsewhere, monkeypatch):
    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", lambda scheduler, cancel: [SEAT])
    elsewhere.use(LAB)
    assert session.places.looking and session.preferences.cluster == LAB and not session.places.seats
    engines.looker.computed.emit(engines.looker.computing[0]())
    assert (session.places.looking, session.places.seats, session.places.fault) == (False, [SEAT], "")


def test_a_cluster_that_cannot_be_used_says_why(session, engines, elsewhere, monkeypatch):
    def look(scheduler, cancel):
        raise Unavailable("there is no scheduler at tls://lab:8786")

    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", look)
    elsewhere.use(LAB)
    late = engines.looker.computing[0]()
    engines.looker.computed.emit(late)
    assert session.places.fault == "there is no scheduler at tls://lab:8786"
    # The answer about a cluster that is no longer named is not taken.
    elsewhere.use(Scheduler("127.0.0.1"))
    engines.looker.computed.emit(late)
    assert session.places.looking and not session.places.fault


def test_the_measuring_engine_moves_and_the_new_machine_is_asked_for_its_facts(session, engines, elsewhere, probes):
    session.places.name(LAB)
    elsewhere.choose(SEAT)
    assert (session.places.chosen, session.results.away, engines.bench.stops) == (SEAT, "lab", 1)
    made = engine_maker(session, lambda: pytest.fail("an engine of this machine"))()
    assert isinstance(made, RemoteEngine)
    # Without a cluster it is this machine again.
    elsewhere.use(None)
    assert session.places.chosen is None and session.results.away == "" and session.preferences.cluster is None
    assert engine_maker(session, lambda: "here")() == "here"
    assert probes == ["GPU-1", ""]


def test_a_measurement_in_progress_stays_where_it_is(session, engines, elsewhere):
    session.progress.set("bench", ("measuring", None))
    elsewhere.choose(SEAT)
    assert session.places.chosen is None and engines.bench.stops == 0
    assert "wait for it, or cancel it first" in session.messages.current.text


def test_a_cancelled_search_keeps_the_devices_that_were_known(session, engines, elsewhere, monkeypatch):
    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", lambda scheduler, cancel: [SEAT])
    elsewhere.use(LAB)
    engines.looker.computed.emit(engines.looker.computing[0]())
    elsewhere.look()
    engines.cancelled.emit()
    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", lambda scheduler, cancel: [])
    engines.looker.computed.emit(engines.looker.computing[1]())
    assert (session.places.seats, session.places.fault, session.places.looking) == ([SEAT], "", False)


def test_a_search_that_another_one_has_ended_changes_nothing(session, engines, elsewhere, monkeypatch):
    def look(scheduler, cancel):
        if cancel.is_set():
            raise Unavailable("cancelled")
        return [SEAT]

    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", look)
    elsewhere.use(LAB)
    elsewhere.look()
    ended, present = (search() for search in engines.looker.computing)
    engines.looker.computed.emit(ended)
    assert session.places.looking and not session.places.fault
    engines.looker.computed.emit(present)
    assert (session.places.looking, session.places.seats, session.places.fault) == (False, [SEAT], "")


def test_without_a_cluster_nothing_is_looked_for_any_more(session, engines, elsewhere, monkeypatch):
    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", lambda scheduler, cancel: [SEAT])
    elsewhere.use(LAB)
    elsewhere.use(None)
    engines.looker.computed.emit(engines.looker.computing[0]())
    assert not session.places.looking and not session.places.seats


def test_a_device_that_did_not_answer_can_be_chosen_again(session, elsewhere, probes):
    session.places.name(LAB)
    elsewhere.choose(SEAT)
    elsewhere.choose(replace(SEAT, busy=True))  # its facts did not arrive
    assert probes == ["GPU-1", "GPU-1"]
    session.results.set_device("NVIDIA H200", {"name": "NVIDIA H200", "cc": "9.0", "sms": 132}, 16)
    elsewhere.choose(SEAT)
    assert probes == ["GPU-1", "GPU-1"] and session.results.device_and_host == "NVIDIA H200 on lab"


def test_closing_ends_a_search(session, monkeypatch):
    ended = []

    def look(scheduler, cancel):
        ended.append(cancel.wait(60))
        raise Unavailable("cancelled")

    monkeypatch.setattr("gemmviz.cluster.remote_engine.look", look)
    engines = Engines(lambda: None, FakeLoop())
    elsewhere = Elsewhere(session, engines, lambda: None)
    elsewhere.use(LAB)
    engines.close()
    assert ended == [True] and not engines.looker.running


class Answering:
    """An engine that says where it is."""

    def __init__(self, place):
        self._place = place

    def run(self, request, cancel):
        yield Failed(request.run, "place", self._place)

    def close(self):
        pass


def test_the_next_request_goes_to_the_chosen_device(session, monkeypatch):
    monkeypatch.setattr("gemmviz.cluster.remote_engine.RemoteEngine", lambda *_: Answering("there"))
    loop, heard = FakeLoop(), []

    def here():
        return Answering("here")

    engines = Engines(here, loop, engine_maker(session, here))
    engines.bench.replied.connect(lambda reply: heard.append(reply.message))
    elsewhere = Elsewhere(session, engines, lambda: None)
    session.places.name(LAB)
    for number, seat in enumerate((None, SEAT, None), 1):
        elsewhere.choose(seat)
        engines.bench.submit(ProbeRequest(number))
        loop.turn_until(lambda number=number: len(heard) == number)
    engines.close()
    assert heard == ["here", "there", "here"]
