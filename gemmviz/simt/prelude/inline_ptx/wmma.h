// wmma.*: the fragments of nvcuda::wmma in the registers of PTX. PTX ISA, "Matrix Fragments for WMMA", leaves open
// which lane holds which element: see include/mma.h.
#pragma once

namespace gv_ptx {

// The elements of a tile in each lane. Use: matrix_a, matrix_b or accumulator; As: the type of a sum, else that of T.
template <class Use, int M, int N, int K, class T, int As = nvcuda::wmma::gv_type<T>::value>
constexpr const gv_fragment &fragment =
    nvcuda::wmma::gv_shape<Use, M, N, K, nvcuda::wmma::gv_type<T>::is_byte>::template of<T, As>;

template <class Use, int M, int N, int K, class T, class Word, int Registers>
GV_DEVICE void wmma_load(Word (&r)[Registers], const void *from, unsigned leading, int by_columns)
{
    constexpr const gv_fragment &f = fragment<Use, M, N, K, T>;
    static_assert(Registers * sizeof(Word) == f.count * sizeof(typename nvcuda::wmma::gv_type<T>::element),
        "wmma.load has another number of registers for this shape");
    gv_wmma_load(r, from, leading, by_columns, &f);
}

template <int M, int N, int K, class T, class Word, int Registers>
GV_DEVICE void wmma_store(void *to, const Word (&r)[Registers], unsigned leading, int by_columns)
{
    constexpr const gv_fragment &f = fragment<nvcuda::wmma::accumulator, M, N, K, T>;
    static_assert(Registers * sizeof(Word) == f.count * sizeof(T), "wmma.store has another number of registers");
    gv_wmma_store(to, r, leading, by_columns, &f);
}

template <int M, int N, int K, class D, class A, class B, class C, int As, class Word, int InD, int InA, int InB,
    int InC>
GV_DEVICE void wmma_multiply(Word (&d)[InD], const Word (&a)[InA], const Word (&b)[InB], const Word (&c)[InC])
{
    using namespace nvcuda::wmma;
    constexpr const gv_fragment &of_d = fragment<accumulator, M, N, K, D, As>, &of_a = fragment<matrix_a, M, N, K, A>,
                                &of_b = fragment<matrix_b, M, N, K, B>, &of_c = fragment<accumulator, M, N, K, C>;
    static_assert(InD * sizeof(Word) == of_d.count * sizeof(D) && InC * sizeof(Word) == of_c.count * sizeof(C) &&
                      InA * sizeof(Word) == of_a.count * sizeof(typename gv_type<A>::element) &&
                      InB * sizeof(Word) == of_b.count * sizeof(typename gv_type<B>::element),
        "wmma.mma has another number of registers for this shape");
    gv_wmma_mma(d, &of_d, a, &of_a, b, &of_b, c, &of_c);
}

} // namespace gv_ptx
