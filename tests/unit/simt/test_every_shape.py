"""The kernels with a schedule, recorded: parts along K, C in 16 bits, and rows of any length."""

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record

SMALL = {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 12, "CLUSTER": 1}
FP32 = {"TM": 4, "WM": 1, "WN": 4, "TN": 4, "BK": 8, "STAGES": 2, "BLOCKS": 7}


@pytest.mark.parametrize(
    ("name", "size", "params"),
    [
        ("every_shape", (67, 71, 201), {**SMALL, "SPLIT": 2}),
        # Only later blocks store C: an access must not be taken for one of the array around its tile.
        ("every_shape_c16", (64, 128, 256), {**SMALL, "SPLIT": 2}),
        ("every_shape_bf16_c16", (67, 71, 201), {**SMALL, "BLOCKS": 16, "SPLIT": 4}),
        ("every_shape", (130, 136, 100), {**SMALL, "BLOCKS": 4, "CLUSTER": 2, "ACROSS": 2, "BOXES": 1}),
        # Two instructions for a tile's columns, and a last part that has a k-step more.
        ("every_shape", (64, 320, 520), {**SMALL, "BN": 320, "BLOCKS": 2, "ACROSS": 1, "SPLIT": 2, "BOXES": 1}),
        ("every_shape_fp32", (33, 131, 77), FP32),
    ],
)
def test_parts_and_odd_sizes_are_right_and_without_findings(name: str, size: tuple[int, int, int], params) -> None:
    recording = record(launch(find(name, ladder()), Problem(*size), params))
    assert (recording.wrong, recording.notes) == (0, ())
    assert hazards.find(recording) == []
