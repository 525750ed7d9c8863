"""What is chosen, playing and measured, without a window."""

from dataclasses import replace
from itertools import pairwise

import pytest

from gemmviz.app import new_session
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session
from gemmviz.session.tour.lessons import locate
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record


@pytest.fixture(scope="module")
def playable():
    recording = record(launch(find("gputiled", ladder()), Problem.cube(8), {"TS": 4}))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


@pytest.fixture
def session(playable):
    session = Session(ladder())
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.cursor.show(playable)
    return session


@pytest.mark.parametrize("part", ['"K % 16 == 0"', "// title"])
def test_a_rung_of_which_anything_was_edited_is_not_as_shipped(session, part):
    kernel = find("matmul_tc", session.choice.kernels)
    assert session.choice.shipped(kernel)
    edited = parse(kernel.text.replace(part, part.replace("16", "1").replace("title", "title ")), kernel.path)
    assert edited.sha256 == kernel.sha256 and not session.choice.shipped(edited)


def test_the_picture_of_every_cuda_rung_shows_four_blocks(session):
    for kernel in (replace(k, demo=None) for k in ladder() if k.backend == "cuda"):
        session.choice.choose_kernel(kernel)
        job = session.choice.launch()
        assert job.blocks == 4 and job.threads >= 4, kernel.name


def size_of(session):
    return session.choice.problem.m, session.choice.problem.n, session.choice.problem.k


def test_a_rung_opens_at_its_demo(session):
    for kernel in (k for k in ladder() if k.recordable):
        session.choice.choose_kernel(kernel)
        assert (size_of(session), session.choice.params) == (kernel.demo.size, kernel.defaults | kernel.demo.params), (
            kernel.name
        )
    first = new_session()
    assert (first.choice.base.name, size_of(first), first.choice.params) == ("gputiled", (8, 8, 8), {"TS": 4})


def test_a_size_that_somebody_chose_stays_from_rung_to_rung(session):
    naive, tiled = (
        find(name, session.choice.kernels) for name in ("matmul_kernel_naive", "matmul_kernel_block_tiling")
    )
    session.choice.choose_kernel(naive)
    session.choice.choose(params={"BY": 1})  # is of this rung
    session.choice.choose_kernel(tiled)
    assert size_of(session) == (12, 12, 12)
    session.choice.choose(problem=Problem.cube(16))
    session.choice.choose_kernel(naive)
    assert size_of(session) == (16, 16, 16) and session.choice.params["BX"] < 32
    # The size that somebody chose is the demo's by chance: so are the parameters.
    session.choice.choose(problem=Problem.cube(12))
    session.choice.choose_kernel(tiled)
    assert session.choice.params == {"BLOCK": 4}


def test_the_demo_is_shown_when_its_recording_is_there(session, playable):
    kernel = find("gputiled", session.choice.kernels)
    panels, wanted = [], []
    session.inspection.panel_wanted.connect(panels.append)
    session.demonstration.recording_wanted.connect(lambda: wanted.append(True))
    session.cursor.show(None)
    session.choice.choose(problem=Problem.cube(16), params={"TS": 8})
    session.demonstration.show()
    assert (size_of(session), session.choice.params) == ((8, 8, 8), {"TS": 4}) and session.choice.wanted is None
    assert wanted and session.demonstration.waiting
    session.cursor.show(playable)
    assert not session.demonstration.waiting and panels == ["thread"]
    assert session.cursor.step == locate(kernel.demo, session.cursor.playable).step > 0
    assert (session.cursor.block, session.cursor.warp, session.inspection.lane, session.cursor.cell) == (
        1,
        0,
        6,
        (2, 14),
    )
    session.cursor.seek(0)
    session.demonstration.show()  # its recording stands there: nothing is recorded again
    assert len(wanted) == 1 and session.cursor.step > 0


def test_who_goes_on_to_something_else_is_not_taken_to_the_demo(session):
    session.choice.choose(problem=Problem.cube(16))
    session.demonstration.show()
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert not session.demonstration.waiting


def test_a_rung_without_a_demo_says_so_and_a_library_that_it_has_no_source(session):
    kernel = replace(find("gputiled", session.choice.kernels), demo=None)
    session.choice.choose_kernel(kernel)
    session.demonstration.show()
    assert "has no demo" in session.messages.current.text
    session.choice.choose_kernel(find("cublas", session.choice.kernels))
    session.demonstration.show()
    assert "cublas is a library call: it has no source" in session.messages.current.text


def test_a_rung_that_does_not_take_the_chosen_size_is_shown_at_another_and_the_next_one_is_not(session):
    session.choice.choose(problem=Problem.cube(8))
    session.choice.choose_kernel(find("matmul_tc", session.choice.kernels))
    assert (session.choice.problem, session.choice.wanted) == (Problem.cube(32), Problem.cube(8))
    session.choice.choose_kernel(find("matmul_tc_2d_warp_tiling", session.choice.kernels))
    assert (session.choice.problem, session.choice.params) == (Problem.cube(64), {"WM": 2, "WN": 2})
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert session.choice.problem == Problem.cube(8)


