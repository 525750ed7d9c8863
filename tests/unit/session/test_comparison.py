"""Two kernels side by side, without a window: the choice, the size, steps in common, and the figures."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from gemmviz.catalogue.errors import UnknownKernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.session.rules import comparison_match
from gemmviz.session.rules.comparison_figures import figure_pairs, ratio_text, sentence
from gemmviz.session.rules.comparison_match import fit, next_to, offers
from gemmviz.session.rules.following import same_cell
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.accesses import Array
from gemmviz.trace.recording.record import record

NAIVE, COALESCED, TILED = "matmul_kernel_naive", "gpumult1", "gputiled"
NAMES = ("left", "right")


@cache
def recorded(name, n, params=(), as_written=False):
    recording = record(launch(find(name, ladder()), Problem.cube(n), dict(params)), as_written=as_written)
    order = timeline.build(recording)
    return Playable(recording, order, traffic.measure(recording, order))


def steps(session):
    """Return the steps of the chosen and of the second rung."""
    return session.cursor.step, session.second.cursor.step


class Pair:
    """A session with two recordings, made at once, as the window's recorders would."""

    def __init__(self, left, right, n, pace="work", **params):
        self.session = session = Session(ladder())
        self.comparison = session.comparison
        session.choice.choose(problem=Problem.cube(n))
        session.choice.choose_kernel(find(left, session.choice.kernels), params)
        session.cursor.show(recorded(left, n, tuple(session.choice.params.items())))
        session.side_by_side.paired.connect(lambda: session.side_by_side.meet(session.side_by_side.pair))
        session.side_by_side.wanted.connect(self.record)
        session.side_by_side.start_named(right, pace)

    def record(self):
        beside = self.session.second
        name, n = beside.choice.kernel.name, beside.choice.problem.m
        self.session.side_by_side.show(
            recorded(name, n, tuple(beside.choice.params.items()), self.session.choice.as_written)
        )


def session_at(name, n=8, **params):
    session = Session(ladder())
    session.choice.choose(problem=Problem.cube(n))
    session.choice.choose_kernel(find(name, session.choice.kernels))
    session.choice.choose(params=params)
    return session


def test_the_next_kernel_of_the_lesson_or_the_ladder_comes_first():
    session = session_at("gpumult0")
    assert next_to(session.choice).name in ("gpumult0_restrict", "matmul_kernel_naive")
    session.choice.choose_kernel([k for k in session.choice.kernels if k.recordable][-1])
    assert next_to(session.choice).recordable and next_to(session.choice) is not session.choice.kernel


@pytest.mark.parametrize(
    ("name", "expected"),
    [("fp8_promoted", "fp8_in_turns"), ("tf32_by_rows", "tf32"), ("simd_threads", "simd"), ("gputiled", "gputiled1")],
)
def test_the_kernel_before_comes_first_where_the_next_one_has_other_elements_or_another_device(name, expected):
    """Beside the last kernel of FP8 stood one of half precision, and beside that of the CPU one for a GPU."""
    session = Session(ladder())
    session.choice.choose_kernel(find(name, session.choice.kernels))
    assert next_to(session.choice).name == expected


def test_beside_a_broken_rung_comes_the_one_on_file():
    session = session_at(TILED)
    session.choice.break_it(("no-second-barrier",))
    assert next_to(session.choice) is session.choice.base
    session.side_by_side.start()
    assert session.second.choice.kernel is session.choice.base


def test_variants_are_offered_beside_their_base_and_nothing_twice():
    session = session_at(TILED)
    names = [offer.name for offer in offers(session.choice)]
    assert len(names) == len(set(names))
    assert TILED not in names
    assert (
        names.index("gputiled~no-second-barrier") < names.index("hostmult0") < names.index("gputiled1~no-first-barrier")
    )
    first = find("matmul_kernel_block_tiling", session.choice.kernels)
    again = [offer.name for offer in offers(session.choice, first)]
    assert again[0] == first.name and sorted(again) == sorted(names)
    made = [offer.kernel() for offer in offers(session.choice)[:12]]
    assert [kernel.name for kernel in made] == names[:12]
    assert all(kernel.recordable for kernel in made)


