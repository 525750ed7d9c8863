"""The chosen kernel, its size and its demo, without a window."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from sampled import SAMPLE

from gemmviz.app import new_session
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.session.tour.lessons import locate


@pytest.mark.parametrize("part", ['"K % 16 == 0"', "// title"])
def test_a_rung_of_which_anything_was_edited_is_not_as_shipped(session, part):
    kernel = find("matmul_tc", session.choice.kernels)
    assert session.choice.shipped(kernel)
    edited = parse(kernel.text.replace(part, part.replace("16", "1").replace("title", "title ")), kernel.path)
    assert edited.sha256 == kernel.sha256 and not session.choice.shipped(edited)


def of_another_number_of_blocks(session, kernels):
    """Return the kernels whose picture, without a demo, has not four blocks of four threads or more.

    Those with a schedule are left out: they are shown as their schedule launches them.
    """
    found = []
    for kernel in (replace(k, demo=None) for k in kernels if k.backend == "cuda" and k.schedule is None):
        session.choice.choose_kernel(kernel)
        job = session.choice.launch()
        # The stage shows GPUs side by side: where tiles are large, the four are those of all GPUs together.
        if 4 not in (job.blocks, job.blocks * job.devices) or job.threads < 4:
            found.append(kernel.name)
    return found


def test_the_picture_of_a_cuda_rung_shows_four_blocks(session):
    assert of_another_number_of_blocks(session, (find(name, ladder()) for name in SAMPLE)) == []


@pytest.mark.thorough
def test_the_picture_of_every_cuda_rung_shows_four_blocks(session):
    assert of_another_number_of_blocks(session, ladder()) == []


def test_kept_parameters_are_chosen_before_the_machine_code_is_asked_for(session, monkeypatch):
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    monkeypatch.setattr(session.tuning, "kept_for", lambda kernel, problems: SimpleNamespace(params={"TS": 8}))
    session.tuning.wanted = session.machine_code.as_measured = True
    session.machine_code.watch(1, True)
    asked = []
    session.machine_code.wanted.connect(lambda: asked.append(session.machine_code.launch().params["TS"]))
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    assert asked == [8]


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


def test_a_chosen_size_stays_from_kernel_to_kernel(session):
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
    # The chosen size is the demo's by chance: so are the parameters.
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
    assert not session.demonstration.waiting and panels == ["source"]
    assert session.cursor.step == locate(kernel.demo, session.cursor.playable).step > 0
    assert (session.cursor.block, session.cursor.cell) == (0, None)
    assert session.cursor.position == pytest.approx(session.cursor.step + kernel.demo.stop["fraction"])
    assert session.demonstration.idea == session.staged.idea() == kernel.idea
    session.cursor.pick((2, 0), 0)
    assert session.demonstration.idea == ""  # the caption is about the chosen element
    session.cursor.pick(None)
    assert session.demonstration.idea == kernel.idea
    session.cursor.seek(0)
    assert session.demonstration.idea == ""
    session.demonstration.show()  # its recording stands there: nothing is recorded again
    assert len(wanted) == 1 and session.cursor.step > 0


def test_the_demo_is_not_shown_after_another_action(session):
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


def test_a_size_of_one_block_becomes_larger_unless_it_is_chosen_again(session):
    session.choice.choose(problem=Problem.cube(8))
    session.choice.choose_kernel(find("wgmma", session.choice.kernels))
    assert (session.choice.problem, session.choice.wanted) == (Problem.cube(128), Problem.cube(8))
    # Two rows of tiles for two blocks above each other: both have work.
    session.choice.choose_kernel(find("cluster", session.choice.kernels))
    assert session.choice.problem == Problem.cube(256) and session.choice.params["CLUSTER"] == 2
    session.choice.choose(problem=Problem.cube(64))
    assert session.choice.problem == session.choice.wanted == Problem.cube(64)
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    assert session.choice.problem == Problem.cube(64)


def test_a_refused_size_has_a_message(session):
    session.choice.choose(params={"TS": 64})
    with pytest.raises(ConstraintError, match="TS <= 32"):
        session.choice.launch()


def test_a_file_whose_name_no_folder_frees_is_refused_and_the_same_file_is_replaced(session):
    kernel = find("gputiled", session.choice.kernels)
    count = len(session.choice.kernels)
    with pytest.raises(GemmvizError, match="rename"):
        session.choice.add_kernel(parse(kernel.text, Path("/gputiled.cu")))
    session.choice.add_kernel(parse(kernel.text + "\n", kernel.path))
    assert len(session.choice.kernels) == count and session.choice.kernel.text.endswith("\n\n")
