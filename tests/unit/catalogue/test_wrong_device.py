"""A kernel that a GPU cannot run is refused with a message before it is compiled; the test needs no GPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.backends import cuda
from gemmviz.backends.driver import CudaDriver, Device
from gemmviz.bench.measure import blame
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

HOPPER = Path(__file__).parents[1] / "hopper"
AMPERE = Device("RTX 3060", "GPU-0", "8.6", 28, 1, 1, False, shared_per_block_bytes=101_376)


@pytest.fixture
def on(monkeypatch):
    def with_device(device):
        monkeypatch.setattr(cuda, "driver", lambda: CudaDriver(True, (13, 0), "", device, ""))

    return with_device


def refusal(backend, kernel, problem=None):
    with pytest.raises(ConstraintError) as caught:
        backend.prepare(launch(kernel, problem or Problem.cube(64)))
    status, message, _ = blame(caught.value, Problem.cube(64))
    assert status == "unsupported"
    return message


def test_a_kernel_for_a_later_gpu_is_unsupported_and_both_are_named(on):
    on(AMPERE)
    text = refusal(cuda.CudaBackend(), load(HOPPER / "tma_tiles.cu"))
    assert text == "tma_tiles needs compute capability 9.0 or later; this GPU has 8.6"
    text = refusal(cuda.CudaBackend(), load(HOPPER / "multicast_tiles.cu"))
    assert text == "multicast_tiles needs exactly compute capability 9.0; this GPU has 8.6"


def test_a_kernel_for_one_architecture_is_unsupported_on_the_next(on):
    on(replace(AMPERE, cc="10.0"))
    assert "exactly compute capability 9.0; this GPU has 10.0" in refusal(
        cuda.CudaBackend(), load(HOPPER / "multicast_tiles.cu")
    )


def test_a_library_may_need_a_later_gpu_too(on):
    on(replace(AMPERE, cc="7.5"))
    text = refusal(cuda.CublasBackend(), find("cublas_bf16", ladder()))
    assert text == "cublas_bf16 needs compute capability 8.0 or later; this GPU has 7.5"


def test_more_shared_memory_than_a_block_may_have_is_unsupported(on):
    on(AMPERE)
    greedy = replace(find("gputiled", ladder()), shared=Expression("200 * 1024"))
    assert "asks for 204\u202f800 bytes of shared memory per block; this GPU allows 101\u202f376" in refusal(
        cuda.CudaBackend(), greedy
    )
