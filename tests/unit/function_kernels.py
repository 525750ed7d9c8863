"""Small kernels with CUDA's functions of bits and bytes, of 8-bit floats and of warps, beside the same written out."""

from ptx_word_kernels import words

_PARTS = "x = 0; for (int j = 0; j < 32; j += {bits}) {{ int p = ({type})(a >> j), q = ({type})(b >> j); {rest} }}"
_RESULT = "x |= ((unsigned)({result}) & {mask}u) << j;"


def _by_parts(name: str, kind: str, result: str) -> tuple[str, str, str]:
    bits = 32 // int(name[-1])
    rest = _RESULT.format(result=result, mask=(1 << bits) - 1)
    return name, f"x = {name}(a, b);", _PARTS.format(bits=bits, type=kind, rest=rest)


_FUNCTIONS = [
    ("__brev", "x = __brev(a);", "x = 0; for (int j = 0; j < 32; j++) x |= (a >> j & 1) << (31 - j);"),
    (
        "__brevll",
        "x = __brevll((unsigned long long)a << 32 | b) >> 20;",
        "unsigned long long u = (unsigned long long)a << 32 | b, w = 0;"
        " for (int j = 0; j < 64; j++) w |= (u >> j & 1) << (63 - j); x = w >> 20;",
    ),
    (
        "__byte_perm",
        "x = __byte_perm(a, b, a >> 5);",
        "unsigned long long u = (unsigned long long)b << 32 | a; x = 0;"
        " for (int j = 0; j < 4; j++) x |= (unsigned)(u >> 8 * (a >> 5 >> 4 * j & 7) & 255) << 8 * j;",
    ),
    (
        "__funnelshift",
        "x = __funnelshift_l(a, b, a) ^ __funnelshift_r(a, b, b);",
        "unsigned long long u = (unsigned long long)b << 32 | a; x = u << (a & 31) >> 32 ^ (unsigned)(u >> (b & 31));",
    ),
    (
        "__funnelshift_c",
        "x = __funnelshift_lc(a, b, a & 63) + 3 * __funnelshift_rc(a, b, b & 63);",
        "unsigned long long u = (unsigned long long)b << 32 | a; unsigned l = a & 63, r = b & 63;"
        " x = (l > 31 ? a : (unsigned)(u << l >> 32)) + 3 * (r > 31 ? b : (unsigned)(u >> r));",
    ),
    ("__sad", "x = __sad(a, b, 9);", "x = ((int)a < (int)b ? b - a : a - b) + 9;"),
    ("__usad", "x = __usad(a, b, 9);", "x = (a < b ? b - a : a - b) + 9;"),
    ("__mul24", "x = __mul24(a, b);", "x = (unsigned)((int)(a << 8) >> 8) * (unsigned)((int)(b << 8) >> 8);"),
    ("__umul24", "x = __umul24(a, b);", "x = (a & 0xffffff) * (b & 0xffffff);"),
    (
        "__mul64hi",
        "unsigned long long u = a; x = (unsigned)__mul64hi((long long)a << 31, -(long long)b);"
        " x += 5 * (unsigned)__umul64hi(~u, b);",
        "unsigned long long z = (unsigned long long)a * b; "
        "long long w = -(long long)(z >> 33) - ((z & 0x1ffffffff) != 0);"
        " unsigned long long u = ~(unsigned long long)a, v = (u & 0xffffffff) * b >> 32;"
        " x = (unsigned)w + 5 * (unsigned)((u >> 32) * b + v >> 32);",
    ),
    (
        "__dp4a",
        "x = (unsigned)__dp4a((int)a, (int)b, -7) ^ __dp4a(a, b, 7u);",
        "int s = -7; unsigned u = 7; for (int j = 0; j < 32; j += 8) {"
        " s += (signed char)(a >> j) * (signed char)(b >> j); u += (a >> j & 255) * (b >> j & 255); } x = s ^ u;",
    ),
    (
        "__dp2a",
        "x = __dp2a_lo((int)a, (int)b, 3) + 3 * __dp2a_hi((int)a, (int)b, 5) + 7 * __dp2a_lo(a, b, 1u)"
        " + 9 * __dp2a_hi(a, b, 2u);",
        "int p = (short)a, q = (short)(a >> 16); unsigned r = a & 65535, s = a >> 16;"
        " x = p * (signed char)b + q * (signed char)(b >> 8) + 3;"
        " x += 3 * (p * (signed char)(b >> 16) + q * (signed char)(b >> 24) + 5);"
        " x += 7 * (r * (b & 255) + s * (b >> 8 & 255) + 1) + 9 * (r * (b >> 16 & 255) + s * (b >> 24) + 2);",
    ),
    *(
        _by_parts(f"__v{name}{parts}", kind, result.format(low=-(1 << bits - 1), high=(1 << bits - 1) - 1, most=most))
        for parts, bits, most, signed, unsigned in (
            (2, 16, 65535, "short", "unsigned short"),
            (4, 8, 255, "signed char", "unsigned char"),
        )
        for name, kind, result in (
            ("add", unsigned, "p + q"),
            ("sub", unsigned, "p - q"),
            ("addss", signed, "min(max(p + q, {low}), {high})"),
            ("subss", signed, "min(max(p - q, {low}), {high})"),
            ("addus", unsigned, "min(p + q, {most})"),
            ("subus", unsigned, "max(p - q, 0)"),
            ("maxs", signed, "max(p, q)"),
            ("mins", signed, "min(p, q)"),
            ("maxu", unsigned, "max(p, q)"),
            ("minu", unsigned, "min(p, q)"),
            ("absdiffu", unsigned, "abs(p - q)"),
            ("cmpeq", unsigned, "p == q ? {most} : 0"),
            ("cmpne", unsigned, "p != q ? {most} : 0"),
        )
    ),
    (
        "double_bits",
        "double d = __hiloint2double((int)(a & 0x7fefffff), (int)b); x = __double2hiint(d) ^ __double2loint(d)"
        " ^ (unsigned)(__double_as_longlong(d) >> 7) ^ (d != __longlong_as_double(__double_as_longlong(d)));",
        "x = (a & 0x7fefffff) ^ b ^ ((a & 0x7fefffff) << 25 | b >> 7);",
    ),
    (
        "__match_any_sync",
        "int all = 5; x = __match_any_sync(~0u, a & 3) ^ __match_all_sync(~0u, i, &all); x += all != 0;"
        " x ^= __match_all_sync(~0u, t & 16, &all); x += all != 0;",
        "x = 0; for (int j = 0; j < 32; j++) x |= (__shfl_sync(~0u, a & 3, j) == (a & 3)) << j; x ^= ~0u; x += 1;",
    ),
    (
        "classes",
        "float f = __uint_as_float(i < 4 ? a | 0x7f800000u : i < 6 ? a & 0xff800000u | 0x7f800000u : a);"
        " x = isnan(f) + 2 * isinf(f) + 4 * isfinite(f) + 8 * (signbit(f) != 0);",
        "unsigned w = i < 4 ? a | 0x7f800000u : i < 6 ? a & 0xff800000u | 0x7f800000u : a, e = w >> 23 & 255;"
        " x = (e == 255 && w << 9) + 2 * (e == 255 && !(w << 9)) + 4 * (e != 255) + 8 * (w >> 31);",
    ),
]  # fmt: skip
_NARROW = [
    (
        "fp8_without_saturation",
        "float f = (float)(int)(a % 1000) * (i & 1 ? 1 : -1); x = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3);",
        "unsigned n = a % 1000; bool high = n > 464; float f = (float)(int)n * (i & 1 ? 1 : -1);"
        " x = high ? i & 1 ? 0x7f : 0xff : __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3);",
    ),
    (
        "fp8_infinite",
        "float f = (float)(a & 131071); x = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);",
        "float f = (float)(a & 131071);"
        " x = f >= 61440 ? 0x7c : __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2);",
    ),
    (
        "fp8_pairs",
        "float2 f = make_float2((float)(int)(a & 15), -(float)(int)(b & 7)); __half2_raw h ="
        " __nv_cvt_fp8x2_to_halfraw2(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E4M3), __NV_E4M3);"
        " x = h.x | (unsigned)h.y << 16;",
        "x = __half_as_ushort(__float2half((float)(a & 15))) |"
        " (unsigned)__half_as_ushort(__float2half(-(float)(b & 7))) << 16;",
    ),
    (
        "raw_halves",
        "__half_raw r; r.x = a & 0x7bff; __half h = r; __nv_bfloat16_raw s = __float2bfloat16((float)(a & 7));"
        " x = __half_as_ushort(h) | (unsigned)__nv_cvt_halfraw_to_fp8(r, __NV_SATFINITE, __NV_E5M2) << 16 |"
        " (unsigned)__nv_cvt_bfloat16raw_to_fp8(s, __NV_SATFINITE, __NV_E4M3) << 24;",
        "x = a & 0x7bff; float f = (float)(a & 7);"
        " x |= (unsigned)__nv_cvt_float_to_fp8(__half2float(__ushort_as_half(x)), __NV_SATFINITE, __NV_E5M2) << 16"
        " | (unsigned)__nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3) << 24;",
    ),
    (
        "fp8_to_half",
        "__half_raw r = __nv_cvt_fp8_to_halfraw(a & 0xf7, __NV_E5M2); x = r.x;",
        "x = (a & 0xf7) << 8;",
    ),
]  # fmt: skip

FUNCTIONS = [words(f"function_{name}", [(name, made, plain)]) for name, made, plain in _FUNCTIONS]
ALL_FUNCTIONS = words("functions", _FUNCTIONS)
NARROW_FUNCTIONS = words("narrow_functions", _NARROW, "#include <cuda_fp8.h>")
