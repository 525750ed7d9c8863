"""Kernels in the words of CUDA's libraries (cooperative groups, libcu++): C is right, and a mistake in one is found."""

import numpy as np
import nvrtc_alone
import pytest
from library_kernels import LIBRARY, LibraryKernel

from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record

OF_EACH_HEADER = ("groups", "copied_by_tiles", "barrier", "boxes", "ptx")
KERNELS = pytest.mark.parametrize("kernel", LIBRARY, ids=lambda kernel: kernel.name)


@pytest.mark.sweep(*OF_EACH_HEADER)
@KERNELS
def test_c_is_that_of_numpy_and_the_checker_finds_nothing(kernel: LibraryKernel) -> None:
    recording = record(kernel.launch, deadline_s=60)
    product = recording.a.astype(np.float64) @ recording.b.astype(np.float64)
    assert np.allclose(recording.c, product, rtol=1e-5, atol=1e-4)
    assert recording.wrong == 0 and not recording.notes
    assert hazards.find(recording) == []


@pytest.mark.sweep("shared_pipeline", "boxes", "ptx")
@KERNELS
def test_a_mistake_is_found(kernel: LibraryKernel) -> None:
    recording = record(kernel.wrong, deadline_s=60)
    assert recording.wrong or recording.notes or hazards.find(recording)


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
@pytest.mark.sweep("ptx")  # NVRTC needs a second or two of processor time for what the headers include
@KERNELS
def test_nvrtc_takes_the_same_text(kernel: LibraryKernel) -> None:
    text = nvrtc_alone.errors(kernel.launch, "sm_90" if kernel.launch.maps else "sm_80")
    if "could not open source file" in text:
        pytest.skip("the toolkit's headers are not installed")
    assert text == ""
