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
    (
        "slct",
        'float f = (float)(int)(a ^ b); unsigned y; asm("slct.b32.f32 %0, %1, %2, %3;" : "=r"(y) : "r"(a),'
        ' "r"(b), "f"(f));'
        ' asm("slct.u32.s32 %0, %1, 5, %2;" : "=r"(x) : "r"(y), "r"(b));',
        "x = (int)b < 0 ? 5 : (int)(a ^ b) < 0 ? b : a;",
    ),
    (
        "set",
        'float f = (float)(int)a, g = i % 3 ? (float)(int)b : f, h = i % 5 ? g :'
        ' __uint_as_float(0x7fffffff); unsigned y;'
        ' asm("set.lt.u32.f32 %0, %1, %2;" : "=r"(x) : "f"(f), "f"(h));'
        ' asm("set.geu.f32.f32 %0, %1, %2;" : "=f"(g) : "f"(f), "f"(h));'
        ' asm("set.ne.s32.s32 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b)); x ^= y ^ __float_as_uint(g);',
        "float f = (float)(int)a, h = i % 3 ? (float)(int)b : f; bool n = i % 5 == 0;"
        " x = (!n && f < h ? ~0u : 0) ^ (a != b ? ~0u : 0) ^ (n || f >= h ? 0x3f800000u : 0);",
    ),
    (
        "testp",
        'float f = __uint_as_float(i % 4 == 0 ? 0x7f800000u : i % 4 == 1 ? 0x7fc00000u : i % 4 == 2 ? (a &'
        ' 0x7fffff) | 1'
        ' : 0x40000000u | (a & 0x7fffff)); asm("{ .reg .pred p, q, r, s, t, u; testp.finite.f32 p, %1;'
        ' testp.infinite.f32 q, %1; testp.number.f32 r, %1; testp.notanumber.f32 s, %1; testp.normal.f32 t, %1;'
        ' testp.subnormal.f32 u, %1; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @r add.u32 %0, %0, 4;'
        ' @s add.u32 %0, %0, 8; @t add.u32 %0, %0, 16; @u add.u32 %0, %0, 32; }" : "=&r"(x) : "f"(f));',
        "x = i % 4 == 0 ? 6 : i % 4 == 1 ? 8 : i % 4 == 2 ? 37 : 21;",
    ),
    (
        "shuffle_pair",
        'unsigned p; asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 3, 0x101f, -1; selp.u32 %1, 7, 1, q; }"'
        ' : "=r"(x), "=r"(p) : "r"(a)); x *= p;',
        "x = __shfl_down_sync(~0u, a, 3, 16) * (t % 16 + 3 < 16 ? 7 : 1);",
    ),
    (
        "shuffle_up_pair",
        'unsigned p; asm volatile("{ .reg .pred q; shfl.sync.up.b32 %0|q, %2, 1, 0x1800, 0xffffffff;'
        ' selp.u32 %1, 7, 1, q; }" : "=r"(x), "=r"(p) : "r"(a)); x *= p;',
        "x = __shfl_up_sync(~0u, a, 1, 8) * (t % 8 ? 7 : 1);",
    ),
    (
        "shuffle_limits",
        'asm volatile("shfl.sync.idx.b32 %0, %1, %2, 7, -1;" : "=r"(x) : "r"(a), "r"(i * 5));',
        "unsigned y = __shfl_sync(~0u, a, i * 5 % 32); x = i * 5 % 32 <= 7 ? y : a;",
    ),
    (
        "parts",
        'unsigned y, z; asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(x) : "r"(a), "r"(b), "r"(i));'
        ' asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(0));'
        ' asm("vmin2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(z) : "r"(a), "r"(b), "r"(0)); x ^= y ^ z;',
        "unsigned d = __vabsdiffu4(a, b); x = i; for (int j = 0; j < 32; j += 8) x += d >> j & 255;"
        " x ^= __vaddus4(a, b) ^ __vmins2(a, b);",
    ),
    (
        "parts_signed",
        'unsigned y; asm("vsub4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(x) : "r"(a), "r"(b), "r"(0));'
        ' asm("vmax4.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(a)); x ^= y;',
        "unsigned m = __vmaxs4(a, b), y = a; for (int j = 0; j < 32; j += 8) y += (unsigned)(int)(signed char)(m >> j);"
        " x = __vsubss4(a, b) ^ y;",
    ),
    (
        "fma_relu",
        'unsigned u = 0x3c00c000u, v = i % 2 ? 0x44003800u : 0xc400b800u;'
        ' asm("fma.rn.relu.f16x2 %0, %1, %2, %1;" : "=r"(x) : "r"(u), "r"(v));',
        "x = i % 2 ? 0x45000000u : 0;",
    ),
    (
        "blank_before_modifier",
        'asm("{ .reg .b32 w; prmt .b32 w, %1, %2, 0x6240; xor .b32 %0, w, %1; }" : "=r"(x) : "r"(a), "r"(b));',
        "x = __byte_perm(a, b, 0x6240) ^ a;",
    ),
    ("cnot", 'asm("cnot.b32 %0, %1;" : "=r"(x) : "r"(a & 3)); x ^= b;', "x = b ^ ((a & 3) == 0);"),
    (
        "copysign",
        'float f = (float)(int)a, g = (float)(int)b; asm("copysign.f32 %0, %1, %2;" : "=f"(f) : "f"(f), "f"(g));'
        " x = __float_as_uint(f);",
        "x = (__float_as_uint((float)(int)a) & 0x80000000u) | (__float_as_uint((float)(int)b) & 0x7fffffffu);",
    ),
    (
        "sad",
        'unsigned y; asm("sad.s32 %0, %1, %2, 7;" : "=r"(y) : "r"(a >> 8), "r"(b));'
        ' asm("sad.u32 %0, %1, %2, %3;" : "=r"(x) : "r"(a), "r"(b), "r"(y));',
        "int p = (int)(a >> 8), q = (int)b; x = (a > b ? a - b : b - a) + 7 + (p < q ? (unsigned)q - p :"
        " (unsigned)p - q);",
    ),
    (
        "match_any",
        'asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(x) : "r"(t % 32 % 5)); x ^= a;',
        "unsigned s = 0; for (int l = 0; l < 32; l++) s |= (unsigned)(l % 5 == t % 32 % 5) << l; x = s ^ a;",
    ),
    (
        "match_all",
        'unsigned y, z; asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, -1; selp.u32 %1, 3, 2, p; }"'
        ' : "=r"(y), "=r"(z) : "r"(t % 32 / 16)); asm volatile("match.all.sync.b64 %0, %1, -1;" : "=r"(x) : "l"(7ull));'
        " x ^= y + 16 * z + a;",
        "x = ~0u ^ (32 + a);",
    ),
    (
        "vote_uni",
        'asm volatile("{ .reg .pred p, q, r; setp.eq.u32 p, %1, 3; vote.sync.uni.pred q, p, -1; setp.lt.u32 p, %1, 99;'
        ' vote.sync.uni.pred r, p, -1; selp.u32 %0, 1, 0, q; @r add.u32 %0, %0, 2; }" : "=r"(x) : "r"(t %'
        ' 32)); x ^= a;',
        "x = 2 ^ a;",
    ),
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
    (
        "carries",
        'unsigned y, z; asm("add.cc.u32 %0, %3, %4; addc.cc.s32 %1, %4, %3; addc.u32 %2, 0, 0;"'
        ' : "=&r"(x), "=&r"(y), "=&r"(z) : "r"(a | 0x80000000u), "r"(b | 0x80000000u)); x = x * 3 + y * 5 + z;',
        "unsigned long long u = (unsigned long long)(a | 0x80000000u) + (b | 0x80000000u), v = u + (b | 0x80000000u);"
        " x = (unsigned)u * 3 + (unsigned)(u + 1) * 5 + 1; (void)v;",
    ),
    (
        "carry_of_longs",
        f'{_LONG} unsigned long long w, v = ~0ull / (i + 1); unsigned c; asm("add.cc.u64 %0, %1, %2;" : "=l"(w)'
        ' : "l"(u), "l"(v)); asm("addc.u32 %0, %1, 0;" : "=r"(c) : "r"(b)); x = (unsigned)(w >> 31) ^ c;',
        f"{_LONG} unsigned long long v = ~0ull / (i + 1), w = u + v; x = (unsigned)(w >> 31) ^ (b + (w < u));",
    ),
    (
        "borrows",
        'unsigned y; asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));'
        ' asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(y) : "r"(b), "r"(a)); x ^= y * 7;'
        ' asm volatile("subc.s32 %0, 9, 2;" : "=r"(y)); x += y << 8;',
        "unsigned long long u = (unsigned long long)a - b, v = (unsigned long long)b - a - (a < b);"
        " x = ((unsigned)u ^ (unsigned)v * 7) + ((7 - (unsigned)(v >> 63)) << 8);",
    ),
    (
        "product_of_pairs",
        'unsigned r, s; asm("{ .reg .u32 d; mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3; mad.lo.cc.u32 %1, %4, %3, %1;'
        ' madc.hi.u32 d, %4, %3, 0; mad.lo.cc.u32 %1, %2, %5, %1; madc.hi.cc.u32 d, %2, %5, d; xor.b32 %0, %0, d; }"'
        ' : "=&r"(r), "=&r"(s) : "r"(a), "r"(b), "r"(a ^ b), "r"(b | 5)); x = r + 3 * s;',
        "unsigned p = a ^ b, q = b | 5; unsigned long long u = (unsigned long long)a * b;"
        " unsigned long long v = (u >> 32) + (unsigned long long)p * b;"
        " unsigned long long w = (unsigned long long)a * q + (unsigned)v;"
        " unsigned d = (unsigned)(v >> 32) + (unsigned)(w >> 32); x = ((unsigned)u ^ d) + 3 * (unsigned)w;",
    ),
    (
        "mad_carry_signed",
        'unsigned y; asm("mad.hi.cc.s32 %0, %2, %3, %3; madc.lo.s32 %1, %3, 3, %2;" : "=&r"(x), "=&r"(y)'
        ' : "r"(a << 4), "r"(b << 3)); x = x * 9 + y;',
        "unsigned p = a << 4, q = b << 3, h = (unsigned)__mulhi((int)p, (int)q), g = h + q;"
        " x = g * 9 + q * 3 + p + (g < h);",
    ),
    (
        "mul24",
        'unsigned y, z; asm("mul24.lo.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));'
        ' asm("mul24.hi.u32 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));'
        ' asm("mad24.hi.s32 %0, %1, %2, %3;" : "=r"(z) : "r"(a), "r"(b), "r"(y)); x ^= z;',
        "long long p = (int)(a << 8) >> 8, q = (int)(b << 8) >> 8; unsigned long long u = (a & 0xffffffull) *"
        " (b & 0xffffffull); x = (unsigned)(p * q) ^ ((unsigned)(u >> 16) + (unsigned)(p * q >> 16));",
    ),
    (
        "bmsk",
        'unsigned y; asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(x) : "r"(a % 40), "r"(b % 37));'
        ' asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(y) : "r"(a % 40), "r"(b % 37)); x ^= y * 3;',
        "unsigned s = a % 40, n = b % 37, y = ((1u << n % 32) - 1) << s % 32;"
        " x = (s > 31 ? 0 : (n > 31 ? ~0u : (1u << n) - 1) << s) ^ y * 3;",
    ),
    (
        "szext",
        'unsigned y; asm("szext.clamp.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b % 40));'
        ' asm("szext.wrap.u32 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b % 40)); x ^= y * 3;',
        "unsigned n = b % 40, m = n % 32; int y = n ? (int)(a << (n > 31 ? 0 : 32 - n)) >> (n > 31 ? 0 : 32 - n) : 0;"
        " x = (unsigned)y ^ (m ? a & ((1u << m) - 1) : 0) * 3;",
    ),
    (
        "sin_cos",
        'float f = (float)(int)(a % 64) / 16 - 2, g, h; asm("sin.approx.f32 %0, %1;" : "=f"(g) : "f"(f));'
        ' asm("cos.approx.ftz.f32 %0, %1;" : "=f"(h) : "f"(f));'
        " x = fabsf(g - sinf(f)) < 1e-5f && fabsf(h - cosf(f)) < 1e-5f ? a : ~a;",
        "x = a;",
    ),
    (
        "halves_of_functions",
        'unsigned y; asm("ex2.approx.f16x2 %0, %1;" : "=r"(x) : "r"(0x40003c00u));'
        ' asm("abs.f16x2 %0, %1;" : "=r"(y) : "r"(0xc0003c00u)); x = x ^ y ^ a;',
        "x = 0x44004000u ^ 0x40003c00u ^ a;",
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
