"""Small kernels with the inline PTX of compute capability 9.0: products of a warpgroup, mbarriers.

How operands stand in shared memory is written out as the PTX ISA has it ("Shared Memory Matrix Layout").
"""

from dataclasses import replace

from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem

_CODES = """__device__ unsigned char e4m3(float v)
{
    int size = v < 0 ? -(int)v : (int)v;
    return (v < 0 ? 128 : 0) | (size == 1 ? 0x38 : size == 2 ? 0x40 : size == 3 ? 0x44 : 0);
}
__device__ __forceinline__ unsigned long long described(const void *p, int leading, int stride, int swizzle)
{
    unsigned long long mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (((unsigned)__cvta_generic_to_shared(p) & 0x3ffff) >> 4) | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | mode << 62;
}
"""
# Type: element, elements of K, what makes one of a float.
_TYPES = {
    "f16": ("__half", 16, "__float2half({})"),
    "bf16": ("__nv_bfloat16", 16, "__float2bfloat16({})"),
    "tf32": ("float", 8, "{}"),
    "e4m3": ("unsigned char", 32, "e4m3({})"),
    "s8": ("signed char", 32, "(signed char){}"),
    "u8": ("unsigned char", 32, "(unsigned char)({} + 4)"),
}
# Sums: their type, the constraint of a register, how many are in one.
_SUMS = {"f32": ("float", "f", 1), "f16": ("__half", "r", 2), "s32": ("int", "r", 1)}
# Layout: the byte of byte b of row r along K; the leading offset, the stride, the swizzle.
_ALONG = {
    "128": ("r * 128 + (b / 16 ^ r % 8) * 16 + b % 16", 16, 1024, 128),
    "64": ("r * 64 + (b / 16 ^ r / 2 % 4) * 16 + b % 16", 16, 512, 64),
    "32": ("r * 32 + (b / 16 ^ r / 4 % 2) * 16 + b % 16", 16, 256, 32),
    "none": ("r / 8 * 256 + b / 16 * 128 + r % 8 * 16 + b % 16", 128, 256, 0),
}
# Across K, of 16-bit elements: the byte of element r of row k.
_ACROSS = ("k / 8 * 1024 + k % 8 * 128 + (r / 8 ^ k % 8) * 16 + r % 8 * 2", 2048, 1024, 128)


# Bytes without a sign hold numbers that are 4 too large.
_WITHOUT_SHIFT = """for (int k = 0; k < K; k++)
            C[row * N + column] -= 4 * (A[row * K + k] + B[k * N + column]) + 16;"""


def _layout(name: str) -> tuple[str, int, int, int]:
    return _ACROSS if name == "across" else _ALONG[name]


def warpgroup(
    kind: str, lies_a: str, lies_b: str, minus: bool = False, sums: str = "f32", columns: int = 64
) -> PtxKernel:
    """Return one product of 64 x `columns` by K; `lies_a` may be ``registers``. With `minus` it is subtracted."""
    element, depth, make = _TYPES[kind]
    held, constraint, each_sum = _SUMS[sums]
    size = 32 // depth
    fill = []
    for matrix, lies, value in (("a", lies_a, "A[r * K + k]"), ("b", lies_b, "B[k * N + r]")):
        if lies == "registers":
            continue
        rows = columns if matrix == "b" else 64
        place = _layout(lies)[0].replace("b /", f"(k * {size}) /").replace("b %", f"(k * {size}) %")
        fill.append(
            f"    for (int i = t; i < {rows} * {depth}; i += 128) {{\n        int r = i / {depth}, k = i % {depth};\n"
            f"        *({element} *)({matrix}s + {place}) = {make.format(value)};\n    }}"
        )
    count, numbers = columns // 2, range(columns // 2 // each_sum)
    registers = ", ".join(f"%{i}" for i in numbers)
    place = "((unsigned *)d)" if each_sum > 1 else "d"
    outputs = ", ".join(f'"+{constraint}"({place}[{i}])' for i in numbers)
    inputs, first = [], len(numbers)
    if lies_a == "registers":
        a = "{" + ", ".join(f"%{first + i}" for i in range(4)) + "}"
        inputs += [f'"r"(((unsigned *)ra)[{i}])' for i in range(4)]
        each = 4 // size
        fill.append(
            f"    alignas(4) {element} ra[{4 * each}];\n    for (int j = 0; j < {4 * each}; j++) {{\n"
            f"        int r = t / 32 * 16 + t % 32 / 4 + j / {each} % 2 * 8;\n"
            f"        int k = t % 4 * {each} + j / {each} / 2 * {4 * each} + j % {each};\n"
            f"        ra[j] = {make.format('A[r * K + k]')};\n    }}"
        )
    else:
        a = f"%{first}"
        _, leading, stride, swizzle = _layout(lies_a)
        inputs.append(f'"l"(described(as, {leading}, {stride}, {swizzle}))')
    _, leading, stride, swizzle = _layout(lies_b)
    inputs.append(f'"l"(described(bs, {leading}, {stride}, {swizzle}))')
    b = f"%{first + len(inputs) - 1}"
    scales = "p" if sums == "s32" else f"p, {-1 if minus else 1}, 1"
    if depth == 16:
        scales += f", {int(lies_b == 'across')}" if lies_a == "registers" else ""
        scales += "" if lies_a == "registers" else f", {int(lies_a == 'across')}, {int(lies_b == 'across')}"
    body = f"""    const int t = threadIdx.x;
    __shared__ __align__(1024) unsigned char as[8192], bs[16384];
{chr(10).join(fill)}
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    alignas(4) {held} d[{count}];
    for (int i = 0; i < {count}; i++) d[i] = ({held})(float)i;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{first + len(inputs)}, 0;\\n"
                 "wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{sums}.{kind}.{kind} "
                 "{{{registers}}}, {a}, {b}, {scales}; }}"
                 : {outputs} : {", ".join(inputs)}, "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < {count}; i++) {{
        int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
        C[row * N + column] = {"i - (float)d[i]" if minus else "(float)d[i] - i"};
        {_WITHOUT_SHIFT if kind == "u8" else ""}
    }}"""
    name = f"wgmma_{kind}_{lies_a}_{lies_b}{'_minus' * minus}"
    name += f"_{sums}" * (sums != "f32") + f"_{columns}" * (columns != 64)
    return PtxKernel(name, body, Problem(64, columns, depth), _CODES, "9.0a", 128)


