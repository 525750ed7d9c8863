"""The formulas of rows and columns: as in the source, and only if they agree with the recording."""

import pytest
from recordings import own, rung

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.origin.index_formulas import Formula, index_formulas

FOUND = ("gpumult0", "matmul_kernel_naive", "gputiled", "mm_optimizado", "CC", "gputiled_more_work", "narrow_tiles")


@pytest.mark.parametrize("name", FOUND)
def test_each_element_s_formulas_give_its_row_and_column(name):
    recording = rung(name, Problem(17, 20, 9))
    for row in range(0, recording.m, 3):
        for column in range(0, recording.n, 3):
            for formula, wanted in zip(index_formulas(recording, row, column), (row, column), strict=True):
                assert formula is not None and formula.result == wanted
                text = formula.values.replace("×", "*").replace("−", "-").replace("/", "//").replace("mod", "%")
                assert eval(text) == wanted  # the values alone give it, too


def test_the_formula_is_the_source_s_with_the_names_filled_in():
    recording = rung("gputiled", Problem.cube(16))
    row, column = index_formulas(recording, 5, 6)
    assert row == Formula("row", "blockIdx.y × TS + threadIdx.y", "0 × 16 + 5", 5)
    assert column == Formula("col", "blockIdx.x × TS + threadIdx.x", "0 × 16 + 6", 6)


def test_a_formula_that_gives_something_else_is_not_shown():
    # The row is written in another order than the store uses it: the last computed value counts.
    body = """
    int row = threadIdx.x / 4, col = threadIdx.x % 4;
    row += 0;
    if (row < M && col < N) C[row * N + col] = A[row * K] * B[col];"""
    row, column = index_formulas(own(body, Problem(4, 4, 1)), 2, 3)
    assert row is None  # a name that changes stands for no formula
    assert column == Formula("col", "threadIdx.x mod 4", "11 mod 4", 3)


def test_brackets_stay_where_they_are_needed():
    body = """
    const int half = blockDim.x / 2;
    int col = (threadIdx.x % half) - (half - 16), row = (threadIdx.x / half) * (1 + 0);
    if (row < M && col < N) C[row * N + col] = A[row * K] * B[col];"""
    row, column = index_formulas(own(body, Problem(2, 16, 1)), 1, 5)
    assert row == Formula("row", "threadIdx.x / (blockDim.x / 2) × (1 + 0)", "21 / (32 / 2) × (1 + 0)", 1)
    assert column is not None and column.values == "21 mod (32 / 2) − (32 / 2 − 16)" and column.result == 5


def test_loops_of_a_cpu_have_no_threads_and_no_formulas():
    assert index_formulas(rung("hostmult1", Problem.cube(16)), 1, 1) == (None, None)
