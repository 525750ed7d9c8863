"""Tensor-core instructions in a recording: every type and shape computes A x B; the headers for both sides agree."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from gpu_header import FOLDER, gpu_header

from gemmviz import simt
from gemmviz.bench.error_bound import gamma
from gemmviz.catalogue.dtypes import OPERAND_ROUNDOFF
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

GPU_HEADER = gpu_header()
RECORDER_HEADER = (Path(simt.__file__).parent / "include/gemmviz/ptx.h").read_text()
ARGS = '["A", "B", "C", "M", "N", "K"]'


def recorded(text: str, problem: Problem, **matter: str) -> Recording:
    matter = {"entry": '"gemm"', "args": ARGS, "block": "[32]"} | matter
    front = "".join(f"// {key} = {value}\n" for key, value in matter.items())
    return record(launch(parse(f"// ---gemmviz\n{front}// ---\n{text}", Path("tensor.cu")), problem), deadline_s=10)


WMMA = """#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const MEMORY *A, const MEMORY *B, SUM *C, int M, int N, int K)
{
    wmma::fragment<wmma::matrix_a, SHAPE, TYPE, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, SHAPE, TYPE, wmma::LAYOUT> b;
    wmma::fragment<wmma::accumulator, SHAPE, SUM> c;
    int row = blockIdx.y * TM, column = blockIdx.x * TN;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += TK) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + START, LEADING);
        ROUND
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * N + column, c, N, wmma::mem_row_major);
}
"""
ROUND = """for (auto &v : a.x) v = wmma::__float_to_tf32(v);
        for (int i = 0; i < b.num_elements; i++) b.x[i] = wmma::__float_to_tf32(b.x[i]);"""
TYPES = {
    "half": ("half", "half", "float16"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", "bfloat16"),
    "tf32": ("wmma::precision::tf32", "float", "float32"),
    "s8": ("signed char", "signed char", "int8"),
    "u8": ("unsigned char", "uint8_t", "uint8"),
    "double": ("double", "double", "float64"),
}
DEPTHS = {"tf32": 8, "double": 4}
SUMS = {"half": "float16", "float": "float32", "int": "int32", "double": "float64"}


@pytest.mark.sweep(
    "half-8-32-float-col_major", "tf32-16-16-float-row_major", "s8-16-16-int-row_major", "double-8-8-double-col_major"
)
@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize(
    ("kind", "m", "n", "total"),
    [
        ("half", 16, 16, "float"),
        ("half", 32, 8, "half"),
        ("half", 8, 32, "float"),
        ("bf16", 16, 16, "float"),
        ("bf16", 32, 8, "float"),
        ("bf16", 8, 32, "float"),
        ("tf32", 16, 16, "float"),
        *((kind, m, n, "int") for kind in ("s8", "u8") for m, n in ((16, 16), (32, 8), (8, 32))),
        ("double", 8, 8, "double"),
    ],
)
def test_fragments_of_every_type_and_shape_multiply(kind: str, m: int, n: int, total: str, layout: str) -> None:
    recording = multiplied(kind, m, n, total, layout)
    assert recording.wrong == 0 and not recording.notes
    log = recording.accesses
    for array, matrix, times in ((0, recording.a, 2), (1, recording.b, 2)):
        position, element, value = recording.covered(np.flatnonzero(log.array == array))
        rows, columns = recording.arrays[array].cells(element)
        assert (value == matrix[rows, columns]).all()
        # Each element is loaded for each tile of C that needs it, once for each 8 x 8 matrix that it is in.
        assert (np.bincount(element, minlength=matrix.size) == times).all()
        assert len(position)


def multiplied(kind: str, m: int, n: int, total: str, layout: str, **changes: str) -> Recording:
    inside, memory, dtype = TYPES[kind]
    k = DEPTHS.get(kind, 16)
    by_rows = layout == "row_major"
    text = WMMA
    for word, what in {
        "MEMORY": memory,
        "SHAPE": f"{m}, {n}, {k}",
        "TYPE": inside,
        "SUM": total,
        "LAYOUT": layout,
        "TM": m,
        "TN": n,
        "TK": k,
        "START": "k * N + column" if by_rows else "column * K + k",
        "LEADING": "N" if by_rows else "K",
        "ROUND": ROUND if kind == "tf32" else "",
        **changes,
    }.items():
        text = re.sub(rf"\b{word}\b", str(what), text)
    matter = {"dtype": f'"{dtype}"', "accumulate": f'"{SUMS[total]}"'}
    if not by_rows:
        matter["layout"] = '{ B = "column" }'
    if kind == "tf32":
        matter["math"] = '"tf32"'
    return recorded(text, Problem(2 * m, 2 * n, 3 * k), grid="[2, 2]", **matter)


@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize(("kind", "total"), [("s8", "int"), ("double", "double")])
def test_an_operand_is_loaded_four_bytes_at_once_where_they_are_neighbours_in_memory(
    kind: str, total: str, layout: str
) -> None:
    side = 8 if kind == "double" else 16
    log = multiplied(kind, side, side, total, layout).accesses
    widths = [set(log.bytes[log.array == array].tolist()) for array in (0, 1)]
    # A is by rows, so K runs along its memory; B does so by columns only.
    wide, narrow = (8, 8) if kind == "double" else (4, 1)
    assert widths == [{wide}, {narrow if layout == "row_major" else wide}]


def test_a_product_that_is_left_out_is_found_in_sums_of_bytes() -> None:
    recording = multiplied("s8", 16, 16, "int", "row_major", TK="2 * 16")
    assert recording.wrong > recording.c.size / 2


@pytest.mark.parametrize(("satf", "sum_"), [("", -2147483648), (", true", 2147483647)])
def test_a_sum_of_bytes_wraps_around_or_stays_at_the_limit(satf: str, sum_: int) -> None:
    text = f"""#include <mma.h>
