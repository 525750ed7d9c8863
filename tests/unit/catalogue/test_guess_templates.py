"""Guesses of templates: their values come from callers, structures and constant objects, or from the kernel itself."""

from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.candidates import candidates, is_launched_so
from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_CRASHES, OWN_LAUNCH_IS_WRONG, OWN_LAUNCH_MISSES
from gemmviz.catalogue.guessing.verdict import Reading, Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

KERNEL = """template <int BM, int BN, int BK>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    constexpr int warpSize = 32;
    static_assert(BM * BN % warpSize == 0, "whole warps");
    int row = blockIdx.y * BM + threadIdx.x / BN, col = blockIdx.x * BN + threadIdx.x % BN;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += BK)
        for (int k = k0; k < k0 + BK; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
LAUNCHER = """template <int BM, int BN, int BK> struct Gemm {
    static constexpr int THREADS = BM * BN;
    static void run(const float *A, const float *B, float *C, int M, int N, int K) {
        dim3 grid(N / BN, M / BM), block(THREADS);
        gemm<BM, BN, BK><<<grid, block>>>(A, B, C, M, N, K);
    }
};
"""
OBJECT = """struct Tiles { int bm = 8; int bn; int bk = 4; };
template <int BM, int BN, int BK> void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 grid(N / BN, M / BM), block(BM * BN);
    gemm<BM, BN, BK><<<grid, block>>>(A, B, C, M, N, K);
}
void start(const float *A, const float *B, float *C, int M, int N, int K)
{
    constexpr Tiles tiles = {.bn = 16};
    run<tiles.bm, tiles.bn, tiles.bk>(A, B, C, M, N, K);
}
"""


def is_right(made: Guess, problem: Problem) -> None:
    recording = record(launch(guessed_kernel(made), problem))
    assert (recording.wrong, recording.notes) == (0, ())


def test_a_structure_that_launches_gets_its_values_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text("int main() { Gemm<8, 16, 4>::run(a, b, c, 512, 512, 512); }\n")
    path = tmp_path / "gemm.cuh"
    path.write_text(KERNEL + LAUNCHER)
    (tmp_path / "README.md").touch()
    made = guess(path.read_text(), path, None, surroundings(path, path.read_text()))
    assert made.params == {"BM": (8,), "BN": (16,), "BK": (4,)}
    assert (made.block, made.grid) == (("BM * BN",), ("floor(N / BN)", "floor(M / BM)"))
    is_right(made, Problem(16, 32, 8))  # its constant is called as CUDA's variable


def test_the_members_of_a_constant_object_are_constants() -> None:
    made = guess(KERNEL + OBJECT, Path("gemm.cu"))
    assert made.params == {"BM": (8,), "BN": (16,), "BK": (4,)}
    typedef = OBJECT.replace("struct Tiles {", "typedef struct {").replace("bk = 4; };", "bk = 4; } Tiles;")
    assert guess(KERNEL + typedef, Path("gemm.cu")).params == made.params
    # The host code gives these values to an object that may change, too.
    assert guess(KERNEL + OBJECT.replace("constexpr Tiles", "Tiles"), Path("gemm.cu")).params == made.params
    outside = OBJECT.replace("    constexpr Tiles tiles = {.bn = 16};\n", "").replace("tiles.", "sizes::tiles.")
    outside = outside.replace("template <", "namespace sizes { constexpr Tiles tiles{8, 16, 4}; }\ntemplate <", 1)
    assert guess(KERNEL + outside, Path("gemm.cu")).params == made.params


def test_a_grid_from_the_branches_of_an_if_is_tried_for_each() -> None:
    text = KERNEL + OBJECT.replace(
        "dim3 grid(N / BN, M / BM), block(BM * BN);",
        """dim3 block(BM * BN);
    dim3 grid;
    if (N > 1000) { grid = dim3(N / BN * (M / BM)); } else { grid = dim3(N / BN, M / BM); }""",
    )
    made = guess(text, Path("gemm.cu"))
    assert [one.grid for one in (made, *made.others)][:2] == [
        ("floor(M / BM) * floor(N / BN)",),
        ("floor(N / BN)", "floor(M / BM)"),
    ]


@pytest.mark.parametrize("names", [("blocks", "threads"), ("num_blocks", "block"), ("grid", "block_size")])
def test_a_grid_that_is_handed_over_is_known_by_its_name(names: tuple[str, str]) -> None:
    grid, block = names
    plain = KERNEL.replace("template <int BM, int BN, int BK>\n", "#define BM 8\n#define BN 16\n#define BK 4\n")
    host = f"int main() {{ dim3 {block}(128); dim3 {grid}(N / 16, M / 8); time(gemm, a, N, {block}, {grid}); }}\n"
    made = guess(plain, Path("gemm.cu"), None, Surroundings(others=(host,)))
    assert (made.block, made.grid) == (("128",), ("floor(N / 16)", "floor(M / 8)"))
    assert is_launched_so(made)
    nameless = host.replace(block, "p").replace(grid, "q")  # nobody says which of the two is the grid
    assert not is_launched_so(guess(plain, Path("gemm.cu"), None, Surroundings(others=(nameless,))))


WARPS = """template <int BM, int BN, int BK, int WM, int WN, int NUM_THREADS>
__global__ void __launch_bounds__(NUM_THREADS) gemm(const half *A, const half *B, float *C, int M, int N, int K)
{
    constexpr int MI = WM / 16, NI = WN / 8, LOADS = BM * BK / (NUM_THREADS * 8);
    static_assert(MI > 0 && BK % 16 == 0 && NI % 2 == 0, "tiles");
    __shared__ half As[BM][BK], Bs[BK][BN];
    float sums[MI][NI][LOADS];
    C[blockIdx.y * BM * N + blockIdx.x * BN + threadIdx.x / 32 * WM] = A[K] * B[N];
}
"""


def test_without_a_launch_the_values_meet_the_conditions_of_the_constants() -> None:
    v = {name: values[0] for name, values in guess(WARPS, Path("gemm.cu")).params.items()}
    assert v["BK"] % 16 == 0 and v["WM"] % 16 == 0 and v["WN"] % 16 == 0
    assert v["NUM_THREADS"] == (v["BM"] // v["WM"]) * (v["BN"] // v["WN"]) * 32
    assert v["BM"] * v["BK"] % (v["NUM_THREADS"] * 8) == 0 and v["BM"] * v["BK"] >= v["NUM_THREADS"] * 8


def test_values_that_the_compiler_refuses_are_not_tried_again() -> None:
    tried: list[dict[str, int]] = []

    def refuse(kernel: Kernel, _: Problem) -> str:
        tried.append(dict(kernel.defaults))
        if kernel.defaults["BM"] == 8:
            raise BuildError("static assertion failed", 5)
        return ""

    made = settle(guess(KERNEL + OBJECT, Path("gemm.cu")), refuse)
    assert made.right and tried[0]["BM"] == 8 and all(one["BM"] != 8 for one in tried[1:])
    plain = KERNEL.replace("template <int BM, int BN, int BK>\n", "#define BM 8\n#define BN 16\n#define BK 4\n")
    tried.clear()
    made = settle(guess(plain, Path("gemm.cu")), lambda kernel, size: tried.append({}) or refuse_all())
    assert (made.settled, len(tried)) == ("it cannot be compiled: no", 1)


def test_launches_that_all_crash_end_the_search_early() -> None:
    crash = Verdict.of("Segmentation fault", crashed=True)
    assert tries(crash, crash) == 8
    assert tries(Verdict("wrong"), crash) > 8


def tries(first: str, then: str) -> int:
    tried: list[str] = []

    def one(*_: object) -> str:
        tried.append(then if tried else first)
        return tried[-1]

    assert not settle(guess(KERNEL, Path("gemm.cu")), one).right
    return len(tried)


def refuse_all() -> str:
    raise BuildError("no", 5)


def test_a_pitch_in_bytes_is_a_length_of_rows() -> None:
    text = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, size_t pa, size_t pb)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, lda = pa / sizeof(float);
    float sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; k++) sum += A[row * lda + k] * B[k * (pb / sizeof(float)) + col];
    C[row * N + col] = sum;
}
"""
    made = guess(text, Path("gemm.cu"))
    assert made.roles[-2:] == ("4 * K", "4 * N")
    is_right(made, Problem(9, 10, 11))
    # Where a kernel uses it in another way, too, it is no such length.
    assert guess(text.replace("row >= M", "row >= M + pa"), Path("gemm.cu")).roles[-2] != "4 * K"


