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

// The registers of d for n columns, and their names in an instruction.
// clang-format off
#define GEMMVIZ_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define GEMMVIZ_NAMES_8 "%0,%1,%2,%3"
#define GEMMVIZ_NAMES_16 GEMMVIZ_NAMES_8 ",%4,%5,%6,%7"
#define GEMMVIZ_NAMES_24 GEMMVIZ_NAMES_16 ",%8,%9,%10,%11"
#define GEMMVIZ_NAMES_32 GEMMVIZ_NAMES_24 ",%12,%13,%14,%15"
#define GEMMVIZ_NAMES_40 GEMMVIZ_NAMES_32 ",%16,%17,%18,%19"
#define GEMMVIZ_NAMES_48 GEMMVIZ_NAMES_40 ",%20,%21,%22,%23"
#define GEMMVIZ_NAMES_56 GEMMVIZ_NAMES_48 ",%24,%25,%26,%27"
#define GEMMVIZ_NAMES_64 GEMMVIZ_NAMES_56 ",%28,%29,%30,%31"
#define GEMMVIZ_NAMES_72 GEMMVIZ_NAMES_64 ",%32,%33,%34,%35"
#define GEMMVIZ_NAMES_80 GEMMVIZ_NAMES_72 ",%36,%37,%38,%39"
#define GEMMVIZ_NAMES_88 GEMMVIZ_NAMES_80 ",%40,%41,%42,%43"
#define GEMMVIZ_NAMES_96 GEMMVIZ_NAMES_88 ",%44,%45,%46,%47"
#define GEMMVIZ_NAMES_104 GEMMVIZ_NAMES_96 ",%48,%49,%50,%51"
#define GEMMVIZ_NAMES_112 GEMMVIZ_NAMES_104 ",%52,%53,%54,%55"
#define GEMMVIZ_NAMES_120 GEMMVIZ_NAMES_112 ",%56,%57,%58,%59"
#define GEMMVIZ_NAMES_128 GEMMVIZ_NAMES_120 ",%60,%61,%62,%63"
#define GEMMVIZ_NAMES_136 GEMMVIZ_NAMES_128 ",%64,%65,%66,%67"
#define GEMMVIZ_NAMES_144 GEMMVIZ_NAMES_136 ",%68,%69,%70,%71"
#define GEMMVIZ_NAMES_152 GEMMVIZ_NAMES_144 ",%72,%73,%74,%75"
#define GEMMVIZ_NAMES_160 GEMMVIZ_NAMES_152 ",%76,%77,%78,%79"
#define GEMMVIZ_NAMES_168 GEMMVIZ_NAMES_160 ",%80,%81,%82,%83"
#define GEMMVIZ_NAMES_176 GEMMVIZ_NAMES_168 ",%84,%85,%86,%87"
#define GEMMVIZ_NAMES_184 GEMMVIZ_NAMES_176 ",%88,%89,%90,%91"
#define GEMMVIZ_NAMES_192 GEMMVIZ_NAMES_184 ",%92,%93,%94,%95"
#define GEMMVIZ_NAMES_200 GEMMVIZ_NAMES_192 ",%96,%97,%98,%99"
#define GEMMVIZ_NAMES_208 GEMMVIZ_NAMES_200 ",%100,%101,%102,%103"
#define GEMMVIZ_NAMES_216 GEMMVIZ_NAMES_208 ",%104,%105,%106,%107"
#define GEMMVIZ_NAMES_224 GEMMVIZ_NAMES_216 ",%108,%109,%110,%111"
#define GEMMVIZ_NAMES_232 GEMMVIZ_NAMES_224 ",%112,%113,%114,%115"
#define GEMMVIZ_NAMES_240 GEMMVIZ_NAMES_232 ",%116,%117,%118,%119"
#define GEMMVIZ_NAMES_248 GEMMVIZ_NAMES_240 ",%120,%121,%122,%123"
#define GEMMVIZ_NAMES_256 GEMMVIZ_NAMES_248 ",%124,%125,%126,%127"
#define GEMMVIZ_D_8 GEMMVIZ_D4(0)
#define GEMMVIZ_D_16 GEMMVIZ_D_8, GEMMVIZ_D4(4)
#define GEMMVIZ_D_24 GEMMVIZ_D_16, GEMMVIZ_D4(8)
#define GEMMVIZ_D_32 GEMMVIZ_D_24, GEMMVIZ_D4(12)
#define GEMMVIZ_D_40 GEMMVIZ_D_32, GEMMVIZ_D4(16)
#define GEMMVIZ_D_48 GEMMVIZ_D_40, GEMMVIZ_D4(20)
#define GEMMVIZ_D_56 GEMMVIZ_D_48, GEMMVIZ_D4(24)
#define GEMMVIZ_D_64 GEMMVIZ_D_56, GEMMVIZ_D4(28)
#define GEMMVIZ_D_72 GEMMVIZ_D_64, GEMMVIZ_D4(32)
#define GEMMVIZ_D_80 GEMMVIZ_D_72, GEMMVIZ_D4(36)
#define GEMMVIZ_D_88 GEMMVIZ_D_80, GEMMVIZ_D4(40)
#define GEMMVIZ_D_96 GEMMVIZ_D_88, GEMMVIZ_D4(44)
#define GEMMVIZ_D_104 GEMMVIZ_D_96, GEMMVIZ_D4(48)
#define GEMMVIZ_D_112 GEMMVIZ_D_104, GEMMVIZ_D4(52)
#define GEMMVIZ_D_120 GEMMVIZ_D_112, GEMMVIZ_D4(56)
#define GEMMVIZ_D_128 GEMMVIZ_D_120, GEMMVIZ_D4(60)
#define GEMMVIZ_D_136 GEMMVIZ_D_128, GEMMVIZ_D4(64)
#define GEMMVIZ_D_144 GEMMVIZ_D_136, GEMMVIZ_D4(68)
#define GEMMVIZ_D_152 GEMMVIZ_D_144, GEMMVIZ_D4(72)
#define GEMMVIZ_D_160 GEMMVIZ_D_152, GEMMVIZ_D4(76)
#define GEMMVIZ_D_168 GEMMVIZ_D_160, GEMMVIZ_D4(80)
#define GEMMVIZ_D_176 GEMMVIZ_D_168, GEMMVIZ_D4(84)
#define GEMMVIZ_D_184 GEMMVIZ_D_176, GEMMVIZ_D4(88)
#define GEMMVIZ_D_192 GEMMVIZ_D_184, GEMMVIZ_D4(92)
#define GEMMVIZ_D_200 GEMMVIZ_D_192, GEMMVIZ_D4(96)
#define GEMMVIZ_D_208 GEMMVIZ_D_200, GEMMVIZ_D4(100)
#define GEMMVIZ_D_216 GEMMVIZ_D_208, GEMMVIZ_D4(104)
#define GEMMVIZ_D_224 GEMMVIZ_D_216, GEMMVIZ_D4(108)
#define GEMMVIZ_D_232 GEMMVIZ_D_224, GEMMVIZ_D4(112)
#define GEMMVIZ_D_240 GEMMVIZ_D_232, GEMMVIZ_D4(116)
#define GEMMVIZ_D_248 GEMMVIZ_D_240, GEMMVIZ_D4(120)
#define GEMMVIZ_D_256 GEMMVIZ_D_248, GEMMVIZ_D4(124)
// clang-format on
#define GEMMVIZ_WGMMA(n, type, a_at, b_at, add_at, a_lies, b_lies) \
    template <int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32_##type(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" GEMMVIZ_NAMES_##n "}, %" a_at \
                     ", %" b_at ", add, 1, 1, %" a_lies ", %" b_lies ";\n}" \
                     : GEMMVIZ_D_##n \
                     : "l"(a.bits), "l"(b.bits), "r"(add), "n"(LieOfA), "n"(LieOfB)); \
    }
