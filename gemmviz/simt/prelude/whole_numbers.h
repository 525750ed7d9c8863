// Functions of bits and bytes: for PTX, and for the functions of CUDA that are such an instruction. Names: PTX ISA,
// "Integer Arithmetic Instructions"; CUDA Math API, "Integer Intrinsics" and "SIMD Intrinsics".
#pragma once

namespace gv_ptx {

// shf: 32 bits of the two registers, shifted; the amount wraps around or is limited to 32.
GV_DEVICE unsigned funnel(unsigned low, unsigned high, unsigned by, bool left, bool wraps)
{
    by = wraps ? by & 31 : by > 32 ? 32 : by;
    unsigned long long both = (unsigned long long)high << 32 | low;
    return left ? by == 32 ? low : (unsigned)(both << by >> 32) : (unsigned)(both >> by);
}
// Selects each byte of the result from the eight bytes of a and b; bit 3 of a selector repeats the sign of the byte.
GV_DEVICE unsigned permuted(unsigned a, unsigned b, unsigned choice)
{
    unsigned long long from = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = choice >> (4 * i) & 15, byte = (unsigned)(from >> (8 * (c & 7))) & 255;
        if (c & 8) byte = byte >> 7 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}
template <class A, class B> GV_DEVICE unsigned half_products(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 2; i++) c += (unsigned)((int)(A)(a >> 16 * i) * (int)(B)(b >> 8 * i));
    return c;
}
template <class A, class B> GV_DEVICE unsigned byte_products(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8) c += (unsigned)((int)(A)(a >> i) * (int)(B)(b >> i));
    return c;
}
GV_DEVICE unsigned reversed(unsigned v)
{
    unsigned result = 0;
    for (int i = 0; i < 32; i++) result |= (v >> i & 1) << (31 - i);
    return result;
}
GV_DEVICE unsigned long long reversed(unsigned long long v)
{
    return (unsigned long long)reversed((unsigned)v) << 32 | reversed((unsigned)(v >> 32));
}
// The bytes or the halves of two words, each by itself.
template <class T, class F> GV_DEVICE unsigned by_parts(unsigned a, unsigned b, F each)
{
    constexpr int bits = 8 * sizeof(T);
    unsigned result = 0;
    for (int i = 0; i < 32; i += bits) result |= (each((T)(a >> i), (T)(b >> i)) & ((1u << bits) - 1)) << i;
    return result;
}
GV_DEVICE int limited(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

} // namespace gv_ptx

GV_DEVICE unsigned __brev(unsigned v) { return gv_ptx::reversed(v); }
GV_DEVICE unsigned long long __brevll(unsigned long long v) { return gv_ptx::reversed(v); }
GV_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned choice)
{
    return gv_ptx::permuted(a, b, choice & 0x7777);
}
GV_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return gv_ptx::funnel(low, high, by, true, true);
}
GV_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
    return gv_ptx::funnel(low, high, by, true, false);
}
GV_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return gv_ptx::funnel(low, high, by, false, true);
}
GV_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by)
{
    return gv_ptx::funnel(low, high, by, false, false);
}
GV_DEVICE unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? (unsigned)b - a : (unsigned)a - b); }
GV_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
GV_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
GV_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
GV_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
GV_DEVICE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
GV_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
GV_DEVICE int __ffsll(long long v) { return __builtin_ffsll(v); }
// Only the lower 24 bits of the factors count.
GV_DEVICE int __mul24(int a, int b) { return (int)((unsigned)((a << 8) >> 8) * (unsigned)((b << 8) >> 8)); }
GV_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
GV_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
GV_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
GV_DEVICE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
GV_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
// The sum of four products of bytes, and of two products of halves with bytes.
GV_DEVICE int __dp4a(int a, int b, int c)
{
    return (int)gv_ptx::byte_products<signed char, signed char>((unsigned)a, (unsigned)b, (unsigned)c);
}
GV_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    return gv_ptx::byte_products<unsigned char, unsigned char>(a, b, c);
}
GV_DEVICE int __dp2a_lo(int a, int b, int c)
{
    return (int)gv_ptx::half_products<short, signed char>((unsigned)a, (unsigned)b, (unsigned)c);
}
GV_DEVICE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{
    return gv_ptx::half_products<unsigned short, unsigned char>(a, b, c);
}
GV_DEVICE int __dp2a_hi(int a, int b, int c)
{
    return (int)gv_ptx::half_products<short, signed char>((unsigned)a, (unsigned)b >> 16, (unsigned)c);
}
GV_DEVICE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{
    return gv_ptx::half_products<unsigned short, unsigned char>(a, b >> 16, c);
}

#define GV_PARTS(name, part, result) \
    GV_DEVICE unsigned name(unsigned a, unsigned b) \
    { \
        return gv_ptx::by_parts<part>(a, b, [](int x, int y) { return (unsigned)(result); }); \
    }
#define GV_PARTS_OF(n, with_sign, without, low, high, most) \
    GV_PARTS(__vadd##n, without, x + y) \
    GV_PARTS(__vsub##n, without, x - y) \
    GV_PARTS(__vaddss##n, with_sign, gv_ptx::limited(x + y, low, high)) \
    GV_PARTS(__vsubss##n, with_sign, gv_ptx::limited(x - y, low, high)) \
    GV_PARTS(__vaddus##n, without, gv_ptx::limited(x + y, 0, most)) \
    GV_PARTS(__vsubus##n, without, gv_ptx::limited(x - y, 0, most)) \
    GV_PARTS(__vmaxs##n, with_sign, x < y ? y : x) \
    GV_PARTS(__vmins##n, with_sign, y < x ? y : x) \
    GV_PARTS(__vmaxu##n, without, x < y ? y : x) \
    GV_PARTS(__vminu##n, without, y < x ? y : x) \
    GV_PARTS(__vabsdiffu##n, without, x < y ? y - x : x - y) \
    GV_PARTS(__vcmpeq##n, without, x == y ? most : 0) \
    GV_PARTS(__vcmpne##n, without, x != y ? most : 0)
GV_PARTS_OF(2, short, unsigned short, -32768, 32767, 65535)
GV_PARTS_OF(4, signed char, unsigned char, -128, 127, 255)
#undef GV_PARTS_OF
#undef GV_PARTS
