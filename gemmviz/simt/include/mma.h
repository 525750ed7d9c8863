// nvcuda::wmma for the recorder: half, bfloat16 and tf32 operands, sums in float or half.
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
        "fragments of this type cannot be recorded: use half, bfloat16 or tf32 operands, and sums in float or half");
};
template <> struct gv_type<half> {
    typedef half element;
    static constexpr int value = GV_HALF;
};
template <> struct gv_type<float> {
    typedef float element;
    static constexpr int value = GV_FLOAT;
};
template <> struct gv_type<nv_bfloat16> {
    typedef nv_bfloat16 element;
    static constexpr int value = GV_BFLOAT16;
};
template <> struct gv_type<precision::tf32> {
    typedef float element;
    static constexpr int value = GV_TF32;
};

template <class Layout> struct gv_layout;
template <> struct gv_layout<row_major> {
    static constexpr int by_columns = 0;
};
template <> struct gv_layout<col_major> {
    static constexpr int by_columns = 1;
};

// Where the elements are: one line per use and shape. Of half operands some shapes hold every element twice or more,
// which bfloat16 operands of the same shape do not: `of` leaves the repetitions out for them.
template <class Use, int M, int N, int K> struct gv_shape {
    static_assert(
        K == 0, "this shape of a fragment cannot be recorded: use 16x16x16, 32x8x16 or 8x32x16, and 16x16x8 for tf32");
};
constexpr bool gv_fits(int type, int k, bool sums)
{
    if (sums) return type == GV_FLOAT || (type == GV_HALF && k == 16);
    return k == 8 ? type == GV_TF32 : type == GV_HALF || type == GV_BFLOAT16;
}
#define GV_SHAPE(use, m, n, k, rows, columns, count, distinct, across, sums, ...) \
    template <> struct gv_shape<use, m, n, k> { \
        template <class T> static constexpr bool fits = gv_fits(gv_type<T>::value, k, sums); \
        template <class T> static constexpr gv_fragment of = {rows, columns, \
            gv_type<T>::value == GV_BFLOAT16 ? distinct : count, gv_type<T>::value, across, sums, \
            k == 8 && !sums ? 1 : 2, __VA_ARGS__}; \
    };
GV_SHAPE(matrix_a, 16, 16, 16, 16, 16, 16, 8, 0, 0, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_b, 16, 16, 16, 16, 16, 16, 8, 1, 0, {{1, 0}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(accumulator, 16, 16, 16, 16, 16, 8, 8, 0, 1, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
GV_SHAPE(matrix_a, 32, 8, 16, 32, 16, 16, 16, 0, 0, {{0, 1}, {8, 0}, {0, 8}, {16, 0}})
GV_SHAPE(matrix_b, 32, 8, 16, 16, 8, 16, 4, 1, 0, {{1, 0}, {8, 0}, {0, 0}, {0, 0}})
GV_SHAPE(accumulator, 32, 8, 16, 32, 8, 8, 8, 0, 1, {{0, 1}, {8, 0}, {16, 0}, {0, 0}})
GV_SHAPE(matrix_a, 8, 32, 16, 8, 16, 16, 4, 0, 0, {{0, 1}, {0, 8}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 8, 32, 16, 16, 32, 16, 16, 1, 0, {{1, 0}, {0, 8}, {8, 0}, {0, 16}})
GV_SHAPE(accumulator, 8, 32, 16, 8, 32, 8, 8, 1, 1, {{1, 0}, {0, 8}, {0, 16}, {0, 0}})
GV_SHAPE(matrix_a, 16, 16, 8, 16, 8, 4, 4, 0, 0, {{8, 0}, {0, 4}, {0, 0}, {0, 0}})
GV_SHAPE(matrix_b, 16, 16, 8, 8, 16, 4, 4, 1, 0, {{4, 0}, {0, 8}, {0, 0}, {0, 0}})
GV_SHAPE(accumulator, 16, 16, 8, 16, 16, 8, 8, 0, 1, {{0, 1}, {8, 0}, {0, 8}, {0, 0}})
#undef GV_SHAPE

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(gv_shape<Use, M, N, K>::template fits<T>,
        "no tensor core has fragments of this type and shape: tf32 operands "
        "are 16x16x8, others have K = 16, sums are float or half");
    static constexpr const gv_fragment &gv_where = gv_shape<Use, M, N, K>::template of<T>;
    static constexpr int num_elements = gv_where.count;
    typedef T element_type;
    typedef typename gv_type<T>::element storage_element_type;
    storage_element_type x[num_elements];
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

template <int M, int N, int K, class TA, class LA, class TB, class LB, class TD, class TC>
GV_DEVICE void mma_sync(fragment<accumulator, M, N, K, TD> &d, const fragment<matrix_a, M, N, K, TA, LA> &a,
    const fragment<matrix_b, M, N, K, TB, LB> &b, const fragment<accumulator, M, N, K, TC> &c)
{
    static_assert(
        gv_type<TA>::value == gv_type<TB>::value && (gv_type<TA>::value == GV_HALF || sizeof(TC) + sizeof(TD) == 8),
        "no tensor core multiplies these fragments: A and B have one type, and sums are float unless both are half");
    gv_wmma_mma(d.x, &d.gv_where, a.x, &a.gv_where, b.x, &b.gv_where, c.x, &c.gv_where);
}

} // namespace wmma
} // namespace nvcuda
