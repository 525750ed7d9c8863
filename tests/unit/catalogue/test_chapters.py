"""Every kernel has a chapter, and the chapters keep the order of the ladder."""

from dataclasses import replace
from pathlib import Path

from gemmviz.catalogue.chapters import LIBRARIES, OWN, TAUGHT, by_chapter, chapter_of
from gemmviz.catalogue.ladder import find, ladder


def test_the_chapters_hold_every_kernel_once_and_in_order():
    kernels = ladder()
    found = by_chapter(kernels)
    assert [chapter for chapter, _ in found] == [*TAUGHT, LIBRARIES]
    taught = [kernel for _, members in found[:-1] for kernel in members]
    assert taught == [kernel for kernel in kernels if kernel.recordable]
    assert all(not kernel.recordable for kernel in found[-1][1])


def test_a_kernel_is_in_the_chapter_of_its_idea():
    kernels = ladder()
    for name, chapter in (
        ("loop_order", "cpu"),
        ("matmul_kernel_naive", "element"),
        ("matmul_kernel_block_tiling", "tiles"),
        ("CC", "banks"),
        ("stream_k", "ahead"),
        ("wgmma", "hopper"),
        ("openblas", "libraries"),
    ):
        assert chapter_of(find(name, kernels)).id == chapter


def test_strangers_kernels_have_a_separate_chapter():
    kernels = ladder()
    own = replace(kernels[0], path=Path("/nowhere/10_mine.c"))
    assert chapter_of(own) is OWN
    assert by_chapter([*kernels, own])[0] == (OWN, [own])
