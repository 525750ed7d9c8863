"""Small kernels with inline PTX, for the recorder and for a real GPU: one warp, whole numbers, an exact C.

Where an element stands in a register is written out here as the PTX ISA has it ("Matrix Fragments for mma....").
"""

from dataclasses import dataclass
from pathlib import Path

from ptx_words import MORE_WORDS

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem

HEAD = "__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
HELPERS = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
"""


@dataclass(frozen=True)
class PtxKernel:
    """A kernel by its text, and the problem that it is for."""

    name: str
    body: str
    problem: Problem
    before: str = ""
    capability: str = "8.0"
    block: int = 32

    @property
    def launch(self) -> Launch:
        """The launch of one block."""
        matter = {
            "entry": '"k"',
            "args": '["A", "B", "C", "M", "N", "K"]',
            "block": f"[{self.block}]",
            "grid": "[1]",
            "capability": f'"{self.capability}"',
        }
        front = "".join(f"// {key} = {value}\n" for key, value in matter.items())
        text = f"// ---gemmviz\n{front}// ---\n{HELPERS}{self.before}\n{HEAD}{self.body}\n}}\n"
        return launch(parse(text, Path(f"{self.name}.cu")), self.problem)


@dataclass(frozen=True)
class _Operand:
    """How a type stands in registers: elements of a register, what packs them, the word for it in the instruction."""

    ptx: str
    element: str
    each: int
    make: str


_OPERANDS = {
    "f16": _Operand("f16", "__half", 2, "__float2half({})"),
    "bf16": _Operand("bf16", "__nv_bfloat16", 2, "__float2bfloat16({})"),
    "tf32": _Operand("tf32", "float", 1, "{}"),
    "s8": _Operand("s8", "signed char", 4, "(signed char){}"),
    "u8": _Operand("u8", "unsigned char", 4, "(unsigned char)({} + 3)"),
    "e4m3": _Operand("e4m3", "unsigned char", 4, "e4m3({})"),
    "e5m2": _Operand("e5m2", "unsigned char", 4, "e5m2({})"),
    "f64": _Operand("f64", "double", 1, "(double){}"),
}
_CODES = """__device__ unsigned char e4m3(float v)
{
    int size = v < 0 ? -(int)v : (int)v;
    return (v < 0 ? 128 : 0) | (size == 1 ? 0x38 : size == 2 ? 0x40 : size == 3 ? 0x44 : 0);
}
__device__ unsigned char e5m2(float v)
{
    int size = v < 0 ? -(int)v : (int)v;
    return (v < 0 ? 128 : 0) | (size == 1 ? 0x3c : size == 2 ? 0x40 : size == 3 ? 0x42 : 0);
}
"""
# Row and column of element i of A and B in a lane with group g = lane / 4 and t = lane % 4; how many there are.
_PLACES = {
    ("m16n8k16", 2): ("g + 8 * (i / 2 % 2)", "2 * t + i % 2 + 8 * (i / 4)", 8, "2 * t + i % 2 + 8 * (i / 2)", 4),
    ("m16n8k8", 2): ("g + 8 * (i / 2)", "2 * t + i % 2", 4, "2 * t + i", 2),
    ("m16n8k8", 1): ("g + 8 * (i % 2)", "t + 4 * (i / 2)", 4, "t + 4 * i", 2),
    ("m16n8k4", 1): ("g + 8 * i", "t", 2, "t", 1),
    ("m8n8k16", 4): ("g", "4 * t + i", 4, "4 * t + i", 4),
    ("m16n8k16", 4): ("g + 8 * (i / 4)", "4 * t + i % 4", 8, "4 * t + i", 4),
    ("m16n8k32", 4): ("g + 8 * (i / 4 % 2)", "4 * t + i % 4 + 16 * (i / 8)", 16, "4 * t + i % 4 + 16 * (i / 4)", 8),
}
_DOUBLES = {
    "m8n8k4": ("g", "t", 1, "t", 1),
    "m16n8k4": ("g + 8 * i", "t", 2, "t", 1),
    "m16n8k8": ("g + 8 * (i % 2)", "t + 4 * (i / 2)", 4, "t + 4 * i", 2),
    "m16n8k16": ("g + 8 * (i % 2)", "t + 4 * (i / 2)", 8, "t + 4 * i", 4),
}
# Shape, A, B, sums, compute capability.
PRODUCTS = [
    *(("m16n8k16", kind, kind, "f32", "8.0") for kind in ("f16", "bf16")),
    ("m16n8k16", "f16", "f16", "f16", "8.0"),
    *(("m16n8k8", kind, kind, "f32", "8.0") for kind in ("f16", "bf16", "tf32")),
    ("m16n8k8", "f16", "f16", "f16", "8.0"),
    ("m16n8k4", "tf32", "tf32", "f32", "8.0"),
    *((shape, kind, kind, "s32", "8.0") for shape in ("m8n8k16", "m16n8k16", "m16n8k32") for kind in ("s8", "u8")),
    ("m16n8k32", "s8", "u8", "s32", "8.0"),
    *(("m16n8k32", a, b, "f32", "9.0") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    ("m8n8k4", "f64", "f64", "f64", "8.0"),
    *((shape, "f64", "f64", "f64", "9.0") for shape in ("m16n8k4", "m16n8k8", "m16n8k16")),
]


# Of sums: the type, its constraint, how many are in a register.
_SUMS = {"f32": ("float", "f", 1), "f16": ("__half", "r", 2), "s32": ("int", "r", 1), "f64": ("double", "d", 1)}


def product(shape: str, a: str, b: str, sums: str, capability: str) -> PtxKernel:
    """Return a kernel that fills the registers element by element, and multiplies once."""
    first, second = _OPERANDS[a], _OPERANDS[b]
    places = _DOUBLES[shape] if a == "f64" else _PLACES[shape, first.each]
    row_a, column_a, count_a, row_b, count_b = places
    m, _, k = (int(side) for side in shape[1:].replace("n", " ").replace("k", " ").split())
    count = m // 4  # elements of C
    word, letter = ("double", "d") if a == "f64" else ("unsigned", "r")
    held, constraint, each = _SUMS[sums]
    registers = [count // each, count_a // first.each, count_b // second.each, count // each]
    numbers = iter(range(sum(registers)))
    vectors = ", ".join("{" + ", ".join(f"%{next(numbers)}" for _ in range(n)) + "}" for n in registers)
    c_word = {"f32": "float", "f16": "unsigned", "s32": "int", "f64": "double"}[sums]
    given = [
        *(f'"{letter}"(reinterpret_cast<{word} *>(a)[{i}])' for i in range(registers[1])),
        *(f'"{letter}"(reinterpret_cast<{word} *>(b)[{i}])' for i in range(registers[2])),
        *(f'"{constraint}"(reinterpret_cast<{c_word} *>(c)[{i}])' for i in range(registers[0])),
    ]
    taken = [f'"={constraint}"(reinterpret_cast<{c_word} *>(d)[{i}])' for i in range(registers[0])]
    body = f"""    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    alignas(8) {first.element} a[{count_a}];
    alignas(8) {second.element} b[{count_b}];
    alignas(8) {held} c[{count}], d[{count}];
    for (int i = 0; i < {count_a}; i++) a[i] = {first.make.format(f"A[({row_a}) * K + {column_a}]")};
    for (int i = 0; i < {count_b}; i++) b[i] = {second.make.format(f"B[({row_b}) * N + g]")};
    for (int i = 0; i < {count}; i++) c[i] = ({held})(float)(i + (int)threadIdx.x % 3);
    asm volatile("mma.sync.aligned.{shape}.row.col.{sums}.{a}.{b}.{sums} {vectors};"
                 : {", ".join(taken)}
                 : {", ".join(given)});
    for (int i = 0; i < {count}; i++)
        C[(g + 8 * (i / 2)) * N + 2 * t + i % 2] = (float)d[i] - (i + (int)threadIdx.x % 3);"""
    return PtxKernel(f"mma_{shape}_{a}_{b}_{sums}", body, Problem(m, 8, k), _CODES, capability)


def quads(sums: str, a_layout: str, b_layout: str) -> PtxKernel:
    """Return four products of 8 x 8 x 4: C is four tiles, one below the other, of A (32 x 4) and the same B."""
    held, letter, each = ("float", "f", 1) if sums == "f32" else ("__half", "r", 2)
    word = "float" if sums == "f32" else "unsigned"
    n = 8 // each
    vectors = ", ".join(
        "{" + ", ".join(f"%{first + i}" for i in range(size)) + "}"
        for first, size in ((0, n), (n, 2), (n + 2, 2), (n + 4, n))
    )
    at_a = "at * K + i" if a_layout == "row" else "(8 * quad + 4 * upper + i) * K + within"
    at_b = "i * N + within + 4 * upper" if b_layout == "col" else "within * N + 4 * upper + i"
    if sums == "f32":
        row, column = "(lane & 1) + (i & 2) + 4 * upper", "(i & 4) + (lane & 2) + (i & 1)"
    else:
        row, column = "within + 4 * upper", "i"
    taken = ", ".join(f'"={letter}"(reinterpret_cast<{word} *>(d)[{i}])' for i in range(n))
    given = ", ".join(
        [
            *(f'"r"(reinterpret_cast<unsigned *>({x})[{i}])' for x in "ab" for i in range(2)),
            *(f'"{letter}"(reinterpret_cast<{word} *>(c)[{i}])' for i in range(n)),
        ]
    )
    body = f"""    int lane = threadIdx.x, within = lane % 4, upper = lane / 16, quad = lane / 4 % 4;
    int at = 8 * quad + within + 4 * upper;
    alignas(4) __half a[4], b[4];
    alignas(4) {held} c[8], d[8];
    for (int i = 0; i < 4; i++) a[i] = __float2half(A[{at_a}]);
    for (int i = 0; i < 4; i++) b[i] = __float2half(B[{at_b}]);
    for (int i = 0; i < 8; i++) c[i] = ({held})0.0f;
    asm volatile("mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{sums}.f16.f16.{sums} {vectors};"
                 : {taken} : {given});
    for (int i = 0; i < 8; i++) C[(8 * quad + {row}) * N + {column}] = (float)d[i];"""
    return PtxKernel(f"mma_m8n8k4_{a_layout}_{b_layout}_{sums}", body, Problem(32, 8, 4), "", "7.0")


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
QUADS = [quads(sums, a, b) for sums in ("f16", "f32") for a in ("row", "col") for b in ("row", "col")]
