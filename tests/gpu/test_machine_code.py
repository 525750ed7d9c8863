"""The listing is of the very code that is measured: its registers and memory are those that the driver sees."""

import pytest
from listings import needs_tools

from gemmviz.assembly.assemble import assemble
from gemmviz.backends.driver import driver
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

pytestmark = pytest.mark.gpu
NAMES = ("matmul_kernel_naive", "gputiled", "matmul_kernel_2d_thread_tiling", "warp_tiling", "mma_pipeline")


@needs_tools
@pytest.mark.parametrize("name", NAMES)
def test_registers_and_memory_are_those_of_the_driver(name):
    from gemmviz.backends.cuda import cupy
    from gemmviz.backends.nvrtc import compile_launch

    one = launch(find(name, ladder()), Problem.cube(1024))
    _, _, build = compile_launch(cupy(), one)
    used = assemble(one, "", driver().device.cc, lambda _: None).usage
    assert (used.registers, used.shared_bytes) == (build.registers, build.shared_bytes)
    assert used.stack_bytes == build.local_bytes