def test_a_size_that_one_block_holds_gives_way_to_a_larger_one_until_somebody_insists(session):
    session.choice.choose(problem=Problem.cube(8))
    session.choice.choose_kernel(find("wgmma", session.choice.kernels))
    assert (session.choice.problem, session.choice.wanted) == (Problem.cube(128), Problem.cube(8))
    # Two rows of tiles for two blocks above each other: neither is without work.
    session.choice.choose_kernel(find("cluster", session.choice.kernels))
    assert session.choice.problem == Problem.cube(256) and session.choice.params["CLUSTER"] == 2
    session.choice.choose(problem=Problem.cube(64))
    assert session.choice.problem == session.choice.wanted == Problem.cube(64)
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    assert session.choice.problem == Problem.cube(64)


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
    assert not session.playback.seek_line(1)
    assert session.cursor.step == 0


def row(kernel, gflops, n=64, status="ok", **more):
    base = {"kernel": kernel, "backend": "cuda", "M": n, "N": n, "K": n, "params": {}, "status": status}
    return base | {"gflops": gflops, "message": ""} | more


def elsewhere(*rows):
    return ReferenceResults("NVIDIA H200", "Xeon", "2026-11-21", Figures(rows))


def test_a_cancelled_row_does_not_take_the_place_of_a_figure(session):
    session.results.add_result(row("numpy", 100.0))
    session.results.add_result(row("numpy", None, status="cancelled"))
    assert session.results.rows["numpy"]["gflops"] == 100.0
    session.results.add_result(row("numpy", None, status="wrong"))
    assert session.results.rows["numpy"]["status"] == "wrong"


def test_a_round_replaces_the_one_before_and_sizes_are_kept_apart(session):
    for gflops in (10.0, 11.0, 12.0):
        session.results.add_result(row("gputiled", gflops))
    session.results.add_result(row("gputiled", 30.0, n=128))
    assert len(session.results.figures) == 2
    assert session.results.shown("gputiled", (64, 64, 64)).row["gflops"] == 12.0
    assert session.results.sizes() == [(64, 64, 64), (128, 128, 128)]
    assert session.results.rows["gputiled"]["N"] == 128


def test_a_transfer_is_kept_and_is_no_rung(session):
    session.results.add_result(row("transfer", None, backend="transfer", dtype_in="float32", gbps=12.0))
    assert "transfer" not in session.results.rows and session.results.sizes() == []
    assert session.results.figures.transfer((64, 64, 64), "float32")["gbps"] == 12.0


def test_references_stand_in_where_there_is_no_gpu_and_leave_when_it_is_measured_here(session):
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    assert session.results.shown("gputiled", (64, 64, 64)) is None  # nobody knows yet what this machine has
    session.results.set_device("a laptop", None)
    shown = session.results.shown("gputiled", (64, 64, 64))
    assert shown.row["gflops"] == 5000.0
    assert shown.origin == "reference: NVIDIA H200, 2026-11-21"
    session.results.add_result(row("gputiled", 7.0))
    assert session.results.shown("gputiled", (64, 64, 64)).origin == ""


def test_with_nothing_measured_the_size_is_the_largest_that_most_gpu_rungs_have(session):
    rows = [row(name, 10.0, n) for n in (256, 512) for name in ("gputiled", "gpumult1")]
    loops = [row(name, 1.0, 64, backend="c") for name in ("hostmult0", "hostmult1", "hostmult1_opt")]
    session.results.set_references([elsewhere(row("gputiled", 9.0, 1024), *rows, *loops)])
    assert session.results.shown_size() is None  # nobody knows yet what this machine has
    session.results.set_device("a laptop", None)
    assert session.results.shown_size() == (512, 512, 512)
    session.results.add_result(row("hostmult0", 2.0, 128, backend="c"))
    assert session.results.shown_size() == (128, 128, 128)
    session.results.want_size((256, 256, 256))
    session.results.add_result(row("hostmult0", 2.0, 64, backend="c"))
    assert session.results.shown_size() == (256, 256, 256)


def test_a_rung_without_a_figure_at_the_shown_size_has_its_nearest(session):
    session.results.set_references(
        [elsewhere(row("gputiled", 8.0, 256), row("gputiled", 9.0, 4096), row("gpumult1", 5.0, 512))]
    )
    session.results.set_device("a laptop", None)
    session.results.want_size((512, 512, 512))
    assert session.results.shown("gpumult1").row["N"] == 512
    assert session.results.shown("gputiled").row["N"] == 256
    assert session.results.shown("gputiled", (512, 512, 512)) is None
    session.results.add_result(row("gputiled", 1.0, 64))
    assert session.results.shown("gputiled").row["N"] == 64  # what was measured here stands before what was not


