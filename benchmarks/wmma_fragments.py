"""The lane that holds each element of a tensor-core fragment: the recorder's answer against this GPU's.

    python benchmarks/wmma_fragments.py [--json FILE]

The same kernels run on the GPU and in the recorder. Of ``nvcuda::wmma`` every type, shape and layout: a tile whose
elements hold their own number is loaded, and each lane writes down what it got. Of ``mma.sync`` and ``ldmatrix`` every
function of ``<gemmviz/ptx.h>``: registers are filled with numbers that tell lane and place apart, and results compared.
Exit code 1 when anything differs, 2 without a GPU. ``--json`` keeps what the GPU does, in the form of
``tests/unit/wmma_fragments_sm90.json``.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from gemmviz import data
from gemmviz.backends.cuda import cupy
from gemmviz.backends.nvrtc import compile_launch
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

FRONT = """// ---gemmviz
// entry = "probes"
// args = ["C", "A", "B"]
// block = [32]
// grid = ["M / 32"]
// ---
"""
WIDTH = 32  # the numbers that a lane can write
# Numbers beyond 127 do not fit a signed char: they come in two tiles.
FRAGMENTS = """#include <mma.h>
using namespace nvcuda;
template <class T> __device__ T *tiles()
{
    __shared__ T tile[2 * 32 * 32];
    return tile;
}
template <class F, class T, class L> __device__ void probe(float *C, int rows, int columns, int by_columns, L load)
{
    T *low = tiles<T>(), *high = low + 32 * 32;
    for (int i = threadIdx.x; i < rows * columns; i += 32) {
        int at = by_columns ? i % columns * rows + i / columns : i;
        low[at] = (T)(float)(i % 128);
        high[at] = (T)(float)(i / 128);
    }
    __syncthreads();
    F f, g;
    load(f, low, by_columns ? rows : columns);
    load(g, high, by_columns ? rows : columns);
    for (int i = 0; i < WIDTH; i++) C[threadIdx.x * WIDTH + i] = -1;
    for (int i = 0; i < f.num_elements; i++) C[threadIdx.x * WIDTH + i] = (float)f.x[i] + 128 * (float)g.x[i];
}
"""
REGISTERS = """#include <gemmviz/ptx.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace gemmviz::ptx;
// Whole numbers up to 8, other ones in each lane and place: sums of their products are exact in every type.
__device__ float number(int i) { int t = threadIdx.x; return (float)((t * 7 + i * 5 + t * i) % 17 - 8); }
template <class T> __device__ void fill(unsigned *r, int count, int seed)
{
    T *x = reinterpret_cast<T *>(r);
    for (int i = 0; i < count * (int)(4 / sizeof(T)); i++) x[i] = (T)number(i + seed);
}
"""
USES = {"a": "matrix_a", "b": "matrix_b", "accumulator": "accumulator"}
TYPES = {
    "half": ("half", "half"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16"),
    "tf32": ("wmma::precision::tf32", "float"),
    "float": ("float", "float"),
    "s8": ("signed char", "signed char"),
    "u8": ("unsigned char", "unsigned char"),
    "int": ("int", "int"),
    "double": ("double", "double"),
}
# The operands and the shapes that each has, and the types of its sums.
SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
KINDS = {
    **{"half": (SHAPES, ("float", "half")), "bf16": (SHAPES, ()), "tf32": (((16, 16, 8),), ("float",))},
    **{"s8": (SHAPES, ("int",)), "u8": (SHAPES, ()), "double": (((8, 8, 4),), ("double",))},
}
OPERAND = "[](auto &f, auto *p, int ld) { wmma::load_matrix_sync(f, p, ld); }"
SUM = "[](auto &f, auto *p, int ld) { wmma::load_matrix_sync(f, p, ld, wmma::mem_row_major); }"


def fragments() -> dict[str, tuple[str, int, int]]:
    """Return, by name, the statement that probes each fragment, and the rows and columns of its tile."""
    found = {}
    for kind, (m, n, k) in [(kind, shape) for kind, (shapes, _) in KINDS.items() for shape in shapes]:
        cases = [("a", m, k, kind, layout) for layout in ("row_major", "col_major")]
        cases += [("b", k, n, kind, layout) for layout in ("row_major", "col_major")]
        cases += [("accumulator", m, n, total, "") for total in KINDS[kind][1]]
        for use, rows, columns, element, layout in cases:
            inside, outside = TYPES[element]
            tail = f", wmma::{layout}" if layout else ""
            fragment = f"wmma::fragment<wmma::{USES[use]}, {m}, {n}, {k}, {inside}{tail}>"
            arguments = f"C, {rows}, {columns}, {int(layout == 'col_major')}, {OPERAND if layout else SUM}"
            name = f"m{m}n{n}k{k} {use} {element} {layout}".strip()
            found[name] = f"probe<{fragment}, {outside}>({arguments});", rows, columns
    return found


def registers() -> dict[str, str]:
    """Return, by name, the statements that try each mma and ldmatrix of <gemmviz/ptx.h>."""
    header = (data.root("kernels") / "include/gemmviz/ptx/ampere.h").read_text(encoding="utf-8")
    found = {}
    for name, arguments in re.findall(r"GEMMVIZ_PTX void (mma_\w+)\((.*)\)$", header, re.MULTILINE):
        counts = {x: int(n) for x, n in re.findall(r"\(&([dabc])\)\[(\d)\]", arguments)}
        kind = {"f16": "half", "bf16": "__nv_bfloat16", "tf32": "float"}[name.rsplit("_", 1)[1]]
        total = "float" if "_f32_" in name else "half"
        found[name] = (
            f"unsigned a[{counts['a']}], b[{counts['b']}]; {'float' if total == 'float' else 'unsigned'} "
            f"c[{counts['c']}]; fill<{kind}>(a, {counts['a']}, 0); fill<{kind}>(b, {counts['b']}, 9); "
            f"fill<{total}>(reinterpret_cast<unsigned *>(c), {counts['c']}, 4); {name}(c, a, b, c); "
            f"tell(C, reinterpret_cast<{total} *>(c), 4);"
        )
    for name, count in re.findall(r"GEMMVIZ_PTX void (ldmatrix_x(\d)\w*)\(", header):
        found[name] = (
            f"__shared__ __align__(16) unsigned short tile[32][8]; for (int i = 0; i < 8; i++) "
            f"tile[threadIdx.x][i] = (unsigned short)(threadIdx.x * 8 + i); __syncthreads(); unsigned r[{count}]; "
            f"{name}(r, tile[threadIdx.x % {8 * int(count)}]); "
            f"tell(C, reinterpret_cast<unsigned short *>(r), {2 * int(count)});"
        )
    return found


TELL = """template <class T> __device__ void tell(float *C, const T *x, int count)
{
    for (int i = 0; i < WIDTH; i++) C[threadIdx.x * WIDTH + i] = i < count ? (float)x[i] : -1;
}
"""


def both(head: str, statements: list[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the answers of the recorder and the GPU: a matrix of 32 lanes x `WIDTH` numbers for each statement."""
    cases = "".join(f"    case {number}: {{ {text} break; }}\n" for number, text in enumerate(statements))
    text = f"{FRONT}#define WIDTH {WIDTH}\n{head}{TELL}"
    text += "__global__ void probes(float *C, const float *A, const float *B)\n"
    text += f"{{\n    C += blockIdx.x * 32 * WIDTH;\n    switch (blockIdx.x) {{\n{cases}    }}\n}}\n"
    probes = launch(parse(text, Path("probes.cu")), Problem(32 * len(statements), WIDTH, 1))
    shape = len(statements), 32, WIDTH
    return record(probes).c.reshape(shape), on_gpu(probes).reshape(shape)