def test_a_kernel_that_gets_an_offset_is_tried_for_the_whole_product() -> None:
    text = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, int row_offset)
{
    int row = (blockIdx.y + row_offset) * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 block(8, 8), last((N + 7) / 8, 1);
    gemm<<<last, block>>>(A, B, C, M, N, K, M / 8);
}
"""
    made = guess(text, Path("gemm.cu"))
    assert made.roles[-1] == "floor(M / 8)"
    whole = next(one for one in candidates(made) if one.roles[-1] == "0")
    is_right(whole, Problem(17, 10, 11))


def test_bytes_that_become_floats_may_be_codes_of_anything() -> None:
    text = """__global__ void gemm(const TYPE *A, const TYPE *B, float *C, int N)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += decoded(A[row * N + k]) * decoded(B[k * N + col]);
    C[row * N + col] = sum;
}
void run(const TYPE *A, const TYPE *B, float *C, int N)
{
    dim3 block(8, 8), grid(N / 8, N / 8);
    gemm<<<grid, block>>>(A, B, C, N);
}
"""
    assert is_launched_so(guess(text.replace("TYPE", "half"), Path("gemm.cu")))
    assert not is_launched_so(guess(text.replace("TYPE", "unsigned char"), Path("gemm.cu")))


HOST = """void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 grid(N / 16, M / 8);
    gemm<8, 16, 4><<<grid, 128>>>(A, B, C, M, N, K);
}
"""


@pytest.mark.parametrize(
    ("verdict", "claimed"),
    [
        (Verdict.of("C is wrong", comparable=True), True),
        (Verdict.of("reads out of bounds, and C is wrong", ended=True), True),
        (
            Verdict.of("with another layout C would be right", comparable=True, readings=(Reading(frozenset("B")),)),
            False,
        ),
        (Verdict("writes out of bounds"), False),
        (Verdict.of("writes out of bounds", misses=True), False),
        (Verdict.of("Segmentation fault", crashed=True, faulty=True), False),
        (Verdict.of("too slow", crashed=True), False),
    ],
    ids=lambda one: str(one),
)
def test_a_kernel_is_wrong_only_if_no_reading_of_square_matrices_is_right(verdict: Verdict, claimed: bool) -> None:
    made = settle(guess(KERNEL + HOST, Path("gemm.cu")), lambda *_: verdict)
    assert not made.right
    assert made.settled.endswith(OWN_LAUNCH_IS_WRONG) == claimed
    assert made.settled.endswith(OWN_LAUNCH_MISSES) == getattr(verdict, "misses", False)
    assert made.settled.endswith(OWN_LAUNCH_CRASHES) == getattr(verdict, "faulty", False)


SWIZZLED = """void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    constexpr bool SWIZZLES = true;
    const int stride = (N / 4 / 256) * 256;
    dim3 block(128);
    if (SWIZZLES) {
        const int parts = (N + stride - 1) / stride;
        dim3 grid(((N + 15) / 16 + parts - 1) / parts, (M + 7) / 8, parts);
        gemm<8, 16, 4><<<grid, block>>>(A, B, C, M, N, K);
    } else {
        dim3 grid((N + 15) / 16, (M + 7) / 8);
        gemm<8, 16, 4><<<grid, block>>>(A, B, C, M, N, K);
    }
}
"""


@pytest.mark.parametrize("right_at_cubes", [False, True])
def test_a_launch_in_the_file_is_tried_at_a_cube_before_the_kernel_is_called_wrong(right_at_cubes: bool) -> None:
    def wrong(kernel: Kernel, size: Problem) -> str:
        cubes.append(size.m == size.n == size.k)
        return "" if right_at_cubes and cubes[-1] else Verdict.of("C is wrong", comparable=True)

    cubes: list[bool] = []
    kernel = KERNEL.replace("blockIdx.x * BN", "(blockIdx.z * gridDim.x + blockIdx.x) * BN")
    made = settle(guess(kernel + SWIZZLED, Path("gemm.cu")), wrong)
    assert any(cubes)
    assert made.wrong_itself != right_at_cubes


def test_a_kernel_that_ends_with_some_launch_is_not_said_to_crash() -> None:
    def crashes_twice(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return "C is wrong" if len(tried) == 3 else Verdict.of("Segmentation fault", crashed=True, faulty=True)

    tried: list[Problem] = []
    made = settle(guess(KERNEL + HOST, Path("gemm.cu")), crashes_twice)
    assert OWN_LAUNCH_CRASHES not in made.settled


def test_what_the_compiler_says_of_the_file_s_own_launch_comes_first() -> None:
    def refused(kernel: Kernel, size: Problem) -> str:
        if kernel.params["BM"] == (8,):
            raise BuildError("gemm.cu:3: unknown type", 3)
        return "C is wrong"

    made = settle(guess(KERNEL + HOST, Path("gemm.cu")), refused)
    assert made.settled == "it cannot be compiled: gemm.cu:3: unknown type"


def test_a_kernel_that_applies_a_function_is_no_plain_product() -> None:
    assert is_launched_so(guess(KERNEL + HOST, Path("gemm.cu")))
    smooth = KERNEL.replace("= sum;", "= sum * (1 / (1 + expf(-sum)));")
    assert not is_launched_so(guess(smooth + HOST, Path("gemm.cu")))


def test_sums_that_are_added_to_c_begin_at_zero_where_the_host_says_so() -> None:
    adding = KERNEL.replace("col] = sum", "col] += sum") + HOST
    zeroed = adding.replace("    dim3 grid", "    cudaMemset(C, 0, M * N * 4);\n    dim3 grid")
    assert not guess(adding, Path("gemm.cu")).adds
    made = guess(zeroed, Path("gemm.cu"))
    assert made.adds
    is_right(made, Problem(16, 32, 8))


def test_a_grid_that_a_function_gets_is_that_of_its_caller() -> None:
    text = (
        KERNEL
        + """void start(const float *A, const float *B, float *C, int M, int N, int K, dim3 blocks, dim3 threads)
{
    gemm<8, 16, 4><<<blocks, threads>>>(A, B, C, M, N, K);
}
void chosen(int which, const float *A, const float *B, float *C, int M, int N, int K, dim3 grid)
{
    switch (which) { case 1: start(A, B, C, M, N, K, grid, dim3(128)); }
}
int main()
{
    int rows = 512, columns = 512, inner = 512;
    dim3 grid(columns / 16, rows / 8);
    chosen(1, a, b, c, rows, columns, inner, grid);
}
"""
    )
    made = guess(text, Path("gemm.cu"))
    assert (made.block, made.grid) == (("128",), ("floor(N / 16)", "floor(M / 8)"))
    assert is_launched_so(made)


OF_ORDER = """namespace low { enum class Order : int { ROW = 1, COLUMN };
enum { LEFT };
template <Order O, int BM>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int x = blockIdx.x * BM + threadIdx.x, y = blockIdx.y * BM + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[y * K + k] * (O == Order::ROW ? B[k * N + x] : B[x * K + k]);
    if (y < M && x < N) C[y * N + x] = sum;
}
}
"""


def test_a_value_of_an_enumeration_comes_from_the_launch_and_is_named_with_its_namespace() -> None:
    host = "void run(float *a, float *b, float *c, int m, int n, int k) { "
    host += "low::gemm<low::Order::COLUMN, 8><<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(a, b, c, m, n, k); }"
    launched, alone = guess(OF_ORDER + host, Path("o.cu")), guess(OF_ORDER, Path("o.cu"))
    assert launched.entry == "low::gemm<low::Order::COLUMN, BM>"
    assert "elements" not in launched.why
    assert alone.entry == "low::gemm<low::Order::ROW, BM>"
    assert "which value O has" in alone.why["elements"].why
    assert "O" not in {*launched.params, *alone.params}


def test_a_shared_array_outside_the_kernel_is_no_parameter() -> None:
    text = "__shared__ float A_S[16][16];\n__constant__ int SIDE = 16;\n" + KERNEL.replace(
        "float sum = 0;", "float sum = 0; A_S[threadIdx.x / SIDE][threadIdx.x % SIDE] = A[row * K];"
    )
    assert not {"A_S", "SIDE"} & guess(text, Path("s.cu")).params.keys()


def test_a_parameter_with_a_concept_is_a_type() -> None:
    text = "template <typename T, typename... Known> concept OneOf = (std::same_as<T, Known> || ...);\n" + KERNEL
    text = text.replace("template <int BM,", "template <OneOf<float, double> T, std::integral I, int BM,")
    text = text.replace("const float *A", "const T *A").replace("float *C, int M", "T *C, I M")
    made = guess(text, Path("c.cu"))
    assert made.entry.startswith("gemm<float, ")
    assert not {"T", "I"} & made.params.keys()


def test_an_empty_kernel_says_so() -> None:
    text = "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)\n{ /* later */ }\n"
    (flaw,) = guess(text, Path("e.cu")).flaws
    assert flaw.text == "the body of the kernel is empty: nothing computes C"
