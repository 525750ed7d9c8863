"""Inline PTX of wmma, and of mma with 4-bit numbers, bits, or a sparse A."""

from pathlib import Path

import nvrtc_alone
import pytest
from ptx_kernels import PtxKernel
from ptx_narrow_kernels import NARROW, SPARSE
from ptx_wmma_kernels import WMMA, wmma

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.trace.recording.record import record

FEW = ("wmma_m16n16k16_f16_f16_colrowcol", "wmma_m32n8k16_bf16_f32_rowrowrow", "wmma_m16n16k16_u8_s32_colrowcol")


@pytest.mark.sweep(*FEW)
@pytest.mark.parametrize("kernel", WMMA, ids=lambda kernel: kernel.name)
def test_tiles_are_loaded_multiplied_and_stored(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    shift = 3 * ("_u8_" in kernel.name)
    assert not recording.notes and recording.together == 32
    assert (recording.c == (recording.a + shift) @ (recording.b + shift)).all()
    log = recording.accesses
    assert {"as", "bs", "cs", "ds"} <= {recording.arrays[n].name for n in set(log.array)}


@pytest.mark.sweep("mma_m16n8k64_s4_u4", "mma_m16n8k256_b1_b1_xor", "mma_sp_32_f16_f16_1", "mma_sp_16_tf32_f32_1")
@pytest.mark.parametrize("kernel", [*NARROW, *SPARSE], ids=lambda kernel: kernel.name)
def test_narrow_and_sparse_operands_are_multiplied(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert not recording.notes and recording.together == 32
    assert (recording.c == 1).all()


@pytest.mark.sweep(*FEW[:1], "mma_m16n8k256_b1_b1_xor", "mma_sp_32_f16_f16_1")
@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
@pytest.mark.parametrize("kernel", [*WMMA, *NARROW, *SPARSE], ids=lambda kernel: kernel.name)
def test_nvrtc_takes_the_same_text(kernel: PtxKernel) -> None:
    assert nvrtc_alone.errors(kernel.launch, "sm_90a") == ""


@pytest.mark.parametrize(
    ("given", "other"),
    [
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.s32.f32"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "wmma.load.a.sync.aligned.row.m16n16k16.shared.f32"),
        ("wmma.store.d.sync.aligned.row.m16n16k16", "wmma.store.d.sync.aligned.row.m8n8k128"),
    ],
)
def test_a_tile_that_no_tensor_core_has_is_named(given: str, other: str) -> None:
    kernel = wmma("m16n16k16", "f16", "f32")
    text = kernel.launch.kernel.text
    assert text.count(given) == 1
    with pytest.raises(ConstraintError, match=other.split(".sync")[0]):
        record(launch(parse(text.replace(given, other), Path("mine.cu")), kernel.problem), deadline_s=20)
