"""Small kernels whose inline PTX accesses memory or waits; C is 1 where they get what CUDA C++ gets, else 0."""

from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem

_SIZE = Problem(32, 8, 8)  # A has 256 elements
_START = """    const int t = threadIdx.x;
    __shared__ __align__(1024) float s[256];
    for (int i = 0; i < 8; i++) s[t * 8 + i] = A[t * 8 + i];
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(s);
    float ok[8] = {};
"""
_END = """
    for (int i = 0; i < 8; i++) C[t * 8 + i] = ok[i];"""


def _memory(name: str, body: str, capability: str = "8.0", block: int = 32) -> PtxKernel:
    return PtxKernel(f"memory_{name}", _START + body + _END, _SIZE, capability=capability, block=block)


def _two_warps(name: str, body: str) -> PtxKernel:
    """A kernel of two warps, which have 64 rows of C."""
    start = _START.replace("for (int i = 0; i < 8; i++) s[t * 8 + i] = A[t * 8 + i];", "")
    return PtxKernel(f"memory_{name}", start + body + _END, Problem(64, 8, 8), block=64)


_ALL = "    for (int i = 0; i < 8; i++) ok[i] = {};"
MEMORY = [
    _memory(
        "ld_shared",
        '    float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at + 4 * t));\n'
        + _ALL.format("v == s[t]"),
    ),
    _memory(
        "ld_shared_offset",
        '    unsigned v; asm volatile("ld.shared::cta.u32 %0, [%1+16];" : "=r"(v) : "r"(at + 4 * t));\n'
        + _ALL.format("v == __float_as_uint(s[t + 4])"),
    ),
    _memory(
        "ld_shared_64",
        '    float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "l"(__cvta_generic_to_shared(s + t)));\n'
        + _ALL.format("v == s[t]"),
    ),
    _memory(
        "cvta",
        '    unsigned a; asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(a) : "l"(s + t));\n'
        '    float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(a));\n' + _ALL.format("v == s[t]"),
    ),
    _memory(
        "cvta_back",
        "    unsigned long long p;\n"
        '    asm("{ .reg .u64 w; cvt.u64.u32 w, %1; cvta.shared.u64 %0, w; }" : "=l"(p) : "r"(at + 4 * t));\n'
        + _ALL.format("*(float *)p == s[t] && (float *)p == s + t"),
    ),
    _memory(
        "ld_shared_v4",
        '    float v[4];\n    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"\n'
        '                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(at + 16 * t));\n'
        + _ALL.format("v[i % 4] == s[4 * t + i % 4]"),
    ),
    _memory(
        "ld_global",
        "    unsigned v[4];\n"
        '    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"\n'
        '                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(A + 4 * t));\n'
        + _ALL.format("__uint_as_float(v[i % 4]) == A[4 * t + i % 4]"),
    ),
    _memory(
        "ld_predicated",
        '    unsigned v = 7;\n    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\\n"\n'
        '                 "  @p ld.global.cg.u32 %0, [%1]; @!p mov.b32 %0, 0; }" : "=r"(v) : "l"(A + t), "r"(t % 2));\n'
        + _ALL.format("__uint_as_float(v) == (t % 2 ? A[t] : 0)"),
    ),
    _memory(
        "ld_halves",
        '    unsigned short h; asm volatile("ld.shared.b16 %0, [%1];" : "=h"(h) : "r"(at + 2 * t));\n'
        "    int w; asm volatile(\"ld.shared.s8 %0, [%1];\" : \"=r\"(w) : \"r\"(at + t));\n"
        + _ALL.format("i ? h == ((unsigned short *)s)[t] : w == ((signed char *)s)[t]"),
    ),
    _memory(
        "st_shared",
        '    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(at + 8 * t), "f"(A[2 * t] + 1), "f"(2.0f * t));\n'
        '    asm volatile("bar.sync 0;" ::: "memory");\n'
        + _ALL.format("i % 2 ? s[2 * t + 1] == 2 * t : s[2 * t] == A[2 * t] + 1"),
    ),
    _memory(
        "st_volatile",
        '    asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(at + 4 * t), "r"(t));\n'
        '    asm volatile("barrier.sync 0;");\n' + _ALL.format("((unsigned *)s)[31 - t] == 31 - t"),
    ),
    _memory(
        "atom",
        '    unsigned *n = (unsigned *)s; if (t == 0) n[0] = 0; __syncthreads();\n    unsigned old;\n'
        '    asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(at) : "memory");\n'
        '    asm volatile("red.shared.max.u32 [%0], %1;" :: "r"(at + 4), "r"(t + 5) : "memory");\n'
        "    __syncthreads();\n" + _ALL.format("n[0] == 32 && old < 32"),
    ),
    _memory(
        "red_of_pairs",
        "    unsigned *n = (unsigned *)s; if (t < 2) n[t] = 0; __syncthreads();\n    unsigned old;\n"
        '    asm volatile("red.shared.add.noftz.f16x2 [%0], %1;" :: "r"(at), "r"(0x3c004000u) : "memory");\n'
        '    asm volatile("atom.shared.add.noftz.bf16x2 %0, [%1], %2;"\n'
        '                 : "=r"(old) : "r"(at + 4), "r"(0x40003f80u) : "memory");\n'
        "    __syncthreads();\n" + _ALL.format("n[0] == 0x50005400u && n[1] == 0x42804200u"),
        "9.0",
    ),
    _memory(
        "red_of_vectors",
        "    for (int i = 0; i < 8; i++) C[t * 8 + i] = i;\n    float old[2];\n"
        '    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, 0f3F800000};"\n'
        '                 :: "l"(C + t * 8), "f"(2.0f), "f"(3.0f), "f"((float)t) : "memory");\n'
        '    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};" : "=f"(old[0]), "=f"(old[1])\n'
        '                 : "l"(C + t * 8 + 4), "f"(5.0f), "f"(6.0f) : "memory");\n'
        "    const float w[] = {2, 4, t + 2.0f, 4, 9, 11, 6, 7};\n"
        + _ALL.format("C[t * 8 + i] == w[i] && old[0] == 4 && old[1] == 5"),
        "9.0",
    ),
    _memory(
        "red_of_halves",
        "    unsigned *c = (unsigned *)(C + t * 8); for (int i = 0; i < 8; i++) c[i] = 0x3c003c00u;\n"
        '    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %1, %2};"\n'
        '                 :: "l"(c), "r"(0x40003c00u), "r"(0u) : "memory");\n'
        '    asm volatile("red.global.add.noftz.v2.f16 [%0], {%1, %2};"\n'
        '                 :: "l"(c + 4), "h"((unsigned short)0x4000), "h"((unsigned short)0x3c00) : "memory");\n'
        + _ALL.format("c[i] == (i < 4 && i % 2 == 0 ? 0x42004000u : i == 4 ? 0x40004200u : 0x3c003c00u)"),
        "9.0",
    ),
    _memory(
        "limits_of_halves",
        "    unsigned *c = (unsigned *)(C + t * 8), old; for (int i = 0; i < 8; i++) c[i] = 0x3c004200u;\n"
        '    asm volatile("red.global.min.noftz.v4.f16x2 [%0], {%1, %2, %1, %2};"\n'
        '                 :: "l"(c), "r"(0x40003c00u), "r"(0xc0004400u) : "memory");\n'
        "    unsigned short p = 0x4000, q = 0x4400;\n"
        '    asm volatile("{ .reg .b16 l, h; atom.global.max.noftz.v2.f16 {l, h}, [%1], {%2, %3};\\n"\n'
        '                 "  mov.b32 %0, {l, h}; }" : "=r"(old) : "l"(c + 4), "h"(p), "h"(q) : "memory");\n'
        "    bool right = old == 0x3c004200u;\n"
        "    unsigned first[2] = {0x3c003c00u, 0xc0004200u};\n"
        + _ALL.format("right && c[i] == (i < 4 ? first[i % 2] : i == 4 ? 0x44004200u : 0x3c004200u)"),
        "9.0",
    ),
    _memory(
        "stmatrix",
        "    unsigned r[4]; for (int i = 0; i < 4; i++) r[i] = t * 4 + i;\n    __syncthreads();\n"
        '    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"\n'
        '                 :: "r"(at + 16 * t), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");\n'
        "    __syncthreads();\n"
        + _ALL.format("((unsigned *)s)[32 * (i % 4) + t] == (unsigned)(t * 4 + i % 4)"),
        "9.0",
    ),
    _memory(
        "stmatrix_trans",
        "    unsigned r[2]; for (int i = 0; i < 2; i++) r[i] = (t * 4 + 2 * i) | (t * 4 + 2 * i + 1) << 16;\n"
        "    __syncthreads();\n"
        '    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"\n'
        '                 :: "r"(at + 16 * (t % 16)), "r"(r[0]), "r"(r[1]) : "memory");\n    __syncthreads();\n'
        + _ALL.format(
            "((unsigned short *)s)[64 * (i % 2) + 8 * (2 * (t % 4) + i / 4) + t / 4] == t * 4 + 2 * (i % 2) + i / 4"
        ),
        "9.0",
    ),
    _memory(
        "ldmatrix_trans",
        "    unsigned r[2];\n"
        '    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];"\n'
        '                 : "=r"(r[0]), "=r"(r[1]) : "r"(at + 16 * (t % 16)));\n'
        "    unsigned short *h = (unsigned short *)s;\n"
        + _ALL.format(
            "(r[i % 2] >> 16 * (i / 4) & 0xffff) == h[64 * (i % 2) + 8 * (2 * (t % 4) + i / 4) + t / 4]"
        ),
    ),
    _memory(
        "copy_sizes",
        "    __shared__ __align__(16) float to[32][4];\n    for (int i = 0; i < 4; i++) to[t][i] = 9;\n"
        "    unsigned there = (unsigned)__cvta_generic_to_shared(&to[t][0]);\n"
        '    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"\n'
        '                 :: "r"(there), "l"(A + 4 * t), "r"(t % 3 * 4));\n'
        '    asm volatile("cp.async.wait_all;" ::: "memory");\n'
        + _ALL.format("to[t][i % 4] == (i % 4 < t % 3 ? A[4 * t + i % 4] : 0)"),
    ),
    _memory(
        "copy_policy",
        "    __shared__ __align__(16) float to[32][2];\n    unsigned long long policy;\n"
        '    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));\n'
        "    unsigned there = (unsigned)__cvta_generic_to_shared(&to[t][0]);\n"
        '    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2;"\n'
        '                 :: "r"(there), "l"(A + 2 * t), "l"(policy));\n'
        '    asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");\n'
        + _ALL.format("to[t][i % 2] == A[2 * t + i % 2]"),
    ),
    _memory(
        "exit",
        "    for (int i = 0; i < 8; i++) C[t * 8 + i] = 1;\n"
        '    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 7; @p exit; }" :: "r"(t) : "memory");\n'
        + _ALL.format("t < 8"),
    ),
    _memory(
        "ret",
        "    for (int i = 0; i < 8; i++) C[t * 8 + i] = 1;\n"
        '    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 7; @!p bra last; ret; last: }"\n'
        '                 :: "r"(t) : "memory");\n'
        + '    if (t == 9) asm volatile("ret;");\n' + _ALL.format("t > 6 && t != 9"),
    ),
    _memory(
        "loop",
        "    float sum;\n"
        '    asm volatile("{ .reg .pred p; .reg .u32 k; .reg .u64 a; .reg .f32 x; mov.f32 %0, 0f00000000;\\n"\n'
        '                 "  mov.u32 k, 0; mov.b64 a, %1;\\nloop:\\n  ld.global.f32 x, [a]; add.f32 %0, %0, x;\\n"\n'
        '                 "  add.u64 a, a, 4; add.u32 k, k, 1; setp.lt.u32 p, k, 8; @p bra loop;\\n}"\n'
        '                 : "=&f"(sum) : "l"(A + t * 8));\n'
        "    float w = 0; for (int i = 0; i < 8; i++) w += A[t * 8 + i];\n" + _ALL.format("sum == w"),
    ),
    _memory(
        "shared_array",
        "    float v;\n"
        '    asm volatile("{ .shared .align 16 .b8 tile[128]; .reg .u32 w; .reg .u64 g; .reg .f32 x;\\n"\n'
        '                 "  mov.u32 w, tile;\\n"\n'
        '                 "  mad.lo.u32 w, %1, 4, w; cvt.rn.f32.u32 x, %1; st.shared.f32 [w], x; bar.sync 0;\\n"\n'
        '                 "  ld.shared.f32 %0, [tile + 20];\\n"\n'
        '                 "  mov.u64 g, tile; cvta.shared.u64 g, g; ld.f32 x, [g + 4];\\n"\n'
        '                 "  add.f32 %0, %0, x; }" : "=f"(v) : "r"(t) : "memory");\n' + _ALL.format("v == 6"),
    ),
    _memory(
        "spaces",
        "    unsigned n; float own = t;\n"
        '    asm("{ .reg .pred p, q, r; isspacep.shared p, %1; isspacep.global q, %2; isspacep.shared r, %3;\\n"\n'
        '        "  selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @r add.u32 %0, %0, 4; isspacep.global r, %1;\\n"\n'
        '        "  @r add.u32 %0, %0, 8; isspacep.global r, %3; @r add.u32 %0, %0, 16; }"\n'
        '        : "=&r"(n) : "l"(s), "l"(A), "l"(&own));\n' + _ALL.format("n == 3"),
    ),
    _two_warps(
        "bar_red",
        "    int n, all, any, none, part = 32;\n"
        '    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 40; bar.red.popc.u32 %0, 0, p; }"\n'
        '                 : "=r"(n) : "r"(t));\n'
        '    asm volatile("{.reg .pred p, q; setp.lt.s32 p, %1, 64; barrier.cta.red.and.aligned.pred q, 2, 64, p;\\n"\n'
        '                 "  selp.s32 %0, 1, 0, q; }" : "=r"(all) : "r"(t));\n'
        '    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 63; bar.red.or.pred q, 3, !p;\\n"\n'
        '                 "  selp.s32 %0, 1, 0, q; }"\n'
        '                 : "=r"(any) : "r"(t));\n'
        '    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 63; bar.cta.red.and.pred q, 3, p;\\n"\n'
        '                 "  selp.s32 %0, 1, 0, q; }"\n'
        '                 : "=r"(none) : "r"(t));\n'
        '    if (t < 32)\n'
        '        asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, 5; bar.red.popc.u32 %0, 5, 32, p; }"\n'
        '                     : "=r"(part) : "r"(t));\n'
        "    bool same = __syncthreads_count(t < 40) == 40 && __syncthreads_and(t < 64) && !__syncthreads_or(t > 63);\n"
        + _ALL.format("same && n == 40 && all == 1 && any == 1 && none == 0 && part == (t < 32 ? 27 : 32)"),
    ),
    _memory(
        "named_barriers",
        "    // Two warps hand a value on: the first only arrives.\n    __shared__ int word;\n"
        "    if (t / 32 == 0) {\n        if (t == 0) word = 42;\n"
        '        asm volatile("bar.arrive 3, 64;" ::: "memory");\n    } else\n'
        '        asm volatile("bar.sync 3, 64;" ::: "memory");\n' + _ALL.format("t < 32 || word == 42"),
        block=64,
    ),
]  # fmt: skip
# Two warps have 64 rows of C.
MEMORY[-1] = PtxKernel(
    MEMORY[-1].name,
    MEMORY[-1].body.replace("for (int i = 0; i < 8; i++) s[t * 8 + i] = A[t * 8 + i];", ""),
    Problem(64, 8, 8),
    block=64,
)
