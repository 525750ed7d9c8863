"""The rows of asynchronous copies: the recorder counts them in each block."""

import numpy as np

from gemmviz.simt.layout import COPY, NO_ROW
from gemmviz.trace.recording.async_copy_rows import pairs


def test_rows_are_counted_from_the_beginning_of_the_recording_and_a_copy_of_zeros_reads_none() -> None:
    # Blocks 4, 7 and 9 have 3, 2 and 4 rows; a block without copies stands between two with some.
    rows = {"block_of": np.repeat(np.array([4, 7, 9], np.uint32), [3, 2, 4])}
    arrived = [(4, 1, 0, 0, 0), (4, 2, NO_ROW, 5, 1), (9, 3, 0, 0, 2), (9, 1, 2, 1, 0)]
    expected = [[1, 0, 0], [2, -1, 1], [8, 5, 2], [6, 7, 0]]
    assert pairs(np.array(arrived, COPY), rows).tolist() == expected


def test_no_copies_have_no_rows() -> None:
    found = pairs(np.zeros(0, COPY), {"block_of": np.zeros(0, np.uint32)})
    assert found.shape == (0, 3) and found.dtype == np.int64
