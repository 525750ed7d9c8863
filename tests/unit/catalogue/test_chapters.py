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


def test_a_kernel_stands_where_its_idea_is_taught():
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


def test_a_strangers_kernel_has_a_chapter_of_its_own():
    kernels = ladder()
    own = replace(kernels[0], path=Path("/nowhere/10_mine.c"))
    assert chapter_of(own) is OWN
    assert by_chapter([*kernels, own])[0] == (OWN, [own])