using namespace nvcuda::wmma;
__global__ void gemm(const signed char *A, const signed char *B, int *C, int M, int N, int K)
{{
    fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
    fragment<matrix_b, 16, 16, 16, signed char, row_major> b;
    fragment<accumulator, 16, 16, 16, int> c;
    for (int i = 0; i < a.num_elements; i++) a.x[i] = threadIdx.x < 4; // rows 0 and 8
    for (int i = 0; i < b.num_elements; i++) b.x[i] = threadIdx.x < 4; // columns 0 and 8
    fill_fragment(c, 2147483647 - 15);
    mma_sync(c, a, b, c{satf});
    store_matrix_sync(C, c, N, mem_row_major);
}}
"""
    c = recorded(text, Problem(16, 16, 16), grid="[1]", dtype='"int8"', accumulate='"int32"').c
    assert (c[::8, ::8] == sum_).all() and (c == sum_).sum() == 4 and (c == 2147483647 - 15).sum() == 252


MMA = """#include <gemmviz/ptx.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace gemmviz::ptx;
__device__ unsigned pack(WORD lo, WORD hi)
{
    WORD both[2] = {lo, hi};
    return *reinterpret_cast<unsigned *>(both);
}
__global__ void gemm(const WORD *A, const WORD *B, SUM *C, int M, int N, int K)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    BODY
}
"""
K16 = """unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) {
        const WORD *p = A + (g + i % 2 * 8) * K + 2 * t + i / 2 * 8;
        a[i] = pack(p[0], p[1]);
    }
    for (int i = 0; i < 2; i++) b[i] = pack(B[(2 * t + 8 * i) * N + g], B[(2 * t + 8 * i + 1) * N + g]);
    """
K8 = """unsigned a[2], b[1];
    for (int i = 0; i < 2; i++) a[i] = pack(A[(g + i * 8) * K + 2 * t], A[(g + i * 8) * K + 2 * t + 1]);
    b[0] = pack(B[2 * t * N + g], B[(2 * t + 1) * N + g]);
    """
TF32 = """unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = to_tf32(A[(g + i % 2 * 8) * K + t + i / 2 * 4]);
    for (int i = 0; i < 2; i++) b[i] = to_tf32(B[(t + 4 * i) * N + g]);
    """
IN_FLOATS = """float c[4] = {};
    NAME(c, a, b, c);
    for (int i = 0; i < 4; i++) C[(g + i / 2 * 8) * N + 2 * t + i % 2] = c[i];"""
IN_HALVES = """unsigned c[2] = {};
    NAME(c, a, b, c);
    for (int i = 0; i < 2; i++) *reinterpret_cast<unsigned *>(&C[(g + i * 8) * N + 2 * t]) = c[i];"""


@pytest.mark.sweep("mma_m16n8k16_f32_f16", "mma_m16n8k8_f32_tf32")
@pytest.mark.parametrize("name", re.findall(r"\bmma_m16n8k\w+(?=\()", GPU_HEADER))
def test_every_mma_multiplies_registers_that_are_filled_as_the_ptx_manual_says(name: str) -> None:
    _, shape, total, kind = name.split("_")
    word = {"f16": "__half", "bf16": "__nv_bfloat16", "tf32": "float"}[kind]
    load = TF32 if kind == "tf32" else K16 if shape.endswith("k16") else K8
    store = (IN_FLOATS if total == "f32" else IN_HALVES).replace("NAME", name)
    text = MMA.replace("BODY", load + store).replace("WORD", word)
    text = text.replace("SUM", "float" if total == "f32" else "__half")
    dtype = {"f16": "float16", "bf16": "bfloat16", "tf32": "float32"}[kind]
    recording = recorded(
        text,
        Problem(16, 8, 16 if shape.endswith("k16") else 8),
        grid="[1]",
        dtype=f'"{dtype}"',
        accumulate='"float32"' if total == "f32" else '"float16"',
    )
    assert recording.wrong == 0
    assert not np.isin(recording.accesses.array, [3]).any()  # registers are no memory


def test_ldmatrix_puts_rows_or_columns_into_the_lanes() -> None:
    text = """#include <gemmviz/ptx.h>
