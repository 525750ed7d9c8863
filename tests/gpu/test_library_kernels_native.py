"""Kernels in the words of CUDA's libraries on a real GPU: C is what the recorder computes of the same text."""

import numpy as np
import pytest
from library_kernels import LIBRARY, LibraryKernel
from test_inline_ptx_native import on_gpu

from gemmviz.trace.recording.record import record

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("kernel", LIBRARY, ids=lambda kernel: kernel.name)
def test_c_is_that_of_the_recording(kernel: LibraryKernel) -> None:
    # Sums of small whole numbers are exact in any order.
    assert (on_gpu(kernel.launch).astype(np.float64) == record(kernel.launch, deadline_s=60).c).all()
