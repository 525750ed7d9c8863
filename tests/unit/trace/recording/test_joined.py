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
    text = sentence(found)
    assert f"{thousands(2 * half)} bytes of A cross" in text and f"{thousands(4 * half)} bytes would" in text


def test_rows_that_are_read_in_their_owners_memory_cross_for_each_tile_and_are_never_copied() -> None:
    found = of_rung("peer_tiles")
    timeline = build(found, "grid")
    known = shared_product(Playable(found, timeline, measure(found, timeline)))
    assert known is not None
    once = found.m * found.k * 2
    text = sentence(found)
    assert f"{thousands(2 * once)} bytes of A cross" in text and f"copies would bring {thousands(once)} bytes" in text
    panel, (first, second, *_) = known.panels[0], known.launches
    assert (panel.device, panel.owner) == (second.device, second.owner)
    for step, crosses in ((first.last, False), (second.first, True), (second.last, True)):
        assert known.crosses(panel, step) == crosses and not known.held(panel, step)


def test_a_kernel_that_copies_rows_itself_reads_each_over_the_link_once_and_multiplies_its_own_copy() -> None:
    found = at_demo("fused_panels").recording
    assert found.wrong == 0 and found.sharing is not None
    half, log = found.m // 2 * found.k, found.accesses
    (one, other) = links(found)
    assert (one.device, one.owner, one.once_bytes, one.read_bytes) == (0, 1, 2 * half, 2 * half)
    assert (other.device, other.owner, other.once_bytes) == (1, 0, 2 * half)
    elsewhere = is_elsewhere(found, np.arange(len(log)))
    assert {found.text.splitlines()[s.line - 1].split(" = ")[0].strip() for s in found.sites if s.elsewhere} == {
        "part[v]"
    }
    rows = np.flatnonzero(elsewhere)
    assert not log.write[rows].any() and (log.array[rows] == A).all()
    position, element = found.elements(rows)
    assert (memory_of_a(found, rows[position], element) != gpu_of(found, rows[position])).all()
    written = np.flatnonzero(log.write & (log.array == A))
    position, element = found.elements(written)
    assert (memory_of_a(found, written[position], element) == gpu_of(found, written[position])).all()
    assert checked_recording(arrived(found).recording).sites == found.sites  # as the window gets them
    # Played block by block, as the recorder ran them: the first block of a GPU copies, and the second one multiplies.
    timeline = build(found, "block")
    known = shared_product(Playable(found, timeline, measure(found, timeline)))
    assert known is not None and not known.in_panels
    for panel in known.panels:
        first, last = panel.crossed
        assert known.crosses(panel, first) and known.crosses(panel, last) and last < panel.needed
        assert not known.crosses(panel, panel.needed) and known.held(panel, panel.needed)


def test_nothing_crosses_where_each_gpu_holds_all_of_a_or_is_alone() -> None:
    assert links(of_rung("whole_a")) == [] and "nothing crosses" in sentence(of_rung("whole_a"))
    alone = record(launch(find("gpumult0", ladder()), Problem.cube(8)), deadline_s=20)
    assert alone.sharing is None and links(alone) == [] and sentence(alone) == ""


def test_some_blocks_only_are_refused_with_what_fits() -> None:
    job = launch(find("panels", ladder()), Problem(128, 256, 64), SMALL)
    with pytest.raises(ConstraintError, match="all blocks of all GPUs"):
        record(job, blocks=(0, 1))


def test_a_recording_arrives_with_its_launches_and_damaged_ones_are_refused() -> None:
    found = plain("row")
    assert checked_recording(arrived(found).recording).sharing == found.sharing
    assert found.sharing is not None
    wrongs: tuple[dict[str, Any], ...] = (
        {"devices": 1},
        {"launches": ((0, 2),)},
        {"launches": ()},
        {"launches": ((0, 0),) * 3},
    )
    for wrong in wrongs:
        with pytest.raises(Damaged):
            checked_recording(replace(found, sharing=replace(found.sharing, **wrong)))
