"""Small kernels with the inline PTX of wmma: one warp loads tiles from shared memory, multiplies and stores."""

from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem

# The element, and what makes one of a float.
_ELEMENTS = {
    "f16": ("__half", "__float2half({})"),
    "bf16": ("__nv_bfloat16", "__float2bfloat16({})"),
    "tf32": ("float", "{}"),
    "s8": ("signed char", "(signed char){}"),
    "u8": ("unsigned char", "(unsigned char)({} + 3)"),
    "f64": ("double", "(double){}"),
}
# The registers of A and of B: PTX ISA, "Matrix Fragments for WMMA". Halves have eight of each in every shape.
_REGISTERS = {
    ("bf16", "m16n16k16"): (4, 4),
    ("bf16", "m32n8k16"): (8, 2),
    ("bf16", "m8n32k16"): (2, 8),
    ("s8", "m16n16k16"): (2, 2),
    ("s8", "m32n8k16"): (4, 1),
    ("s8", "m8n32k16"): (1, 4),
    ("tf32", "m16n16k8"): (4, 4),
    ("f64", "m8n8k4"): (1, 1),
}
# Of sums: the type, the constraint of a register, how many registers there are.
_SUMS = {"f32": ("float", "f", 8), "f16": ("__half", "r", 4), "s32": ("int", "r", 8), "f64": ("double", "d", 2)}


def _vector(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{i}" for i in range(first, first + count)) + "}"


def _listed(constraint: str, name: str, count: int) -> str:
    return ", ".join(f'"{constraint}"({name}[{i}])' for i in range(count))


def wmma(shape: str, kind: str, sums: str, layouts: str = "row col row", stride: bool = True) -> PtxKernel:
    """Return a kernel of one product; without `stride` the instructions have none: the rows are adjacent."""
    m, n, k = (int(side) for side in shape[1:].replace("n", " ").replace("k", " ").split())
    element, make = _ELEMENTS[kind]
    of_a, of_b = (8, 8) if kind == "f16" else _REGISTERS[kind.replace("u8", "s8"), shape]
    held, letter, of_c = _SUMS[sums]
    word, letter_ab = ("double", "d") if kind == "f64" else ("unsigned", "r")
    if kind == "tf32":
        word, letter_ab = "unsigned", "r"
    word_c = {"f32": "float", "f16": "unsigned", "s32": "int", "f64": "double"}[sums]
    lie_a, lie_b, lie_c = layouts.split()
    apart = 16 // {"f64": 8, "tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1) if stride else 0
    apart_c = 16 // {"f64": 8, "f16": 2}.get(sums, 4) if stride else 0
    ld_a = (k if lie_a == "row" else m) + apart
    ld_b = (n if lie_b == "row" else k) + apart
    ld_c = (n if lie_c == "row" else m) + apart_c
    at_a = f"r * {ld_a} + c" if lie_a == "row" else f"c * {ld_a} + r"
    at_b = f"r * {ld_b} + c" if lie_b == "row" else f"c * {ld_b} + r"
    at_c = f"r * {ld_c} + c" if lie_c == "row" else f"c * {ld_c} + r"

    def by(leading: int, number: int) -> tuple[str, str]:
        return (f", %{number}", f', "r"({leading})') if stride else ("", "")

    (a_by, a_ld), (b_by, b_ld) = by(ld_a, of_a + 1), by(ld_b, of_b + 1)
    (c_by, c_ld), (d_by, d_ld) = by(ld_c, of_c + 1), by(ld_c, of_c + 1)
    types = f"{sums}.{sums}" if kind == "f16" else f"{sums}.{kind}.{kind}.{sums}"
    product = ", ".join(
        _vector(first, count)
        for first, count in (
            (0, of_c),
            (of_c, of_a),
            (of_c + of_a, of_b),
            (of_c + of_a + of_b, of_c),
        )
    )
    body = f"""    const int t = threadIdx.x;
    __shared__ __align__(32) {element} as[32 * 32], bs[32 * 32];
    __shared__ __align__(32) {held} cs[32 * 48], ds[32 * 48];
    for (int i = t; i < {m * k}; i += 32) {{
        int r = i / {k}, c = i % {k};
        as[{at_a}] = {make.format("A[r * K + c]")};
    }}
    for (int i = t; i < {k * n}; i += 32) {{
        int r = i / {n}, c = i % {n};
        bs[{at_b}] = {make.format("B[r * N + c]")};
    }}
    for (int i = t; i < {m * n}; i += 32) {{
        int r = i / {n}, c = i % {n};
        cs[{at_c}] = ({held})(float)(i % 5);
    }}
    __syncwarp();
    {word} a[{of_a}], b[{of_b}];
    {word_c} c[{of_c}], d[{of_c}];
    unsigned where = (unsigned)__cvta_generic_to_shared(as);
    asm volatile("wmma.load.a.sync.aligned.{lie_a}.{shape}.shared.{kind} {_vector(0, of_a)}, [%{of_a}]{a_by};"
                 : {_listed("=" + letter_ab, "a", of_a)} : "r"(where){a_ld} : "memory");
    asm volatile("wmma.load.b.sync.aligned.{lie_b}.{shape}.{kind} {_vector(0, of_b)}, [%{of_b}]{b_by};"
                 : {_listed("=" + letter_ab, "b", of_b)} : "l"(bs){b_ld} : "memory");
    asm volatile("wmma.load.c.sync.aligned.{lie_c}.{shape}.{sums} {_vector(0, of_c)}, [%{of_c}]{c_by};"
                 : {_listed("=" + letter, "c", of_c)} : "l"(cs){c_ld} : "memory");
    asm volatile("wmma.mma.sync.aligned.{lie_a}.{lie_b}.{shape}.{types} {product};"
                 : {_listed("=" + letter, "d", of_c)}
                 : {_listed(letter_ab, "a", of_a)}, {_listed(letter_ab, "b", of_b)}, {_listed(letter, "c", of_c)});
    asm volatile("wmma.store.d.sync.aligned.{lie_c}.{shape}.shared.{sums} [%0], {_vector(1, of_c)}{d_by};"
                 :: "r"((unsigned)__cvta_generic_to_shared(ds)), {_listed(letter, "d", of_c)}{d_ld} : "memory");
    __syncwarp();
    for (int i = t; i < {m * n}; i += 32) {{
        int r = i / {n}, c = i % {n};
        C[r * N + c] = (float)ds[{at_c}] - i % 5;
    }}"""
    name = f"wmma_{shape}_{kind}_{sums}_{layouts.replace(' ', '')}{'' if stride else '_adjacent'}"
    return PtxKernel(name, body, Problem(m, n, k), capability="7.0" if kind == "f16" else "8.0")


WMMA = [
    wmma("m16n16k16", "f16", "f32"),
    wmma("m16n16k16", "f16", "f16", "col row col"),
    wmma("m16n16k16", "f16", "f32", "row row col", stride=False),
    wmma("m32n8k16", "f16", "f32", "col col row"),
    wmma("m8n32k16", "f16", "f16", "row row row", stride=False),
    *(wmma(shape, "bf16", "f32", "row row row") for shape in ("m16n16k16", "m32n8k16", "m8n32k16")),
    wmma("m16n16k8", "tf32", "f32"),
    *(wmma(shape, "s8", "s32") for shape in ("m16n16k16", "m32n8k16", "m8n32k16")),
    wmma("m16n16k16", "u8", "s32", "col row col"),
    wmma("m8n8k4", "f64", "f64", "row col row"),
]
