"""Small GEMMs in the words of CUDA's own libraries, for the recorder and for a real GPU; each with a mistake in it."""

from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem

SIZE = Problem(48, 32, 80)


@dataclass(frozen=True)
class LibraryKernel:
    """A kernel by its text, the problem that it is for, and a change that makes it wrong."""

    name: str
    text: str
    right: str
    mistake: str
    block: str = "[16, 16]"
    grid: str = '["N / 16", "M / 16"]'
    matter: dict[str, str] = field(default_factory=dict)
    problem: Problem = SIZE

    @property
    def launch(self) -> Launch:
        """The launch of the kernel as it should be."""
        return self._launch(self.text)

    @property
    def wrong(self) -> Launch:
        """The launch of the kernel with the mistake."""
        assert self.right in self.text
        return self._launch(self.text.replace(self.right, self.mistake))

    def _launch(self, text: str) -> Launch:
        matter = {
            "entry": '"gemm"',
            "args": '["A", "B", "C", "M", "N", "K"]',
            "block": self.block,
            "grid": self.grid,
            "capability": '"8.0"',
        }
        front = "".join(f"// {key} = {value}\n" for key, value in {**matter, **self.matter}.items())
        return launch(parse(f"// ---gemmviz\n{front}// ---\n{text}", Path(f"{self.name}.cu")), self.problem)


HEAD = "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
INDICES = """    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
"""
ONE_STAGE = "    __shared__ alignas(16) float As[16][16], Bs[16][16];\n"
PRODUCTS = "for (int k = 0; k < 16; k++) sum += {a}[ty][k] * {b}[k][tx];"
STORE = "    C[row * N + col] = sum;\n}\n"
SUM = f"        {PRODUCTS.format(a='As', b='Bs')}\n"
IN_STAGE = f"        {PRODUCTS.format(a='As[s]', b='Bs[s]')}\n"

GROUPS = f"""#include <cooperative_groups.h>
{HEAD}    cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    dim3 at = block.thread_index(), tile = block.group_index();
    int tx = at.x, ty = at.y, row = tile.y * 16 + ty, col = tile.x * 16 + tx;
    float sum = 0;
{ONE_STAGE}    for (int k0 = 0; k0 < K; k0 += 16) {{
        As[ty][tx] = A[row * K + k0 + tx];
        Bs[ty][tx] = B[(k0 + ty) * N + col];
        cooperative_groups::sync(block);
{SUM}        block.sync();
    }}
{STORE}"""

# Each row of C is a tile of 16 lanes; they add up the products of one element together.
REDUCED = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int row = blockIdx.y * 16 + tile.meta_group_rank();
    for (int col = blockIdx.x * 16; col < (blockIdx.x + 1) * 16; col++) {
        float part = 0;
        for (int k = tile.thread_rank(); k < K; k += tile.size()) part += A[row * K + k] * B[k * N + col];
        float sum = cg::reduce(tile, part, cg::plus<float>());
        if (tile.thread_rank() == 0) C[row * N + col] = sum;
    }
}
"""

# A tile of two warps copies a row of 64 elements, and waits for itself alone.
TILES_OF_WARPS = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float rows[2][64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<64>(block);
    int row = blockIdx.y * 2 + tile.meta_group_rank(), col = blockIdx.x * 64 + tile.thread_rank();
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 64) {
        rows[tile.meta_group_rank()][tile.thread_rank()] = A[row * K + k0 + tile.thread_rank()];
        tile.sync();
        for (int k = 0; k < 64; k++) sum += rows[tile.meta_group_rank()][k] * B[(k0 + k) * N + col];
        tile.sync();
    }
    C[row * N + col] = sum;
}
"""

COPIED_BY_TILES = f"""#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
{HEAD}{INDICES}{ONE_STAGE}    auto block = cg::this_thread_block();
    auto line = cg::tiled_partition<4>(cg::tiled_partition<16>(block));
    for (int k0 = 0; k0 < K; k0 += 16) {{
        if (tx < 4) cg::memcpy_async(line, As[ty], &A[row * K + k0], cuda::aligned_size_t<16>(64));
        cg::memcpy_async(cg::tiled_partition<16>(block), Bs[ty], 16, &B[(k0 + ty) * N + blockIdx.x * 16], 16);
        cg::wait(block);
{SUM}        block.sync();
    }}
{STORE}"""

