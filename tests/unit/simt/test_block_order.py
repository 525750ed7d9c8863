"""Reports of the recorder, sorted by block."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.simt.block_order import by_block, reordered
from gemmviz.simt.layout import BOX, EVENT
from gemmviz.simt.tma_boxes import _lines


def _records(kind: np.dtype[Any], block: list[int]) -> npt.NDArray[Any]:
    records = np.zeros(len(block), kind)
    records["block"] = block
    records["phase" if "phase" in (kind.names or ()) else "issued"] = np.arange(len(block))
    return records


@pytest.mark.parametrize("block", [[], [3], [0, 0, 1, 4], [2, 0, 1, 0, 2, 2, 0], [1 << 17, 5, 1 << 16, 5]])
@pytest.mark.parametrize("kind", [BOX, EVENT])
def test_records_are_sorted_by_block_and_keep_their_order(kind: np.dtype[Any], block: list[int]) -> None:
    records = _records(kind, block)
    found = by_block(records)
    assert found.dtype == kind
    assert found.tobytes() == records[np.argsort(records["block"], kind="stable")].tobytes()
    assert not np.shares_memory(found, records)


def test_records_in_another_order_are_whole() -> None:
    records = _records(EVENT, [4, 5, 6])
    records["barrier"] = [7, 8, 9]
    assert reordered(records, np.array([2, 0])).tobytes() == records[[2, 0]].tobytes()


@pytest.mark.parametrize("pcs", [[], [4096, 4100, 4096, 8192], [0, 0x7F00_0000_1000, 4096]])
def test_each_report_has_the_line_of_its_instruction(pcs: list[int]) -> None:
    assert _lines(np.array(pcs, np.uint64), lambda pc: (pc % 97, 0)).tolist() == [pc % 97 for pc in pcs]
