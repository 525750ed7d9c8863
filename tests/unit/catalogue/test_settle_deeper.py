"""A pipeline that misses its arrays where K has few tiles: a larger K is tried, and becomes a condition."""

from pathlib import Path

from guessed_texts import written

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

HOST = """
void run(float *a, float *b, float *c, int m, int n, int k)
{
    gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
"""
TEXT = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C") + HOST
MISSES = Verdict.of("reads A out of bounds", misses=True)


def made() -> Guess:
    return guess(TEXT, Path("mine.cu"))


def test_the_least_k_at_which_nothing_is_missed_becomes_a_condition() -> None:
    found = settle(made(), lambda kernel, size: MISSES if size.k % 128 else "")
    assert found.right and "K % 128 == 0" in found.requires
    found = settle(made(), lambda kernel, size: MISSES if size.k % 256 else "")
    assert found.right and "K % 256 == 0" in found.requires


def test_a_launch_that_misses_its_arrays_at_any_k_keeps_its_fault() -> None:
    tried: list[Problem] = []

    def always(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return MISSES

    found = settle(made(), always)
    assert not found.right and "out of bounds" in found.settled
    assert "K % 256 == 0" not in found.requires
    assert max(size.k for size in tried) == 256


def test_a_larger_k_that_gives_a_wrong_c_is_no_condition() -> None:
    wrong = Verdict.of("all elements of C are wrong", comparable=True)
    found = settle(made(), lambda kernel, size: wrong if size.k >= 128 else MISSES)
    assert not found.right and "K % 128 == 0" not in found.requires
