// gemmviz/ptx.h for the recorder: the same functions as in kernels/include/gemmviz/ptx.h, where each is one instruction.
#pragma once
#include "../../async.h"
#include "../../wmma.h"

#define GEMMVIZ_PTX GV_DEVICE

namespace gemmviz {
namespace ptx {

template <int Bytes> GEMMVIZ_PTX void cp_async_ca(void *shared, const void *global)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    gv_copy_async(shared, global, Bytes, Bytes);
}
template <int Bytes> GEMMVIZ_PTX void cp_async_ca_zfill(void *shared, const void *global, int source_bytes)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    gv_copy_async(shared, global, Bytes, (unsigned)source_bytes);
}
GEMMVIZ_PTX void cp_async_cg16(void *shared, const void *global) { gv_copy_async(shared, global, 16, 16); }
GEMMVIZ_PTX void cp_async_cg16_zfill(void *shared, const void *global, int source_bytes)
{
    gv_copy_async(shared, global, 16, (unsigned)source_bytes);
}
GEMMVIZ_PTX void cp_async_commit() { gv_copy_commit(); }
template <int Left> GEMMVIZ_PTX void cp_async_wait() { gv_copy_wait(Left); }
GEMMVIZ_PTX void cp_async_wait_all() { gv_copy_wait_all(); }

GEMMVIZ_PTX void ldmatrix_x1(unsigned (&r)[1], const void *row) { gv_ldmatrix(r, row, 1, 0); }
GEMMVIZ_PTX void ldmatrix_x2(unsigned (&r)[2], const void *row) { gv_ldmatrix(r, row, 2, 0); }
GEMMVIZ_PTX void ldmatrix_x4(unsigned (&r)[4], const void *row) { gv_ldmatrix(r, row, 4, 0); }
GEMMVIZ_PTX void ldmatrix_x1_trans(unsigned (&r)[1], const void *row) { gv_ldmatrix(r, row, 1, 1); }
GEMMVIZ_PTX void ldmatrix_x2_trans(unsigned (&r)[2], const void *row) { gv_ldmatrix(r, row, 2, 1); }
GEMMVIZ_PTX void ldmatrix_x4_trans(unsigned (&r)[4], const void *row) { gv_ldmatrix(r, row, 4, 1); }

// Which lane holds which element: PTX ISA, "Matrix Fragments for mma.m16n8k16" and "... for mma.m16n8k8".
#define GV_OPERANDS_K16(type) \
    static constexpr gv_fragment A = {16, 16, 8, type, 0, 0, 2, {{0, 1}, {8, 0}, {0, 8}, {0, 0}}}; \
    static constexpr gv_fragment B = {16, 8, 4, type, 1, 0, 2, {{1, 0}, {8, 0}, {0, 0}, {0, 0}}}
#define GV_OPERANDS_K8(type) \
    static constexpr gv_fragment A = {16, 8, 4, type, 0, 0, 2, {{0, 1}, {8, 0}, {0, 0}, {0, 0}}}; \
    static constexpr gv_fragment B = {8, 8, 2, type, 1, 0, 2, {{1, 0}, {0, 0}, {0, 0}, {0, 0}}}
#define GV_OPERANDS_TF32 \
    static constexpr gv_fragment A = {16, 8, 4, GV_TF32, 0, 0, 1, {{8, 0}, {0, 4}, {0, 0}, {0, 0}}}; \
    static constexpr gv_fragment B = {8, 8, 2, GV_TF32, 1, 0, 1, {{4, 0}, {0, 0}, {0, 0}, {0, 0}}}
#define GV_MULTIPLY(operands, type) \
    operands; \
    static constexpr gv_fragment C = {16, 8, 4, type, 0, 1, 2, {{0, 1}, {8, 0}, {0, 0}, {0, 0}}}; \
    gv_wmma_mma(d, &C, a, &A, b, &B, c, &C)

GEMMVIZ_PTX void mma_m16n8k16_f32_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    GV_MULTIPLY(GV_OPERANDS_K16(GV_HALF), GV_FLOAT);
}
GEMMVIZ_PTX void mma_m16n8k16_f32_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    GV_MULTIPLY(GV_OPERANDS_K16(GV_BFLOAT16), GV_FLOAT);
}
GEMMVIZ_PTX void mma_m16n8k16_f16_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2])
{
    GV_MULTIPLY(GV_OPERANDS_K16(GV_HALF), GV_HALF);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_f16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    GV_MULTIPLY(GV_OPERANDS_K8(GV_HALF), GV_FLOAT);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_bf16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    GV_MULTIPLY(GV_OPERANDS_K8(GV_BFLOAT16), GV_FLOAT);
}
GEMMVIZ_PTX void mma_m16n8k8_f16_f16(unsigned (&d)[2], const unsigned (&a)[2], const unsigned (&b)[1], const unsigned (&c)[2])
{
    GV_MULTIPLY(GV_OPERANDS_K8(GV_HALF), GV_HALF);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    GV_MULTIPLY(GV_OPERANDS_TF32, GV_FLOAT);
}
GEMMVIZ_PTX unsigned to_tf32(float value) { return gv_tf32_bits(value); }

#undef GV_MULTIPLY
#undef GV_OPERANDS_TF32
#undef GV_OPERANDS_K8
#undef GV_OPERANDS_K16

} // namespace ptx
} // namespace gemmviz
