"""A recording whose C is wrong shows the layout with which it would be right."""

from types import SimpleNamespace

import numpy as np
import pytest

from gemmviz.catalogue.guessing.verdict import Reading
from gemmviz.engine.readings import readings


def recorded(m: int, n: int, k: int, by_columns: frozenset[str], exchanged: bool) -> SimpleNamespace:
    """Return what a kernel computes that reads its matrices in some layout, and gets all of them by rows."""
    generator = np.random.default_rng(0)
    a, b = generator.integers(-3, 4, (m, k)).astype(float), generator.integers(-3, 4, (k, n)).astype(float)
    first, second = (b, a) if exchanged else (a, b)

    def read(matrix: np.ndarray, rows: int, columns: int, name: str) -> np.ndarray:
        flat = matrix.reshape(-1)
        return flat.reshape(columns, rows).T if name in by_columns else flat.reshape(rows, columns)

    product = read(first, m, k, "A") @ read(second, k, n, "B")
    memory = product.T.reshape(-1) if "C" in by_columns else product.reshape(-1)
    return SimpleNamespace(m=m, n=n, k=k, a=a, b=b, c=memory.reshape(m, n))


@pytest.mark.parametrize("layout", ["B", "A", "AB", "C", "ABC"])
def test_the_layout_that_a_kernel_reads_is_found_in_its_result(layout):
    found = readings(recorded(6, 5, 4, frozenset(layout), exchanged=False), ())
    assert found == (Reading(frozenset(layout)),)


def test_matrices_that_were_given_in_the_wrong_order_are_found_where_they_have_as_many_elements():
    wanted = Reading(frozenset("A"), exchanged=True)
    assert wanted in readings(recorded(5, 5, 5, frozenset("A"), exchanged=True), ())
    assert readings(recorded(6, 5, 4, frozenset("A"), exchanged=False), ())[0].exchanged is False


def test_a_result_that_no_layout_explains_has_no_reading():
    wrong = recorded(6, 5, 4, frozenset(), exchanged=False)
    wrong.c[0, 0] += 1
    assert readings(wrong, ()) == ()


def test_the_layout_of_the_launch_is_where_the_reading_begins():
    by_rows = recorded(6, 5, 4, frozenset(), exchanged=False)
    described = SimpleNamespace(**{**vars(by_rows), "b": by_rows.b.reshape(-1).reshape(5, 4).T})
    assert readings(described, {"B"}) == (Reading(frozenset()),)