def on_gpu(probes: Launch) -> np.ndarray[Any, Any]:
    """Run the kernel on the GPU; return C."""
    cp = cupy()
    kernel, _, _ = compile_launch(cp, probes)
    c = cp.full((probes.problem.m, probes.problem.n), cp.nan, "float32")
    nothing = cp.zeros(1, "float32")
    kernel(probes.grid, probes.block, (c, nothing, nothing))
    return np.asarray(cp.asnumpy(c))


def main() -> int:
    """Compare, print a table, keep the map where asked; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to keep what the GPU does")
    options = parser.parse_args()
    try:
        cp = cupy()
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 2
    tiles, instructions = fragments(), registers()
    device = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    print(f"{device['name'].decode()}, compute capability {device['major']}.{device['minor']}")
    print(f"{'fragment or instruction':<36} {'per lane':>8}  recorder and GPU")
    differ, kept = 0, []
    for head, cases in ((FRAGMENTS, {name: t[0] for name, t in tiles.items()}), (REGISTERS, instructions)):
        recorded, measured = both(head, list(cases.values()))
        for name, mine, real in zip(cases, recorded, measured, strict=True):
            count = int((real[0] >= 0).sum()) if name in tiles else int((real[0] != -1).sum())
            if name in tiles:
                _, rows, columns = tiles[name]
                element = real[:, :count].astype(int).tolist()
                kept.append({"name": name, "rows": rows, "cols": columns, "per_lane": count, "element": element})
            wrong = np.argwhere(mine != real)
            differ += bool(len(wrong))
            verdict = "agree"
            if len(wrong):
                lane, at = wrong[0]
                verdict = f"DIFFER: lane {lane}, element {at}: {mine[lane, at]:g} here, {real[lane, at]:g} there"
            print(f"{name:<36} {count:>8}  {verdict}")
    if options.json:
        note = "element = row * cols + col of the matrix element held in fragment.x[i] of each lane"
        device_facts = {"device": device["name"].decode(), "cc": f"{device['major']}.{device['minor']}"}
        options.json.write_text(json.dumps({**device_facts, "note": note, "fragments": kept}, separators=(",", ":")))
    print(f"{differ} of {len(tiles) + len(instructions)} differ" if differ else "all agree")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
