"""Kernels that multiply once with `mma`, one for each shape and each pair of types.

Where an element stands in a register is written out here as the PTX ISA has it ("Matrix Fragments for mma....").
"""

from dataclasses import dataclass

from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem


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


QUADS = [quads(sums, a, b) for sums in ("f16", "f32") for a in ("row", "col") for b in ("row", "col")]
