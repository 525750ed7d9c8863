"""Groups of threads and the C++ Core Libraries, as people write them: each form records, and NVRTC takes it, too."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

_TEXT = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["64"]
// grid = ["M"]
// ---
{before}
__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)
{{
    int row = blockIdx.x, x = threadIdx.x;
    bool ok = true;
    {body}
    for (int j = x; j < N; j += 64) {{
        float sum = 0;
        for (int q = 0; q < K; q++) sum += A[row * K + q] * B[q * N + j];
        C[row * N + j] = ok ? sum : -1;
    }}
}}
"""
_GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
_BARRIER = """#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/cstdint>
#include <cuda/std/utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;
"""
_READY = """__shared__ alignas(16) float s[32];
    __shared__ barrier bar;
    if (x == 0) { init(&bar, 64); cde::fence_proxy_async_shared_cta(); }
    __syncthreads();
    barrier::arrival_token token;
"""
_COPIED = "    else token = bar.arrive();\n    bar.wait(cuda::std::move(token));\n    ok = s[x % 32] == A[x % 32];"
FORMS = {
    "group of any kind": (
        _GROUPS
        + """__device__ unsigned places(const cg::thread_group &g)
{
    g.sync();
    return g.size() * 1000 + g.thread_rank();
}
""",
        """cg::thread_block b = cg::this_thread_block();
    cg::thread_group t = cg::tiled_partition(b, 16);
    auto w = cg::tiled_partition<32>(b);
    ok = places(b) == 64000 + x && places(t) == 16000 + x % 16 && places(w) == 32000 + x % 32;
    cg::sync(t);""",
    ),
    "cluster": (
        _GROUPS,
        """cg::cluster_group c = cg::this_cluster();
    c.sync();
    c.barrier_arrive();
    c.barrier_wait();
    ok = c.block_rank() == 0 && c.num_blocks() == 1 && c.thread_rank() == x && c.num_threads() == 64;""",
    ),
    "active lanes": ("", "unsigned m = __activemask(); ok = m == 0xffffffffu && __popc(m) == 32;"),
    "bulk copy of cde": (
        _BARRIER,
        _READY
        + """    if (x == 0) {
        cde::cp_async_bulk_global_to_shared(s, A, 128, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 128);
    }
"""
        + _COPIED,
    ),
    "memcpy_async_tx": (
        _BARRIER,
        _READY
        + """    if (x == 0) {
        cuda::device::memcpy_async_tx(s, A, cuda::aligned_size_t<16>(128), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 128);
    }
"""
        + _COPIED,
    ),
    "bulk copy of cuda::ptx": (
        _BARRIER,
        """__shared__ alignas(16) float s[32];
    __shared__ alignas(8) cuda::std::uint64_t bar;
    if (x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 128);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, A, 128, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    ok = s[x % 32] == A[x % 32];""",
    ),
}


def job(form: str) -> Launch:
    before, body = FORMS[form]
    return launch(parse(_TEXT.format(before=before, body=body), Path("form.cu")), Problem(4, 40, 32))


@pytest.mark.parametrize("form", FORMS)
def test_a_form_records_and_means_the_same(form: str) -> None:
    recording = record(job(form), deadline_s=20)
    assert recording.wrong == 0 and not recording.notes


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
@pytest.mark.parametrize("form", FORMS)
def test_nvrtc_takes_the_same_text(form: str) -> None:
    assert nvrtc_alone.errors(job(form), "sm_90a") == ""
