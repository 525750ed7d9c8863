"""Inline PTX of Hopper that gemmviz/ptx.h has no function for: layouts of operands, forms of mbarriers."""

import pytest
from ptx_hopper_kernels import BARRIERS, WARPGROUPS
from ptx_kernels import PtxKernel

from gemmviz.trace.recording.record import record


@pytest.mark.parametrize("kernel", WARPGROUPS, ids=lambda kernel: kernel.name)
def test_a_warpgroup_multiplies_operands_of_every_layout(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert recording.wrong == 0 and not recording.notes
    assert recording.together == 128
    product = [site for site in recording.sites if site.product]
    assert product and len({site.line for site in product}) == 1


@pytest.mark.parametrize("kernel", BARRIERS, ids=lambda kernel: kernel.name)
def test_an_mbarrier_is_waited_for_by_parity_and_by_state(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert (recording.c == 1).all() and not recording.notes
