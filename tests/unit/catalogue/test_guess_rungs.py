"""Rungs without their front matter: what is guessed of them is what their front matter says."""

from pathlib import Path

import pytest
from guessed_texts import FRONT, RUNGS, bare, wrong

from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.front_matter import needed_version
from gemmviz.catalogue.guessing import folding
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

# Nor does the source of these say enough: what a struct carries to threads, who calls whom through a pointer.
BEYOND = ("simd", "simd_threads")
# That the tile of a warp is made of tensor-core fragments no arithmetic says: sizes that fit are not found.
UNFITTED = ("wmma_shared", "mma_swizzle", "mma_pipeline")
# That a thread's rows and columns stand in groups of four is not guessed: the values found are not those that work.
OF_FOURS = ("warp_tiling", "async_pipeline", "register_buffer", "l2_swizzle")
# What two tiles take of dynamic shared memory is guessed as twice what the first one takes; here B's is larger.
AS_TWINS = ("l2_swizzle",)
# One of each kind is recorded as well.
KINDS = ("hostmult1", "gpumult0", "mm", "matmul_kernel_naive", "RR", "gputiled_more_work", "matmul_tc_2d_warp_tiling")
SIZE = Problem(256, 512, 128)


@pytest.mark.sweep("hostmult_threads", "gputiled", "CC", "vectorised", "mma_swizzle")
@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung.name not in BEYOND], ids=lambda k: k.name)
def test_the_source_of_a_rung_says_what_its_front_matter_says(rung: Kernel) -> None:
    made = bare(rung)
    mine = guessed_kernel(made)
    assert mine.args == rung.args
    assert (mine.dtype, mine.accumulate, mine.column_major) == (rung.dtype, rung.accumulate, rung.column_major)
    if rung.name in UNFITTED:
        return
    assert made.doubts == []
    if rung.backend == "cuda" and mine.params.keys() == rung.params.keys():
        values = rung.defaults if rung.name in OF_FOURS else mine.defaults
        # What the source says is the grid that it needs, not the one that is printed.
        needed = find(rung.name.removesuffix("_printed_grid"), RUNGS)
        size = Problem.cube(SIZE.m) if rung.name == "mm_optimizado_printed" else SIZE  # square matrices only
        ours, theirs = launch(mine, size, values), launch(needed, size, values)
        assert (ours.block, ours.grid) == (theirs.block, theirs.grid)
        assert ours.shared_bytes == theirs.shared_bytes or rung.name in AS_TWINS


@pytest.mark.sweep("hostmult1", "matmul_tc_2d_warp_tiling")
@pytest.mark.parametrize("name", KINDS)
def test_a_guess_at_a_rung_computes_the_right_c(name: str) -> None:
    made = settle(bare(find(name, ladder())), wrong)
    assert made.right, made.settled
    assert "C is right at" in made.settled


def test_no_expression_is_read_twice_however_many_parameters_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    folding._expression.cache_clear()
    monkeypatch.setattr(folding, "Expression", lambda text: (read.append(text), Expression(text))[1])
    text = next(kernel.text for kernel in RUNGS if kernel.name == "mma_swizzle")
    guess(FRONT.sub("", text), Path("mine.cu"))
    assert read and len(read) == len(set(read))


def test_front_matter_is_written_for_the_lowest_version_that_knows_its_keys() -> None:
    # A newer version would let an older gemmviz say that it does not know all of the file.
    made = bare(find("gputiled", RUNGS))
    assert guessed_kernel(made).version == 1 and "version" not in made.front_matter()
    assert [needed_version(keys) for keys in ([], ["title", "args"], ["demo"], ["code_of", "demo"])] == [1, 1, 2, 3]
