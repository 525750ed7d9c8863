"""Flags between blocks: each setting and each wait is an event, wherever in memory the flag is."""

from pathlib import Path

import numpy as np

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.tma_boxes import FLAG_SEEN, FLAG_SET

FLAGS = 1536  # longer than a page
TEXT = f"""// ---gemmviz
// entry = "product"
// args = ["A", "B", "C"]
// block = [1]
// grid = [2]
// requires = ["M == 1", "N == 1", "K == 1"]
// ---
__device__ volatile unsigned flags[{FLAGS}];
__global__ void product(const float *A, const float *B, float *C)
{{
    for (int i = 0; i < {FLAGS}; i++)
        if (blockIdx.x == 0) flags[i] = 1;
        else
            while (!flags[i])
                ;
    if (blockIdx.x == 1) C[0] = A[0] * B[0];
}}
"""


def test_each_flag_of_a_long_array_is_seen_to_be_set() -> None:
    events = record(launch(parse(TEXT, Path("mine.cu")), Problem(1, 1, 1)), deadline_s=20).events
    assert np.count_nonzero(events.kind == FLAG_SET) == FLAGS
    assert np.count_nonzero(events.kind == FLAG_SEEN) == FLAGS
