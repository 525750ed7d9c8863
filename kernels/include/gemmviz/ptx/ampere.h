// Instructions of compute capability 8.0: cp.async, ldmatrix, mma. See <gemmviz/ptx.h>, which kernels include.
#pragma once

#include <gemmviz/ptx/shared_address.h>

namespace gemmviz {
namespace ptx {

// ---- cp.async: copies from global to shared memory that go on in the background. Both addresses are multiples of the
// ---- size. Nothing may be read at the destination before the thread has waited, and other threads need a barrier too.

// Copies 4, 8 or 16 bytes through L1 and L2.
template <int Bytes> GEMMVIZ_PTX void cp_async_ca(void *shared, const void *global)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "n"(Bytes) : "memory");
}
// The same, but only the first `source_bytes` are read; the rest is filled with zeros.
template <int Bytes> GEMMVIZ_PTX void cp_async_ca_zfill(void *shared, const void *global, int source_bytes)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "n"(Bytes), "r"(source_bytes)
                 : "memory");
}
// Copies 16 bytes through L2 only.
GEMMVIZ_PTX void cp_async_cg16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}
GEMMVIZ_PTX void cp_async_cg16_zfill(void *shared, const void *global, int source_bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "r"(source_bytes) : "memory");
}
// Makes a group of the thread's copies since the last commit.
GEMMVIZ_PTX void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `Left` of the thread's latest groups are under way.
template <int Left> GEMMVIZ_PTX void cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(Left) : "memory"); }
// Waits for all of the thread's copies.
GEMMVIZ_PTX void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- ldmatrix: a warp loads 1, 2 or 4 matrices of 8 x 8 halves from shared memory. Lane l gives the address of row
// ---- l % 8 of matrix l / 8, 16 bytes that are aligned to 16; register i of a lane gets two neighbours of matrix i.

GEMMVIZ_PTX void ldmatrix_x1(unsigned (&r)[1], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x2(unsigned (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x4(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}
// The same with each matrix transposed.
GEMMVIZ_PTX void ldmatrix_x1_trans(unsigned (&r)[1], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x2_trans(unsigned (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x4_trans(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

// ---- mma: a warp computes d = a b + c on tensor cores, a by rows, b by columns. The names say: shape, type of the sums,
// ---- type of the operands. A register holds two halves or bfloat16, or one float or tf32.

GEMMVIZ_PTX void mma_m16n8k16_f32_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k16_f32_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k16_f16_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}
GEMMVIZ_PTX void mma_m16n8k8_f32_f16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k8_f32_bf16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k8_f16_f16(unsigned (&d)[2], const unsigned (&a)[2], const unsigned (&b)[1], const unsigned (&c)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                 : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
// Of a tf32 operand the hardware uses 10 bits behind the point; `to_tf32` rounds a float to them.
GEMMVIZ_PTX void mma_m16n8k8_f32_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX unsigned to_tf32(float value)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return rounded;
}

} // namespace ptx
} // namespace gemmviz
