// gemmviz/ptx.h for the recorder: the functions of kernels/include/gemmviz/ptx.h. There each function is one
// instruction.
#pragma once
#include "../../runtime/kernel_calls/async_copies.h"
#include "../../runtime/kernel_calls/hopper.h"
#include "../../runtime/kernel_calls/mma.h"

#define GEMMVIZ_PTX GV_DEVICE

struct __nv_bfloat16;

namespace gemmviz {
namespace ptx {

static GV_METHOD unsigned shared_address(const void *shared) { return (unsigned)(size_t)shared; }

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

GEMMVIZ_PTX void mma_m16n8k16_f32_f16(
    float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    gv_mma<16, 8, 16, GV_HALF, GV_HALF, GV_FLOAT, GV_FLOAT>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k16_f32_bf16(
    float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    gv_mma<16, 8, 16, GV_BFLOAT16, GV_BFLOAT16, GV_FLOAT, GV_FLOAT>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k16_f16_f16(
    unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2])
{
    gv_mma<16, 8, 16, GV_HALF, GV_HALF, GV_HALF, GV_HALF>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_f16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    gv_mma<16, 8, 8, GV_HALF, GV_HALF, GV_FLOAT, GV_FLOAT>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_bf16(
    float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    gv_mma<16, 8, 8, GV_BFLOAT16, GV_BFLOAT16, GV_FLOAT, GV_FLOAT>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k8_f16_f16(
    unsigned (&d)[2], const unsigned (&a)[2], const unsigned (&b)[1], const unsigned (&c)[2])
{
    gv_mma<16, 8, 8, GV_HALF, GV_HALF, GV_HALF, GV_HALF>(d, a, b, c);
}
GEMMVIZ_PTX void mma_m16n8k8_f32_tf32(
    float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    gv_mma<16, 8, 8, GV_TF32, GV_TF32, GV_FLOAT, GV_FLOAT>(d, a, b, c);
}
GEMMVIZ_PTX unsigned to_tf32(float value) { return gv_tf32_bits(value); }

// ==== Hopper: see mbarriers.c, tma_boxes.c and wgmma.c.

struct barrier {
    unsigned long long state;
};
GEMMVIZ_PTX void barrier_init(barrier &b, unsigned count) { gv_mbarrier_init(&b, count); }
GEMMVIZ_PTX void barriers_ready() {}
GEMMVIZ_PTX void barrier_arrive_expect(barrier &b, unsigned bytes) { gv_mbarrier_arrive(&b, bytes, 1); }
GEMMVIZ_PTX void barrier_arrive(barrier &b) { gv_mbarrier_arrive(&b, 0, 0); }
GEMMVIZ_PTX void barrier_arrive_at(barrier &b, unsigned block) { gv_mbarrier_arrive_at(&b, block); }
GEMMVIZ_PTX void barrier_arrive_copied(barrier &b) { gv_mbarrier_arrive_copied(&b); }
GEMMVIZ_PTX void barrier_wait(barrier &b, unsigned parity) { gv_mbarrier_wait(&b, parity); }
GEMMVIZ_PTX void barrier_wait_sent(barrier &b, unsigned parity) { gv_mbarrier_wait(&b, parity); }
GEMMVIZ_PTX void send_at(void *shared, unsigned block, float4 v, barrier &b)
{
    gv_remote_store(shared, &v, sizeof v, block);
    gv_mbarrier_complete(&b, sizeof v, block);
}

struct alignas(64) tensor_map {
    unsigned long long opaque[16];
};
static_assert(sizeof(gv_tensor_map) <= sizeof(tensor_map), "a tensor map has 128 bytes");
GEMMVIZ_PTX void tma_load(void *shared, const tensor_map &map, int column, int row, barrier &b)
{
    gv_box_load(shared, &map, column, row, &b, 0);
}
GEMMVIZ_PTX void tma_load_multicast(
    void *shared, const tensor_map &map, int column, int row, barrier &b, unsigned short blocks)
{
    gv_box_load(shared, &map, column, row, &b, blocks);
}
// What stays in L2 is not recorded.
using cache_policy = unsigned long long;
GEMMVIZ_PTX cache_policy evict_first() { return 0; }
GEMMVIZ_PTX cache_policy evict_unchanged() { return 0; }
GEMMVIZ_PTX void tma_load(void *shared, const tensor_map &map, int column, int row, barrier &b, cache_policy policy)
{
    (void)policy;
    gv_box_load(shared, &map, column, row, &b, 0);
}
GEMMVIZ_PTX void tma_load_multicast(
    void *shared, const tensor_map &map, int column, int row, barrier &b, unsigned short blocks, cache_policy policy)
{
    (void)policy;
    gv_box_load(shared, &map, column, row, &b, blocks);
}
GEMMVIZ_PTX void prefetch_l2(const void *global) { (void)global; }
GEMMVIZ_PTX void tma_store(const tensor_map &map, int column, int row, const void *shared)
{
    gv_box_store(&map, column, row, shared);
}
GEMMVIZ_PTX void tma_store(const tensor_map &map, int column, int row, const void *shared, cache_policy policy)
{
    (void)policy;
    gv_box_store(&map, column, row, shared);
}
GEMMVIZ_PTX void tma_add(const tensor_map &map, int column, int row, const void *shared)
{
    gv_box_add(&map, column, row, shared);
}
GEMMVIZ_PTX void tma_store_commit() { gv_box_store_commit(); }
template <int Left> GEMMVIZ_PTX void tma_store_wait() { gv_box_store_wait(Left); }
GEMMVIZ_PTX void tma_store_wait_written() { gv_box_store_wait_written(); }
GEMMVIZ_PTX void global_read() { gv_global_read(); }
GEMMVIZ_PTX void tma_prefetch(const tensor_map &map) { (void)map; }
GEMMVIZ_PTX void shared_written() { gv_shared_written(); }

GEMMVIZ_PTX void stmatrix_x4(void *row, const unsigned (&r)[4]) { gv_stmatrix(row, r, 4, 0); }
GEMMVIZ_PTX void stmatrix_x4_trans(void *row, const unsigned (&r)[4]) { gv_stmatrix(row, r, 4, 1); }
GEMMVIZ_PTX void stmatrix_x2_trans(void *row, const unsigned (&r)[2]) { gv_stmatrix(row, r, 2, 1); }

GEMMVIZ_PTX void threads_meet(int number, int threads) { gv_named_barrier(number, threads); }
GEMMVIZ_PTX void threads_arrive(int number, int threads) { gv_named_arrival(number, threads); }
GEMMVIZ_PTX unsigned cluster_rank() { return gv_cluster_rank(); }
GEMMVIZ_PTX void cluster_meet() { gv_cluster_barrier(); }
GEMMVIZ_PTX void cluster_begin()
{
    gv_cluster_arrive(1);
    gv_cluster_barrier();
}
GEMMVIZ_PTX void flag_raise(volatile int &flag)
{
    __threadfence();
    flag = 1;
}
GEMMVIZ_PTX void flag_await(volatile int &flag)
{
    while (!flag) {}
    flag = 0;
    __threadfence();
}
template <int Count> GEMMVIZ_PTX void registers_up() {}
template <int Count> GEMMVIZ_PTX void registers_down() {}

using operand = gv_operand;
GEMMVIZ_PTX operand along_k(const void *at) { return {(size_t)at, 0, 128, 1024}; }
template <int RowBytes = 128> GEMMVIZ_PTX operand across_k(const void *at, unsigned next_bytes)
{
    static_assert(RowBytes == 128 || RowBytes == 64, "rows of 128 or 64 bytes");
    return {(size_t)at, next_bytes, RowBytes, 8 * RowBytes};
}
GEMMVIZ_PTX operand operator+(operand o, unsigned bytes)
{
    return {o.at + bytes, o.next_bytes, o.row_bytes, o.group_bytes};
}
GEMMVIZ_PTX void wgmma_begin() {}
GEMMVIZ_PTX void wgmma_commit() { gv_wgmma_commit(); }
template <int Left> GEMMVIZ_PTX void wgmma_wait() { gv_wgmma_wait(Left); }

template <int N> GEMMVIZ_PTX void wgmma_ready(float (&d)[N]) { (void)d; }

enum { ALONG_K = 0, ACROSS_K = 1 };
// `words`: A in registers, or nullptr.
template <int N, int LieOfA, int LieOfB>
GV_DEVICE void gv_product(float *d, int type, operand a, const unsigned *words, operand b, int add)
{
#if defined(__clang__)
    uint64_t bytes_of_a = a.next_bytes | (uint64_t)a.group_bytes << 32;
    uint64_t bytes_of_b = b.next_bytes | (uint64_t)b.group_bytes << 32;
    unsigned rows = a.row_bytes / 16 << GV_WGMMA_ROW_A | b.row_bytes / 16 << GV_WGMMA_ROW_B;
    unsigned types = GV_FLOAT << GV_WGMMA_TYPE_D | type << GV_WGMMA_TYPE_A | type << GV_WGMMA_TYPE_B;
    unsigned lies = LieOfA << GV_WGMMA_A_ACROSS | LieOfB << GV_WGMMA_B_ACROSS;
    unsigned how = N << GV_WGMMA_N | types | lies | rows | (words != nullptr) << GV_WGMMA_REGISTERS;
    uintptr_t at = words ? (uintptr_t)words : a.at;
    gv_wgmma_of(d, at, bytes_of_a, b.at, bytes_of_b, how | (uint64_t)add << GV_WGMMA_ADD);
#else // GCC would make two calls of it, where `add` is a comparison
    gv_wgmma_product p = {a, b, words, N, GV_FLOAT, type, type, LieOfA, LieOfB, add, 0};
    gv_wgmma(d, &p);
#endif
}
#define GV_WGMMA(n, type, kind) \
    template <int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32_##type(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        gv_product<n, LieOfA, LieOfB>(d, kind, a, nullptr, b, add); \
    }
#define GV_WIDTHS(X) X(8) X(16) X(24) X(32) X(40) X(48) X(56) X(64) X(72) X(80) X(88) X(96) X(104) X(112) X(120) \
    X(128) X(136) X(144) X(152) X(160) X(168) X(176) X(184) X(192) X(200) \
    X(208) X(216) X(224) X(232) X(240) X(248) X(256)
#define GV_WGMMA_F16(n) GV_WGMMA(n, f16, GV_HALF)
#define GV_WGMMA_BF16(n) GV_WGMMA(n, bf16, GV_BFLOAT16)
GV_WIDTHS(GV_WGMMA_F16)
GV_WIDTHS(GV_WGMMA_BF16)
#undef GV_WGMMA_F16
#undef GV_WGMMA_BF16
#undef GV_WGMMA
template <typename Element> struct of_bf16 {
    enum { value = 0 };
};
template <> struct of_bf16<__nv_bfloat16> {
    enum { value = 1 };
};
#define GV_WGMMA_OF(n) \
    template <typename Element, int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        int type = of_bf16<Element>::value ? GV_BFLOAT16 : GV_HALF; \
        gv_product<n, LieOfA, LieOfB>(d, type, a, nullptr, b, add); \
    }
GV_WIDTHS(GV_WGMMA_OF)
#undef GV_WGMMA_OF
#undef GV_WIDTHS
template <typename Element, int N, int LieOfB, int LieOfA = ALONG_K>
GEMMVIZ_PTX void wgmma_m64k16_f32(float (&d)[N / 2], operand a, operand b, int add)
{
    static_assert(N % 8 == 0 && N <= 256, "8 to 256 columns in steps of 8");
    gv_product<N, LieOfA, LieOfB>(d, of_bf16<Element>::value ? GV_BFLOAT16 : GV_HALF, a, nullptr, b, add);
}
#define GV_WGMMA_ALONG(n, depth, type, kind) \
    GEMMVIZ_PTX void wgmma_m64n##n##k##depth##_f32_##type(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        gv_product<n, ALONG_K, ALONG_K>(d, kind, a, nullptr, b, add); \
    }
GV_WGMMA_ALONG(64, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(96, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(128, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(160, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(192, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(256, 8, tf32, GV_TF32)
GV_WGMMA_ALONG(64, 32, e4m3, GV_E4M3)
GV_WGMMA_ALONG(96, 32, e4m3, GV_E4M3)
GV_WGMMA_ALONG(128, 32, e4m3, GV_E4M3)
GV_WGMMA_ALONG(160, 32, e4m3, GV_E4M3)
GV_WGMMA_ALONG(192, 32, e4m3, GV_E4M3)
GV_WGMMA_ALONG(256, 32, e4m3, GV_E4M3)
#undef GV_WGMMA_ALONG
#define GV_WGMMA_FROM(n) \
    GEMMVIZ_PTX void wgmma_m64n##n##k8_f32_tf32(float (&d)[n / 2], const float (&a)[4], operand b, int add) \
    { \
        unsigned words[4]; \
        __builtin_memcpy(words, a, sizeof words); \
        gv_product<n, ALONG_K, ALONG_K>(d, GV_TF32, {}, words, b, add); \
    }
GV_WGMMA_FROM(64)
GV_WGMMA_FROM(128)
GV_WGMMA_FROM(192)
GV_WGMMA_FROM(256)
#undef GV_WGMMA_FROM

} // namespace ptx
} // namespace gemmviz
