"""Inline PTX of Hopper that gemmviz/ptx.h has no function for: layouts of operands, forms of mbarriers."""

from dataclasses import replace

import nvrtc_alone
import pytest
from ptx_hopper_kernels import BARRIERS, WARPGROUPS
from ptx_kernels import PtxKernel

from gemmviz.trace.recording.record import record


@pytest.mark.sweep("wgmma_f16_128_128", "wgmma_e4m3_128_128", "wgmma_s8_registers_128_s32")
@pytest.mark.parametrize("kernel", WARPGROUPS, ids=lambda kernel: kernel.name)
def test_a_warpgroup_multiplies_operands_of_every_layout(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert recording.wrong == 0 and not recording.notes
    assert recording.together == 128
    product = [site for site in recording.sites if site.product]
    assert product and len({site.line for site in product}) == 1


@pytest.mark.parametrize("sums", ["f16", "s32"])
def test_sums_that_are_read_without_a_wait_are_wrong(sums: str) -> None:
    (kernel, *_) = [one for one in WARPGROUPS if one.name.endswith(f"_{sums}")]
    hasty = replace(kernel, body=kernel.body.replace("wgmma.wait_group.sync.aligned 0;", ""))
    assert hasty != kernel
    recording = record(hasty.launch, deadline_s=20)
    assert recording.wrong == recording.c.size


@pytest.mark.sweep("wgmma_u8_128_128_s32", "wgmma_s8_registers_128_s32")
@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
@pytest.mark.parametrize(
    "kernel", [one for one in WARPGROUPS if "s32" in one.name or "_f16_" in one.name[8:]], ids=lambda one: one.name
)
def test_nvrtc_takes_the_same_text(kernel: PtxKernel) -> None:
    assert nvrtc_alone.errors(kernel.launch, "sm_90a") == ""


@pytest.mark.parametrize("kernel", BARRIERS, ids=lambda kernel: kernel.name)
def test_an_mbarrier_is_waited_for_by_parity_and_by_state(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert (recording.c == 1).all() and not recording.notes
