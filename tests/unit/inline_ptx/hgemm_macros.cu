// ---gemmviz
// entry = "hgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = ["N / 32", "M / 32"]
// requires = ["M % 32 == 0", "N % 32 == 0", "K % 32 == 0"]
// dtype = "float16"
// accumulate = "float16"
// layout = { B = "column" }
// capability = "8.0"
// ---
// Two stages of cp.async, ldmatrix and mma.sync, in the macros that HGEMM kernels are written with.
#include <cuda_fp16.h>
#include <stdint.h>

#define LDMATRIX_X2(R0, R1, addr)                                             \
    asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];\n" \
                 : "=r"(R0), "=r"(R1) : "r"(addr))
#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                             \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
                 : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3) : "r"(addr))
#define MULTIPLY(RD0, RD1, RA0, RA1, RA2, RA3, RB0, RB1, RC0, RC1)                                                    \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n" \
                 : "=r"(RD0), "=r"(RD1)                                                                                \
                 : "r"(RA0), "r"(RA1), "r"(RA2), "r"(RA3), "r"(RB0), "r"(RB1), "r"(RC0), "r"(RC1))
#define HINT ".L2::128B"
#define COPY(dst, src, Bytes) \
    asm volatile("cp.async.cg.shared.global" HINT " [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(Bytes))
#define COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define WAIT(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

__device__ __forceinline__ uint32_t swizzled(uint32_t start, int row, int piece)
{
    return start + row * 64 + (piece ^ (row / 2 % 4)) * 16;
}

__device__ __forceinline__ void copy(uint32_t start, const half *from, int row, int piece)
{
    COPY(swizzled(start, row, piece), from, 16);
}

__global__ void hgemm(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    __shared__ __align__(128) half As[2][32][32];
    __shared__ __align__(128) half Bs[2][32][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = threadIdx.x / 4, piece = threadIdx.x % 4;
    const half *from_a = A + (blockIdx.y * 32 + row) * K + piece * 8;
    const half *from_b = B + (blockIdx.x * 32 + row) * K + piece * 8;
    uint32_t at_a[2], at_b[2];
    for (int s = 0; s < 2; s++) {
        at_a[s] = static_cast<uint32_t>(__cvta_generic_to_shared(&As[s][0][0]));
        at_b[s] = static_cast<uint32_t>(__cvta_generic_to_shared(&Bs[s][0][0]));
    }
    uint32_t c[2][2] = {};

    copy(at_a[0], from_a, row, piece);
    copy(at_b[0], from_b, row, piece);
    COMMIT();
    for (int k = 0; k < K; k += 32) {
        const int stage = k / 32 % 2;
        if (k + 32 < K) {
            copy(at_a[stage ^ 1], from_a + k + 32, row, piece);
            copy(at_b[stage ^ 1], from_b + k + 32, row, piece);
            COMMIT();
            WAIT(1);
        } else
            WAIT(0);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            uint32_t a[4], b[2][2];
            LDMATRIX_X4(a[0], a[1], a[2], a[3], swizzled(at_a[stage], warp / 2 * 16 + lane % 16, kk * 2 + lane / 16));
            for (int j = 0; j < 2; j++)
                LDMATRIX_X2(b[j][0], b[j][1],
                        swizzled(at_b[stage], warp % 2 * 16 + j * 8 + lane % 8, kk * 2 + lane / 8 % 2));
            for (int j = 0; j < 2; j++) MULTIPLY(c[j][0], c[j][1], a[0], a[1], a[2], a[3], b[j][0], b[j][1], c[j][0], c[j][1]);
        }
        __syncthreads();
    }
    half *to = C + (blockIdx.y * 32 + warp / 2 * 16 + lane / 4) * N + blockIdx.x * 32 + warp % 2 * 16 + lane % 4 * 2;
    for (int j = 0; j < 2; j++)
        for (int h = 0; h < 2; h++) *reinterpret_cast<uint32_t *>(to + h * 8 * N + j * 8) = c[j][h];
}