#define GEMMVIZ_WGMMAS(type) \
    GEMMVIZ_WGMMA(8, type, "4", "5", "6", "7", "8") \
    GEMMVIZ_WGMMA(16, type, "8", "9", "10", "11", "12") \
    GEMMVIZ_WGMMA(24, type, "12", "13", "14", "15", "16") \
    GEMMVIZ_WGMMA(32, type, "16", "17", "18", "19", "20") \
    GEMMVIZ_WGMMA(40, type, "20", "21", "22", "23", "24") \
    GEMMVIZ_WGMMA(48, type, "24", "25", "26", "27", "28") \
    GEMMVIZ_WGMMA(56, type, "28", "29", "30", "31", "32") \
    GEMMVIZ_WGMMA(64, type, "32", "33", "34", "35", "36") \
    GEMMVIZ_WGMMA(72, type, "36", "37", "38", "39", "40") \
    GEMMVIZ_WGMMA(80, type, "40", "41", "42", "43", "44") \
    GEMMVIZ_WGMMA(88, type, "44", "45", "46", "47", "48") \
    GEMMVIZ_WGMMA(96, type, "48", "49", "50", "51", "52") \
    GEMMVIZ_WGMMA(104, type, "52", "53", "54", "55", "56") \
    GEMMVIZ_WGMMA(112, type, "56", "57", "58", "59", "60") \
    GEMMVIZ_WGMMA(120, type, "60", "61", "62", "63", "64") \
    GEMMVIZ_WGMMA(128, type, "64", "65", "66", "67", "68") \
    GEMMVIZ_WGMMA(136, type, "68", "69", "70", "71", "72") \
    GEMMVIZ_WGMMA(144, type, "72", "73", "74", "75", "76") \
    GEMMVIZ_WGMMA(152, type, "76", "77", "78", "79", "80") \
    GEMMVIZ_WGMMA(160, type, "80", "81", "82", "83", "84") \
    GEMMVIZ_WGMMA(168, type, "84", "85", "86", "87", "88") \
    GEMMVIZ_WGMMA(176, type, "88", "89", "90", "91", "92") \
    GEMMVIZ_WGMMA(184, type, "92", "93", "94", "95", "96") \
    GEMMVIZ_WGMMA(192, type, "96", "97", "98", "99", "100") \
    GEMMVIZ_WGMMA(200, type, "100", "101", "102", "103", "104") \
    GEMMVIZ_WGMMA(208, type, "104", "105", "106", "107", "108") \
    GEMMVIZ_WGMMA(216, type, "108", "109", "110", "111", "112") \
    GEMMVIZ_WGMMA(224, type, "112", "113", "114", "115", "116") \
    GEMMVIZ_WGMMA(232, type, "116", "117", "118", "119", "120") \
    GEMMVIZ_WGMMA(240, type, "120", "121", "122", "123", "124") \
    GEMMVIZ_WGMMA(248, type, "124", "125", "126", "127", "128") \
    GEMMVIZ_WGMMA(256, type, "128", "129", "130", "131", "132")
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
#define GEMMVIZ_WIDTHS(X) X(8) X(16) X(24) X(32) X(40) X(48) X(56) X(64) X(72) X(80) X(88) X(96) X(104) X(112) \
    X(120) X(128) X(136) X(144) X(152) X(160) X(168) X(176) X(184) X(192) X(200) \
    X(208) X(216) X(224) X(232) X(240) X(248) X(256)