def test_both_get_one_size_and_equal_values_of_common_parameters():
    kernels = ladder()
    same = fit(find(TILED, kernels), {"TS": 4}, find("gputiled~no-second-barrier", kernels), Problem.cube(8))
    assert (same.problem, same.params, same.why) == (Problem.cube(8), {"TS": 4}, "")
    other = fit(find(TILED, kernels), {"TS": 4}, find("matmul_tc", kernels), Problem(8, 24, 40))
    assert (other.problem.m % 16, other.problem.n % 16, other.problem.k % 16) == (0, 0, 0)
    assert other.problem.n in (16, 32) and "matmul_tc requires" in other.why


def test_a_size_that_suits_both_is_chosen_said_and_taken_back():
    session = session_at(TILED, TS=4)
    session.side_by_side.start_named("matmul_tc")
    assert session.choice.problem == Problem.cube(16) == session.second.choice.problem
    assert "16 x 16 x 16" in session.comparison.note
    session.side_by_side.stop()
    assert (session.choice.problem, session.comparison.note, session.comparison.on) == (Problem.cube(8), "", False)


def test_a_size_that_people_choose_meanwhile_stays():
    session = session_at(TILED, TS=4)
    session.side_by_side.start_named("matmul_tc")
    session.choice.choose(problem=Problem.cube(32))
    assert session.comparison.note == ""
    session.side_by_side.stop()
    assert session.choice.problem == Problem.cube(32)


def test_a_library_call_has_nothing_to_compare_and_says_so():
    session = Session(ladder())
    session.choice.choose_kernel(next(k for k in session.choice.kernels if not k.recordable))
    session.side_by_side.toggle()
    assert not session.comparison.on
    assert "library call" in session.messages.current.text


def test_an_unknown_rung_is_refused():
    with pytest.raises(UnknownKernel):
        session_at(TILED).side_by_side.start_named("nobody")


def test_choosing_the_rung_beside_on_the_left_puts_another_beside():
    session = session_at(TILED, TS=4)
    session.side_by_side.start_named(COALESCED)
    session.choice.choose_kernel(find(COALESCED, session.choice.kernels))
    assert session.comparison.kernel.name != COALESCED
    assert session.second.choice.kernel is session.comparison.kernel


@pytest.mark.parametrize("pace", ["work", "bytes"])
def test_every_move_of_the_session_moves_the_one_beside(pace):
    pair = Pair(NAIVE, COALESCED, 16, pace)
    for step in (0, 5, 20, 3, pair.session.cursor.steps - 1):
        pair.session.cursor.seek(step)
        assert pair.session.second.cursor.step == pair.comparison.match.step(step)
    pair.session.cursor.seek_phase(-1)
    assert pair.session.second.cursor.step == pair.comparison.match.step(pair.session.cursor.step)


def test_changing_the_measure_moves_only_the_one_beside():
    pair = Pair(NAIVE, COALESCED, 32)
    pair.session.cursor.seek(20)
    by_work = pair.session.second.cursor.step
    pair.comparison.next_pace()
    assert pair.session.cursor.step == 20
    assert pair.session.second.cursor.step == pair.comparison.match.step(20) > by_work


@pytest.mark.parametrize("pace", ["work", "bytes"])
def test_a_broken_rung_goes_along_with_its_base(pace):
    pair = Pair(TILED, "gputiled~no-second-barrier", 8, pace, TS=4)
    assert pair.session.second.choice.params == {"TS": 4}
    pair.session.cursor.seek(pair.session.cursor.steps - 1)
    assert pair.session.comparison.finished(pair.session.cursor.step, pair.session.second.cursor.step)
    assert f"{pair.session.second.cursor.playable.recording.wrong} wrong elements" in sentence(
        pair.comparison, steps(pair.session), NAMES
    )


def test_a_cell_of_a_matrix_is_chosen_on_both():
    pair = Pair(TILED, COALESCED, 16)
    session, beside = pair.session, pair.session.second
    session.cursor.pick((2, 3 * 16 + 5))
    assert beside.cursor.cell == (2, 3 * 16 + 5)
    assert beside.cursor.block == beside.cursor.playable.recording.owners[0][3, 5]
    beside.cursor.pick((0, 7))
    assert session.cursor.cell == (0, 7)
    beside.cursor.pick(None)
    assert session.cursor.cell is None
    # A shared array is its kernel's own.
    session.cursor.pick((3, 0))
    assert session.cursor.cell == (3, 0) and beside.cursor.cell is None