__global__ void gemm(const __UINT16_TYPE__ *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) unsigned short tile[32][8];
    for (int i = 0; i < 8; i++) tile[threadIdx.x][i] = threadIdx.x * 8 + i;
    __syncthreads();
    unsigned r[4], x[1], y[2];
    gemmviz::ptx::ldmatrix_x4(r, tile[threadIdx.x]);
    C += threadIdx.x * 16;
    for (int i = 0; i < 4; i++) { C[2 * i] = r[i] & 0xffff; C[2 * i + 1] = r[i] >> 16; }
    gemmviz::ptx::ldmatrix_x2_trans(y, tile[threadIdx.x % 16]);
    for (int i = 0; i < 2; i++) { C[8 + 2 * i] = y[i] & 0xffff; C[9 + 2 * i] = y[i] >> 16; }
    gemmviz::ptx::ldmatrix_x1(x, threadIdx.x < 8 ? tile[threadIdx.x] : nullptr);
    C[12] = x[0] & 0xffff;
}
"""
    recording = recorded(text, Problem(32, 16, 8), grid="[1]")
    lane = np.arange(32)
    # Two elements of a row at row lane / 4, columns 2 (lane % 4); transposed: at column lane / 4.
    row, pair = lane // 4, 2 * (lane % 4)
    for matrix in range(4):
        assert (recording.c[:, 2 * matrix] == 64 * matrix + 8 * row + pair).all()
        assert (recording.c[:, 2 * matrix + 1] == 64 * matrix + 8 * row + pair + 1).all()
    for matrix in range(2):
        assert (recording.c[:, 8 + 2 * matrix] == 64 * matrix + 8 * pair + row).all()
        assert (recording.c[:, 9 + 2 * matrix] == 64 * matrix + 8 * (pair + 1) + row).all()
    assert (recording.c[:, 12] == 8 * row + pair).all()


def test_stmatrix_puts_the_registers_of_the_lanes_into_rows() -> None:
    text = """#include <gemmviz/ptx.h>
