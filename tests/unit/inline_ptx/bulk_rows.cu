// ---gemmviz
// title      = "Rows of A and B by bulk copies"
// entry      = "bulk_rows"
// args       = ["A", "B", "C", "M", "N", "K"]
// block      = ["16", "16"]
// grid       = ["N / 32", "M / 16"]
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

// A tile of 16 x 32 of C: row by row its parts of A and B come by the copy engine, and C's rows leave by it.
__global__ void bulk_rows(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) float As[16][32], Bs[32][32], Cs[16][32];
    __shared__ __align__(8) uint64_t full;
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16, column = blockIdx.x * 32;
    const uint32_t bar = shared_address(&full);
    const bool first = x == 0 && y == 0;
    if (first) barrier_init(bar, 1);
    __syncthreads();
    float left = 0, right = 0;
    for (int k = 0, phase = 0; k < K; k += 32, phase ^= 1) {
        if (first) {
            expect(bar, sizeof(As) + sizeof(Bs));
            for (int i = 0; i < 16; i++)
                bulk_load(shared_address(As[i]), A + (row + i) * K + k, sizeof(As[i]), bar);
            if (N == 32) bulk_load(shared_address(Bs), B + k * N, sizeof(Bs), bar);
            else
                for (int i = 0; i < 32; i++)
                    bulk_load(shared_address(Bs[i]), B + (k + i) * N + column, sizeof(Bs[i]), bar);
        }
        wait(bar, phase);
        for (int i = 0; i < 32; i++) {
            left += As[y][i] * Bs[i][x];
            right += As[y][i] * Bs[i][x + 16];
        }
        __syncthreads();
    }
    Cs[y][x] = left;
    Cs[y][x + 16] = right;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (first) {
        for (int i = 0; i < 16; i++)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         ::"l"(C + (row + i) * N + column), "r"(shared_address(Cs[i])), "n"(128) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
