"""Small kernels with products of 4-bit numbers, of bits, and of a sparse A.

Where an element stands is written out as the PTX ISA has it ("Matrix Fragments for mma.m16n8k256", "... for sparse
mma.m16n8k32").
"""

from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem

# Bits of an element; what makes one of a float; the float that this one stands for.
_NARROW = {
    "s4": (4, "((unsigned)(int)({}) & 15u)", "({})"),
    "u4": (4, "((unsigned)(int)({}) & 15u)", "(float)((int)({}) & 15)"),
    "b1": (1, "((unsigned)(int)({}) & 1u)", "(float)((int)({}) & 1)"),
}


def _vectors(*counts: int) -> str:
    numbers = iter(range(sum(counts)))
    return ", ".join("{" + ", ".join(f"%{next(numbers)}" for _ in range(count)) + "}" for count in counts)


def _listed(letter: str, *given: tuple[str, int]) -> str:
    return ", ".join(f'"{letter}"({name}[{i}])' for name, count in given for i in range(count))


def narrow(m: int, k: int, a: str, b: str, operation: str = "") -> PtxKernel:
    """Return one product; C is 1 where it is the sum over k that the same kernel computes element by element."""
    bits, make_a, as_a = _NARROW[a]
    _, make_b, as_b = _NARROW[b]
    each = 32 // bits
    of_a, of_b, of_c = m * k * bits // 1024, 8 * k * bits // 1024, m // 4
    tall = m // 16
    a_at, b_at = "A[({row}) * K + ({k})]", "B[({k}) * N + ({column})]"
    x, y = as_a.format(a_at.format(row="row", k="q")), as_b.format(b_at.format(k="q", column="column"))
    term = f"(float)({x} != {y})" if operation == "xor" else f"{x} * {y}"
    value_a = make_a.format(
        a_at.format(row=f"g + 8 * (r % {tall + 1})", k=f"{each} * t + {4 * each} * (r / {tall + 1}) + i")
    )
    value_b = make_b.format(b_at.format(k=f"{each} * t + {4 * each} * r + i", column="g"))
    body = f"""    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned a[{of_a}] = {{}}, b[{of_b}] = {{}};
    int c[{of_c}], d[{of_c}];
    for (int r = 0; r < {of_a}; r++)
        for (int i = 0; i < {each}; i++) a[r] |= {value_a} << ({bits} * i);
    for (int r = 0; r < {of_b}; r++)
        for (int i = 0; i < {each}; i++) b[r] |= {value_b} << ({bits} * i);
    for (int i = 0; i < {of_c}; i++) c[i] = i + (int)threadIdx.x % 3;
    asm volatile("mma.sync.aligned.m{m}n8k{k}.row.col.s32.{a}.{b}.s32{f".{operation}.popc" if operation else ""} "
                 "{_vectors(of_c, of_a, of_b, of_c)};"
                 : {_listed("=r", ("d", of_c))} : {_listed("r", ("a", of_a), ("b", of_b), ("c", of_c))});
    for (int i = 0; i < {of_c}; i++) {{
        int row = g + 8 * (i / 2), column = 2 * t + i % 2;
        float sum = c[i];
        for (int q = 0; q < K; q++) sum += {term};
        C[row * N + column] = (float)d[i] == sum;
    }}"""
    name = f"mma_m{m}n8k{k}_{a}_{b}{'_' * bool(operation)}{operation}"
    return PtxKernel(name, body, Problem(m, 8, k), capability="8.0")


_HALVES = {"f16": ("__half", "__float2half({})"), "bf16": ("__nv_bfloat16", "__float2bfloat16({})")}


