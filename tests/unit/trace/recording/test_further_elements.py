"""Elements after the first one of an access: small ones are kept as they are in memory, and read as floats."""

import numpy as np
import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.matrices import A, B
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.accesses import further_words
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording


def demo_of(name: str) -> Recording:
    kernel = find(name, ladder())
    assert kernel.demo is not None
    return record(launch(kernel, Problem(*kernel.demo.size), kernel.demo.params))


@pytest.mark.parametrize(
    ("name", "words"),
    # 16 bytes: 15 further bytes, 7 further halves, 3 further floats.
    [("fp8", 4), ("every_shape", 4), ("vectorised", 3)],
)
def test_every_element_of_a_wide_read_has_its_value_and_small_ones_take_few_words(name: str, words: int) -> None:
    found = demo_of(name)
    log = found.accesses
    for which, matrix in ((A, found.a), (B, found.b)):
        rows = np.flatnonzero((log.array == which) & (log.write == 0) & (log.bytes == 16))
        assert len(rows)
        _, elements, values = found.covered(rows)
        array = found.arrays[which]
        at = array.cells(elements)
        assert len(values) == len(rows) * 16 // array.itemsize
        assert np.array_equal(values, matrix[at].astype(np.float32))
        assert set(further_words(found.arrays, log.array[rows], np.full(len(rows), 16 // array.itemsize))) == {words}
    spans = np.maximum(log.bytes // np.array([each.itemsize for each in found.arrays])[log.array], 1)
    assert len(log.more) == further_words(found.arrays, log.array, spans).sum()