def separate(kernel: PtxKernel) -> PtxKernel:
    """Return a product whose sums are variables of their own, in another order in memory than in the instruction."""
    body = kernel.body
    count = body.count('"+f"(d[')
    names = [f"s{i}" for i in range(count)]
    declared = "".join(f"    float {name} = {i};\n" for i, name in reversed(list(enumerate(names))))
    for i, name in enumerate(names):
        body = body.replace(f'"+f"(d[{i}])', f'"+f"({name})')
    body = body.replace('    asm volatile("wgmma.fence', declared + '    asm volatile("wgmma.fence', 1)
    taken = "".join(f"    d[{i}] = {name};\n" for i, name in enumerate(names))
    body = body.replace(
        'wait_group.sync.aligned 0;" ::: "memory");\n', f'wait_group.sync.aligned 0;" ::: "memory");\n{taken}'
    )
    return replace(kernel, name=f"{kernel.name}_separate", body=body)


WARPGROUPS = [
    *(warpgroup(kind, "128", "128") for kind in ("f16", "bf16", "tf32", "e4m3")),
    *(warpgroup(kind, lies, "128", sums="s32") for kind in ("s8", "u8") for lies in ("128", "registers")),
    *(warpgroup("f16", lies, "128", sums="f16") for lies in ("128", "registers")),
    *(warpgroup("f16", "128", "128", columns=columns) for columns in (8, 24, 72, 120)),
    warpgroup("s8", "128", "128", sums="s32", columns=32),
    *(warpgroup("f16", lies, lies) for lies in ("64", "32", "none")),
    *(warpgroup(kind, "registers", "128") for kind in ("f16", "bf16", "tf32", "e4m3")),
    warpgroup("f16", "128", "across"),
    warpgroup("bf16", "across", "across"),
    warpgroup("f16", "across", "64"),
    warpgroup("f16", "registers", "across"),
    warpgroup("f16", "128", "128", minus=True),
    separate(warpgroup("f16", "128", "128", columns=24)),
]
_BARRIER = """    const int t = threadIdx.x;
    __shared__ __align__(8) unsigned long long bar;
    __shared__ float s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(64));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    s[t] = A[t];
"""
_WAIT = """    for (int i = 0; i < 8; i++) C[t * 8 + i] = s[63 - t] == A[63 - t];"""
BARRIERS = [
    PtxKernel(
        "mbarrier_parity",
        _BARRIER
        + """    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(at) : "memory");
    asm volatile("{\\n.reg .pred P1;\\nLAB_WAIT:\\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\\n"
                 "@P1 bra.uni DONE;\\nbra.uni LAB_WAIT;\\nDONE:\\n}" :: "r"(at), "r"(0) : "memory");
"""
        + _WAIT,
        Problem(64, 8, 8),
        capability="9.0",
        block=64,
    ),
    PtxKernel(
        "mbarrier_state",
        _BARRIER
        + """    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "l"(state) : "memory");
"""
        + _WAIT,
        Problem(64, 8, 8),
        capability="9.0",
        block=64,
    ),
    PtxKernel(
        "mbarrier_count",
        _BARRIER
        + """    if (t % 2 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" :: "r"(at) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 :: "r"(at) : "memory");
    for (int i = 0; i < 8; i++) C[t * 8 + i] = s[t ^ t % 2] == A[t ^ t % 2];""",
        Problem(64, 8, 8),
        capability="9.0",
        block=64,
    ),
    PtxKernel(
        "mbarrier_expected",
        _BARRIER
        + """    __shared__ alignas(128) float copied[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(copied);
    if (t == 0) {
        asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 256;" :: "r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(to), "l"(A), "r"(at) : "memory");
    }
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 :: "r"(at) : "memory");
    for (int i = 0; i < 8; i++) C[t * 8 + i] = copied[t] == A[t];""",
        Problem(64, 8, 8),
        capability="9.0",
        block=64,
    ),
    PtxKernel(
        "mbarrier_completed",
        _BARRIER
        + """    if (t == 0)
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" :: "r"(at) : "memory");
    if (t == 40)
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 :: "r"(at) : "memory");
"""
        + _WAIT,
        Problem(64, 8, 8),
        capability="9.0",
        block=64,
    ),
]  # fmt: skip
