"""The order of a recording's rows by thread."""

import numpy as np
import pytest

from gemmviz.trace.recording.async_copy_rows import _by_owner


@pytest.mark.parametrize("threads", [1, 3, 1024, 1 << 16])
@pytest.mark.parametrize("sorted_by_block", [True, False])
def test_rows_are_in_the_order_of_their_blocks_and_threads_and_else_stay_as_they_are(
    threads: int, sorted_by_block: bool
) -> None:
    generator = np.random.default_rng(1)
    # More blocks than one key of 16 bits can number, and some without a row.
    block = generator.integers(70_000, 70_000 + 3 * (1 << 16) // threads + 2, 5_000).astype(np.uint32)
    if sorted_by_block:
        block.sort()
    thread = generator.integers(0, threads, len(block)).astype(np.uint16)
    assert (_by_owner(block, thread) == np.lexsort([thread, block])).all()


def test_no_rows_have_an_order() -> None:
    assert len(_by_owner(np.zeros(0, np.uint32), np.zeros(0, np.uint16))) == 0
