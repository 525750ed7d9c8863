"""The kernels with a schedule, recorded: parts along K, C in 16 bits, and rows of any length."""

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ADDED, STORED

SMALL = {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 12, "CLUSTER": 1, "TOGETHER": 0}
TOGETHER = {**SMALL, "ACROSS": 1, "SPLIT": 2, "TOGETHER": 1, "BOXES": 2}
TURNED = {**SMALL, "ACROSS": 1, "SPLIT": 1, "BOXES": 2, "TURNS": 1, "TURNED": 1, "STAGES": 3}
FP8 = {"BN": 64, "STAGES": 2, "BLOCKS": 16, "CLUSTER": 1, "TURNS": 1}
FP32 = {"TM": 4, "WM": 1, "WN": 4, "TN": 4, "BK": 8, "STAGES": 2, "BLOCKS": 7}


@pytest.mark.sweep("every_shape-size0-*", "every_shape_c16-size1-*", "every_shape_fp32-size10-*")
@pytest.mark.parametrize(
    ("name", "size", "params"),
    [
        ("every_shape", (67, 71, 201), {**SMALL, "SPLIT": 2}),
        # Only later blocks store C: an access must not be taken for one of the array around its tile.
        ("every_shape_c16", (64, 128, 256), {**SMALL, "SPLIT": 2}),
        ("every_shape_bf16_c16", (67, 71, 201), {**SMALL, "BLOCKS": 16, "SPLIT": 4}),
        ("every_shape", (130, 136, 100), {**SMALL, "BLOCKS": 4, "CLUSTER": 2, "ACROSS": 2, "BOXES": 1}),
        # Two instructions for a tile's columns, and parts with five k-steps and four.
        ("every_shape", (64, 320, 520), {**SMALL, "BN": 320, "BLOCKS": 2, "ACROSS": 1, "SPLIT": 2, "BOXES": 1}),
        # The two parts of a tile send each other half of their sums; also where C is stored element by element.
        ("every_shape", (67, 139, 201), TOGETHER),
        ("every_shape_bf16", (130, 260, 264), {**TOGETHER, "BM": 128, "BN": 128}),
        ("every_shape_c16", (64, 128, 136), TOGETHER),
        # The narrowest tiles, of small products.
        ("every_shape", (67, 72, 136), {**SMALL, "BN": 32, "CLUSTER": 2}),
        ("every_shape_bf16_c16", (64, 72, 72), {**SMALL, "BN": 32}),
        # Rows of B that begin anywhere (N is odd), and at multiples of 8 bytes; boxes inside of B and over its edges.
        ("every_shape_fp32", (33, 131, 77), FP32),
        ("every_shape_fp32", (33, 134, 77), FP32),
        ("every_shape_fp32", (70, 133, 39), {**FP32, "TM": 8, "TN": 16, "BLOCKS": 3}),
        # FP8: half a tile is 80 columns of B, and the last of a tile's five boxes of C is the first one's memory.
        ("fp8_in_turns", (130, 164, 272), {"BN": 160, "STAGES": 2, "BLOCKS": 2, "CLUSTER": 2}),
        # Four parts of a tile, of which each adds to C after the one before it; and both blocks of a cluster with two.
        ("tf32", (130, 68, 300), {"BM": 128, "BN": 64, "STAGES": 2, "BLOCKS": 16, "CLUSTER": 1, "SPLIT": 4}),
        ("tf32", (260, 68, 300), {"BM": 128, "BN": 64, "STAGES": 2, "BLOCKS": 16, "CLUSTER": 2, "SPLIT": 2}),
        ("fp8_in_turns", (130, 68, 1040), {**FP8, "BLOCKS": 24, "BM": 64, "SPLIT": 4}),
        ("fp8_in_turns", (130, 136, 784), {**FP8, "CLUSTER": 2, "SPLIT": 2}),
        # FP8, two warpgroups that each have half of every tile, and a tile that two blocks share.
        ("fp8_in_turns", (300, 72, 272), {**FP8, "BLOCKS": 2}),
        # Turned tiles: an odd number of 8 rows, edges, a cluster, parts, tiles that blocks share, and two groups.
        ("every_shape", (150, 136, 200), {**TURNED, "BM": 72, "CLUSTER": 2}),
        ("every_shape_bf16", (330, 264, 136), {**TURNED, "BM": 104, "BN": 128, "BLOCKS": 4}),
        ("every_shape_c16", (90, 264, 520), {**TURNED, "BM": 40, "SPLIT": 2, "BLOCKS": 32}),
        ("every_shape_bf16_c16", (400, 264, 136), {**TURNED, "BM": 200, "BN": 128, "ACROSS": 1, "BLOCKS": 4}),
        ("every_shape_c16", (330, 264, 136), {**TURNED, "BM": 48, "ACROSS": 2, "BLOCKS": 4}),
        ("every_shape", (70, 72, 64), {**TURNED, "BM": 8}),
        ("every_shape", (480, 264, 136), {**TURNED, "BM": 208, "BN": 128, "BLOCKS": 2, "STAGES": 5, "BOXES": 2}),
        ("every_shape_c16", (480, 264, 136), {**TURNED, "BM": 88, "BN": 192, "BLOCKS": 2, "BOXES": 4}),
        ("every_shape", (150, 200, 200), {**TURNED, "BM": 72, "BN": 64, "BLOCKS": 8, "CLUSTER": 2, "ACROSS": 4}),
        # Three boxes per tile, so that the last box of a tile and the first of the next one are the same memory.
        ("every_shape_c16", (64, 384, 64), {**SMALL, "BN": 192, "BLOCKS": 1}),
    ],
)
def test_parts_and_odd_sizes_are_right_and_without_findings(name: str, size: tuple[int, int, int], params) -> None:
    recording = record(launch(find(name, ladder()), Problem(*size), params))
    assert (recording.wrong, recording.notes) == (0, ())
    assert hazards.find(recording) == []