__global__ void gemm(const __UINT16_TYPE__ *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) unsigned short tile[32][8];
    unsigned r[4];
    for (unsigned i = 0; i < 4; i++) {
        unsigned first = 64 * i + 2 * threadIdx.x;
        r[i] = first | (first + 1) << 16;
    }
    gemmviz::ptx::stmatrix_x4(tile[threadIdx.x], r);
    __syncthreads();
    for (int i = 0; i < 8; i++) C[threadIdx.x * 8 + i] = tile[threadIdx.x][i];
}
"""
    recording = recorded(text, Problem(32, 8, 8), grid="[1]")
    # Lane l holds elements 2 l and 2 l + 1 of each matrix; row r of matrix i is written where lane 8 i + r says.
    assert (recording.c.ravel() == np.arange(256)).all()


def declared(header: str) -> list[str]:
    text = " ".join(header.split()).replace("( ", "(")
    return re.findall(r"(?:template <[^>]*> )?GEMMVIZ_PTX (?!static|GV)[^{]*?\)(?= \{)", text)


def test_both_headers_declare_the_same_functions() -> None:
    functions = declared(GPU_HEADER)
    assert functions == declared(RECORDER_HEADER)
    assert len(functions) == 66


ALL = """#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
__global__ void all(float *C, const float *A)
{
    __shared__ __align__(16) float s[1024];
    unsigned r1[1], r2[2], r4[4];
    float c[4] = {};
    CALLS
    C[0] = c[0] + r1[0] + r2[0] + r4[0];
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_the_header_for_the_gpu_compiles(tmp_path: Path) -> None:
    values = {"float (&d)[4]": "c", "const float (&c)[4]": "c", "void *shared": "s", "const void *global": "A"}
    values |= {"const void *row": "s", "int source_bytes": "4", "float value": "c[0]"}
    values |= {f"{const}unsigned (&{x})[{n}]": f"r{n}" for const in ("", "const ") for x in "rdabc" for n in (1, 2, 4)}
    calls = []
    for function in declared(GPU_HEADER)[:21]:  # the rest is Hopper's: see test_hopper_recording
        name, arguments = re.findall(r"(\w+)\((.*)\)$", function)[0]
        size = "<4>" if "Bytes" in function else "<0>" if "Left" in function else ""
        given = [values[part.strip()] for part in arguments.split(",") if part.strip()]
        calls.append(f"{'c[1] = ' if name == 'to_tf32' else ''}{name}{size}({', '.join(given)});")
    source = tmp_path / "all.cu"
    source.write_text(ALL.replace("CALLS", "\n    ".join(calls)))
    answer = subprocess.run(
        ["nvcc", "-arch=sm_80", "-cubin", "-Werror", "all-warnings", f"-I{FOLDER}", source.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr


def test_products_of_tf32_are_judged_by_the_rounding_of_their_operands() -> None:
    exact = gamma(64, "float32", tensor_cores=True)
    rounded = gamma(64, "float32", True, "tf32")
    assert 2 < (rounded - exact) / OPERAND_ROUNDOFF["tf32"] < 2.01
    generator = np.random.default_rng(1)
    a, b = generator.random((2, 64, 64), np.float32) * 2 - 1
    cut = [(m.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64) for m in (a, b)]
    error = np.abs(cut[0] @ cut[1] - a.astype(np.float64) @ b.astype(np.float64))
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    assert (error <= rounded * bound).all() and (error > exact * bound).any()


def test_math_is_said_only_where_it_means_something() -> None:
    for matter in ('// math = "tf23"\n', '// math = "tf32"\n// dtype = "float16"\n'):
        front = f'// ---gemmviz\n// entry = "gemm"\n// args = {ARGS}\n// block = [32]\n// grid = [1]\n{matter}// ---\n'
        with pytest.raises(FrontMatterError, match="math may be"):
            parse(front + "__global__ void gemm() {}", Path("tensor.cu"))
