"""The sizes at which a launch is tried that is right where M, N and K are equal."""

from pathlib import Path

from gemmviz.catalogue.guessing.trial_sizes import less_equal_sizes
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem


def kernel(*requires, grid='"ceil(N / 8)", "ceil(M / 8)"'):
    conditions = ", ".join(f'"{one}"' for one in requires)
    head = f'// entry = "k"\n// args = ["A", "B", "C", "M", "N", "K"]\n// block = [8, 8]\n// grid = [{grid}]\n'
    code = "__global__ void k(const float *A, const float *B, float *C, int M, int N, int K) {}\n"
    return parse(f"// ---gemmviz\n{head}// requires = [{conditions}]\n// ---\n{code}", Path("30_k.cu"))


def test_m_n_and_k_differ_where_the_kernel_takes_it():
    sizes = less_equal_sizes(kernel(), Problem.cube(16))
    assert sizes and all(len({size.m, size.n, size.k}) == 3 for size in sizes)
    assert any(size.m > size.n for size in sizes) and any(size.m < size.n for size in sizes)


def test_nothing_is_left_to_try_where_they_differ_already_or_never_do():
    assert less_equal_sizes(kernel(), Problem(16, 24, 32)) == []
    assert less_equal_sizes(kernel("M == N", "K == N"), Problem.cube(16)) == []


def test_k_differs_alone_where_c_is_square():
    sizes = less_equal_sizes(kernel("M == N"), Problem.cube(16))
    assert sizes and all(size.m == size.n != size.k for size in sizes)
    assert less_equal_sizes(kernel("M == N"), Problem(16, 16, 32)) == []
