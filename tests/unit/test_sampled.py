"""The sample of rungs stands for all kinds of rungs: a new chapter or lens needs one of its rungs there."""

from recordings import RUNGS
from sampled import SAMPLE, sampled

from gemmviz.catalogue.chapters import by_chapter
from gemmviz.catalogue.ladder import find, ladder


def test_each_chapter_and_each_lens_has_a_rung_in_the_sample() -> None:
    assert set(SAMPLE) <= set(RUNGS) and len(SAMPLE) == len(set(SAMPLE))
    kernels = [kernel for kernel in ladder() if kernel.name in RUNGS]
    for _, members in by_chapter(kernels):
        assert {kernel.name for kernel in members} & set(SAMPLE), members
    lenses = {kernel.demo.lens for kernel in kernels if kernel.demo is not None}
    found = {demo.lens for name in SAMPLE if (demo := find(name, ladder()).demo) is not None}
    assert found == lenses


def test_what_is_not_in_the_sample_is_thorough() -> None:
    marked = {parameter.values[0] for parameter in sampled(RUNGS) if parameter.marks}
    assert marked == set(RUNGS) - set(SAMPLE)
