"""Whole kernels with asm statements that have names in common, and with pointers to another block's shared memory."""

FRONT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
"""
IN_COMMON = """
__device__ float twice(float v)
{
    asm(".reg .f32 sum; add.f32 sum, %0, %0; mov.f32 %0, sum;" : "+f"(v));
    return v / 2;
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    asm(".reg .pred %p<3>; .reg .s32 k, depth; .reg .b64 to;");
    asm("setp.ge.s32 %%p0, %0, %1; setp.ge.s32 %%p1, %2, %3; or.pred %%p2, %%p0, %%p1;"
        :: "r"(row), "r"(M), "r"(col), "r"(N));
    asm("@%p2 bra out;");
    asm(".reg .f32 sum, x, y; mov.f32 sum, 0f00000000; mov.s32 k, 0; mov.s32 depth, %0; mov.b64 to, %1;"
        :: "r"(K), "l"(C + row * N + col));
    asm("again: setp.ge.s32 %p0, k, depth; @%p0 bra over;");
    asm("{ .reg .b64 a, b; .reg .s32 at; mul.wide.s32 a, k, 4; add.u64 a, a, %0; ld.global.f32 x, [a];"
        " mul.lo.s32 at, k, %2; mul.wide.s32 b, at, 4; add.u64 b, b, %1; ld.global.f32 y, [b]; }"
        :: "l"(A + row * K), "l"(B + col), "r"(N));
    asm("fma.rn.f32 sum, x, y, sum; add.s32 k, k, 1; bra again; over:");
    asm("st.global.f32 [to], sum;");
    asm("out:");
}
"""
# Each block has a row of A, and computes the row of C that belongs to the other block's row of A.
MAPPED = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["N"]
// grid = ["M"]
// cluster = [2]
// capability = "9.0"
// ---
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float row[64];
    __shared__ float sums[64];
    __shared__ int done;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned t = threadIdx.x, other = cluster.block_rank() ^ 1;
    if (t < K) row[t] = A[blockIdx.x * K + t];
    if (t == 0) done = 0;
    cluster.sync();
    const float *far = cluster.map_shared_rank(row, other);
    float *results = cluster.map_shared_rank(&sums[0], other);
    bool right = cluster.query_shared_rank(far) == other && cluster.query_shared_rank(row) == cluster.block_rank();
    float sum = right ? 0 : 1000;
    for (int k = 0; k < K; k++) sum += far[k] * B[k * N + t];
    results[t] = sum;
    __syncwarp();
    results[t] += 1;
    atomicAdd(cluster.map_shared_rank(&done, other), 1);
    cluster.sync();
    C[blockIdx.x * N + t] = done == N ? sums[t] - 1 : -1;
}
"""
