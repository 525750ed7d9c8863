"""Playing a recording, or a range of it, without a window."""

from itertools import pairwise

from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable


def test_playing_goes_on_with_time_and_stops_at_the_end_without_loop(session):
    session.playback.set_loop(False)
    session.playback.play()
    steps = []
    session.cursor.stepped.connect(lambda: steps.append(session.cursor.step))
    for _ in range(1000):
        session.advance(0.25)
    assert steps == list(range(1, session.cursor.steps))
    assert not session.playback.playing


def test_playing_loops_and_can_be_faster(session):
    session.playback.set_speed(2.0)
    session.playback.play()
    slow = session.playback.rate
    session.playback.faster(1)
    assert session.playback.rate == 2 * slow
    for _ in range(4 * session.cursor.steps):
        session.advance(0.25)
    assert session.playback.playing and 0 <= session.cursor.step < session.cursor.steps


def test_a_stall_does_not_leap(session):
    session.playback.play()
    session.advance(60.0)
    assert session.cursor.step <= session.playback.rate


def test_seeking_outside_means_the_nearest_end(session):
    session.cursor.seek(10_000)
    assert session.cursor.step == session.cursor.steps - 1
    session.cursor.seek(-5)
    assert session.cursor.step == 0


def test_c_is_first_written_when_its_value_appears(session, playable):
    assert set(playable.first_write) == {playable.timeline.steps - 1}
    assert playable.moved_bytes[-1] == playable.traffic.sectors(False) * 32 + playable.traffic.sectors(True) * 32


def test_block_by_block_the_shown_block_is_the_one_that_plays(session, playable):
    timeline = build(playable.recording, "block")
    session.cursor.show(Playable(playable.recording, timeline, measure(playable.recording, timeline)))
    seen = []
    for step in range(session.cursor.steps):
        session.cursor.seek(step)
        seen.append(session.cursor.shown_block)
    assert list(dict.fromkeys(seen)) == [0, 1, 2, 3]
    session.cursor.pick((2, 0), 0)
    assert session.cursor.shown_block == 0


def test_a_line_that_never_runs_is_not_sought(session):
    assert not session.player.seek_line(1)
    assert session.cursor.step == 0


# Playing a part


def steps_of(session, seconds, tick=0.05):
    """Let time pass, and return every step that was shown."""
    seen = []
    session.cursor.stepped.connect(lambda: seen.append(session.cursor.step))
    for _ in range(round(seconds / tick)):
        session.advance(tick)
    return seen


def test_a_range_is_played_again_and_again(session):
    session.playback.set_loop(False)
    session.cursor.seek(4)
    session.player.loop_from_here()
    session.cursor.seek(11)
    session.player.loop_to_here()
    assert session.playback.loop_range == (4, 11) and session.playback.loop
    session.cursor.seek(9)
    session.playback.play()
    seen = steps_of(session, 20.0)
    assert set(seen) == set(range(4, 12))
    assert {b for a, b in pairwise(seen) if a == 11} == {4}
    session.playback.loop_all()
    assert session.playback.loop_range is None
    assert 12 in steps_of(session, 5.0)


def test_playing_goes_back_into_the_range_that_people_stepped_out_of(session):
    session.playback.set_loop_range(12, 6)
    assert session.playback.loop_range == (6, 12)
    session.cursor.seek(20)
    assert session.cursor.step == 20
    session.playback.play()
    assert session.cursor.step == 6
    session.cursor.seek(2)
    assert min(steps_of(session, 1.0)) == 6


def test_an_end_of_the_range_that_crosses_the_other_gives_it_up(session):
    session.playback.set_loop_range(6, 12)
    session.cursor.seek(15)
    session.player.loop_from_here()
    assert session.playback.loop_range == (15, session.cursor.steps - 1)
    session.cursor.seek(3)
    session.player.loop_to_here()
    assert session.playback.loop_range == (0, 3)


def test_a_range_ends_there_without_loop_and_goes_with_its_recording(session, playable):
    session.playback.set_loop_range(2, 5)
    session.playback.set_loop(False)
    session.playback.play()
    assert steps_of(session, 10.0)[-1] == 5 and not session.playback.playing
    session.cursor.show(playable)
    assert session.playback.loop_range is None


def test_calm_playing_shows_whole_units_twice_a_second_at_most(session, playable):
    session.preferences.set_calm(True)
    assert session.player.trail == 1
    session.playback.set_speed(16.0)
    session.cursor.choose_unit("phase")
    session.playback.play()
    seen = steps_of(session, 6.0)
    assert 2 <= len(seen) <= 12
    assert set(seen) <= {0, 4, 12, 16, 24}
    session.cursor.choose_unit("step")
    assert len(steps_of(session, 3.0)) <= 6
