// ---gemmviz
// title      = "Two blocks exchange halves of a tile of A"
// entry      = "cluster_halves<KIND>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params     = { KIND = [0, 1, 2, 3] }
// block      = ["16", "16"]
// grid       = ["N / 16", "M / 16"]
// cluster    = ["2"]
// capability = "9.0"
// requires   = ["M % 16 == 0", "N % 32 == 0", "K % 32 == 0"]
// ---
#include <stdint.h>

__device__ __forceinline__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void barrier_init(uint32_t bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect(uint32_t bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
                 ::"r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void bulk_load(uint32_t to, const void *from, uint32_t bytes, uint32_t bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}

__device__ __forceinline__ uint32_t in_other(uint32_t at, uint32_t rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
    return there;
}
__device__ __forceinline__ void cluster_meet()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Two neighbours along x need the same 16 rows of A: each loads 8 of them. The other block gets them by stores (KIND
// 0), by loads (1), by a copy between the two shared memories (2), or from one copy for both (3).
template <int KIND> __global__ void __cluster_dims__(2, 1, 1)
    cluster_halves(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) float As[16][32], Bs[32][16];
    __shared__ __align__(8) uint64_t full;
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16, column = blockIdx.x * 16;
    const uint32_t bar = shared_address(&full);
    const bool first = x == 0 && y == 0;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (first) barrier_init(bar, 1);
    __syncthreads();
    cluster_meet();
    const uint32_t mine = 8 * rank, others = 8 - mine;
    float sum = 0;
    for (int k = 0, phase = 0; k < K; k += 32, phase ^= 1) {
        const float a = A[(row + mine + y / 2) * K + k + 16 * (y % 2) + x];
        float *place = &As[mine + y / 2][16 * (y % 2) + x];
        if (KIND < 3) *place = a;
        if (KIND == 0)
            asm volatile("st.shared::cluster.f32 [%0], %1;"
                         ::"r"(in_other(shared_address(place), rank ^ 1)), "f"(a) : "memory");
        Bs[y][x] = B[(k + y) * N + column + x];
        Bs[y + 16][x] = B[(k + y + 16) * N + column + x];
        if (KIND == 2) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (KIND == 2 && first) {
            expect(bar, 8 * sizeof(As[0]));
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(in_other(shared_address(As[mine]), rank ^ 1)), "r"(shared_address(As[mine])),
                         "r"((int)(8 * sizeof(As[0]))), "r"(in_other(bar, rank ^ 1)) : "memory");
        }
        if (KIND == 3 && first) {
            expect(bar, sizeof(As));
            for (int i = 0; i < 8; i++)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                             "[%0], [%1], %2, [%3], %4;"
                             ::"r"(shared_address(As[mine + i])), "l"(A + (row + mine + i) * K + k),
                             "r"((int)sizeof(As[0])), "r"(bar), "h"((uint16_t)3) : "memory");
        }
        if (KIND >= 2) wait(bar, phase);
        cluster_meet();
        if (KIND == 1) {
            float4 v;
            if (y < 4) {
                uint32_t there = in_other(shared_address(&As[others + 2 * y + x / 8][x % 8 * 4]), rank ^ 1);
                asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(there) : "memory");
                *(float4 *)&As[others + 2 * y + x / 8][x % 8 * 4] = v;
            }
            __syncthreads();
        }
        for (int i = 0; i < 32; i++) sum += As[y][i] * Bs[i][x];
        cluster_meet();
    }
    C[(row + y) * N + column + x] = sum;
}
