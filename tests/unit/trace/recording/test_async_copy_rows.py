"""The order of a recording's rows by thread."""

import numpy as np
import pytest

from gemmviz.simt.async_copies import Copies
from gemmviz.simt.layout import COPY
from gemmviz.trace.recording import async_copy_rows
from gemmviz.trace.recording.async_copy_rows import _by_owner, pairs


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


def test_pairs_of_many_rows_are_found_in_parts_of_whole_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    # Block b has 3 threads, each with b % 4 copies; a copy reads by one row (each third by none) and writes by one.
    monkeypatch.setattr(async_copy_rows, "_AT_ONCE", 10)
    arrived: list[tuple[int, ...]] = []
    rows: list[tuple[int, int, int]] = []
    expected: list[tuple[int, int, int]] = []
    for block in range(40):
        for thread in range(3):
            copies = range(block % 4)
            reads = [int((block + thread + order) % 3 > 0) for order in copies]
            first_write = len(rows) + sum(reads)
            for order in copies:
                arrived.append((block, order, thread, block % 2, reads[order], 1))
                read = len(rows) + sum(reads[:order]) if reads[order] else -1
                expected.append((first_write + order, read, block % 2))
            rows += [(0, block, thread)] * sum(reads) + [(1, block, thread)] * len(copies)
    arrived.append((40, 0, 0, 0, 0, 0))  # a copy without rows, in a block without rows
    site, block_of, thread_of = np.array(rows).T
    column = {"site": site, "block_of": block_of.astype(np.uint32), "thread_of": thread_of.astype(np.uint16)}
    copies_of_run = Copies(np.array(arrived, COPY), reading=np.array([True, False]), writing=np.array([False, True]))
    assert pairs(copies_of_run, column).tolist() == [list(one) for one in expected]