def test_the_dearer_one_plays_on_when_the_other_has_finished():
    pair = Pair(COALESCED, NAIVE, 16, "bytes")
    session, beside = pair.session, pair.session.second
    session.playback.set_loop(False)
    session.cursor.seek(session.cursor.steps - 1)
    where = beside.cursor.step
    assert where < beside.cursor.steps - 1
    session.playback.playing = True
    session.advance(0.2)
    session.advance(0.2)
    assert session.cursor.step == session.cursor.steps - 1 and beside.cursor.step > where
    for _ in range(1000):
        session.advance(0.2)
    assert beside.cursor.step == beside.cursor.steps - 1 and not session.playback.playing
    assert pair.session.comparison.finished(pair.session.cursor.step, pair.session.second.cursor.step)


def test_by_work_playing_starts_again_as_it_does_alone():
    pair = Pair(NAIVE, COALESCED, 16)
    session = pair.session
    session.cursor.seek(session.cursor.steps - 1)
    session.playback.playing = True
    for _ in range(5):
        session.advance(0.25)
    assert session.cursor.step < session.cursor.steps - 1
    assert pair.session.second.cursor.step == pair.comparison.match.step(session.cursor.step)


def test_two_recordings_that_do_not_fit_together_are_refused_with_a_size_that_does(monkeypatch):
    session = session_at(TILED, 32, TS=8)
    session.cursor.show(recorded(TILED, 32, (("TS", 8),)))
    monkeypatch.setattr(comparison_match, "MOST_BYTES", 6_000_000)
    session.side_by_side.start_named(COALESCED)
    assert session.side_by_side.too_large()
    message = session.second.messages.current
    assert "8 MB" in message.text and "6 MB" in message.text
    message.answers[0].act()
    assert session.choice.problem == Problem.cube(16)
    session.cursor.show(recorded(TILED, 16, (("TS", 8),)))
    assert not session.side_by_side.too_large()
    assert 0 < session.side_by_side.room < 60_000


def test_the_race_shows_both_on_one_scale_and_says_where_figures_come_from():
    pair = Pair(NAIVE, COALESCED, 64, "bytes")
    session = pair.session
    session.cursor.seek(session.cursor.steps - 1)
    shown = {
        lane.id: lane
        for lane in figure_pairs(pair.comparison, steps(session), session.results, session.choice.bench_problem)
    }
    assert "wavefronts" not in shown and "gflops" not in shown
    assert {lane.origin for lane in shown.values()} == {"recorded as compiled"}
    moved = shown["bytes"]
    assert moved.now == moved.total == tuple(int(p.moved_bytes[-1]) for p in pair.session.side_by_side.pair)
    assert ratio_text(moved.ratio) == "1/6.62"
    assert shown["done"].now == (100, 100)
    assert sentence(pair.comparison, steps(session), NAMES) == "right moves 1/6.62 of the bytes of left."


def test_both_are_recorded_in_the_sessions_view_which_the_race_names():
    pair = Pair("gpumult0", "gpumult1", 8, BX=4, BY=4)
    session, comparison = pair.session, pair.comparison
    session.choice.choose(as_written=True)
    session.cursor.show(recorded("gpumult0", 8, tuple(session.choice.params.items()), True))
    assert comparison.match is not None
    assert [playable.recording.as_written for playable in session.side_by_side.pair] == [True, True]
    shown = {
        lane.id: lane
        for lane in figure_pairs(
            comparison,
            (session.cursor.steps - 1, session.second.cursor.step),
            session.results,
            session.choice.bench_problem,
        )
    }
    assert {lane.origin for lane in shown.values()} == {"recorded as written"}
    session.choice.choose(as_written=False)
    assert comparison.match is None  # one is recorded as compiled, the other not yet


def test_measured_figures_stand_beside_only_where_both_were_measured_at_that_size():
    pair = Pair(TILED, COALESCED, 16)
    session = pair.session

    def measure(kernel, n, gflops):
        session.results.add_result(
            {"kernel": kernel, "status": "ok", "gflops": gflops, "M": n, "N": n, "K": n, "params": {}, "backend": "c"}
        )

    measure(TILED, 512, 900.0)
    measure(COALESCED, 256, 300.0)
    assert "gflops" not in [
        lane.id
        for lane in figure_pairs(
            pair.comparison, (0, session.second.cursor.step), session.results, session.choice.bench_problem
        )
    ]
    measure(COALESCED, 512, 450.0)
    lane = figure_pairs(
        pair.comparison, (0, session.second.cursor.step), session.results, session.choice.bench_problem
    )[-1]
    assert (lane.id, lane.origin, lane.now, lane.ratio) == ("gflops", "measured", (900.0, 450.0), 0.5)
    assert "512" in lane.name


