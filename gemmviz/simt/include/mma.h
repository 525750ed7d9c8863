// nvcuda::wmma for the recorder: operands of half, bfloat16, tf32, bytes and double, each with the sums that it has.
#pragma once
#include "../runtime/kernel_calls/wmma.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
GV_DEVICE float __float_to_tf32(float v) { return __builtin_bit_cast(float, gv_tf32_bits(v)); }

// The representation of a fragment's type in memory and in registers.
template <class T> struct gv_type {
    static_assert(sizeof(T) == 0,
        "fragments of this type cannot be recorded: use half, bfloat16, tf32, signed char, unsigned char or double "
        "operands, and sums in float, half, int or double");
};
#define GV_TYPE(type, in_memory, kind) \
    template <> struct gv_type<type> { \
        typedef in_memory element; \
        static constexpr int value = kind; \
        static constexpr bool is_byte = kind == GV_S8 || kind == GV_U8; \
    };
GV_TYPE(half, half, GV_HALF)
GV_TYPE(float, float, GV_FLOAT)
GV_TYPE(nv_bfloat16, nv_bfloat16, GV_BFLOAT16)
GV_TYPE(precision::tf32, float, GV_TF32)
GV_TYPE(signed char, signed char, GV_S8)
GV_TYPE(unsigned char, unsigned char, GV_U8)
GV_TYPE(int, int, GV_S32)
GV_TYPE(double, double, GV_DOUBLE)
#undef GV_TYPE

template <class Layout> struct gv_layout {
    static_assert(sizeof(Layout *) == 0,
        "no layout: a fragment of an operand has one as its last type, row_major or col_major, and load_matrix_sync of "
        "sums has one as its last argument, mem_row_major or mem_col_major");
};
template <> struct gv_layout<row_major> {
    static constexpr int by_columns = 0;
};
template <> struct gv_layout<col_major> {
    static constexpr int by_columns = 1;
};

// The places of the elements: one line per use and shape. Some shapes hold every half element twice or more. bfloat16
// operands of the same shape hold it once, so `of` leaves out the repetitions for them. Of bytes a lane holds four
// neighbours along K, as in "Matrix Fragments for mma.m16n8k16 with .u8 or .s8 type" (PTX ISA). Their places in x[]
// were read in the machine code of load_matrix_sync for sm_90, of bytes and of doubles.
template <class Use, int M, int N, int K, bool Bytes> struct gv_shape {
    static_assert(K == 0,
        "this shape of a fragment cannot be recorded: use 16x16x16, 32x8x16 or 8x32x16, 16x16x8 for tf32 and 8x8x4 for "
        "double");
};
constexpr bool gv_fits(int type, int k, bool sums)
{
    if (k == 4) return type == GV_DOUBLE;
    if (sums) return type == GV_FLOAT || (k == 16 && (type == GV_HALF || type == GV_S32));
    return k == 8 ? type == GV_TF32 : type == GV_HALF || type == GV_BFLOAT16 || type == GV_S8 || type == GV_U8;
}
#define GV_SHAPE(use, m, n, k, bytes, rows, columns, count, distinct, across, sums, ...) \
    template <> struct gv_shape<use, m, n, k, bytes> { \
        template <class T> static constexpr bool fits = gv_fits(gv_type<T>::value, k, sums); \
        template <class T, int Type = gv_type<T>::value> static constexpr gv_fragment of = {rows, columns, \
            Type == GV_BFLOAT16 ? distinct : count, Type, across, sums, \
            bytes             ? 4 \
            : k < 16 && !sums ? 1 \
                              : 2, \
            __VA_ARGS__}; \
    };
