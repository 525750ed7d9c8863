// What the processor can do. The runtime is compiled for every processor of a kind; a function for better ones is
// called only where they are.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>
#define GV_AVX2 __attribute__((target("avx2,fma,f16c")))
#define GV_AVX512 __attribute__((target("avx512f,avx2,fma,f16c")))
#define GV_VNNI __attribute__((target("avx512f,avx512vnni,avx2,fma,f16c")))

// Whether the processor has AVX2, FMA and F16C, and the system keeps their registers.
static inline int gv_has_avx2(void)
{
    static int known;
    unsigned a, b, c, d, low = 0, high;
    if (known) return known > 1;
    known = 1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || ~c & (bit_FMA | bit_F16C | bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2) known = 2;
    return known > 1;
}

// Whether it also has AVX-512F, and the system keeps its registers.
static inline int gv_has_avx512(void)
{
    static int known;
    unsigned a, b, c, d, low = 0, high;
    if (known) return known > 1;
    known = 1;
    if (!gv_has_avx2()) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 0xe6) == 0xe6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX512F) known = 2;
    return known > 1;
}

// Whether it also multiplies pairs of whole numbers of 16 bits, and adds both products to a sum (AVX-512 VNNI).
static inline int gv_has_vnni(void)
{
    static int known;
    unsigned a, b, c, d;
    if (known) return known > 1;
    known = 1;
    if (gv_has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_AVX512VNNI) known = 2;
    return known > 1;
}
#endif
