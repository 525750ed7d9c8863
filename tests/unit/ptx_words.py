"""Words of PTX for `ptx_word_kernels`: a name, a statement that writes `x` of `a` and `b`, and the same in CUDA C++."""

_LONG = "unsigned long long u = ((unsigned long long)a << 32 | b) >> i * 7;"
_HALVES = "unsigned short p = a, q = i & 1 ? 0x7e00 : b; if (i == 2) p = 0x7fff;"
MORE_WORDS = [
    (
        "movmatrix",
        'asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x) : "r"(a));',
        "int row = t / 4, column = t % 4 * 2; unsigned p = __shfl_sync(~0u, a, 4 * column + row / 2);"
        " unsigned q = __shfl_sync(~0u, a, 4 * column + 4 + row / 2);"
        " x = row % 2 ? p >> 16 | q & 0xffff0000u : p & 65535 | q << 16;",
    ),
    ("activemask", 'asm volatile("activemask.b32 %0;" : "=r"(x)); x ^= a;', "x = ~a;"),
    ("clz_b64", f'{_LONG} asm("clz.b64 %0, %1;" : "=r"(x) : "l"(u));', f"{_LONG} x = __clzll((long long)u);"),
    (
        "brev_b64",
        f'{_LONG} unsigned long long w; asm("brev.b64 %0, %1;" : "=l"(w) : "l"(u)); x = w >> 25;',
        f"{_LONG} unsigned long long w = 0; for (int j = 0; j < 64; j++) w |= (u >> j & 1) << (63 - j); x = w >> 25;",
    ),
    (
        "max_nan",
        'float f = __uint_as_float(i & 1 ? 0x7fffffff : a & 0xbfffffff), g = i & 2 ? f : (float)(int)b, h;'
        ' asm("max.NaN.f32 %0, %1, %2;" : "=f"(h) : "f"(g), "f"(f)); x = h != h ? 1 : __float_as_uint(h);',
        "float f = __uint_as_float(i & 1 ? 0x7fffffff : a & 0xbfffffff), g = i & 2 ? f : (float)(int)b;"
        " x = i & 1 ? 1 : __float_as_uint(g < f ? f : g);",
    ),
    (
        "min_nan_f16",
        f'{_HALVES} unsigned short h; asm("min.NaN.f16 %0, %1, %2;" : "=h"(h) : "h"(p), "h"(q));'
        " x = __hisnan(__ushort_as_half(h)) ? 1 : h;",
        f"{_HALVES} __half f = __ushort_as_half(p), g = __ushort_as_half(q);"
        " x = __hisnan(f) || __hisnan(g) ? 1 : __half_as_ushort(f < g ? f : g);",
    ),
    (
        "setp_nan",
        'float f = __uint_as_float(i & 1 ? 0x7fffffff : a), g = (float)b; if (f != f && !(i & 1)) f = 2;'
        ' asm("{ .reg .pred p, q; setp.nan.f32 p, %1, %2; setp.num.f32 q, %1, %2; selp.u32 %0, 1, 2, p;'
        ' @q add.u32 %0, %0, 4; }" : "=r"(x) : "f"(f), "f"(g));',
        "x = i & 1 ? 1 : 6;",
    ),
    *(
        (
            f"cvt_{how}_{kind}_u64",
            f'{_LONG} unsigned short h; asm("cvt.{how}.{kind}.u64 %0, %1;" : "=h"(h) : "l"(u)); x = h;',
            f"{_LONG} x = __{kind}_as_ushort(__ull2{kind}_{name}(u));".replace("f16_as", "half_as")
            .replace("2f16", "2half")
            .replace("bhalf_as", "bfloat16_as")
            .replace("2bf16", "2bfloat16"),
        )
        for kind in ("f16", "bf16")
        for how, name in (("rn", "rn"), ("rz", "rz"), ("rp", "ru"))
    ),
    (
        "cvt_rm_f32_s32",
        'float f; asm("cvt.rm.f32.s32 %0, %1;" : "=f"(f) : "r"(a)); x = __float_as_uint(f);',
        "x = __float_as_uint(__int2float_rd((int)a));",
    ),
]  # fmt: skip
PAIR_WORDS = [
    (
        "fma_f32x2",
        'float2 f = make_float2((float)(int)a, 3.0f), g = make_float2(0.5f, (float)(int)b); unsigned long long u, v, w;'
        " memcpy(&u, &f, 8); memcpy(&v, &g, 8);"
        ' asm("fma.rn.f32x2 %0, %1, %2, %1;" : "=l"(w) : "l"(u), "l"(v));'
        ' asm("add.f32x2 %0, %0, %1;" : "+l"(w) : "l"(v));'
        ' asm("mul.rn.f32x2 %0, %0, %1;" : "+l"(w) : "l"(u)); memcpy(&f, &w, 8);'
        " x = __float_as_uint(f.x) ^ 3 * __float_as_uint(f.y);",
        "float p = (float)(int)a, q = (float)(int)b; float f = (__fmaf_rn(p, 0.5f, p) + 0.5f) * p;"
        " float g = (__fmaf_rn(3.0f, q, 3.0f) + q) * 3.0f; x = __float_as_uint(f) ^ 3 * __float_as_uint(g);",
    ),
]  # fmt: skip
"""Instructions of compute capability 10.0."""