def sparse(k: int, kind: str, sums: str, selector: int, ordered: bool = False) -> PtxKernel:
    """Return one product with a sparse A: of four elements of a row two count, which depends on row and column.

    Of TF32 one of two counts. C is 1 where it is the sum over these elements of A.
    """
    tf32 = kind == "tf32"
    element, make = ("float", "{}") if tf32 else _HALVES[kind]
    each = 1 if tf32 else 2
    held, letter, in_one = ("__half", "r", 2) if sums == "f16" else ("float", "f", 1)
    word = "unsigned" if in_one == 2 else "float"
    of_a, of_b, of_c = 16 * (k // 2) // 32 // each, 8 * k // 32 // each, 4 // in_one
    lanes = {(16, False): 1, (32, False): 2, (8, True): 1, (16, True): 2}[k, tf32]
    # chosen(row, i): the column of the i-th stored element of a row; code(row, i): how the instruction names it.
    if tf32:
        chosen = "return 2 * i + (row * 5 + i * 3) % 7 % 2;"
        code = "return (row * 5 + i * 3) % 7 % 2 ? 14u : 4u;"
        bits = 4
    else:
        chosen = """int pair = (row * 5 + i / 2 * 3) % 6;
    const int first[] = {0, 0, 0, 1, 1, 2}, second[] = {1, 2, 3, 2, 3, 3};
    return i / 2 * 4 + (i % 2 ? second[pair] : first[pair]);"""
        code = "return (unsigned)chosen(row, i) % 4;"
        bits = 2
    before = f"""__device__ int chosen(int row, int i) {{
    {chosen}
}}
__device__ unsigned code(int row, int i) {{ {code} }}
"""
    product = _vectors(of_c, of_a, of_b, of_c)
    body = f"""    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    alignas(8) {element} a[{of_a * each}], b[{of_b * each}];
    alignas(8) {held} c[4], d[4];
    for (int r = 0; r < {of_a}; r++)
        for (int i = 0; i < {each}; i++) {{
            int row = g + 8 * (r % 2), stored = {each} * t + {4 * each} * (r / 2) + i;
            a[{each} * r + i] = {make.format("A[row * K + chosen(row, stored)]")};
        }}
    for (int r = 0; r < {of_b}; r++)
        for (int i = 0; i < {each}; i++)
            b[{each} * r + i] = {make.format(f"B[({each} * t + {4 * each} * r + i) * N + g]")};
    for (int i = 0; i < 4; i++) c[i] = ({held})(float)(i + (int)threadIdx.x % 3);
    // The lanes that are not chosen have wrong bits.
    unsigned where = 0x12345678u;
    if (t / {lanes} == {selector}) {{
        where = 0;
        for (int i = 0; i < {16 // bits}; i++) {{
            where |= code(g, i + {16 // bits} * (t % {lanes})) << ({bits} * i);
            where |= code(g + 8, i + {16 // bits} * (t % {lanes})) << ({bits} * i + 16);
        }}
    }}
    const unsigned *as = (const unsigned *)a, *bs = (const unsigned *)b;
    {word} *ds = ({word} *)d;
    const {word} *cs = (const {word} *)c;
    asm volatile("mma.sp{"::ordered_metadata" * ordered}.sync.aligned.m16n8k{k}.row.col.{sums}.{kind}.{kind}.{sums} "
                 "{product}, %{2 * of_c + of_a + of_b}, {selector};"
                 : {_listed("=" + letter, ("ds", of_c))}
                 : {_listed("r", ("as", of_a), ("bs", of_b))}, {_listed(letter, ("cs", of_c))}, "r"(where));
    for (int i = 0; i < 4; i++) {{
        int row = g + 8 * (i / 2), column = 2 * t + i % 2;
        float sum = (float)c[i];
        for (int s = 0; s < K / 2; s++) sum += A[row * K + chosen(row, s)] * B[chosen(row, s) * N + column];
        C[row * N + column] = (float)d[i] == sum;
    }}"""
    return PtxKernel(f"mma_sp_{k}_{kind}_{sums}_{selector}", body, Problem(16, 8, k), before, "8.0")


NARROW = [
    *(narrow(m, k, a, a) for m, k in ((8, 32), (16, 32), (16, 64)) for a in ("s4", "u4")),
    narrow(16, 64, "s4", "u4"),
    *(narrow(m, k, "b1", "b1", how) for m, k in ((8, 128), (16, 128), (16, 256)) for how in ("xor", "and")),
]
SPARSE = [
    *(sparse(16, "f16", "f32", selector) for selector in range(4)),
    *(sparse(32, "f16", "f32", selector, ordered=True) for selector in range(2)),
    sparse(32, "f16", "f16", 1),
    sparse(32, "bf16", "f32", 0),
    sparse(8, "tf32", "f32", 2),
    sparse(16, "tf32", "f32", 1),
]
