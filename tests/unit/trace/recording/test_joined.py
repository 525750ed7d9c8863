"""The recording of a product on several GPUs: each has a memory of its own, and the parts are those of one product."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arriving import arrived
from demo_recordings import at_demo

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.problem import Problem
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.link import links, sentence
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.lenses.panel_use import shared_product
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.memories import gpu_of, is_elsewhere, memory_of_a
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.untrusted import Damaged, checked_recording

SMALL = {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 2, "CLUSTER": 1, "SPLIT": 1}
PLAIN = """// ---gemmviz
// version = 7
// entry = "product"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["N / 8", "M / 8"]
// layout = { B = "ORDER" }
// devices = 2
// divided = { A = "rows", B = "columns", C = "columns" }
// crossing = "meanwhile"
// ---
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[i * K + k] * B[PLACE];
    C[i * N + j] = sum;
}
"""


def of_rung(name: str, gpus: int = 2) -> Recording:
    job = launch(find(name, ladder()), Problem(64 * gpus, 128 * gpus, 64), SMALL | {"GPUS": gpus})
    return record(job, deadline_s=20)


def plain(order: str) -> Recording:
    text = PLAIN.replace("ORDER", order).replace("PLACE", "k * N + j" if order == "row" else "j * K + k")
    return record(launch(parse(text, Path("mine.cu")), Problem(16, 32, 8)), deadline_s=20)


def assert_parts_are_those_of_one_product(found: Recording) -> None:
    """Every access has the value of the element that it names in the whole matrices, and C is right and whole."""
    assert found.wrong == 0 and not found.notes
    assert np.array_equal(found.c, found.a @ found.b)
    log = found.accesses
    for matrix, values in ((A, found.a), (B, found.b), (C, found.c)):
        rows = np.flatnonzero((log.array == matrix) & (log.write if matrix == C else ~log.write))
        _, element, value = found.covered(rows)
        row, column = found.arrays[matrix].cells(element)
        assert len(np.unique(element)) == values.size
        assert np.array_equal(values[row, column], value)


@pytest.mark.parametrize("order", ["row", "column"])
def test_elements_are_numbered_as_in_the_whole_matrices(order: str) -> None:
    assert_parts_are_those_of_one_product(plain(order))


@pytest.mark.sweep("gather-2", "panels-2", "peer_tiles-2")
@pytest.mark.parametrize(
    ("name", "gpus"), [("whole_a", 2), ("gather", 2), ("panels", 2), ("panels", 4), ("peer_tiles", 2)]
)
def test_boxes_and_mbarriers_of_all_launches_are_kept(name: str, gpus: int) -> None:
    found = of_rung(name, gpus)
    assert_parts_are_those_of_one_product(found)
    boxes, log = found.boxes, found.accesses
    for matrix in (A, B):
        loads = np.flatnonzero((boxes.matrix == matrix) & (boxes.store == 0))
        row, column = found.arrays[matrix].cells(log.element[boxes.read[loads]])
        assert np.array_equal(row, boxes.row[loads]) and np.array_equal(column, boxes.column[loads])
    assert np.array_equal(log.block[boxes.read[boxes.reads > 0]], boxes.block[boxes.reads > 0])
    assert set(found.events.block.tolist()) == set(range(found.blocks))
    assert sorted(found.barriers) == [("empty", 0), ("empty", 1), ("full", 0), ("full", 1)]


def test_each_gpu_computes_its_columns_of_c_from_the_rows_of_each_owner() -> None:
    found = of_rung("panels")
    assert found.sharing is not None and found.sharing.launches == ((0, 0), (0, 1), (1, 1), (1, 0))
    each = found.blocks // 4
    for row, column in ((0, 0), (0, 255), (127, 0), (127, 255)):
        device, owner = found.sharing.launches[int(found.owners[0][row, column]) // each]
        assert (device, owner) == (column // 128, row // 64)


def test_the_launches_of_a_gpu_come_one_after_the_other_and_those_of_two_gpus_side_by_side() -> None:
    found = of_rung("panels")
    timeline = build(found, "grid")
    known = shared_product(Playable(found, timeline, measure(found, timeline)))
    assert known is not None
    first, second, other, last = known.launches
    assert first.last < second.first and other.last < last.first
    assert (first.first, first.last) == (other.first, other.last) and second.first == last.first
    # A panel crosses until the launch begins that reads it; then it is there.
    panel = known.panels[0]
    assert panel.needed == second.first
    assert known.crosses(panel, first.last) and not known.crosses(panel, second.first)
    assert known.done(first, first.last) == 1 and known.done(second, first.last) == 0


@pytest.mark.parametrize("name", ["gather", "panels"])
def test_rows_of_others_cross_once_and_are_read_by_each_tile_of_their_columns(name: str) -> None:
    found = of_rung(name)
    half = found.m // 2 * found.k * 2
    assert [(one.device, one.owner, one.once_bytes, one.read_bytes) for one in links(found)] == [
        (0, 1, half, 2 * half),
        (1, 0, half, 2 * half),
    ]
    assert f"{thousands(2 * half)} bytes of A cross" in sentence(
        found
    ) and f"{thousands(4 * half)} bytes would" in sentence(found)


def test_rows_that_are_read_in_their_owners_memory_cross_for_each_tile_and_are_never_copied() -> None:
    found = of_rung("peer_tiles")
    timeline = build(found, "grid")
    known = shared_product(Playable(found, timeline, measure(found, timeline)))
    assert known is not None
    once = found.m * found.k * 2
    text = sentence(found)
    assert f"{thousands(2 * once)} bytes of A cross" in text and f"copies would bring {thousands(once)} bytes" in text
    for wrong in wrongs:
        with pytest.raises(Damaged):
            checked_recording(replace(found, sharing=replace(found.sharing, **wrong)))
