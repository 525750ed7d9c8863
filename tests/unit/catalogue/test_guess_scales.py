"""Guesses of single numbers among a kernel's parameters: alpha and beta by their names, others by a neutral value."""

from pathlib import Path

import pytest
from guessed_texts import written

from gemmviz.catalogue.guessing.guess import guess


@pytest.mark.parametrize(
    ("more", "roles"),
    [
        ("float alpha, float beta", ("alpha", "beta")),
        ("float beta, float alpha", ("beta", "alpha")),
        ("float scale", ("alpha",)),
        ("float a, float b", ("alpha", "beta")),
        ("float epsilon", ("1",)),
        ("double slope, double shift", ("1", "0")),
    ],
)
def test_a_number_that_is_not_called_alpha_has_a_neutral_value(more: str, roles: tuple[str, ...]) -> None:
    signature = f"float *A, float *B, float *C, int M, int N, int K, {more}"
    made = guess(written(signature, "M", "N", "K", "A", "B", "C"), Path("gemm.cu"))
    assert made.roles[6:] == roles
