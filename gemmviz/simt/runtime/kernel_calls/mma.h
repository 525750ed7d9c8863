// The products of a warp by the instruction mma, for gemmviz/ptx.h and prelude/inline_ptx: the elements of each lane.
// C++, compiled with the kernel.
//
// PTX ISA, "Matrix Fragments for mma.m16n8k16 ..." and similar sections, describe each shape. All shapes except m8n8k4
// of halves follow one rule. With p elements in a register (2 of 16 bits, 4 of 8 bits, else 1), lane l holds in row
// l / 4 of A the p elements along K from p (l % 4) on; then the same 8 rows further down; then both again 4 p elements
// further along K. B is the same by columns. A sum has row l / 4 and columns 2 (l % 4) and the next one, then the same
// 8 rows further down.
#pragma once
#include "wmma.h"

constexpr unsigned gv_in_register(int type)
{
    return type == GV_HALF || type == GV_BFLOAT16                                 ? 2
           : type == GV_S8 || type == GV_U8 || type == GV_E4M3 || type == GV_E5M2 ? 4
                                                                                  : 1;
}

struct gv_fragment_steps {
    gv_fragment f;
    int bits = 0;
    constexpr void step(unsigned rows, unsigned columns)
    {
        f.step[bits][0] = (signed char)rows;
        f.step[bits++][1] = (signed char)columns;
        f.count = (unsigned char)(1 << bits);
    }
};

// A (rows x k), or B (k x 8), which is transposed.
constexpr gv_fragment gv_mma_operand(unsigned rows, unsigned k, int type, bool across)
{
    unsigned in_register = gv_in_register(type);
    gv_fragment_steps s = {{(unsigned char)(across ? k : rows), (unsigned char)(across ? 8 : k), 1, (unsigned char)type,
        across, 0, (unsigned char)in_register, {}}};
    for (unsigned i = 1; i < in_register; i *= 2) s.step(across ? i : 0, across ? 0 : i);
    if (!across && rows == 16) s.step(8, 0);
    for (unsigned i = 4 * in_register; i < k; i *= 2) s.step(across ? i : 0, across ? 0 : i);
    return s.f;
}

constexpr gv_fragment gv_mma_sums(unsigned rows, int type)
{
    gv_fragment_steps s = {{(unsigned char)rows, 8, 1, (unsigned char)type, 0, 1, 2, {}}};
    s.step(0, 1);
    if (rows == 16) s.step(8, 0);
    return s.f;
}

// The number of C++ elements of 4 bytes (8 for doubles) that hold a fragment.
constexpr unsigned gv_registers(gv_fragment f)
{
    return f.count / (f.type == GV_HALF && f.accumulates ? 2 : gv_in_register(f.type));
}

template <int M, int N, int K, int TypeA, int TypeB, int TypeC, int TypeD> struct gv_mma_shape {
    static_assert(N == 8, "mma has 8 columns");
    static constexpr gv_fragment a = gv_mma_operand(M, K, TypeA, false), b = gv_mma_operand(M, K, TypeB, true),
                                 c = gv_mma_sums(M, TypeC), d = gv_mma_sums(M, TypeD);
    static constexpr gv_product_kind kind = gv_kind_of_product(d, a, b, c);
};

// d = a b + c; the types are those of the elements in the registers.
template <int M, int N, int K, int TypeA, int TypeB, int TypeC, int TypeD, class D, class A, class B, class C,
    class Shape = gv_mma_shape<M, N, K, TypeA, TypeB, TypeC, TypeD>>
GV_DEVICE void gv_mma(D (&d)[gv_registers(Shape::d)], const A (&a)[gv_registers(Shape::a)],
    const B (&b)[gv_registers(Shape::b)], const C (&c)[gv_registers(Shape::c)])
{
    gv_wmma_multiply(d, a, b, c, &Shape::kind);
}
