"""A frozen warp, the chosen lane, and the chosen way of a value, as parts of a session."""

from functools import cache

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.value_path import hop_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record


@cache
def playable(name: str, size: int, ts: int = 0) -> Playable:
    recording = record(launch(find(name, ladder()), Problem.cube(size), {"TS": ts} if ts else {}))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


@pytest.fixture
def session() -> Session:
    session = Session(ladder(), "dark")
    session.show(playable("gputiled", 16, 8))
    return session


def test_a_frozen_warp_stands_still_and_steps_by_its_requests(session: Session) -> None:
    session.play()
    session.frozen_warp.toggle()
    assert session.frozen_warp.on and not session.playing
    session.choose_warp(1)
    begins = session.stations("request")
    assert begins is not None
    for _ in range(3):
        session.step_unit(1)
        asked = session.frozen_warp.request()
        assert asked is not None and (asked.step, asked.warp) == (session.step, 1)
        assert session.step in begins
    before = session.step
    session.step_by(-1)
    assert session.step == max(step for step in begins if step < before)
    session.seek(session.steps - 1)
    session.step_by(1)
    assert session.step == session.steps - 1 and session.frozen_warp.on


def test_playing_releases_the_warp_and_steps_are_steps_again(session: Session) -> None:
    session.frozen_warp.toggle()
    session.play()
    assert not session.frozen_warp.on
    session.seek(5)
    session.step_by(1)
    assert session.step == 6


def test_where_a_step_is_not_the_warps_another_request_is_told(session: Session) -> None:
    recording = playable("gputiled", 16, 8).recording
    timeline = build(recording, "block")
    session.show(Playable(recording, timeline, measure(recording, timeline)).prepare())
    session.pick((2, 12), 1)
    begins = session.stations("request")
    assert begins is not None and begins[0] > 0
    asked = session.frozen_warp.request()
    assert asked is not None and (asked.step, asked.block) == (begins[0], 1)
    session.seek(session.steps - 1)
    asked = session.frozen_warp.request()
    assert asked is not None and asked.step == begins[-1] < session.step
    # With no cell chosen, the block that plays is meant.
    session.pick(None)
    asked = session.frozen_warp.request()
    assert asked is not None and (asked.step, asked.block) == (session.step, 3)
    session.frozen_warp.toggle()
    session.step_by(-1)
    asked = session.frozen_warp.request()
    assert asked is not None and (asked.step, asked.block) == (session.step, 3)


def test_there_is_nothing_to_freeze_on_a_cpu(session: Session) -> None:
    session.frozen_warp.toggle()
    session.show(playable("hostmult1", 8))
    assert not session.frozen_warp.on and not session.frozen_warp.possible
    session.frozen_warp.toggle()
    assert not session.frozen_warp.on and session.frozen_warp.request() is None


def test_warps_follow_each_other_in_a_circle(session: Session) -> None:
    assert session.warps == 2
    session.frozen_warp.next_warp(-1)
    assert session.warp == 1
    session.frozen_warp.next_warp(1)
    assert session.warp == 0


def test_who_chooses_an_element_of_c_chooses_its_thread(session: Session) -> None:
    session.pick((2, 6 * 16 + 4), 0)
    assert (session.warp, session.inspection.lane) == (1, 20)
    assert session.inspection.thread == 52
    session.choose_warp(0)
    assert session.inspection.thread == 20, "the cell is the same: the warp is as chosen"
    session.inspection.choose_lane(99)
    assert session.inspection.lane == 31
    session.pick((0, 3))
    assert session.inspection.lane == 31, "a cell of A has no owner"


def test_a_chosen_way_ends_with_its_cell(session: Session) -> None:
    shown = session.playable
    assert shown is not None
    session.pick((2, 5), 0)
    hop = hop_at(shown, shown.provenance.operand_paths(0, 5), 0, (2, 5))
    told = []
    session.inspection.changed.connect(lambda: told.append(session.inspection.hop))
    session.inspection.choose_hop(hop)
    session.inspection.choose_hop(hop)
    assert told == [hop]
    session.pick((2, 6), 0)
    assert session.inspection.hop is None


def test_why_nothing_can_be_frozen_says_what_to_choose(session: Session) -> None:
    session.show(playable("hostmult0", 4))
    session.frozen_warp.toggle()
    assert not session.frozen_warp.on and "A CPU has no warps" in session.frozen_warp.why_not
    session.choose_kernel(find("openblas", session.kernels))
    session.show(None)
    assert "openblas is a library call" in session.frozen_warp.why_not and "Record" not in session.frozen_warp.why_not
