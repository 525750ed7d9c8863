"""Verification: right results pass, every kind of wrong one fails."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.bench import parts, verification_reference, verify
from gemmviz.bench.error_bound import ErrorBound, gamma
from gemmviz.bench.verify import Reference, check
from gemmviz.catalogue.errors import GemmvizError


def a_priori(k, dtype, tensor_cores=False):
    return ErrorBound("a priori", gamma(k, dtype, tensor_cores))


def reference(m, n, k, seed=0, dtype="float32"):
    generator = np.random.default_rng(seed)
    a, b = generator.uniform(-1, 1, (m, k)).astype(dtype), generator.uniform(-1, 1, (k, n)).astype(dtype)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    return a, b, Reference(wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b), a_priori(k, dtype))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 300), st.integers(0, 1000))
def test_a_sum_in_any_order_passes(m, n, k, seed):
    a, b, wanted = reference(m, n, k, seed)
    order = np.random.default_rng(seed).permutation(k)
    c = np.zeros((m, n), np.float32)
    for i in order:
        c += np.outer(a[:, i], b[i])
    assert check(c, wanted).ok


def test_a_missing_term_fails_and_the_worst_element_is_named():
    a, b, wanted = reference(20, 30, 64)
    c = a @ b
    c[7, 11] -= a[7, 3] * b[3, 11]
    verdict = check(c, wanted)
    assert not verdict.ok
    assert verdict.worst_index == (7, 11)
    assert verdict.wrong == 1
    assert "1 of 600" in verdict.message and "C[7, 11]" in verdict.message


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_fails(value):
    a, b, wanted = reference(8, 8, 8)
    c = a @ b
    c[2, 5] = value
    verdict = check(c, wanted)
    assert not verdict.ok
    assert verdict.worst_index == (2, 5)
    assert verdict.to_plain()["max_abs"] is None


@pytest.mark.parametrize("exact", [False, True])
def test_several_threads_give_the_verdict_of_one(monkeypatch, exact):
    _, _, wanted = reference(64, 32, 16)
    wanted = Reference(wanted.expected) if exact else wanted
    c = wanted.expected.astype(np.float64)
    for place in ((9, 3), (50, 20), (50, 21)):  # of equal ones the first is the worst
        c[place] += 1e3 if exact else 1e3 * wanted.magnitude[place]
    monkeypatch.setattr(verify, "CHUNK_ELEMENTS", 4 * 32)
    met = threading.Barrier(3, timeout=20)
    compare = verify._compare

    def compared(*arguments):
        if arguments[2].start < 12:
            met.wait()  # three parts have to be compared at the same time
        return compare(*arguments)

    monkeypatch.setattr(parts.machine, "cores", lambda: 1)
    one = check(c, wanted)
    assert (one.wrong, one.worst_index) == (3, (9, 3))
    monkeypatch.setattr(verify, "_compare", compared)
    monkeypatch.setattr(parts.machine, "cores", lambda: 3)
    assert check(c, wanted) == one


def test_an_unwritten_element_fails():
    a, b, wanted = reference(8, 8, 8)
    c = a @ b
    c[-1, -1] = np.frombuffer(b"\xff" * 4, np.float32)[0]
    assert not check(c, wanted).ok


def test_exact_references_allow_no_error_at_all():
    expected = np.arange(12.0).reshape(3, 4)
    assert check(expected.astype(np.float32), Reference(expected)).ok
    off = expected.astype(np.float32)
    off[1, 2] = np.nextafter(off[1, 2], np.float32(100))
    assert check(off, Reference(expected)).worst_index == (1, 2)


def test_a_zero_row_must_stay_zero():
    expected, magnitude = np.zeros((2, 2)), np.zeros((2, 2))
    c = np.zeros((2, 2), np.float32)
    assert check(c, Reference(expected, magnitude, ErrorBound("a priori", 1e-6))).ok
    c[0, 1] = 1e-30
    assert not check(c, Reference(expected, magnitude, ErrorBound("a priori", 1e-6))).ok


def test_products_too_small_for_the_type_may_lose_all_their_digits():
    a = np.full((1, 1), 2.0**-13, np.float16)
    b = np.full((1, 1), 1.4 * 2.0**-11, np.float16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    c = a * b
    assert abs(c - exact) > 2 * 2.0**-11 * exact
    assert not check(c, Reference(exact, exact, ErrorBound("a priori", 2 * 2.0**-11))).ok
    assert check(c, Reference(exact, exact, ErrorBound("a priori", 2 * 2.0**-11, 2.0**-25))).ok


def test_large_matrices_are_checked_to_the_last_row():
    expected = np.ones((3000, 3000))
    c = np.ones((3000, 3000), np.float32)
    c[2999, 17] = 2
    assert check(c, Reference(expected)).worst_index == (2999, 17)


def test_tensor_cores_may_cut_digits_off_and_nothing_more():
    m, n, k = 16, 16, 4096
    generator = np.random.default_rng(3)
    a, b = (generator.uniform(-1, 1, shape).astype(np.float16).astype(np.float64) for shape in ((m, k), (k, n)))
    wanted = Reference(a @ b, np.abs(a) @ np.abs(b), a_priori(k, "float32", tensor_cores=True))
    c = np.zeros((m, n))
    for first in range(0, k, 4):
        addends = [c, *(np.outer(a[:, i], b[i]) for i in range(first, first + 4))]
        # 24 bits below the largest addend, the rest cut off, of every addend and of their sum.
        unit = np.exp2(np.floor(np.log2(np.max(np.abs(addends), axis=0))) - 23)
        c = sum(np.trunc(addend / unit) * unit for addend in addends)
        unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(c), 1e-30))) - 23)
        c = np.trunc(c / unit) * unit
    assert check(c, wanted).ok
    c[3, 5] -= 2 * wanted.bound.tolerance * wanted.magnitude[3, 5]
    assert not check(c, wanted).ok


def test_a_librarys_product_is_compared_with_numpys_in_each_part_of_its_columns(monkeypatch):
    a, b, wanted = reference(8, 23, 16)
    monkeypatch.setattr(verification_reference, "CHUNK_ELEMENTS", 16 * 4)
    verification_reference._cross_check(a, b, wanted.expected)
    for column in range(23):
        wrong = wanted.expected.copy()
        wrong[7, column] += 1e-9
        with pytest.raises(GemmvizError, match="differs from NumPy"):
            verification_reference._cross_check(a, b, wrong)
