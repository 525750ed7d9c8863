"""Kernels with inline PTX that computes a word from two, each beside CUDA C++ that has to give the same."""

from ptx_kernels import PtxKernel
from ptx_words import MORE_WORDS

from gemmviz.catalogue.problem import Problem

_FLOATS_OF = "float p = (float)(int)a / 3, q = (float)(int)(b | 1) / 5, r = (float)(int)(a ^ b) * 256;"
# Name; a statement that writes `x` (unsigned) of `a` and `b` (unsigned); the same in CUDA C++.
_WORDS = [
    ("add", 'asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));', "x = a + b;"),
    ("sub", 'asm("sub.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));', "x = a - b;"),
    ("mul_hi", 'asm("mul.hi.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));', "x = __umulhi(a, b);"),
    ("mad", 'asm("mad.lo.s32 %0, %1, %2, 7;" : "=r"(x) : "r"(a), "r"(b));', "x = a * b + 7;"),
    (
        "mul_wide",
        '{ unsigned long long w; asm("mul.wide.s32 %0, %1, %2;" : "=l"(w) : "r"(a), "r"(b)); x = w >> 9; }',
        "x = (unsigned)((long long)(int)a * (int)b >> 9);",
    ),
    ("shl", 'asm("shl.b32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b % 40));', "x = b % 40 > 31 ? 0 : a << b % 40;"),
    ("shr", 'asm("shr.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "n"(3));', "x = (int)a >> 3;"),
    ("shf", 'asm("shf.l.wrap.b32 %0, %1, %2, 5;" : "=r"(x) : "r"(a), "r"(b));', "x = b << 5 | a >> 27;"),
    ("and", 'asm("and.b32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));', "x = a & b;"),
    ("or", 'asm("or.b32 %0, %1, 0x10U;" : "=r"(x) : "r"(a));', "x = a | 16;"),
    ("xor", 'asm("xor.b32 %0, %1, -1;" : "=r"(x) : "r"(a));', "x = ~a;"),
    ("not", 'asm("not.b32 %0, %1;" : "=r"(x) : "r"(a));', "x = ~a;"),
    ("min", 'asm("min.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));', "x = min((int)a, (int)b);"),
    ("popc", 'asm("popc.b32 %0, %1;" : "=r"(x) : "r"(a));', "x = __popc(a);"),
    ("clz", 'asm("clz.b32 %0, %1;" : "=r"(x) : "r"(a >> 3));', "x = __clz(a >> 3);"),
    (
        "brev",
        'asm("brev.b32 %0, %1;" : "=r"(x) : "r"(a));',
        "x = 0; for (int i = 0; i < 32; i++) x |= (a >> i & 1) << (31 - i);",
    ),
    ("bfe", 'asm("bfe.s32 %0, %1, 5, 9;" : "=r"(x) : "r"(a));', "x = (int)(a << 18) >> 23;"),
    ("bfi", 'asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(x) : "r"(a), "r"(b));', "x = (b & ~0xff0u) | (a & 255) << 4;"),
    ("prmt", 'asm("prmt.b32 %0, %1, %2, 0x7610;" : "=r"(x) : "r"(a), "r"(b));', "x = (b & 0xffff0000u) | (a & 65535);"),
    ("lop3", 'asm("lop3.b32 %0, %1, %2, 0xff, 0x96;" : "=r"(x) : "r"(a), "r"(b));', "x = a ^ b ^ 0xff;"),
    (
        "lop3_mux",
        'asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(x) : "r"(a), "r"(b), "r"(a + b));',
        "x = (a & b) | (~a & (a + b));",
    ),
    (
        "selp",
        'asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %2, p; }" : "=r"(x) : "r"(a), "r"(b));',
        "x = (int)a < (int)b ? a : b;",
    ),
    (
        "setp_and",
        'asm("{ .reg .pred p, q; setp.ne.b32 q, %1, 0; setp.gt.and.u32 p, %1, %2, q; @p mov.u32 %0, 1; '
        '@!p mov.u32 %0, 2; }" : "=r"(x) : "r"(a), "r"(b));',
        "x = a > b && a ? 1 : 2;",
    ),
    (
        "loop",
        'asm("{\\n.reg .u32 n;\\nmov.u32 n, 0;\\nmov.u32 %0, %1;\\nagain:\\n.reg .pred p;\\nadd.u32 %0, %0, n;\\n'
        'add.u32 n, n, 1;\\nsetp.lt.u32 p, n, 5;\\n@p bra again;\\n}" : "=r"(x) : "r"(a));',
        "x = a + 10;",
    ),
    (
        "packed",
        '{ unsigned short h = a; asm("{ .reg .b16 l, u; mov.b32 {l, u}, %1; mov.b32 %0, {u, %2}; }"'
        ' : "=r"(x) : "r"(b), "h"(h)); }',
        "x = b >> 16 | a << 16;",
    ),
    ("lane", 'asm volatile("mov.u32 %0, %%laneid;" : "=r"(x)); x += a;', "x = a + threadIdx.x % 32;"),
    (
        "clocks",
        '{ unsigned c; unsigned long long d; asm volatile("mov.u32 %0, %%clock;" : "=r"(c));'
        ' asm volatile("mov.u64 %0, %%clock64;" : "=l"(d)); unsigned e; unsigned long long f;'
        ' asm volatile("mov.u32 %0, %clock;" : "=r"(e)); asm volatile("mov.u64 %0, %globaltimer;" : "=l"(f));'
        " x = a + (e - c >> 24) + (unsigned)(d >> 60); }",
        "x = a;",
    ),
    (
        "multiprocessor",
        '{ unsigned s, n; asm volatile("mov.u32 %0, %smid;" : "=r"(s)); asm volatile("mov.u32 %0, %nsmid;" : "=r"(n));'
        " x = a + (s < n); }",
        "x = a + 1;",
    ),
    (
        "reduced",
        'asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(a));',
        "x = __reduce_add_sync(~0u, a);",
    ),
    (
        "reduced_signed",
        'asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(a));',
        "x = (unsigned)__reduce_min_sync(~0u, (int)a);",
    ),
    (
        "reduced_by_sums",
        "x = __reduce_xor_sync(~0u, a) ^ __reduce_max_sync(~0u, a);",
        "unsigned y = a, m = a; for (int s = 16; s; s /= 2) { y ^= __shfl_xor_sync(~0u, y, s);"
        " m = max(m, __shfl_xor_sync(~0u, m, s)); } x = y ^ m;",
    ),
    ("tid", 'asm volatile("mov.u32 %0, %tid.x;" : "=r"(x)); x += a;', "x = a + threadIdx.x;"),
    ("named", 'asm("add.u32 %[to], %[one], %[two];" : [to] "=r"(x) : [one] "r"(a), [two] "r"(b));', "x = a + b;"),
    ("raw", 'asm(R"({ // adds\n add.u32 %0, %1, /* and */ %2;\n})" : "=r"(x) : "r"(a), "r"(b));', "x = a + b;"),
    ("tied", 'x = a; asm("add.u32 %0, %0, %1;" : "+r"(x) : "r"(b));', "x = a + b;"),
    (
        "shuffle",
        'asm volatile("shfl.sync.bfly.b32 %0, %1, 3, 31, 0xffffffff;" : "=r"(x) : "r"(a));',
        "x = __shfl_xor_sync(~0u, a, 3);",
    ),
    (
        "vote",
        'asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, %2; vote.sync.ballot.b32 %0, p, 0xffffffff; }"'
        ' : "=r"(x) : "r"(a), "r"(b));',
        "x = __ballot_sync(~0u, a > b);",
    ),
    (
        "tf32",
        'asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(__uint_as_float(a & 0xbfffffff)));',
        "x = ((a & 0xbfffffff) + 0x1000) & 0xffffe000;",
    ),
    (
        "tf32_even",
        'asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(x) : "f"(__uint_as_float(a & 0xbffff000)));',
        "x = (a & 0xbffff000) + ((a & 0x3000) == 0x3000 ? 0x1000 : 0) & 0xffffe000;",
    ),
    (
        "tf32_cut",
        'asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(x) : "r"(a & 0xbfffffff));',
        "x = a & 0xbfffe000;",
    ),
    ("cvt_s8", 'asm("cvt.s32.s8 %0, %1;" : "=r"(x) : "r"(a));', "x = (signed char)a;"),
    (
        "f32_pack",
        'asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"((float)(int)(a & 511)), "f"((float)(int)(b & 63)));',
        "x = (unsigned)__half_as_ushort(__float2half((float)(a & 511))) << 16 |"
        " __half_as_ushort(__float2half((float)(b & 63)));",
    ),
    (
        "fma_f16x2",
        '{ unsigned u = 0x3c004000, v = 0x44003800; asm("fma.rn.f16x2 %0, %1, %2, %3;"'
        ' : "=r"(x) : "r"(u), "r"(v), "r"(u)); }',
        "x = 0x45004200;",
    ),
    ("cvt_rni", 'asm("cvt.rni.s32.f32 %0, %1;" : "=r"(x) : "f"((int)a * 0.5f));', "x = __float2int_rn((int)a * 0.5f);"),
    (
        "float",
        'asm("{ .reg .f32 t; mov.f32 t, 0f40400000; fma.rn.f32 t, %1, t, %2; mov.b32 %0, t; }"'
        ' : "=r"(x) : "f"(1.5f), "f"(0.25f));',
        "x = __float_as_uint(4.75f);",
    ),
    (
        "bfi_b64",
        '{ unsigned long long w, u = (unsigned long long)a << 32 | b; asm("bfi.b64 %0, %1, %2, 28, 9;"'
        ' : "=l"(w) : "l"(u), "l"(~u)); x = w >> 20; }',
        "unsigned long long u = (unsigned long long)a << 32 | b; x = (~u & ~(511ull << 28) | (u & 511) << 28) >> 20;",
    ),
    (
        "bfind",
        'asm("bfind.u32 %0, %1;" : "=r"(x) : "r"(a >> i * 5));',
        "x = a >> i * 5 ? 31 - __clz(a >> i * 5) : ~0u;",
    ),
    (
        "bfind_signed",
        'asm("bfind.shiftamt.s32 %0, %1;" : "=r"(x) : "r"((int)a >> i * 3));',
        "int v = (int)a >> i * 3; x = v == 0 || v == -1 ? ~0u : __clz(v < 0 ? ~v : v);",
    ),
    (
        "dp2a",
        'asm("dp2a.hi.s32.u32 %0, %1, %2, 7;" : "=r"(x) : "r"(a), "r"(b));',
        "x = (short)a * (int)(b >> 16 & 255) + (short)(a >> 16) * (int)(b >> 24) + 7;",
    ),
    *(
        (
            f"{name}_{how}",
            f'{{ {_FLOATS_OF} asm("{name}.{how}.f32 %0, {given};"'
            ' : "=r"(x) : "f"(p), "f"(q), "f"(r)); }',
            f"{_FLOATS_OF} double e = {exact}; float f = (float)e; unsigned w = __float_as_uint(f);"
            f" if (f > e && ({down}) || f < e && !({down})) w += f > e == f > 0 ? -1 : 1; x = w;",
        )
        for name, given, exact in (
            ("add", "%1, %2", "(double)p + q"),
            ("sub", "%1, %2", "(double)p - q"),
            ("mul", "%1, %2", "(double)p * q"),
            ("fma", "%1, %2, %3", "(double)p * q + r"),
            ("div", "%1, %2", "(double)p / q"),
        )
        for how, down in (("rz", "e > 0"), ("rm", "true"), ("rp", "false"))
    ),
    (
        "sqrt_rz",
        'asm("sqrt.rz.f32 %0, %1;" : "=r"(x) : "f"((float)a));',
        "double e = sqrt((double)(float)a); float f = (float)e; x = __float_as_uint(f) - (f > e);",
    ),
    (
        "cvt_rz_f16",
        '{ unsigned short h; asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"((int)a * 0x1p-18f)); x = h; }',
        "float v = (int)a * 0x1p-18f; __half h = __float2half(v);"
        " x = __half_as_ushort(h) - (__half2float(h) > v == v > 0 && __half2float(h) != v);",
    ),
    (
        "cvt_relu",
        'asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"((float)(int)(a & 255) - 128), "f"(7.0f));',
        "float v = (float)(int)(a & 255) - 128; x = v > 0 ? __float_as_uint(v) & 0xffff0000u : 0; x |= 0x40e0;",
    ),
    *MORE_WORDS,
]  # fmt: skip


def words(name: str, words: list[tuple[str, str, str]], before: str = "") -> PtxKernel:
    """Return a kernel with 32 rows of C for each word: 1 where the statement gives what the CUDA C++ does, else 0."""
    body = "    unsigned t = threadIdx.x;" + "".join(
        f"""
    for (int i = 0; i < 8; i++) {{
        unsigned a = (t * 2654435761u + i * 40503u) ^ (unsigned)(int)A[i];
        unsigned b = (t + 13 * i) * 2246822519u + (unsigned)(int)B[i];
        if (i == 1) b = a;
        unsigned x = 0;
        {{ {statement} }}
        unsigned result = x;
        x = 0;
        {{ {plain} }}
        C[({first} + t) * 8 + i] = result == x;
    }}"""
        for first, (_, statement, plain) in zip(range(0, 32 * len(words), 32), words, strict=True)
    )
    return PtxKernel(name, body, Problem(32 * len(words), 8, 1), before)


WORDS = [words(f"word_{word[0]}", [word]) for word in _WORDS]
ALL_WORDS = words("words", _WORDS)
"""All of `WORDS` in one kernel, which is compiled in the time of two."""
