// The interface between mma.h (C++, compiled with the kernel) and wmma.c: the places of a fragment's elements. Plain C.
#pragma once
#include <stdint.h>

// The types of elements. An integer sum out of range wraps around, or (GV_S32_CLAMPED) becomes the limit.
enum { GV_HALF, GV_FLOAT, GV_BFLOAT16, GV_TF32, GV_S8, GV_U8, GV_E4M3, GV_E5M2, GV_DOUBLE, GV_S32, GV_S32_CLAMPED };
// Further types of operands of gv_mma_words: numbers of 4 bits, and bits.
enum { GV_S4 = 16, GV_U4, GV_BIT };

// A product d = a b + c of `rows` x 8 x `depth` whose operands are whole registers. GV_WORDS_XOR and GV_WORDS_AND count
// the bits of a ^ b and a & b. GV_WORDS_SPARSE: half of A is zeros and is left out; the registers `where` of the lanes
// that the `selector` chooses say which (PTX ISA, "Sparse matrix storage").
enum { GV_WORDS_PRODUCT, GV_WORDS_XOR, GV_WORDS_AND, GV_WORDS_SPARSE };
typedef struct {
    int rows, depth, type_a, type_b, type_c, type_d, how;
    uint32_t where, selector;
} gv_words_form;

// Element i of lane l is at row l / 4, column s (l % 4), or, for `across`, at column l / 4, row s (l % 4), where s is
// the `spread`. Every bit that is set in i adds its step (rows, columns). A step of (0, 0) means that the fragment
// holds the element twice. Measured on an H200; tests/unit/wmma_fragments_sm90.json holds the measurements.
typedef struct {
    uint8_t rows, columns, count, type, across, accumulates, spread;
    int8_t step[4][2];
} gv_fragment;

// The fragments of a product d = a b + c, and the bytes of a lane's elements of three of them.
typedef struct {
    const gv_fragment *d, *a, *b, *c;
    uint16_t bytes_d, bytes_a, bytes_b;
} gv_product_kind;

// A pointer that a function keeps no longer than until it returns. The compiler then knows all uses of a local array
// that is passed to such functions only, and calls no test before them.
#if defined(__clang__)
#define GV_NOT_KEPT __attribute__((noescape))
#else
#define GV_NOT_KEPT
#endif

#ifdef __cplusplus
constexpr unsigned gv_element_bytes(int type)
{
    return type == GV_HALF || type == GV_BFLOAT16                                 ? 2
           : type == GV_S8 || type == GV_U8 || type == GV_E4M3 || type == GV_E5M2 ? 1
           : type == GV_DOUBLE                                                    ? 8
                                                                                  : 4;
}
constexpr unsigned short gv_lane_bytes(const gv_fragment &f)
{
    return (unsigned short)(f.count * gv_element_bytes(f.type));
}
constexpr gv_product_kind gv_kind_of_product(
    const gv_fragment &d, const gv_fragment &a, const gv_fragment &b, const gv_fragment &c)
{
    return {&d, &a, &b, &c, gv_lane_bytes(d), gv_lane_bytes(a), gv_lane_bytes(b)};
}
extern "C" {
#endif
void gv_wmma_load(void *x, const void *from, uint32_t leading, int by_columns, const gv_fragment *f);
void gv_wmma_store(void *to, const void *x, uint32_t leading, int by_columns, const gv_fragment *f);
void gv_wmma_mma(void *d, const gv_fragment *fd, const void *a GV_NOT_KEPT, const gv_fragment *fa,
    const void *b GV_NOT_KEPT, const gv_fragment *fb, const void *c, const gv_fragment *fc);
// The same; the kind is a constant of the kernel's program.
void gv_wmma_multiply(
    void *d, const void *a GV_NOT_KEPT, const void *b GV_NOT_KEPT, const void *c, const gv_product_kind *kind);
// Loads `count` matrices of 8 x 8 halves into `count` registers of each lane, or stores them; see PTX ISA, "ldmatrix"
// and "stmatrix".
void gv_ldmatrix(uint32_t *r GV_NOT_KEPT, const void *row, uint32_t count, int transposed);
void gv_stmatrix(void *row, const uint32_t *r GV_NOT_KEPT, uint32_t count, int transposed);
// Four products of 8 x 8 x 4 halves, each by two groups of four lanes; see PTX ISA, "Matrix Fragments for mma.m8n8k4
// with .f16 floating point type". d_type, c_type: GV_HALF or GV_FLOAT.
void gv_mma_quads(
    void *d, int d_type, const void *a, const void *b, const void *c, int c_type, int a_by_columns, int b_by_columns);
void gv_mma_words(void *d, const uint32_t *a, const uint32_t *b, const void *c, const gv_words_form *form);
#ifdef __cplusplus
}
// Rounds like cvt.rna.tf32.f32: to 10 bits after the point, ties away from zero.
GV_DEVICE unsigned gv_tf32_bits(float v)
{
    unsigned bits = __builtin_bit_cast(unsigned, v);
    return v - v != 0 ? bits : (bits + 0x1000) & 0xffffe000;
}
#endif
