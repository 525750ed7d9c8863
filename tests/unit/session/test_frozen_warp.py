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
    session.cursor.show(playable("gputiled", 16, 8))
    return session


def test_a_frozen_warp_stands_still_and_steps_by_its_requests(session: Session) -> None:
    session.playback.play()
    session.warp_steps.toggle()
    assert session.frozen_warp.on and not session.playback.playing
    session.cursor.choose_warp(1)
    begins = session.cursor.stations("request")
    assert begins is not None
    for _ in range(3):
        session.step_unit(1)
        asked = session.warp_steps.request()
        assert asked is not None and (asked.step, asked.warp) == (session.cursor.step, 1)
        assert session.cursor.step in begins
    before = session.cursor.step
    session.step_by(-1)
    assert session.cursor.step == max(step for step in begins if step < before)
    session.cursor.seek(session.cursor.steps - 1)
    session.step_by(1)
    assert session.cursor.step == session.cursor.steps - 1 and session.frozen_warp.on


def test_playing_releases_the_warp_and_steps_are_steps_again(session: Session) -> None:
    session.warp_steps.toggle()
    session.playback.play()
    assert not session.frozen_warp.on
    session.cursor.seek(5)
    session.step_by(1)
    assert session.cursor.step == 6


def test_at_a_step_of_other_warps_the_nearest_request_is_described(session: Session) -> None:
    recording = playable("gputiled", 16, 8).recording
    timeline = build(recording, "block")
    session.cursor.show(Playable(recording, timeline, measure(recording, timeline)).prepare())
    session.cursor.pick((2, 12), 1)
    begins = session.cursor.stations("request")
    assert begins is not None and begins[0] > 0
    asked = session.warp_steps.request()
    assert asked is not None and (asked.step, asked.block) == (begins[0], 1)
    session.cursor.seek(session.cursor.steps - 1)
    asked = session.warp_steps.request()
    assert asked is not None and asked.step == begins[-1] < session.cursor.step
    # With no cell chosen, the block that plays is meant.
    session.cursor.pick(None)
    asked = session.warp_steps.request()
    assert asked is not None and (asked.step, asked.block) == (session.cursor.step, 3)
    session.warp_steps.toggle()
    session.step_by(-1)
    asked = session.warp_steps.request()
    assert asked is not None and (asked.step, asked.block) == (session.cursor.step, 3)


def test_there_is_nothing_to_freeze_on_a_cpu(session: Session) -> None:
    session.warp_steps.toggle()
    session.cursor.show(playable("hostmult1", 8))
    assert not session.frozen_warp.on and not session.warp_steps.possible
    session.warp_steps.toggle()
    assert not session.frozen_warp.on and session.warp_steps.request() is None


def test_warps_follow_each_other_in_a_circle(session: Session) -> None:
    assert session.cursor.warps == 2
    session.warp_steps.next_warp(-1)
    assert session.cursor.warp == 1
    session.warp_steps.next_warp(1)
    assert session.cursor.warp == 0


def test_a_chosen_element_of_c_chooses_its_thread(session: Session) -> None:
    session.cursor.pick((2, 6 * 16 + 4), 0)
    assert (session.cursor.warp, session.inspection.lane) == (1, 20)
    assert session.inspection.thread == 52
    session.cursor.choose_warp(0)
    assert session.inspection.thread == 20, "the cell is the same: the warp is as chosen"
    session.inspection.choose_lane(99)
    assert session.inspection.lane == 31
    session.cursor.pick((0, 3))
    assert session.inspection.lane == 31, "a cell of A has no owner"


def test_a_chosen_way_ends_with_its_cell(session: Session) -> None:
    shown = session.cursor.playable
    assert shown is not None
    session.cursor.pick((2, 5), 0)
    hop = hop_at(shown, shown.provenance.operand_paths(0, 5), 0, (2, 5))
    hops = []
    session.inspection.changed.connect(lambda: hops.append(session.inspection.hop))
    session.inspection.choose_hop(hop)
    session.inspection.choose_hop(hop)
    assert hops == [hop]
    session.cursor.pick((2, 6), 0)
    assert session.inspection.hop is None


def test_the_reason_why_nothing_can_be_frozen_names_a_remedy(session: Session) -> None:
    session.cursor.show(playable("hostmult0", 4))
    session.warp_steps.toggle()
    assert not session.frozen_warp.on and "A CPU has no warps" in session.warp_steps.why_not
    session.cursor.show(None)
    assert "Record a kernel" in session.warp_steps.why_not
    session.choice.choose_kernel(find("openblas", session.choice.kernels))
    assert "openblas is a library call" in session.warp_steps.why_not and "Record" not in session.warp_steps.why_not