def test_of_the_references_the_default_parameters_are_shown_and_here_the_last_ones(session):
    variants = [row("gputiled", gflops, params={"TS": ts}) for ts, gflops in ((8, 1.0), (16, 2.0), (32, 3.0))]
    session.results.set_references([elsewhere(*variants)])
    session.results.set_device("a laptop", None)
    assert session.results.shown("gputiled").row["params"] == {"TS": 16}
    session.results.add_result(variants[1])
    session.results.add_result(variants[0])
    assert session.results.shown("gputiled").row["params"] == {"TS": 8}


def test_references_are_hidden_beside_a_gpu_until_somebody_wants_them(session):
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    session.results.set_device("a GPU", {"name": "a GPU"})
    assert session.results.shown("gputiled") is None
    session.results.want_references(True)
    assert session.results.shown("gputiled").row["gflops"] == 5000.0


def test_no_reference_hides_that_a_kernel_is_wrong_here(session):
    session.results.set_device("a laptop", None)
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    session.results.add_result(row("gputiled", None, status="wrong"))
    assert session.results.shown("gputiled") is None
    session.results.add_result(row("gputiled", None, status="skipped"))
    assert session.results.shown("gputiled").origin


def test_kernels_that_are_sampled_in_turns_keep_their_samples(session):
    for _ in range(2):
        session.results.add_samples("a", "64", [1.0], 1.0)
        session.results.add_samples("b", "64", [2.0, 2.0], 2.0)
    assert {s.label: len(s.gflops) for s in session.results.all_samples.values()} == {"a": 2, "b": 4}
    assert session.results.samples.label == "b"
    session.results.start_samples()
    assert not session.results.all_samples and not session.results.samples.gflops


def test_a_refused_size_is_said(session):
    session.choice.choose(params={"TS": 64})
    with pytest.raises(ConstraintError, match="TS <= 32"):
        session.choice.launch()


def test_two_files_of_one_name_are_refused_and_the_same_file_is_replaced(session, tmp_path):
    kernel = find("gputiled", session.choice.kernels)
    count = len(session.choice.kernels)
    with pytest.raises(GemmvizError, match="rename"):
        session.choice.add_kernel(parse(kernel.text, tmp_path / "gputiled.cu"))
    session.choice.add_kernel(parse(kernel.text + "\n", kernel.path))
    assert len(session.choice.kernels) == count and session.choice.kernel.text.endswith("\n\n")


