"""A kernel whose own assertion is false at small sizes: larger ones are tried, and what they have is a condition."""

from pathlib import Path

from guessed_texts import written

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.own_size import at_its_own_size
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
FALSE = Verdict.of("the assertion is false", crashed=True, asserted=True)


def made() -> Guess:
    return guess(TEXT, Path("mine.cu"))


def test_sizes_that_no_assertion_refuses_become_a_condition() -> None:
    tried: list[Problem] = []

    def queue_of_tiles(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return FALSE if size.m % 512 or size.n % 1024 else ""

    found = settle(made(), queue_of_tiles)
    assert found.right and {"M % 512 == 0", "N % 1024 == 0"} <= {*found.requires}
    assert not any(condition.startswith("K %") for condition in found.requires)
    assert tried[0].m < 512 < tried[-1].n


def test_an_assertion_that_no_size_makes_true_stays_the_fault() -> None:
    found = settle(made(), lambda kernel, size: FALSE)
    assert not found.right and "the assertion is false" in found.settled
    assert found.requires == made().requires


def test_a_guessed_grid_is_turned_where_an_assertion_is_false() -> None:
    other = (
        HOST.replace("run", "run_other")
        .replace("gemm<<<", "other<<<")
        .replace("(n + 15) / 16, (m + 15) / 16", "(m + 15) / 16, (n + 15) / 16")
    )
    text = TEXT.replace(HOST, "") + TEXT.replace("gemm(", "other(").replace(HOST, other)
    tried: list[tuple[str, ...]] = []

    def checks_its_rows(kernel: Kernel, size: Problem) -> str:
        tried.append(tuple(side.text for side in kernel.grid))
        return FALSE if "M" in tried[-1][0] else ""

    found = settle(guess(text, Path("mine.cu"), "gemm"), checks_its_rows)
    assert "M" in tried[0][0] and "N" in tried[1][0]
    assert found.right and found.grid == ("ceil(N / 16)", "ceil(M / 16)")


def test_a_launch_that_no_file_gives_is_not_tried_at_larger_sizes() -> None:
    tried: list[Problem] = []

    def refused(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return FALSE

    settle(guess(TEXT.replace(HOST, ""), Path("mine.cu")), refused)
    assert tried and all(size.m < 256 for size in tried)


def test_sizes_in_the_file_that_are_larger_than_any_recorded_one_are_not_tried() -> None:
    main = "\nint main() { float *a, *b, *c; run(a, b, c, 262144, 64, 1); }\n"
    large = guess(TEXT + main, Path("mine.cu"))
    assert large.size == (262144, 64, 1)
    assert at_its_own_size(large, lambda kernel, size: "") is None