GV_SHAPE(matrix_a, 16, 16, 16, false, 16, 16, 16, 8, 0, 0, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_b, 16, 16, 16, false, 16, 16, 16, 8, 1, 0, {{1, 0}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(accumulator, 16, 16, 16, false, 16, 16, 8, 8, 0, 1, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_a, 32, 8, 16, false, 32, 16, 16, 16, 0, 0, {{0, 1}, {8, 0}, {0, 8}, {16, 0}})
GV_SHAPE(matrix_b, 32, 8, 16, false, 16, 8, 16, 4, 1, 0, {{1, 0}, {8, 0}, {0, 0}, {0, 0}})
GV_SHAPE(accumulator, 32, 8, 16, false, 32, 8, 8, 8, 0, 1, {{0, 1}, {8, 0}, {16, 0}, {0, 0}})
GV_SHAPE(matrix_a, 8, 32, 16, false, 8, 16, 16, 4, 0, 0, {{0, 1}, {0, 8}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 8, 32, 16, false, 16, 32, 16, 16, 1, 0, {{1, 0}, {0, 8}, {8, 0}, {0, 16}})
GV_SHAPE(accumulator, 8, 32, 16, false, 8, 32, 8, 8, 1, 1, {{1, 0}, {0, 8}, {0, 16}, {0, 0}})
GV_SHAPE(matrix_a, 16, 16, 16, true, 16, 16, 8, 8, 0, 0, {{0, 1}, {0, 2}, {8, 0}, {0, 0}})
GV_SHAPE(matrix_b, 16, 16, 16, true, 16, 16, 8, 8, 1, 0, {{1, 0}, {2, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_a, 32, 8, 16, true, 32, 16, 16, 16, 0, 0, {{0, 1}, {0, 2}, {8, 0}, {16, 0}})
GV_SHAPE(matrix_b, 32, 8, 16, true, 16, 8, 4, 4, 1, 0, {{1, 0}, {2, 0}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_a, 8, 32, 16, true, 8, 16, 4, 4, 0, 0, {{0, 1}, {0, 2}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 8, 32, 16, true, 16, 32, 16, 16, 1, 0, {{1, 0}, {2, 0}, {0, 8}, {0, 16}})
GV_SHAPE(matrix_a, 16, 16, 8, false, 16, 8, 4, 4, 0, 0, {{8, 0}, {0, 4}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 16, 16, 8, false, 8, 16, 4, 4, 1, 0, {{4, 0}, {0, 8}, {0, 0}, {0, 0}})
GV_SHAPE(accumulator, 16, 16, 8, false, 16, 16, 8, 8, 0, 1, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_a, 8, 8, 4, false, 8, 4, 1, 1, 0, 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 8, 8, 4, false, 4, 8, 1, 1, 1, 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}})
GV_SHAPE(accumulator, 8, 8, 4, false, 8, 8, 2, 2, 0, 1, {{0, 1}, {0, 0}, {0, 0}, {0, 0}})
#undef GV_SHAPE

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    typedef gv_shape<Use, M, N, K, gv_type<T>::is_byte> gv_places;
    static_assert(gv_places::template fits<T>,
        "no tensor core has fragments of this type and shape: tf32 operands are 16x16x8 and double ones 8x8x4, others "
        "have K = 16; sums are float, half or int, and double of double");
    static constexpr const gv_fragment &gv_where = gv_places::template of<T>;
    static constexpr int num_elements = gv_where.count;
    typedef T element_type;
    typedef typename gv_type<T>::element storage_element_type;
    // Two fragments share no part of memory that a postponed instruction marks as a whole (runtime/postponed.c).
    alignas(16) storage_element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
GV_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const V &value)
{
    for (int i = 0; i < f.num_elements; i++) f.x[i] = (typename gv_type<T>::element)value;
}

template <class Use, int M, int N, int K, class T, class Layout> GV_DEVICE void load_matrix_sync(
    fragment<Use, M, N, K, T, Layout> &f, const typename gv_type<T>::element *from, unsigned leading)
{
    gv_wmma_load(f.x, from, leading, gv_layout<Layout>::by_columns, &f.gv_where);
}

template <int M, int N, int K, class T>
GV_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *from, unsigned leading, layout_t layout)
{
    gv_wmma_load(f.x, from, leading, layout == mem_col_major, &f.gv_where);
}

template <int M, int N, int K, class T>
GV_DEVICE void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &f, unsigned leading, layout_t layout)
{
    gv_wmma_store(to, f.x, leading, layout == mem_col_major, &f.gv_where);
}

// Whether sums of these types are of products of that type.
constexpr bool gv_adds_up(int operands, int c, int d)
{
    if (operands == GV_S8 || operands == GV_U8) return c == GV_S32 && d == GV_S32;
    if (operands == GV_DOUBLE) return c == GV_DOUBLE && d == GV_DOUBLE;
    return c != GV_S32 && d != GV_S32 && (operands == GV_HALF || (c == GV_FLOAT && d == GV_FLOAT));
}

// satf: a sum of integers stays at the limit; without it, it wraps around (PTX ISA, "wmma.mma", .satfinite).
template <int M, int N, int K, class TA, class LA, class TB, class LB, class TD, class TC>
GV_DEVICE void mma_sync(fragment<accumulator, M, N, K, TD> &d, const fragment<matrix_a, M, N, K, TA, LA> &a,
    const fragment<matrix_b, M, N, K, TB, LB> &b, const fragment<accumulator, M, N, K, TC> &c, bool satf = false)
{
    static_assert(gv_type<TA>::value == gv_type<TB>::value &&
                      gv_adds_up(gv_type<TA>::value, gv_type<TC>::value, gv_type<TD>::value),
        "no tensor core multiplies these fragments: A and B have one type; sums are float or half of half, int of "
        "bytes, double of double, float of others");
    constexpr int clamped = gv_type<TD>::value == GV_S32 ? GV_S32_CLAMPED : gv_type<TD>::value;
    const gv_fragment *of_d = satf ? &gv_shape<accumulator, M, N, K, false>::template of<TD, clamped> : &d.gv_where;
    gv_wmma_mma(d.x, of_d, a.x, &a.gv_where, b.x, &b.gv_where, c.x, &c.gv_where);
}

} // namespace wmma
} // namespace nvcuda