# K is odd, so that the rows of A begin at any element: the ends of each are copied by themselves.
COPIED_AS_THEY_LIE = f"""#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
__global__ void gemm(const half *A, const half *B, float *C, int M, int N, int K)
{{
    __shared__ half line[1024];
    int row = blockIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    auto block = cg::this_thread_block();
    half *at = line + (size_t)(A + row * K) / 2 % 8;
    cg::memcpy_async(block, at, A + row * K, sizeof(half) * K);
    cg::wait(block);
    float sum = 0;
    for (int k = 0; k < K; k++) sum += __half2float(at[k]) * __half2float(B[k * N + col]);
{STORE}"""

BARRIER = f"""#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
{HEAD}{INDICES}    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier filled;
{ONE_STAGE}    if (tx == 0 && ty == 0) init(&filled, blockDim.x * blockDim.y);
    __syncthreads();
    for (int k0 = 0; k0 < K; k0 += 16) {{
        if (tx % 4 == 0)
            cuda::memcpy_async(&As[ty][tx], &A[row * K + k0 + tx], cuda::aligned_size_t<16>(16), filled);
        cuda::memcpy_async(&Bs[ty][tx], &B[(k0 + ty) * N + col], sizeof(float), filled);
        barrier::arrival_token token = filled.arrive();
        filled.wait(std::move(token));
{SUM}        __syncthreads();
    }}
{STORE}"""

# The whole block copies each tile of A's rows with one call, row by row.
BARRIER_OF_A_GROUP = f"""#include <cooperative_groups.h>
#include <cuda/barrier>
{HEAD}{INDICES}{ONE_STAGE}    __shared__ cuda::barrier<cuda::thread_scope_block> filled[2];
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() < 2) init(filled + block.thread_rank(), block.size());
    block.sync();
    for (int k0 = 0, turn = 0; k0 < K; k0 += 16, turn++) {{
        for (int i = 0; i < 16; i++) {{
            const float *line = A + (blockIdx.y * 16 + i) * K + k0;
            cuda::memcpy_async(block, As[i], line, cuda::aligned_size_t<16>(64), filled[turn % 2]);
        }}
        Bs[ty][tx] = B[(k0 + ty) * N + col];
        filled[turn % 2].arrive_and_wait();
{SUM}        block.sync();
    }}
{STORE}"""

OWN_PIPELINE = f"""#include <cuda/pipeline>
{HEAD}{INDICES}    __shared__ alignas(16) float As[3][16][16], Bs[3][16][16];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int t = 0, ahead = 0; t < K / 16; t++) {{
        for (; ahead < K / 16 && ahead < t + 2; ahead++) {{
            pipe.producer_acquire();
            cuda::memcpy_async(&As[ahead % 3][ty][tx], &A[row * K + ahead * 16 + tx], sizeof(float), pipe);
            cuda::memcpy_async(&Bs[ahead % 3][ty][tx], &B[(ahead * 16 + ty) * N + col], sizeof(float), pipe);
            pipe.producer_commit();
        }}
        int s = t % 3;
        pipe.consumer_wait();
        __syncthreads();
{IN_STAGE}        pipe.consumer_release();
    }}
{STORE}"""

PRIOR = f"""#include <cuda/pipeline>
{HEAD}{INDICES}{ONE_STAGE}    auto pipe = cuda::make_pipeline();
    const auto four = cuda::aligned_size_t<alignof(float4)>(sizeof(float4));
    for (int k0 = 0; k0 < K; k0 += 16) {{
        if (tx % 4 == 0) {{
            cuda::memcpy_async(&As[ty][tx], &A[row * K + k0 + tx], four, pipe);
            cuda::memcpy_async(&Bs[ty][tx], &B[(k0 + ty) * N + col], four, pipe);
        }}
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
{SUM}        __syncthreads();
    }}
{STORE}"""

