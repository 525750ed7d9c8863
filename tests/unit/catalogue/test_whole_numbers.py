"""Whole numbers whose sums are exact in 16 bits, and in which no term can hide."""

from itertools import product
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gemmviz.catalogue.dtypes import largest_exact
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Matrix, Problem, small_integer_inputs
from gemmviz.catalogue.whole_numbers import DENSE, spread, whole_inputs

TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
SIZES = [Problem(40, 8, 4096), Problem(3, 40, 2000), Problem(1, 60, 1000), Problem(60, 1, 900), Problem(9, 9, 300)]


def kernel(sums: str, stores: str | None = None) -> Kernel:
    return Kernel("k", Path("k.cu"), "", "cuda", "k", dtype="float16", accumulate=sums, stores=stores)


def inputs(mine: Kernel, problem: Problem) -> tuple[Matrix, Matrix]:
    return whole_inputs(problem, mine.dtype, spread(mine, problem))


@pytest.mark.parametrize(("sums", "problem"), [*product(TYPES, SIZES)], ids=str)
def test_every_partial_sum_is_exact_in_any_order(sums: str, problem: Problem) -> None:
    a, b = (matrix.astype(np.float64) for matrix in inputs(kernel(sums), problem))
    # One more term, which a kernel adds by mistake, is exact, too.
    assert (np.abs(a) @ np.abs(b)).max() + 3 <= largest_exact(sums)
    kind = TYPES[sums]
    c = np.zeros((problem.m, problem.n), kind)
    for k in np.random.default_rng(1).permutation(problem.k):
        c = (c + np.outer(a[:, k], b[k]).astype(kind)).astype(kind)
    assert (c.astype(np.float64) == a @ b).all()


@pytest.mark.parametrize(("sums", "problem"), [*product(TYPES, SIZES)], ids=str)
def test_each_k_that_is_left_out_or_added_twice_shows(sums: str, problem: Problem) -> None:
    a, b = (matrix.astype(np.float64) for matrix in inputs(kernel(sums), problem))
    p, q = spread(kernel(sums), problem)
    assert p <= problem.m and q <= problem.n, "too few elements of C for all of them"
    products = np.abs(a).max(axis=0) > 0, np.abs(b).max(axis=1) > 0
    assert products[0].all() and products[1].all()
    shown = [(np.outer(a[:, k], b[k]) != 0).any() for k in range(problem.k)]
    assert all(shown)


def test_inputs_are_dense_as_long_as_their_sums_are_exact() -> None:
    single = kernel("float32")
    assert spread(single, Problem.cube(131072)) == DENSE
    for mine, dense in zip(
        inputs(single, Problem.cube(9)), small_integer_inputs(Problem.cube(9), "float16"), strict=True
    ):
        assert (mine == dense).all()
    assert spread(kernel("float16"), Problem.cube(227)) == DENSE
    assert spread(kernel("float16"), Problem.cube(228)) == (1, 1)
    a, b = whole_inputs(Problem.cube(300), "float16", (1, 1))
    assert set(np.unique(a)) == {-1, 1} and set(np.unique(b)) == {-3, -2, -1, 1, 2, 3}


def test_the_type_of_c_counts_as_the_type_of_the_sums_does() -> None:
    assert spread(kernel("float32", "float16"), Problem.cube(4096)) == spread(kernel("float16"), Problem.cube(4096))
    assert spread(kernel("float16", "float32"), Problem.cube(4096)) == spread(kernel("float16"), Problem.cube(4096))


def test_sums_of_8_bit_floats_are_kept_within_the_bits_that_tensor_cores_keep() -> None:
    problem = Problem(16, 16, 4096)
    mine = Kernel("k", Path("k.cu"), "", "cuda", "k", dtype="float8_e4m3fn", accumulate="float32")
    a, b = (matrix.astype(np.float64) for matrix in inputs(mine, problem))
    assert (np.abs(a) @ np.abs(b)).max() + 3 <= 2**13


def test_a_factor_and_what_is_added_leave_room() -> None:
    problem = Problem(64, 64, 4096)
    a, b = whole_inputs(problem, "float16", spread(kernel("float16"), problem, kept_free=3, factor=2))
    assert 2 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))).max() + 3 <= 2048