GEMMVIZ_WIDTHS(GEMMVIZ_WGMMA_OF)
#undef GEMMVIZ_WGMMA_OF
#undef GEMMVIZ_WGMMA
// The same, with N as a template argument.
template <typename Element, int N, int LieOfB, int LieOfA = ALONG_K>
GEMMVIZ_PTX void wgmma_m64k16_f32(float (&d)[N / 2], operand a, operand b, int add)
{
    static_assert(N % 8 == 0 && N <= 256, "8 to 256 columns in steps of 8");
#define GEMMVIZ_WGMMA_IF(n) \
    if constexpr (N == n) \
        wgmma_m64n##n##k16_f32<Element, LieOfB, LieOfA>(d, a, b, add);
    GEMMVIZ_WIDTHS(GEMMVIZ_WGMMA_IF)
#undef GEMMVIZ_WGMMA_IF
}
#undef GEMMVIZ_WIDTHS
// wgmma_m64n64k8_f32_tf32(d, a, b, add) and wgmma_m64n64k32_f32_e4m3(d, a, b, add), and so on: 32 bytes of K each, and both
// operands lie along K. Of a float the hardware uses the 10 upper bits of the fraction.
#define GEMMVIZ_WGMMA_ALONG(n, depth, type, a_at, b_at, add_at) \
    GEMMVIZ_PTX void wgmma_m64n##n##k##depth##_f32_##type(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k" #depth ".f32." #type "." #type " {" GEMMVIZ_NAMES_##n "}, %" a_at \
                     ", %" b_at ", add, 1, 1;\n}" \
                     : GEMMVIZ_D_##n \
                     : "l"(a.bits), "l"(b.bits), "r"(add)); \
    }
#define GEMMVIZ_WGMMAS_ALONG(depth, type) \
    GEMMVIZ_WGMMA_ALONG(64, depth, type, "32", "33", "34") \
    GEMMVIZ_WGMMA_ALONG(96, depth, type, "48", "49", "50") \
    GEMMVIZ_WGMMA_ALONG(128, depth, type, "64", "65", "66") \
    GEMMVIZ_WGMMA_ALONG(160, depth, type, "80", "81", "82") \
    GEMMVIZ_WGMMA_ALONG(192, depth, type, "96", "97", "98") \
    GEMMVIZ_WGMMA_ALONG(256, depth, type, "128", "129", "130")
GEMMVIZ_WGMMAS_ALONG(8, tf32)
GEMMVIZ_WGMMAS_ALONG(32, e4m3)
#undef GEMMVIZ_WGMMAS_ALONG
#undef GEMMVIZ_WGMMA_ALONG
// The same with a in registers: warp w of the group gives rows 16 w to 16 w + 15. In lane l, a[i] is row l / 4 + i % 2 * 8
// of these, and element l % 4 + i / 2 * 4 of K. The registers must not change before `wgmma_wait`.
#define GEMMVIZ_WGMMA_FROM(n, a0, a1, a2, a3, b_at, add_at) \
    GEMMVIZ_PTX void wgmma_m64n##n##k8_f32_tf32(float (&d)[n / 2], const float (&a)[4], operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 {" GEMMVIZ_NAMES_##n "}, {%" a0 ", %" a1 ", %" a2 \
                     ", %" a3 "}, %" b_at ", add, 1, 1;\n}" \
                     : GEMMVIZ_D_##n \
                     : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), \
                       "r"(__float_as_uint(a[3])), "l"(b.bits), "r"(add)); \
    }
GEMMVIZ_WGMMA_FROM(64, "32", "33", "34", "35", "36", "37")
GEMMVIZ_WGMMA_FROM(128, "64", "65", "66", "67", "68", "69")
GEMMVIZ_WGMMA_FROM(192, "96", "97", "98", "99", "100", "101")
GEMMVIZ_WGMMA_FROM(256, "128", "129", "130", "131", "132", "133")
#undef GEMMVIZ_WGMMA_FROM

} // namespace ptx
} // namespace gemmviz
