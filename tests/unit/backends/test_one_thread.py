"""Products that nobody measures take one thread, and leave OpenBLAS as it was."""

import threading

import numpy as np
import pytest

from gemmviz.backends import one_thread
from gemmviz.backends.blas import blas_facts

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


@pytest.fixture
def counts(monkeypatch):
    """The numbers of threads that are set, one after another; there are 5 at first."""
    found = [5]
    monkeypatch.setattr(one_thread, "_thread_count", lambda: (lambda: found[-1], found.append))
    return found


def test_one_thread_is_set_for_a_product_alone(counts):
    assert (one_thread.product(A, B) == A @ B).all()
    assert counts == [5, 1, 5]
    with pytest.raises(ValueError, match="mismatch"):
        one_thread.product(A, A)
    assert counts == [5, 1, 5, 1, 5]


def test_products_of_several_threads_at_once_restore_the_number(counts):
    several = [threading.Thread(target=one_thread.product, args=(A, B)) for _ in range(4)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert counts == [5, *[1, 5] * 4]


def test_another_library_computes_as_it_does(monkeypatch):
    monkeypatch.setattr(one_thread, "_thread_count", lambda: None)
    assert (one_thread.product(A, B) == A @ B).all()


def test_numpys_library_has_as_many_threads_as_before():
    found = one_thread._thread_count()
    if found is None:
        pytest.skip("NumPy has no OpenBLAS here")
    threads, set_threads = found
    before = threads()
    one_thread.product(A, B)
    assert threads() == before and blas_facts()["threads"] == str(before)
    set_threads(1)  # as in a product
    try:
        assert threads() == 1
    finally:
        set_threads(before)
