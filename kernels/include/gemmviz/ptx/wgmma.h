// The products of warpgroups: wgmma, for sm_90a. See <gemmviz/ptx.h>, which kernels include.
#pragma once

#include <gemmviz/ptx/shared_address.h>

struct __nv_bfloat16;

namespace gemmviz {
namespace ptx {

// ---- wgmma: a warpgroup (128 threads) computes d = a b + d with a (64 x 16) and b (16 x N) from shared memory, in the
// ---- background. Before the first one, and after registers were touched: `wgmma_begin`. Then products, `wgmma_commit`,
// ---- and `wgmma_wait` before d is touched or the operands are overwritten.
// ---- Warp w of the group owns rows 16 w to 16 w + 15 of d: in lane l, d[4 j + 2 h + e] is row 16 w + l / 4 + 8 h, column
// ---- 8 j + 2 (l % 4) + e.

// Where an operand stands in shared memory, swizzled by 128 bytes.
struct operand {
    unsigned long long bits;
};

// An operand along K: a row of a (or a column of b) has its 64 elements of K in one row of 128 bytes; groups of 8 rows
// follow each other. `at`: the first of the 16 elements of K in row 0.
GEMMVIZ_PTX operand along_k(const void *at)
{
    return {((shared_address(at) & 0x3ffffull) >> 4) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62};
}
// An operand across K: a row of 128 bytes (or 64) has 64 elements of M or N (or 32) for one k, the rows of successive k
// follow each other; the next elements of M or N stand `next_bytes` later. `at`: the first row.
template <int RowBytes = 128> GEMMVIZ_PTX operand across_k(const void *at, unsigned next_bytes)
{
    static_assert(RowBytes == 128 || RowBytes == 64, "rows of 128 or 64 bytes");
    return {((shared_address(at) & 0x3ffffull) >> 4) | (unsigned long long)(next_bytes >> 4) << 16 |
            (8ull * RowBytes >> 4) << 32 | (RowBytes == 128 ? 1ull : 2ull) << 62};
}
// The operand that stands so many bytes further on.
GEMMVIZ_PTX operand operator+(operand o, unsigned bytes) { return {o.bits + (bytes >> 4)}; }
GEMMVIZ_PTX void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GEMMVIZ_PTX void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Left> GEMMVIZ_PTX void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(Left) : "memory"); }

// Keeps the compiler from reading d before the wait above: needed where other products go on.
template <int N> GEMMVIZ_PTX void wgmma_ready(float (&d)[N])
{
    #pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

enum { ALONG_K = 0, ACROSS_K = 1 };

// clang-format off
#define GEMMVIZ_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define GEMMVIZ_D16(i) GEMMVIZ_D4(i), GEMMVIZ_D4(i + 4), GEMMVIZ_D4(i + 8), GEMMVIZ_D4(i + 12)
#define GEMMVIZ_D32(i) GEMMVIZ_D16(i), GEMMVIZ_D16(i + 16)
#define GEMMVIZ_D64(i) GEMMVIZ_D32(i), GEMMVIZ_D32(i + 32)
#define GEMMVIZ_N16_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define GEMMVIZ_N32_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define GEMMVIZ_N16_1 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define GEMMVIZ_N32_1 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define GEMMVIZ_N16_2 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define GEMMVIZ_N32_2 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define GEMMVIZ_N32_3 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
// clang-format on
#define GEMMVIZ_WGMMA(n, type, registers, names, a_at, b_at, add_at, a_lies, b_lies, ...) \
    template <int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32_##type(float (&d)[registers], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" names "}, %" a_at ", %" b_at \
                     ", add, 1, 1, %" a_lies ", %" b_lies ";\n}" \
                     : __VA_ARGS__ \
                     : "l"(a.bits), "l"(b.bits), "r"(add), "n"(LieOfA), "n"(LieOfB)); \
    }
#define GEMMVIZ_WGMMAS(type) \
    GEMMVIZ_WGMMA(32, type, 16, GEMMVIZ_N16_0, "16", "17", "18", "19", "20", GEMMVIZ_D16(0)) \
    GEMMVIZ_WGMMA(64, type, 32, GEMMVIZ_N32_0, "32", "33", "34", "35", "36", GEMMVIZ_D32(0)) \
    GEMMVIZ_WGMMA(96, type, 48, GEMMVIZ_N32_0 "," GEMMVIZ_N16_1, "48", "49", "50", "51", "52", GEMMVIZ_D32(0), GEMMVIZ_D16(32)) \
    GEMMVIZ_WGMMA(128, type, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", "67", "68", GEMMVIZ_D64(0)) \
    GEMMVIZ_WGMMA(192, type, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", "99", "100", \
                  GEMMVIZ_D64(0), GEMMVIZ_D32(64)) \
    GEMMVIZ_WGMMA(256, type, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", "129", \
                  "130", "131", "132", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
// wgmma_m64n64k16_f32_f16<ALONG_K or ACROSS_K>(d, a, b, add) and so on: shape, type of the sums, type of the operands; the
// template arguments say how b lies, and how a does (along K where nothing is said). With add = 0 the old d is forgotten.
GEMMVIZ_WGMMAS(f16)
GEMMVIZ_WGMMAS(bf16)
#undef GEMMVIZ_WGMMAS
// wgmma_m64n64k16_f32<half or __nv_bfloat16, ALONG_K or ACROSS_K>(d, a, b, add) and so on: the type of the operands is a
// template argument, for kernels that are written for both.
template <typename Element> struct of_bf16 {
    enum { value = 0 };
};
template <> struct of_bf16<__nv_bfloat16> {
    enum { value = 1 };
};
#define GEMMVIZ_WGMMA_OF(n) \
    template <typename Element, int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        if constexpr (of_bf16<Element>::value) \
            wgmma_m64n##n##k16_f32_bf16<LieOfB, LieOfA>(d, a, b, add); \
        else \
            wgmma_m64n##n##k16_f32_f16<LieOfB, LieOfA>(d, a, b, add); \
    }
