"""The rows of a recording: their order, and the floats that stand for elements of other types."""

import numpy as np
import pytest
from recordings import SIZES, rung

from gemmviz.catalogue.dtypes import ELEMENT_TYPES
from gemmviz.simt import number_kinds
from gemmviz.simt.layout import NumberKind
from gemmviz.trace.recording.recording import Recording


def order(recording: Recording) -> np.ndarray:
    log = recording.accesses
    return log.block.astype(np.int64) << 32 | log.phase.astype(np.int64) << 16 | log.thread


# Lanes that wait for each other, threads of warpgroups, blocks of a cluster.
@pytest.mark.parametrize("name", ["matmul_tc", "wgmma", "cluster"])
def test_the_rows_of_threads_that_run_in_turns_are_sorted_by_block_phase_and_thread(name: str) -> None:
    recording = rung(name, SIZES[0])
    assert len(np.unique(order(recording))) > 10
    assert (np.diff(order(recording)) >= 0).all()
    assert recording.wrong == 0


@pytest.mark.parametrize("dtype", [*ELEMENT_TYPES, "int16", "uint16"])
def test_elements_of_one_or_two_bytes_have_a_table_of_their_floats(dtype: str) -> None:
    kind, address = number_kinds.number_kind(dtype)
    assert (kind == NumberKind.SMALL) == (np.dtype(dtype).itemsize <= 2) == (address is not None)
    if address is None:
        return
    bits = np.arange(256 ** np.dtype(dtype).itemsize).astype(f"u{np.dtype(dtype).itemsize}")
    floats = bits.view(dtype).astype(np.float32)
    assert number_kinds.floats(dtype).ctypes.data == address
    assert np.array_equal(number_kinds.floats(dtype).view(np.uint32), floats.view(np.uint32))


def test_a_type_without_a_float_for_it_is_unknown() -> None:
    assert number_kinds.number_kind("complex64") == (NumberKind.UNKNOWN, None)
