"""At which sizes the checker looks, and what it says where a compiler or a crash gives no line of the kernel."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import BuildError, KernelFault
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import Kernel, load, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.checking.plan import plan
from gemmviz.engine.trying import _verdict
from gemmviz.trace.recording.record import record

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["16", "16"]
// grid = ["N / 16", "M / 16"]
// requires = ["M % 16 == 0", "N % 16 == 0", "K % 16 == 0"]
// ---
"""
# The stage of the last tile is set in the loop alone, which a single tile never enters.
PIPELINED = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[2][16][16], Bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x, stage;
    float sum = 0;
    As[0][y][x] = A[row * K + x];
    Bs[0][y][x] = B[y * N + col];
    __syncthreads();
    for (int tile = 1; tile < K / 16; tile++) {
        stage = tile & 1;
        As[stage][y][x] = A[row * K + tile * 16 + x];
        Bs[stage][y][x] = B[(tile * 16 + y) * N + col];
        for (int k = 0; k < 16; k++) sum += As[stage ^ 1][y][k] * Bs[stage ^ 1][k][x];
        __syncthreads();
    }
    for (int k = 0; k < 16; k++) sum += As[stage][y][k] * Bs[stage][k][x];
    C[row * N + col] = sum;
}
"""


def kernel(text: str, matter: str = MATTER) -> Kernel:
    return parse(matter + text, Path("mine.cu"))


def test_one_tile_and_three_along_k_are_always_tried() -> None:
    sizes = [size for size, _ in plan(kernel(PIPELINED), (), {}).launches]
    assert {16, 48} <= {size.k for size in sizes}
    assert [size for size, _ in plan(kernel(PIPELINED), [Problem.cube(32)], {}).launches] == [Problem.cube(32)]


# A tile of 64 that takes any K: no condition says its length. Without the second barrier the next tile overwrites it.
LONG_TILE = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    constexpr int DEPTH = 64;
    __shared__ float As[16][DEPTH], Bs[DEPTH][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int tile = 0; tile < K; tile += DEPTH) {
        for (int k = x; k < DEPTH; k += 16) As[y][k] = row < M && tile + k < K ? A[row * K + tile + k] : 0;
        for (int k = y; k < DEPTH; k += 16) Bs[k][x] = col < N && tile + k < K ? B[(tile + k) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) sum += As[y][k] * Bs[k][x];
        AFTER
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""
ANY_SIZE = MATTER.replace("N / 16", "ceil(N / 16)").replace("M / 16", "ceil(M / 16)").replace("requires", "# requires")


@pytest.mark.parametrize(("after", "kinds"), [("__syncthreads();", set()), ("", {"race"})])
def test_a_long_tile_whose_length_no_condition_gives_is_tried_several_times(after: str, kinds: set[str]) -> None:
    mine = kernel(LONG_TILE.replace("AFTER", after), ANY_SIZE)
    found = (examine(mine, size, params).findings for size, params in plan(mine, (), {}).launches)
    assert {finding.kind for findings in found for finding in findings} == kinds


@pytest.mark.parametrize(("kind", "found"), [("unsigned char", True), ("const u_int8_t", True), ("unsigned", False)])
def test_a_row_that_is_kept_in_8_bits_is_tried_above_256(kind: str, found: bool) -> None:
    text = """
{
    KIND row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
""".replace("KIND", kind)
    mine = kernel(PIPELINED[: PIPELINED.index("\n{")] + text, ANY_SIZE)
    above = [(size, params) for size, params in plan(mine, (), {}).launches if min(size.m, size.n) > 256]
    assert bool(above) == found
    assert [bool(examine(mine, size, params).findings) for size, params in above] == [True] * len(above)


def test_a_pipeline_that_fails_with_one_tile_is_found() -> None:
    mine = kernel(PIPELINED)
    kinds: dict[int, list[str]] = {}
    for size, params in plan(mine, (), {}).launches:
        try:
            kinds[size.k] = [finding.kind for finding in examine(mine, size, params).findings]
        except KernelFault as error:
            kinds[size.k] = [error.defect]
    assert kinds.pop(16) != []
    assert set(map(tuple, kinds.values())) == {()}


def test_an_error_in_a_header_is_shown_as_the_compiler_says_it(tmp_path: Path) -> None:
    (tmp_path / "part.h").write_text("struct cudaEvent { };\n__device__ float zero() { return unknown_word; }\n")
    text = '#include "part.h"\n// cudaMalloc\n' + PIPELINED.replace("float sum = 0", "float sum = zero()")
    path = tmp_path / "mine.cu"
    path.write_text(MATTER + text + "void run() { float *p; cudaMalloc(&p, 4); }\n")
    with pytest.raises(BuildError) as message:
        record(launch(load(path), Problem.cube(16)))
    assert "unknown_word" in str(message.value) and "part.h" in str(message.value)
    assert "host code" not in str(message.value) and "cannot be called" not in str(message.value)


def test_a_crash_through_a_pointer_without_an_address_names_the_local_arrays() -> None:
    broken = PIPELINED.replace(
        "float sum = 0;", "float sum = 0; float held[4]; float *volatile none = 0; held[x & 3] = 1;"
    )
    broken = broken.replace("C[row * N + col] = sum;", "*none = sum + held[y & 3];")
    with pytest.raises(KernelFault, match=r"local array \(held\) with an index out of bounds$"):
        record(launch(kernel(broken), Problem(16, 16, 32)))
    with_shared = replace(kernel(broken), shared=Expression("4096"))
    with pytest.raises(KernelFault, match=r"or by a write after the 4\u202f096 bytes of dynamic shared memory$"):
        record(launch(with_shared, Problem(16, 16, 32)))


def test_a_barrier_that_hardware_survives_is_no_wrong_launch() -> None:
    apart = PIPELINED.replace(
        "    float sum = 0;", "    float sum = 0;\n    if (y < 8) __syncthreads();\n    else __syncthreads();"
    )
    recording = record(launch(kernel(apart), Problem(16, 16, 32)))
    assert recording.wrong == 0 and [found.kind for found in recording.diagnostics] in ([], ["barrier divergence"])
    assert _verdict(recording, kernel(apart)) == ""


@pytest.mark.parametrize(("tile", "largest"), [(16, 48), (128, 128)])
def test_three_tiles_along_k_are_left_out_where_equal_sizes_make_c_large(tile: int, largest: int) -> None:
    square = MATTER.replace('"K % 16 == 0"', f'"K % {tile} == 0", "M == N", "K == N"')
    assert max(size.k for size, _ in plan(kernel(PIPELINED, square), (), {}).launches if size.k % tile == 0) >= largest
    assert all(size.m * size.n * size.k <= 2**23 for size, _ in plan(kernel(PIPELINED, square), (), {}).launches)


def test_where_there_are_too_many_values_each_parameter_has_some() -> None:
    params = ["// params.X = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "// params.Y = [1, 2]", "// ---\n"]
    many = kernel(PIPELINED, MATTER.removesuffix("// ---\n") + "\n".join(params))
    chosen = plan(many, (), {})
    tried = [(params["X"], params["Y"]) for _, params in chosen.launches]
    assert (1, 2) in tried and (2, 1) in tried and (8, 1) in tried
    assert chosen.left_out == ["X = 9, X = 10: more values than are checked by default, name one with --set"]


# Rows of two elements, or of four, are copied at once if N allows it.
WAYS = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["1"]
// grid = ["M"]
// constants = { REST = "N % 4" }
// ---
constexpr int REST = 0;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int j = 0; j < N; j++) {
        float sum = 0;
        for (int k = 0; k < K - (REST == 2); k++)
            sum += A[blockIdx.x * K + k] * B[k * N + j];
        C[blockIdx.x * N + j] = sum;
    }
}
"""


def test_each_value_of_a_constant_that_follows_from_the_size_is_tried() -> None:
    ways = parse(WAYS, Path("ways.cu"))
    launches = plan(ways, (), {}).launches
    assert {size.n % 4 for size, _ in launches} == {0, 1, 2, 3}
    wrong = {size.n % 4 for size, params in launches if examine(ways, size, params).findings}
    assert wrong == {2}


TILES_IN_A_ROW = """// ---gemmviz
// entry = "tiles"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["64"]
// grid = ["ceil(M / 64) * ceil(N / 64)"]
// ---
__global__ void tiles(const float *A, const float *B, float *C, int M, int N, int K)
{
    int across = (N + 63) / 64, row = blockIdx.x / across * 64, col = blockIdx.x % across * 64 + threadIdx.x;
    for (int i = row; i < row + 64 && i < M && col < N; i++) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[i * K + k] * B[k * N + col];
        C[i * N + col] = sum;
    }
}
"""


@pytest.mark.parametrize("wrong", ["/ across * 32", "% across * 32"])
def test_a_tile_behind_the_first_one_is_tried_in_both_directions(wrong: str) -> None:
    """The blocks have one number each: the size with a single tile was taken for one with several blocks."""
    kernel = parse(TILES_IN_A_ROW, Path("tiles.cu"))
    sizes = [size for size, _ in plan(kernel, [], {}).launches]
    assert [size for size in sizes if size.m > 64 and size.n > 64] == [Problem(76, 92, 32)]
    mutant = parse(TILES_IN_A_ROW.replace(wrong.replace("32", "64"), wrong), Path("tiles.cu"))
    found = {size for size in sizes if examine(mutant, size, {}).findings}
    assert Problem(76, 92, 32) in found
    assert (len(found) == 1) == (wrong[0] == "%")  # several tiles along M were tried before, and one along N


def test_a_size_with_several_tiles_that_is_there_already_is_enough() -> None:
    kernel = parse(TILES_IN_A_ROW.replace("/ 64", "/ 16"), Path("tiles.cu"))
    sizes = [size for size, _ in plan(kernel, [], {}).launches]
    assert sizes[:2] == [Problem.cube(32), Problem(37, 45, 41)] and {size.m for size in sizes} == {32, 37}


def test_a_loop_with_blocks_for_a_cache_is_tried_with_those_of_its_demo() -> None:
    packed = find("packed", ladder())
    assert packed.demo is not None and packed.demo.params["KC"] == 8
    assert (Problem(37, 45, 41), packed.defaults | packed.demo.params) in plan(packed, [], {}).launches
    wrong = packed.text.replace("B + (long)kc * N + jc", "B + (long)kc * K + jc")
    kernel = parse(wrong, packed.path)
    faulty = [params for size, params in plan(kernel, [], {}).launches if examine(kernel, size, params).findings]
    assert faulty == [packed.defaults | packed.demo.params]
