"""Inline PTX on a real GPU: each small kernel's C is what the recorder computes, bit for bit."""

from pathlib import Path

import conversion_kernels
import numpy as np
import pytest
from function_kernels import FUNCTIONS, NARROW_FUNCTIONS
from ptx_hopper_kernels import BARRIERS, WARPGROUPS
from ptx_kernels import PtxKernel
from ptx_memory_kernels import MEMORY
from ptx_narrow_kernels import NARROW, SPARSE
from ptx_product_kernels import PRODUCTS, QUADS, product
from ptx_texts import FRONT, IN_COMMON, MAPPED
from ptx_wmma_kernels import WMMA
from ptx_word_kernels import WORDS

from gemmviz.backends.cuda import CudaBackend
from gemmviz.backends.driver import driver
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.trace.recording.record import record

pytestmark = pytest.mark.gpu
# CUDA does not document names of operands, which the recorder takes as GCC does.
KERNELS = [
    kernel
    for kernel in (
        *(product(*given) for given in PRODUCTS),
        *QUADS,
        *WORDS,
        *MEMORY,
        *WMMA,
        *NARROW,
        *SPARSE,
        *WARPGROUPS,
        *BARRIERS,
        *FUNCTIONS,
        NARROW_FUNCTIONS,
    )
    if kernel.name != "word_named"
]
GEMMS = Path(__file__).parents[1] / "unit/inline_ptx"


def on_gpu(job: Launch) -> np.ndarray:
    """C as the GPU computes it of the recorder's A and B; elements that nobody writes keep the poison."""
    device = driver().device
    if device is None or not suits(job.kernel.capability, device.cc):
        pytest.skip(f"needs compute capability {job.kernel.capability}")
    prepared = CudaBackend().prepare(job)
    try:
        prepared.load(*small_integer_inputs(job.problem, job.kernel.dtype))
        prepared.poison()
        prepared.run()
        return np.asarray(prepared.fetch())
    finally:
        prepared.close()


def same(job: Launch, but: np.ndarray | None = None) -> None:
    """C of the GPU is C of a recording; `but`: where it may differ."""
    recording = record(job, deadline_s=60)
    c = on_gpu(job).astype(np.float64)
    assert c.shape == recording.c.shape
    differs = (c != recording.c) & ~(np.zeros(c.shape, bool) if but is None else but)
    assert not differs.any(), [(*at, c[tuple(at)], recording.c[tuple(at)]) for at in np.argwhere(differs)[:8]]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_an_instruction_gives_on_the_gpu_what_it_gives_in_a_recording(kernel: PtxKernel) -> None:
    # NVRTC gets -ftz=true: subnormal floats are zero on the GPU.
    name = kernel.name
    same(kernel.launch, conversion_kernels.flushed(name) if name in conversion_kernels.CASES else None)


@pytest.mark.parametrize("name", conversion_kernels.CASES)
def test_a_result_is_rounded_in_the_direction_of_the_name_of_its_function(name: str) -> None:
    c = on_gpu(conversion_kernels.kernel(name).launch).astype(np.float64)
    different = (c != conversion_kernels.wanted(name)) & ~conversion_kernels.flushed(name)
    rows = sorted(set(np.argwhere(different)[:, 0]))
    assert [conversion_kernels.CASES[name][row].call for row in rows] == []


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("hgemm_macros", (64, 96, 160)),
        ("sgemm_header", (24, 16, 40)),
        ("whole_kernel", (13, 21, 9)),
        ("bulk_rows", (32, 64, 96)),
        ("bulk_rows", (16, 32, 64)),
    ],
    ids=lambda given: str(given),
)
def test_a_gemm_with_inline_ptx_gives_the_same(name: str, size: tuple[int, int, int]) -> None:
    same(launch(load(GEMMS / f"{name}.cu"), Problem(*size)))


@pytest.mark.parametrize("kind", range(4))
def test_blocks_of_a_cluster_exchange_the_same(kind: int) -> None:
    same(launch(load(GEMMS / "cluster_halves.cu"), Problem(32, 64, 96), {"KIND": kind}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [(FRONT + IN_COMMON, Problem(12, 9, 7)), (MAPPED, Problem(4, 32, 16))],
    ids=["names in common", "map_shared_rank"],
)
def test_a_whole_kernel_computes_what_its_recording_shows(text: str, problem: Problem) -> None:
    same(launch(parse(text, Path("mine.cu")), problem))