# Warps 0 to 7 multiply, warps 8 to 15 copy.
ROLES = f"""#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{{
    constexpr int STAGES = 2;
    __shared__ alignas(16) float As[STAGES][16][16], Bs[STAGES][16][16];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    bool produces = threadIdx.y >= 16;
    int tx = threadIdx.x, ty = threadIdx.y % 16, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    float sum = 0;
    for (int t = 0; t < K / 16; t++) {{
        int s = t % STAGES;
        if (produces) {{
            pipe.producer_acquire();
            cuda::memcpy_async(&As[s][ty][tx], &A[row * K + t * 16 + tx], sizeof(float), pipe);
            cuda::memcpy_async(&Bs[s][ty][tx], &B[(t * 16 + ty) * N + col], sizeof(float), pipe);
            pipe.producer_commit();
        }} else {{
            pipe.consumer_wait();
            {PRODUCTS.format(a="As[s]", b="Bs[s]")}
            pipe.consumer_release();
        }}
    }}
    if (!produces) C[row * N + col] = sum;
}}
"""

# All threads copy and multiply, two stages ahead of each other.
SHARED_PIPELINE = f"""#include <cooperative_groups.h>
#include <cuda/pipeline>
{HEAD}{INDICES}    __shared__ alignas(16) float As[2][16][16], Bs[2][16][16];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
    for (int t = 0, ahead = 0; t < K / 16; t++) {{
        for (; ahead < K / 16 && ahead < t + 2; ahead++) {{
            pipe.producer_acquire();
            cuda::memcpy_async(&As[ahead % 2][ty][tx], &A[row * K + ahead * 16 + tx], sizeof(float), pipe);
            cuda::memcpy_async(&Bs[ahead % 2][ty][tx], &B[(ahead * 16 + ty) * N + col], sizeof(float), pipe);
            pipe.producer_commit();
        }}
        int s = t % 2;
        pipe.consumer_wait();
{IN_STAGE}        pipe.consumer_release();
    }}
{STORE}"""

# The copy engine brings boxes of A and B. A structure is all of dynamic shared memory.
BOXES = """#include <cuda.h>
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;
template <int BK> struct Tiles {
    alignas(128) float a[16 * BK], b[BK * 16];
};
template <int BK>
__global__ void gemm(PARAMETERS, float *C, int M, int N, int K)
{
    extern __shared__ __align__(128) Tiles<BK> tiles;
    __shared__ barrier full;
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    if (tx == 0 && ty == 0) {
        init(&full, blockDim.x * blockDim.y);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        barrier::arrival_token token;
        if (tx == 0 && ty == 0) {
            cde::cp_async_bulk_tensor_2d_global_to_shared(tiles.a, AT_A, k0, blockIdx.y * 16, full);
            cde::cp_async_bulk_tensor_2d_global_to_shared(tiles.b, AT_B, blockIdx.x * 16, k0, full);
            token = cuda::device::barrier_arrive_tx(full, 1, sizeof(tiles));
        } else {
            token = full.arrive();
        }
        full.wait(std::move(token));
        for (int k = 0; k < BK; k++) sum += tiles.a[ty * BK + k] * tiles.b[k * 16 + tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""
VALUES = "const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b"
BY_VALUE = BOXES.replace("PARAMETERS", VALUES).replace("AT_A", "&map_a").replace("AT_B", "&map_b")
POINTERS = "const CUtensorMap *map_a, const CUtensorMap *map_b"
BY_POINTER = BOXES.replace("PARAMETERS", POINTERS).replace("AT_A", "map_a").replace("AT_B", "map_b")
MAPPED = {
    "entry": '"gemm<BK>"',
    "args": '["A.map", "B.map", "C", "M", "N", "K"]',
    "params": "{ BK = [8] }",
    "shared": '"128 * BK"',
    "maps": '{ A = { box = [16, "BK"] }, B = { box = ["BK", 16] } }',
    "capability": '"9.0"',
}

# A is named by three coordinates: the column within a panel of 32 (128 bytes), the row, the panel.
PANELS = BY_VALUE.replace(
    "2d_global_to_shared(tiles.a, &map_a, k0, blockIdx.y * 16,",
    "3d_global_to_shared(tiles.a, &map_a, 0, blockIdx.y * 16, k0 / 32,",
).replace("tiles.a[ty * BK + k]", "tiles.a[k / 32 * 16 * 32 + ty * 32 + k % 32]")
IN_PANELS = {
    **MAPPED,
    "params": "{ BK = [64] }",
    "maps": '{ A = { box = [16, "BK"], rank = 3 }, B = { box = ["BK", 16] } }',
}

# The same boxes in the words of cuda::ptx, and C by the copy engine, too.
PTX = """#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
template <int BK>
__global__ void gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                     const __grid_constant__ CUtensorMap map_c, int K)
{
    __shared__ alignas(128) float a[16 * BK], b[BK * 16], c[256];
    __shared__ uint64_t full;
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 16, top = blockIdx.y * 16;
    bool first = ptx::get_sreg_tid_x() == 0 && ptx::get_sreg_tid_y() == 0;
    if (first) {
        ptx::mbarrier_init(&full, blockDim.x * blockDim.y);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        uint64_t state;
        if (first) {
            const int32_t at_a[] = {k0, top}, at_b[] = {left, k0};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, a, &map_a, at_a, &full);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, b, &map_b, at_b, &full);
            state = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                                   sizeof(a) + sizeof(b));
        } else {
            state = ptx::mbarrier_arrive(&full);
        }
        while (!ptx::mbarrier_try_wait(&full, state))
            ;
        for (int k = 0; k < BK; k++) sum += a[ty * BK + k] * b[k * 16 + tx];
        __syncthreads();
    }
    c[ty * 16 + tx] = sum;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (first) {
        const int32_t at_c[] = {left, top};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map_c, at_c, c);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