def test_blocks_progress_together_or_one_after_another(playable):
    last = playable.timeline.steps - 1
    assert (playable.progress(last) == 1).all()
    halfway = playable.progress(last // 2)
    assert len(set(halfway.tolist())) == 1 and 0 < halfway[0] < 1
    by_block = build(playable.recording, "block")
    alone = Playable(playable.recording, by_block, measure(playable.recording, by_block))
    first, *others = alone.progress(by_block.steps // 4 - 1)
    assert first == 1 and not any(others)


def test_the_units_of_all_requests_add_up_to_the_traffic(playable):
    timeline, log = playable.timeline, playable.recording.accesses
    added = [0.0] * len(playable.recording.arrays)
    for step in range(timeline.steps):
        # One warp per block: as many requests as blocks take part.
        requests = len(set(log.block[timeline.rows(step)].tolist()))
        added[int(timeline.array[step])] += playable.units_per_request(step) * requests
    assert added == [a.read_units + a.write_units for a in playable.traffic.arrays]


def test_the_request_of_a_warp_holds_its_lanes_only(playable):
    log = playable.recording.accesses
    rows = playable.warp_rows(0, block=3, warp=0)
    assert set(log.block[rows].tolist()) == {3} and len(rows) == 16
    assert not len(playable.warp_rows(0, block=3, warp=1))


# A text that was changed in the window


def edit(session, old, new):
    assert old in session.choice.text
    session.choice.edit(session.choice.text.replace(old, new, 1))


def test_an_edited_kernel_is_a_kernel_of_its_own_at_the_same_size(session):
    session.choice.choose(params={"TS": 2})
    base = session.choice.kernel
    edit(session, "float sum = 0;", "float sum = 1;")
    assert session.choice.variant and session.choice.base is base
    assert (session.choice.kernel.name, session.choice.kernel.path.parent) == ("gputiled~edited", base.path.parent)
    assert session.choice.params == {"TS": 2} and session.choice.title == "30_gputiled.cu, edited"
    session.choice.revert()
    assert session.choice.kernel is base and not session.choice.variant and session.choice.title == "30_gputiled.cu"


def test_a_text_that_is_no_kernel_is_kept_and_the_kernel_before_stays(session):
    base = session.choice.kernel
    edit(session, '"C", "A", "B"', '"C", "A", "Q"')
    assert session.choice.kernel is base and session.choice.unsaved(base)
    assert str(session.choice.fault).startswith(f"30_gputiled.cu:{session.choice.fault.line}: args names 'Q'")
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    assert session.choice.fault is None
    session.choice.choose_kernel(base)
    assert session.choice.fault is not None and '"Q"' in session.choice.text
    session.choice.edit(base.text)
    assert session.choice.fault is None and not session.choice.all_unsaved()


def test_a_text_without_its_front_matter_is_said_how_to_mend_and_names_no_file_that_is_not_there(session):
    session.choice.edit("x" + session.choice.text)
    said = str(session.choice.fault)
    assert said.startswith("30_gputiled.cu: no front matter") and "F6" in said
    assert "~edited" not in said and "describe" not in said


def test_a_broken_kernel_is_mended_into_what_was_edited_before(session):
    edit(session, "float sum = 0;", "float sum = 1;")
    edited = session.choice.text
    session.choice.break_it(("no-second-barrier",))
    assert session.choice.kernel.name == "gputiled~no-second-barrier" and "sum = 1" not in session.choice.text
    assert session.choice.title == "30_gputiled.cu, changed: without the second barrier"
    session.choice.revert()
    assert session.choice.text == edited and session.choice.kernel.name == "gputiled~edited"
    with pytest.raises(GemmvizError, match="no-such-thing"):
        session.choice.break_it(("no-such-thing",))
    assert session.choice.text == edited and not session.choice.breaks


def test_a_variant_is_charted_behind_its_rung_once_it_has_a_figure(session):
    names = [k.name for k in session.choice.kernels]
    session.choice.break_it(("no-second-barrier",))
    session.results.keep_variant(session.choice.kernel)
    assert [k.name for k in session.results.charted] == names
    session.results.add_result(row("gputiled~no-second-barrier", 5.0))
    charted = [k.name for k in session.results.charted]
    assert charted[charted.index("gputiled") + 1] == "gputiled~no-second-barrier" and len(charted) == len(names) + 1
    assert "gputiled" not in session.results.rows


def test_figures_of_an_edited_text_go_when_another_text_is_measured(session):
    for value, kept in ((1, 0), (2, 0)):
        edit(session, "float sum = ", f"float sum = {value} + ")
        session.results.keep_variant(session.choice.kernel)
        assert len(session.results.figures.of("gputiled~edited")) == kept
        session.results.add_result(row("gputiled~edited", 5.0, n=64 * value))
    session.choice.renew(parse(session.choice.base.text + "// more\n", session.choice.base.path))
    assert not session.results.figures.of("gputiled~edited") and len(session.results.charted) == len(
        session.choice.kernels
    )


def test_only_what_gemmviz_brings_unchanged_is_shipped(session):
    assert session.choice.shipped(session.choice.kernel)
    edit(session, "float sum = 0;", "float sum = 1;")
    assert not session.choice.shipped(session.choice.kernel) and session.choice.is_shipped_file(session.choice.base)
    session.choice.renew(parse(session.choice.base.text + "\n", session.choice.base.path))
    assert not session.choice.shipped(session.choice.kernel)


def test_a_file_that_changes_keeps_what_is_chosen(session):
    session.choice.choose(params={"TS": 2})
    other = find("gpumult0", session.choice.kernels)
    session.choice.renew(parse(other.text + "\n", other.path))
    assert session.choice.kernel.name == "gputiled"
    session.choice.renew(parse(session.choice.base.text + "\n", session.choice.base.path))
    assert session.choice.kernel.text.endswith("\n\n") and session.choice.params == {"TS": 2}


def test_drafts_are_announced_when_they_begin_and_end(session):
    told, text = [], session.choice.text
    session.choice.drafted.connect(lambda: told.append(session.choice.unsaved(session.choice.base)))
    for typed in (text + "/", text + "//", text):
        session.choice.draft(typed)
    assert told == [True, False]
    assert session.choice.kernel.text == text  # nothing is recorded before the user pauses


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
    session.playback.loop_from_here()
    session.cursor.seek(11)
    session.playback.loop_to_here()
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
    session.playback.loop_from_here()
    assert session.playback.loop_range == (15, session.cursor.steps - 1)
    session.cursor.seek(3)
    session.playback.loop_to_here()
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
    assert session.playback.trail == 1
    session.playback.set_speed(16.0)
    session.cursor.choose_unit("phase")
    session.playback.play()
    seen = steps_of(session, 6.0)
    assert 2 <= len(seen) <= 12
    assert set(seen) <= {0, 4, 12, 16, 24}
    session.cursor.choose_unit("step")
    assert len(steps_of(session, 3.0)) <= 6
