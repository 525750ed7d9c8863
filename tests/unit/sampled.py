"""The sample of a sweep over all rungs: a rung for each way to compute, to copy and to wait. The rest is `thorough`.

Such a sweep checks code of ours that is the same for all rungs of a kind. A sweep that checks each rung's own text, its
demo or its lesson has no sample: there each case checks another file.
"""

from collections.abc import Iterable

import pytest

SAMPLE = (
    *("hostmult0", "loop_order", "blocked", "packed", "simd", "hostmult_threads"),  # C: loops, panels, vectors, threads
    *("gpumult1", "mm_bounds", "gputiled", "CC"),  # a thread per element, edges, tiles, both matrices by columns
    *("matmul_kernel_2d_thread_tiling", "vectorised", "conflict_free", "async_pipeline"),  # several elements per thread
    *("stream_k", "matmul_tc_2d_warp_tiling", "mma_swizzle"),  # flags, fragments, inline PTX
    *("wgmma", "warp_specialised", "cluster", "stream_k_tma", "every_shape", "fp8_promoted"),  # Hopper
)


def sampled(names: Iterable[str]) -> list[object]:
    """Return the names of rungs as parameters of a test; those outside the sample are marked `thorough`."""
    return [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in names]