def asked(recording: Recording, block: int, matrix: int) -> list[int]:
    """Return the columns of the boxes of A (0) or B (1) that a block asks for."""
    boxes = recording.boxes
    found: list[int] = boxes.column[(boxes.block == block) & (boxes.matrix == matrix) & (boxes.store == 0)].tolist()
    return found


def test_the_parts_of_a_tile_take_the_k_steps_in_turns_and_blocks_with_successive_numbers_have_the_same_part() -> None:
    params = {**SMALL, "BLOCKS": 4, "SPLIT": 2}
    recording = record(launch(find("every_shape", ladder()), Problem(64, 128, 320), params))
    assert [asked(recording, block, 0) for block in range(4)] == [*2 * [[0, 128, 256]], *2 * [[64, 192]]]
    assert [set(asked(recording, block, 1)) for block in range(4)] == [{0}, {64}, {0}, {64}]


def test_the_two_blocks_of_a_cluster_each_store_half_of_a_tile_and_every_eighth_cluster_has_a_tile_beside() -> None:
    params = {**TOGETHER, "BLOCKS": 32}
    recording = record(launch(find("every_shape", ladder()), Problem(64, 16 * 64, 128), params))
    boxes = recording.boxes
    stored = [boxes.column[(boxes.block == block) & (boxes.store == STORED)].tolist() for block in (0, 1, 2, 16)]
    assert stored == [[0], [32], [128], [64]]
    assert [asked(recording, block, 0) for block in (0, 1)] == [[0], [64]]
    assert recording.wrong == 0


def test_two_parts_of_a_tile_of_floats_both_add_to_the_zeros_that_the_first_one_stores() -> None:
    params = {**SMALL, "BLOCKS": 2, "SPLIT": 2}
    recording = record(launch(find("every_shape", ladder()), Problem(64, 64, 256), params))
    boxes = recording.boxes
    of_c = [boxes.block[boxes.store == kind].tolist() for kind in (STORED, ADDED)]
    assert of_c == [[0, 0], [0, 0, 1, 1]]
    assert recording.wrong == 0


def test_each_part_in_tf32_adds_to_c_after_the_one_before_it() -> None:
    params = {"BM": 128, "BN": 64, "STAGES": 2, "BLOCKS": 4, "CLUSTER": 1, "SPLIT": 4}
    recording = record(launch(find("tf32", ladder()), Problem(128, 64, 9 * 32), params))
    boxes = recording.boxes
    steps = [boxes.column[(boxes.block == part) & (boxes.matrix == 0) & (boxes.store == 0)] // 32 for part in range(4)]
    assert [one.tolist() for one in steps] == [[0, 4, 8], [1, 5], [2, 6], [3, 7]]
    assert [set(boxes.block[boxes.store == kind].tolist()) for kind in (STORED, ADDED)] == [{0}, {1, 2, 3}]
    assert recording.wrong == 0


@pytest.mark.sweep("96-32")
@pytest.mark.parametrize(("columns", "box"), [(64, 64), (96, 32)])
def test_a_c_of_16_bits_leaves_in_boxes_as_wide_as_those_of_b(columns: int, box: int) -> None:
    params = {**SMALL, "BN": columns, "BLOCKS": 1, "TURNED": 0}
    recording = record(launch(find("every_shape_c16", ladder()), Problem(64, 2 * columns, 64), params))
    boxes = recording.boxes
    assert boxes.column[boxes.store == 1].tolist() == [*range(0, 2 * columns, box)]
    assert recording.wrong == 0