GEMMVIZ_WGMMA_OF(32)
GEMMVIZ_WGMMA_OF(64)
GEMMVIZ_WGMMA_OF(96)
GEMMVIZ_WGMMA_OF(128)
GEMMVIZ_WGMMA_OF(192)
GEMMVIZ_WGMMA_OF(256)
#undef GEMMVIZ_WGMMA_OF
#undef GEMMVIZ_WGMMA
// wgmma_m64n64k8_f32_tf32(d, a, b, add) and wgmma_m64n64k32_f32_e4m3(d, a, b, add), and so on: 32 bytes of K each, and both
// operands lie along K. Of a float the hardware uses the 10 upper bits of the fraction.
#define GEMMVIZ_WGMMA_ALONG(n, depth, type, registers, names, a_at, b_at, add_at, ...) \
    GEMMVIZ_PTX void wgmma_m64n##n##k##depth##_f32_##type(float (&d)[registers], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k" #depth ".f32." #type "." #type " {" names "}, %" a_at ", %" b_at \
                     ", add, 1, 1;\n}" \
                     : __VA_ARGS__ \
                     : "l"(a.bits), "l"(b.bits), "r"(add)); \
    }
#define GEMMVIZ_WGMMAS_ALONG(depth, type) \
    GEMMVIZ_WGMMA_ALONG(64, depth, type, 32, GEMMVIZ_N32_0, "32", "33", "34", GEMMVIZ_D32(0)) \
    GEMMVIZ_WGMMA_ALONG(96, depth, type, 48, GEMMVIZ_N32_0 "," GEMMVIZ_N16_1, "48", "49", "50", GEMMVIZ_D32(0), GEMMVIZ_D16(32)) \
    GEMMVIZ_WGMMA_ALONG(128, depth, type, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", GEMMVIZ_D64(0)) \
    GEMMVIZ_WGMMA_ALONG(160, depth, type, 80, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N16_2, "80", "81", "82", \
                        GEMMVIZ_D64(0), GEMMVIZ_D16(64)) \
    GEMMVIZ_WGMMA_ALONG(192, depth, type, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", \
                        GEMMVIZ_D64(0), GEMMVIZ_D32(64)) \
    GEMMVIZ_WGMMA_ALONG(256, depth, type, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", \
                        "129", "130", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
GEMMVIZ_WGMMAS_ALONG(8, tf32)
GEMMVIZ_WGMMAS_ALONG(32, e4m3)
#undef GEMMVIZ_WGMMAS_ALONG
#undef GEMMVIZ_WGMMA_ALONG
// The same with a in registers: warp w of the group gives rows 16 w to 16 w + 15. In lane l, a[i] is row l / 4 + i % 2 * 8
// of these, and element l % 4 + i / 2 * 4 of K. The registers must not change before `wgmma_wait`.
#define GEMMVIZ_WGMMA_FROM(n, registers, names, a0, a1, a2, a3, b_at, add_at, ...) \
    GEMMVIZ_PTX void wgmma_m64n##n##k8_f32_tf32(float (&d)[registers], const float (&a)[4], operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 {" names "}, {%" a0 ", %" a1 ", %" a2 \
                     ", %" a3 "}, %" b_at ", add, 1, 1;\n}" \
                     : __VA_ARGS__ \
                     : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), \
                       "r"(__float_as_uint(a[3])), "l"(b.bits), "r"(add)); \
    }
GEMMVIZ_WGMMA_FROM(64, 32, GEMMVIZ_N32_0, "32", "33", "34", "35", "36", "37", GEMMVIZ_D32(0))
GEMMVIZ_WGMMA_FROM(128, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", "67", "68", "69", GEMMVIZ_D64(0))
GEMMVIZ_WGMMA_FROM(192, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", "99", "100", "101",
                   GEMMVIZ_D64(0), GEMMVIZ_D32(64))
GEMMVIZ_WGMMA_FROM(256, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", "129", "130",
                   "131", "132", "133", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
#undef GEMMVIZ_WGMMA_FROM
#undef GEMMVIZ_N32_3
#undef GEMMVIZ_N32_2
#undef GEMMVIZ_N32_1
#undef GEMMVIZ_N16_2
#undef GEMMVIZ_N16_1
#undef GEMMVIZ_N16_0
#undef GEMMVIZ_N32_0
#undef GEMMVIZ_D64
#undef GEMMVIZ_D32
#undef GEMMVIZ_D16
#undef GEMMVIZ_D4

} // namespace ptx
} // namespace gemmviz
