"""Bounds of rounding errors: which one applies, and that real sums in 16 bits keep to it."""

from math import exp, sqrt
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gemmviz.bench import error_bound
from gemmviz.bench.error_bound import FAILURE, gamma, probable_gamma
from gemmviz.bench.verify import Reference, check
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem, random_inputs

HALF, BRAIN = np.float16, ml_dtypes.bfloat16


def kernel(dtype: str, accumulate: str, stores: str | None = None) -> Kernel:
    return Kernel("k", Path("k.cu"), "", "cuda", "k", dtype=dtype, accumulate=accumulate, stores=stores)


def product(a: np.ndarray, b: np.ndarray, kind: type) -> np.ndarray:
    """Add the products one after the other, each rounded to a type before it is added, and each sum, too."""
    c = np.zeros((len(a), b.shape[1]), kind)
    for k in range(a.shape[1]):
        c = (c + (a[:, k : k + 1].astype(kind) * b[k].astype(kind)).astype(kind)).astype(kind)
    return c


def test_the_a_priori_bound_grows_with_k_and_with_the_roundoff() -> None:
    assert gamma(10, "float32") < gamma(1000, "float32") < gamma(1000, "float16")
    assert gamma(1, "float32") == pytest.approx(2**-24, rel=1e-6)
    assert gamma(1000, "int32") == 0


def test_the_a_priori_bound_says_nothing_from_half_the_reciprocal_of_the_roundoff_on() -> None:
    assert gamma(1023, "float16") == pytest.approx(1, rel=0.01)
    assert gamma(1024, "float16") is None


@pytest.mark.parametrize("accumulate", ["float16", "bfloat16"])
def test_the_probability_of_a_failure_is_the_one_that_is_stated(accumulate: str) -> None:
    k, elements, u = 4096, 4096 * 4096, {"float16": 2.0**-11, "bfloat16": 2.0**-8}[accumulate]
    tolerance = probable_gamma(k, elements, accumulate)
    # Solve the theorem for lambda, and put it into the theorem's probability.
    spread = (np.log1p(tolerance) - k * u**2 / (1 - u)) / (sqrt(k) * u)
    failure = elements * 2 * k * exp(-(spread**2) * (1 - u) ** 2 / 2)
    assert failure == pytest.approx(FAILURE, rel=1e-6)


@pytest.mark.parametrize(
    ("types", "k", "kind"),
    [
        (("float16", "float32", None), 131072, "a priori"),
        (("float16", "float16", None), 256, "a priori"),
        (("float16", "float16", None), 4096, "probabilistic"),
        (("bfloat16", "bfloat16", None), 256, "probabilistic"),
        (("bfloat16", "bfloat16", None), 4096, "none"),
        (("int32", "int32", None), 4096, "a priori"),
        (("int8", "int32", "float16"), 131072, "a priori"),
        (("float8_e4m3fn", "float32", None), 1000, "a priori"),
        (("float8_e4m3fn", "float32", None), 4096, "none"),
    ],
    ids=str,
)
def test_the_probabilistic_bound_serves_where_the_a_priori_bound_says_nothing(types, k: int, kind: str) -> None:
    found = error_bound.of_kernel(kernel(*types), Problem(64, 64, k))
    assert found.kind == kind
    assert (found.tolerance < 1) == (kind != "none")


@pytest.mark.parametrize(("accumulate", "kind", "k"), [("float16", HALF, 2048), ("bfloat16", BRAIN, 256)])
def test_sums_in_16_bits_pass_and_a_wrong_element_fails(accumulate: str, kind: type, k: int) -> None:
    problem = Problem(24, 24, k)
    a, b = random_inputs(problem, accumulate, 7)
    wide, other = a.astype(np.float64), b.astype(np.float64)
    bound = error_bound.of_kernel(kernel(accumulate, accumulate), problem)
    assert bound.kind == "probabilistic"
    wanted = Reference(wide @ other, np.abs(wide) @ np.abs(other), bound)
    c = product(a, b, kind)
    verdict = check(c, wanted)
    assert verdict.ok and verdict.bound == verdict.to_plain()["bound"] == "probabilistic"
    c[3, 5] += c.dtype.type(2 * bound.tolerance * float(np.abs(wide[3]) @ np.abs(other[:, 5])))
    assert check(c, wanted).worst_index == (3, 5)


def test_a_c_in_half_may_be_rounded_once_more() -> None:
    problem = Problem(16, 16, 64)
    single, half = (error_bound.of_kernel(kernel("float16", "float32", c), problem) for c in (None, "float16"))
    assert half.tolerance - single.tolerance == pytest.approx(2.0**-11 * (1 + single.tolerance))
    a, b = (m.astype(np.float64) for m in random_inputs(problem, "float16", 3))
    c = (a @ b).astype(np.float32).astype(HALF)
    assert check(c, Reference(a @ b, np.abs(a) @ np.abs(b), half)).ok
    assert not check(c, Reference(a @ b, np.abs(a) @ np.abs(b), single)).ok


def test_a_c_of_more_digits_than_the_sums_adds_no_error() -> None:
    same, wider = (error_bound.of_kernel(kernel("float16", "float16", c), Problem.cube(8)) for c in (None, "float32"))
    assert same.tolerance == wider.tolerance


@pytest.mark.parametrize(("k", "kind"), [(1024, "a priori"), (4096, "none")])
def test_sums_of_8_bit_floats_have_a_bound_up_to_some_k_and_promoted_ones_at_any(k: int, kind: str) -> None:
    problem = Problem(128, 128, k)
    assert error_bound.of_kernel(find("fp8", ladder()), problem).kind == kind
    promoted = error_bound.of_kernel(find("fp8_promoted", ladder()), problem)
    assert promoted.kind == "a priori" and 0.03 < promoted.tolerance < 0.05
