"""Stepping by a unit: where each begins, and how the session goes from one to the next."""

import numpy as np
import pytest
from recordings import rung

from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.stepping_units import UNITS, neighbour, possible, stations
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable

C = 2


def played(name: str, problem: Problem) -> Playable:
    recording = rung(name, problem)
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@pytest.fixture(scope="module")
def tiled() -> Playable:
    return played("gputiled", Problem.cube(32))


@pytest.fixture
def session(tiled: Playable) -> Session:
    session = Session(ladder())
    session.cursor.show(tiled)
    return session


def walk(session: Session) -> list[int]:
    """Step forward from the start by the chosen unit until nothing comes."""
    session.cursor.seek(0)
    seen = []
    for _ in range(session.cursor.steps):
        before = session.cursor.step
        session.step_unit(1)
        if session.cursor.step == before:
            break
        seen.append(session.cursor.step)
    return seen


def test_a_step_is_the_unit_until_another_is_chosen(session: Session) -> None:
    assert session.cursor.unit == "step"
    assert walk(session) == list(range(1, session.cursor.steps))


def test_phases_and_tiles_begin_where_the_story_says(session: Session) -> None:
    session.cursor.choose_unit("phase")
    assert walk(session) == [4, 36, 40, 72]
    session.cursor.seek(38)
    session.cursor.seek_phase(-1)
    assert session.cursor.step == 36
    session.cursor.choose_unit("tile")
    assert walk(session) == [36, 72]  # the last step is where the last tile ends
    session.step_unit(-1)
    assert session.cursor.step == 36
    session.step_unit(-1)
    assert session.cursor.step == 0


def test_requests_are_those_of_the_chosen_warp(session: Session, tiled: Playable) -> None:
    session.cursor.pick(None, 3)
    session.cursor.choose_warp(2)
    session.cursor.choose_unit("request")
    seen = [0, *walk(session)]
    made = [step for step in range(session.cursor.steps) if len(tiled.warp_rows(step, 3, 2))]
    assert seen == made


def test_a_warp_that_is_left_out_makes_no_request() -> None:
    edges = played("gputiled", Problem(17, 20, 70))
    everybody = stations(edges, "step")
    assert everybody is None
    # Block 2 has rows 16 to 31, but C has only row 16: its last warp writes no C.
    last, first = (stations(edges, "request", 2, warp) for warp in (7, 0))
    assert last is not None and first is not None
    assert set(last) < set(first) and edges.timeline.steps - 1 in first


def test_an_element_of_c_is_followed_through_all_that_feeds_it(session: Session, tiled: Playable) -> None:
    element = 5 * 32 + 7
    session.cursor.pick((C, element), 0)
    session.cursor.choose_unit("element")
    seen = [0, *walk(session)]
    recording, timeline = tiled.recording, tiled.timeline
    log = recording.accesses
    fed = tiled.provenance.operand_paths(5, 7)
    rows = np.concatenate([fed.read, fed.write, fed.use])
    assert len(fed.use) == 2 * 32
    assert set(seen) == {*timeline.step_of_row[rows].tolist(), session.cursor.steps - 1}
    assert {recording.arrays[i].name for i in log.array[rows]} == {"A", "B", "As", "Bs"}


def test_a_shared_cell_is_that_of_the_chosen_block(tiled: Playable) -> None:
    array, log = 3, tiled.recording.accesses
    for block in (0, 3):
        found = stations(tiled, "element", block=block, cell=(array, 0))
        mine = np.flatnonzero((log.array == array) & (log.element == 0) & (log.block == block))
        assert found is not None and found.tolist() == np.unique(tiled.timeline.step_of_row[mine]).tolist()


def test_only_units_that_the_recording_has_are_offered(session: Session) -> None:
    assert session.cursor.units == ("step", "request", "phase", "tile")
    session.cursor.pick((0, 0))
    assert session.cursor.units == UNITS
    loops = played("hostmult0", Problem.cube(16))
    assert not any(possible(loops, unit, None) for unit in UNITS[1:])


def test_where_a_unit_begins_is_computed_once_for_a_choice(session: Session) -> None:
    cursor = session.cursor
    tiles, requests = cursor.stations("tile"), cursor.stations("request")
    assert cursor.stations("request") is requests and cursor.stations("tile") is tiles
    cursor.pick((1, 1))
    assert cursor.stations("request") is not requests and cursor.stations("tile") is tiles


def test_the_next_unit_skips_missing_units(session: Session) -> None:
    seen = []
    for _ in range(4):
        session.cursor.next_unit(1)
        seen.append(session.cursor.unit)
    assert seen == ["request", "phase", "tile", "step"]
    session.cursor.next_unit(-1)
    assert session.cursor.unit == "tile"


def test_a_unit_waits_for_a_recording_that_has_it(session: Session, tiled: Playable) -> None:
    session.cursor.choose_unit("tile")
    session.cursor.show(played("gpumult1", Problem.cube(16)))
    assert session.cursor.unit == "step"
    session.step_unit(1)
    assert session.cursor.step == 1
    session.cursor.show(tiled)
    assert session.cursor.unit == "tile"


def test_a_jump_that_leads_nowhere_says_so_and_stays(session: Session) -> None:
    session.cursor.seek(9)
    assert not session.cursor.jump("element", 1) and session.cursor.step == 9
    session.cursor.pick((C, 0), 0)
    session.cursor.seek(session.cursor.steps - 1)
    assert not session.cursor.jump("element", 1)
    assert session.cursor.jump("element", -1) and session.cursor.step < session.cursor.steps - 1


def test_stepping_stops_playing_and_jumping_to_a_tile_does_not(session: Session) -> None:
    session.playback.play()
    session.cursor.jump("tile", 1)
    assert session.playback.playing and session.cursor.step == 36
    session.step_unit(1)
    assert not session.playback.playing


def test_neighbours_are_strictly_before_and_after() -> None:
    begins = np.array([3, 8])
    assert [neighbour(begins, step, 1) for step in (0, 3, 8)] == [3, 8, None]
    assert [neighbour(begins, step, -1) for step in (3, 4, 9)] == [None, 3, 8]
