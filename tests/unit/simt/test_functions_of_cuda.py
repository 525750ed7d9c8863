"""CUDA's functions of bits and bytes, of 8-bit floats and of warps: each gives what the same written out gives."""

import numpy as np
import pytest
from function_kernels import ALL_FUNCTIONS, NARROW_FUNCTIONS
from ptx_kernels import PtxKernel

from gemmviz.trace.recording.record import record


@pytest.mark.parametrize("kernel", [ALL_FUNCTIONS, NARROW_FUNCTIONS], ids=lambda kernel: kernel.name)
def test_a_function_gives_what_the_same_written_out_gives(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=30)
    assert sorted({int(row) // 32 for row in np.argwhere(recording.c != 1)[:, 0]}) == []
