"""What the lanes of a warp do together: tensor-core fragments, and what happens when a lane does not come."""

import json
from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

MEASURED = json.loads((Path(__file__).parents[1] / "wmma_fragments_sm90.json").read_text())["fragments"]
PROBE = """#include <mma.h>
using namespace nvcuda;
// Loads tiles whose elements hold their own number, and writes down what each lane got. A bfloat16 has no room for
// numbers beyond 256: these come in two tiles.
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
        low[at] = (T)(float)(i % 256);
        high[at] = (T)(float)(i / 256);
    }
    __syncthreads();
    F f, g;
    load(f, low, by_columns ? rows : columns);
    load(g, high, by_columns ? rows : columns);
    for (int i = 0; i < f.num_elements; i++) C[threadIdx.x * 16 + i] = (float)f.x[i] + 256 * (float)g.x[i];
    static_assert(F::num_elements <= 16, "");
    if (threadIdx.x == 0 && F::num_elements < 16) C[15] = F::num_elements;
}
__global__ void probes(float *C, const float *A, const float *B)
{
    C += blockIdx.x * 512;
    switch (blockIdx.x) {
CASES    }
}
"""
OPERAND = "[](auto &f, auto *p, int ld) { wmma::load_matrix_sync(f, p, ld); }"
SUM = "[](auto &f, auto *p, int ld) { wmma::load_matrix_sync(f, p, ld, wmma::mem_row_major); }"
USE = {"a": "matrix_a", "b": "matrix_b", "accumulator": "accumulator"}
# What the measurement calls a type: its name in a fragment, and in memory.
TYPES = {
    "half": ("half", "half"),
    "float": ("float", "float"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16"),
    "tf32": ("wmma::precision::tf32", "float"),
}


def recorded(body: str, *, block: int = 32, grid: int = 1, m: int = 32, n: int = 16) -> Recording:
    matter = f'entry = "{body.split("void ")[-1].split("(")[0]}"\nargs = ["C", "A", "B"]\n'
    matter += f"block = [{block}]\ngrid = [{grid}]\n"
    front = "".join(f"// {line}\n" for line in matter.splitlines())
    kernel = parse(f"// ---gemmviz\n{front}// ---\n{body}", Path("probe.cu"))
    return record(launch(kernel, Problem(m, n, 4)), deadline_s=10)


def test_every_lane_holds_the_elements_that_the_hardware_gives_it() -> None:
    cases = []
    for number, known in enumerate(MEASURED):
        shape, use, kind, *layout = known["name"].split()
        sizes = shape[1:].replace("n", ",").replace("k", ",")
        inside, outside = TYPES[kind]
        fragment = f"wmma::fragment<wmma::{USE[use]}, {sizes}, {inside}{''.join(f', wmma::{x}' for x in layout)}>"
        by_columns = int(layout == ["col_major"])
        load = OPERAND if layout else SUM
        cases.append(
            f"    case {number}: probe<{fragment}, {outside}>"
            f"(C, {known['rows']}, {known['cols']}, {by_columns}, {load}); break;\n"
        )
    got = recorded(PROBE.replace("CASES", "".join(cases)), grid=len(MEASURED), m=32 * len(MEASURED)).c
    assert len(MEASURED) == 33
    for number, known in enumerate(MEASURED):
        count = known["per_lane"]
        lanes = got[32 * number : 32 * number + 32, :count]
        assert lanes.astype(int).tolist() == known["element"], known["name"]
        assert count == 16 or got[32 * number, 15] == count


def places(rows: int, columns: int, each: int, across: bool) -> list[list[int]]:
    """Row * columns + column of each lane's elements as the PTX ISA has them for mma: `each` neighbours along K.

    Of B (`across`) a lane has columns instead of rows. In "Matrix Fragments for mma.m16n8k16 with .u8 or .s8 type", and
    in those for mma.m8n8k4 with .f64, a fragment is as deep as four lanes have neighbours.
    """
    sides = range(0, columns if across else rows, 8)
    found = [[(lane // 4 + side, lane % 4 * each + i) for side in sides for i in range(each)] for lane in range(32)]
    return [[k * columns + side if across else side * columns + k for side, k in lane] for lane in found]


@pytest.mark.sweep("uint8_t-16-16-16-row_major", "double-*-col_major")
@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize(
    ("kind", "m", "n", "k"),
    [("uint8_t", 16, 16, 16), ("uint8_t", 32, 8, 16), ("uint8_t", 8, 32, 16), ("double", 8, 8, 4)],
)
def test_bytes_and_doubles_are_in_the_lanes_in_which_mma_has_them(
    kind: str, m: int, n: int, k: int, layout: str
) -> None:
    total = "int" if kind == "uint8_t" else "double"
    uses = {"matrix_a": (m, k), "matrix_b": (k, n), "accumulator": (m, n)}
    cases = ""
    for number, (use, (rows, columns)) in enumerate(uses.items()):
        sums = use == "accumulator"
        element = total if sums else kind
        fragment = f"wmma::fragment<wmma::{use}, {m}, {n}, {k}, {element}{'' if sums else f', wmma::{layout}'}>"
        by_columns = int(layout == "col_major" and not sums)
        load = SUM if sums else OPERAND
        probe = f"probe<{fragment}, {element}>(C, {rows}, {columns}, {by_columns}, {load})"
        cases += f"    case {number}: {probe}; break;\n"
    got = recorded(PROBE.replace("CASES", cases), grid=3, m=96).c
    for number, use in enumerate(("matrix_a", "matrix_b")):
        rows, columns = uses[use]
        known = places(rows, columns, 4 if kind == "uint8_t" else 1, use == "matrix_b")
        assert got[32 * number : 32 * number + 32, : len(known[0])].tolist() == known, use
    # Sums are where those of halves in the same shape are: measured; those of doubles, where mma.m8n8k4 has them.
    float_sums = [known for known in MEASURED if known["name"] == f"m{m}n{n}k{k} accumulator float"]
    sums = float_sums[0]["element"] if float_sums else [[2 * lane, 2 * lane + 1] for lane in range(32)]
    assert got[64:, : len(sums[0])].tolist() == sums


def tensor(m: int, n: int, k: int) -> Recording:
    return record(launch(find("matmul_tc", ladder()), Problem(m, n, k)))


def test_a_fragment_is_loaded_in_requests_of_eight_rows_of_sixteen_bytes() -> None:
    recording = tensor(32, 48, 32)
    traffic = measure(recording, build(recording))
    a, b, c = traffic.arrays
    blocks, steps = 6, 2
    # Four requests for 16 x 16 halves, each of which touches eight sectors and uses half of each.
    assert (a.read_requests, a.read_units, a.read_bytes) == (
        blocks * steps * 4,
        blocks * steps * 32,
        blocks * steps * 512,
    )
    assert (b.read_requests, b.read_units) == (a.read_requests, a.read_units)
    assert (c.write_requests, c.write_units, c.write_bytes) == (blocks * 4, blocks * 32, blocks * 1024)
    assert recording.wrong == 0


def test_wide_accesses_keep_the_value_of_every_element() -> None:
    recording = tensor(16, 16, 16)
    log = recording.accesses
    assert set(log.bytes[log.array == 2]) == {8}
    timeline = build(recording)
    playable = Playable(recording, timeline, measure(recording, timeline)).prepare()
    shown = playable.history.values(2, timeline.steps - 1).reshape(16, 16)
    assert (shown == recording.c).all()
    assert (playable.first_write < timeline.steps).all()
    owners = recording.owners[1]
    assert owners[0, :4].tolist() == [0, 0, 1, 1] and owners[9, 0] == 4


def test_the_products_stand_under_the_kernels_own_lines() -> None:
    recording = tensor(16, 16, 16)
    lines = recording.text.splitlines()
    for site in recording.sites:
        assert "matrix_sync" in lines[site.line - 1]


WAITS = """#include <mma.h>
using namespace nvcuda;
__global__ void k(float *C, const float *A, const float *B)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    CONDITION wmma::mma_sync(c, a, b, c);
    C[threadIdx.x] = c.x[0];
}
"""


def test_a_lane_that_never_comes_is_named() -> None:
    with pytest.raises(
        KernelFault, match=r"probe.cu:\d+: thread \(0, 0, 0\).* thread \(3, 0, 0\) .*never arrives"
    ) as error:
        recorded(WAITS.replace("CONDITION", "if (threadIdx.x != 3)"))
    assert error.value.line


def test_a_block_that_is_no_whole_warp_is_refused() -> None:
    with pytest.raises(KernelFault, match="multiple of 32"):
        recorded(WAITS.replace("CONDITION", ""), block=16)


THREADS = """#include <pthread.h>
struct part { const float *A, *B; float *C; int n, first; };
static void *rows(void *p)
{
    struct part *w = p;
    for (int i = w->first; i < w->n; i += 3)
        for (int j = 0; j < w->n; j++) {
            float sum = 0;
            for (int k = 0; k < w->n; k++) sum += w->A[i * w->n + k] * w->B[k * w->n + j];
            w->C[i * w->n + j] = sum;
        }
    return 0;
}
void k(const float *A, const float *B, float *C, int N)
{
    pthread_t thread[3];
    struct part part[3];
    for (int t = 0; t < 3; t++) {
        part[t] = (struct part){A, B, C, N, t};
        pthread_create(&thread[t], 0, rows, &part[t]);
    }
    for (int t = 0; t < 3; t++) pthread_join(thread[t], 0);
}
"""


def test_threads_that_a_c_kernel_starts_are_recorded_side_by_side() -> None:
    front = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C", "N"]\n// ---\n'
    recording = record(launch(parse(front + THREADS, Path("threads.c")), Problem.cube(6)))
    assert recording.wrong == 0 and recording.block == (4, 1, 1)
    timeline = build(recording)
    first = recording.accesses.thread[timeline.rows(0)]
    assert sorted(first) == [1, 2, 3]
    owner = recording.owners[1]
    assert (owner == np.arange(6)[:, None] % 3 + 1).all()


TOGETHER = """__global__ void k(float *C, const float *A, const float *B, int N)
{
    __shared__ float4 tile[8];
    int t = threadIdx.x;
    if (t < 8) tile[t] = reinterpret_cast<const float4 *>(A)[t];
    __syncthreads();
    float4 v = tile[t % 8];
    float sum = v.x + v.y + v.z + v.w;
    for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (t == 0) C[0] = sum;
    unsigned odd = __ballot_sync(~0u, t & 1);
    if (t == 1) C[1] = odd == 0xaaaaaaaau;
    if (t == 2) C[2] = 0;
    __syncwarp();
    atomicAdd(&C[2], 1);
}
"""


def test_vectors_shuffles_votes_and_atomics_do_what_they_do_on_a_gpu() -> None:
    recording = recorded(TOGETHER.replace(", int N", ""), m=8, n=8)
    assert recording.c.reshape(-1)[:3].tolist() == [4 * recording.a.reshape(-1)[:32].sum(), 1, 32]
    tile = recording.arrays[3]
    assert (tile.shape, tile.dtype) == ((32,), "float32")
    log = recording.accesses
    wide = log.bytes == 16
    assert np.count_nonzero(wide & (log.array == 0)) == 8 and np.count_nonzero(wide & (log.array == 3)) == 8 + 32


def test_a_read_that_is_followed_by_a_write_to_its_place_is_an_access_too() -> None:
    scale = "__global__ void k(float *C, const float *A, const float *B) { if (threadIdx.x < 4) C[threadIdx.x] *= 2; }"
    log = recorded(scale).accesses
    assert log.write.tolist() == [False, True] * 4


@pytest.mark.parametrize(
    ("rung", "zero"),
    [("gpumult1", "sum = 0"), ("hostmult1_opt", "sum = 0"), ("matmul_tc", "wmma::fill_fragment(sum, 0.0f)")],
)
def test_a_sum_that_nobody_set_to_zero_is_not_right_by_chance(rung: str, zero: str) -> None:
    kernel = find(rung, ladder())
    assert zero in kernel.text
    mutant = parse(kernel.text.replace(zero, zero.split(" = ")[0] if " = " in zero else ""), kernel.path)
    assert record(launch(mutant, Problem.cube(16))).wrong == 256