"""
WITH_C = {
    **MAPPED,
    "args": '["A.map", "B.map", "C.map", "K"]',
    "shared": "0",
    "maps": '{ A = { box = [16, "BK"] }, B = { box = ["BK", 16] }, C = { box = [16, 16] } }',
}

ROW_OF_BLOCKS = {"block": "[16]", "grid": '["N / 16", "M"]'}
LIBRARY = [
    LibraryKernel("groups", GROUPS, "        cooperative_groups::sync(block);\n", ""),
    LibraryKernel("reduced", REDUCED, "cg::plus<float>", "cg::greater<float>"),
    LibraryKernel(
        *("tiles_of_warps", TILES_OF_WARPS, "        tile.sync();\n        for", "        for"),
        **{"block": "[128]", "grid": '["N / 64", "M / 2"]'},
        problem=Problem(4, 64, 128),
    ),
    LibraryKernel("copied_by_tiles", COPIED_BY_TILES, "cg::wait(block)", "block.sync()"),
    LibraryKernel(
        *("copied_as_they_lie", COPIED_AS_THEY_LIE, "cg::wait(block)", "block.sync()"),
        **ROW_OF_BLOCKS,
        matter={"dtype": '"float16"', "accumulate": '"float32"', "stores": '"float32"'},
        problem=Problem(5, 32, 93),
    ),
    LibraryKernel("barrier", BARRIER, "        filled.wait(std::move(token));\n", ""),
    LibraryKernel("barrier_of_a_group", BARRIER_OF_A_GROUP, "arrive_and_wait()", "arrive()"),
    LibraryKernel("own_pipeline", OWN_PIPELINE, "        pipe.consumer_wait();\n", ""),
    LibraryKernel("prior", PRIOR, "wait_prior<0>", "wait_prior<1>"),
    LibraryKernel("roles", ROLES, "            pipe.consumer_wait();\n", "", block="[16, 32]"),
    LibraryKernel("shared_pipeline", SHARED_PIPELINE, "        pipe.consumer_release();\n", "    "),
    LibraryKernel("boxes", BY_VALUE, "        full.wait(std::move(token));\n", "", matter=MAPPED),
    LibraryKernel("boxes_by_pointer", BY_POINTER, "1, sizeof(tiles)", "1, sizeof(tiles.a)", matter=MAPPED),
    LibraryKernel(
        *("panels", PANELS, "k0 / 32, full", "k0 / 64, full"), matter=IN_PANELS, problem=Problem(32, 48, 128)
    ),
    LibraryKernel("ptx", PTX, "    ptx::fence_proxy_async(ptx::space_shared);\n", "", matter=WITH_C),
]