def test_a_cpu_has_bytes_and_no_warps():
    pair = Pair("hostmult0", TILED, 8)
    shown = {
        lane.id: lane
        for lane in figure_pairs(
            pair.comparison,
            (pair.session.cursor.steps - 1, pair.session.second.cursor.step),
            pair.session.results,
            pair.session.choice.bench_problem,
        )
    }
    assert shown["requests"].total[0] is None and shown["requests"].total[1] > 0
    traffic = pair.session.cursor.playable.traffic.arrays
    assert shown["bytes"].total[0] == sum(a.read_bytes + a.write_bytes for a in traffic)
    assert shown["bytes"].name == "bytes asked for, moved"


def test_bytes_requested_by_a_cpu_are_not_compared_with_bytes_moved_by_a_gpu():
    for names in (("hostmult0", TILED), (TILED, "hostmult0")):
        pair = Pair(*names, 8, "bytes")
        session = pair.session
        session.cursor.seek(0)
        assert "a CPU's bytes are asked for, a GPU's are moved" in sentence(
            pair.comparison, (0, session.second.cursor.step), NAMES
        )
        session.cursor.seek(session.cursor.steps - 1)
        shown = {
            lane.id: lane
            for lane in figure_pairs(pair.comparison, steps(session), session.results, session.choice.bench_problem)
        }
        assert all(shown["bytes"].total) and shown["bytes"].ratio is None
        pair.comparison.set_pace("work")
        session.cursor.seek(session.cursor.steps - 1)
        text = sentence(pair.comparison, steps(session), NAMES)
        assert text == "Both have finished. What a CPU asks for cannot be compared with what a GPU moves."


def test_two_loops_of_a_cpu_ask_for_bytes():
    pair = Pair("hostmult0", "hostmult1_opt", 8, "bytes")
    session = pair.session
    session.cursor.seek(session.cursor.steps // 8)
    assert sentence(pair.comparison, steps(session), NAMES) == (
        "right is at the step at which it has asked for as many bytes as left."
    )
    session.cursor.seek(session.cursor.steps - 1)
    ratio = next(
        lane
        for lane in figure_pairs(pair.comparison, steps(session), session.results, session.choice.bench_problem)
        if lane.id == "bytes"
    ).ratio
    assert ratio < 1
    assert (
        sentence(pair.comparison, steps(session), NAMES) == f"right asks for {ratio_text(ratio)} of the bytes of left."
    )


def test_an_element_is_the_same_however_it_lies_in_memory():
    def playable(column_major):
        arrays = tuple(Array(name, "global", (4, 6), "float32", column_major) for name in "ABC")
        recording = SimpleNamespace(arrays=arrays, owners=(np.full((4, 6), 7), None))
        return SimpleNamespace(recording=recording)

    by_rows, by_columns = playable(False), playable(True)
    assert same_cell((2, 2 * 6 + 5), by_rows, by_columns) == ((2, 5 * 4 + 2), 7)
    assert same_cell((0, 5 * 4 + 2), by_columns, by_rows) == ((0, 2 * 6 + 5), None)


def test_ratios_are_written_as_people_say_them():
    assert [ratio_text(r) for r in (None, 1.0, 1 / 6.62, 6.62, 2.0)] == ["", "=", "1/6.62", "6.62×", "2×"]
    # Neither of these is equal.
    assert [ratio_text(r) for r in (2270 / 2272, 2272 / 2270, 1.01)] == ["≈", "≈", "1.01×"]


def test_between_two_steps_the_one_beside_is_between_its_own():
    pair = Pair(TILED, "gputiled~no-second-barrier", 8, TS=4)
    session, beside = pair.session, pair.session.second
    for step in range(session.cursor.steps - 1):
        begin, end = pair.comparison.match.step(step), pair.comparison.match.step(step + 1)
        for fraction in (0.0, 0.25, 0.75):
            session.cursor.seek(step, step + fraction)
            assert beside.cursor.step + beside.cursor.fraction == pytest.approx(begin + (end - begin) * fraction)
