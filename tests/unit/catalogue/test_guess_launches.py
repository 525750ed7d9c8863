"""Launches as host code has them: helpers, members, pointers to kernels, functions that launch and their callers."""

from pathlib import Path

import pytest

from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.c_values import c_value, rounds_up
from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.launches import tidy
from gemmviz.catalogue.guessing.macros import expand
from gemmviz.catalogue.guessing.quotients import rounded_text
from gemmviz.catalogue.guessing.tokens import tokens_of


@pytest.mark.parametrize(
    ("code", "plain"),
    [
        ("std::min(M, 4)", "min(M, 4)"),
        ("gpu::min(M, 4)", "gpu::min(M, 4)"),
        ("static_cast<int>(M)", "(M)"),
        ("(int) M + 1", "M + 1"),
        ("sizes.M + p->N", "M + N"),
        ("M * N", "M * N"),
    ],
)
def test_host_code_is_read_without_casts_namespaces_and_owners(code: str, plain: str) -> None:
    read = tokens_of(code)
    assert tidy(read) == tidy(list(read)) == list(tokens_of(plain))


@pytest.mark.parametrize("call", ["parts(M, 16)", "parts<int>(M, 16)", "utils::parts<int>(M, 16)"])
def test_a_small_function_is_filled_in_with_its_template_arguments_too(call: str) -> None:
    functions = {"parts": (["a", "b"], tokens_of("((a + b - 1) / b)"))}
    filled = list(tokens_of("((M + 16 - 1) / 16)"))
    read = tokens_of(call)
    assert list(expand(read, {}, functions)) == list(expand(list(read), {}, functions)) == filled


# Its own code does not say how its threads share a tile: only the launch does.
KERNEL = """
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    int id = threadIdx.y * blockDim.x + threadIdx.x;
    for (int at = id; at < 48 * 24; at += blockDim.x * blockDim.y) {
        int row = blockIdx.y * 48 + at / 24, column = blockIdx.x * 24 + at % 24;
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = sum;
    }
}
"""
LAUNCHED = (("32", "4"), ("ceil(N / 24)", "ceil(M / 48)"))


def guessed(host: str, around: Surroundings | None = None, kernel: str = KERNEL) -> Guess:
    return guess(kernel + host, Path("product.cu"), None, around)


@pytest.mark.parametrize(
    "helper",
    [
        "int parts(int a, int b) { return (a + b - 1) / b; }",
        "template <typename T> constexpr T parts(T a, T b) { return a / b + (a % b != 0); }",
        "static inline int parts(int a, int b) { return a % b == 0 ? a / b : a / b + 1; }",
        "int parts(int whole, int part) { return (int)std::ceil((float)whole / part); }",
        "#define parts(a, b) (((a) % (b)) ? ((a) / (b) + 1) : ((a) / (b)))",
        "size_t parts(size_t a, size_t b) { return 1 + (a - 1) / b; }",
    ],
)
def test_a_helper_that_rounds_up_is_understood_however_it_is_written(helper: str) -> None:
    host = f"""
{helper}
void run(float *a, float *b, float *c, int m, int n, int k)
{{
    dim3 grid(parts(n, 24), parts(m, 48));
    product<<<grid, dim3(32, 4)>>>(a, b, c, m, n, k);
}}
"""
    made = guessed(host)
    assert (made.block, made.grid) == LAUNCHED


@pytest.mark.parametrize(
    "host",
    [
        # Members are assigned one by one, in the branch of the launch.
        """void run(int which, float *a, float *b, float *c, int m, int n, int k) {
        dim3 block(32, 4); dim3 grid;
        switch (which) {
        case 1: grid.x = (n + 15) / 16; grid.y = m; other<<<grid, block>>>(a, b, c, m, n, k); break;
        case 2: grid.x = (n + 23) / 24; grid.y = (m + 47) / 48; product<<<grid, block>>>(a, b, c, m, n, k); break;
        } }""",
        # A dim3 is a copy of another one.
        """void run(float *a, float *b, float *c, int m, int n, int k) {
        const dim3 tiles{(n + 23u) / 24, (m + 47u) / 48}; const dim3 grid = tiles; auto block = dim3(32, 4);
        product<<<grid, block>>>(a, b, c, m, n, k); }""",
        # Sizes are members of a struct, the counts are variables that change.
        """void run(const Sizes &s, Buffers *buffers) {
        int across; int down = 0; across = (s.N + 23) / 24; down = (s.M + 48 - 1) / 48;
        product<<<dim3(across, down), {32, 4}>>>(buffers->a, buffers->b, buffers->c, s.M, s.N, s.K); }""",
        # The kernel is held by a variable.
        """void run(float *a, float *b, float *c, int m, int n, int k) {
        auto kernel = product; dim3 block(32, 4), grid((n + 23) / 24, (m + 47) / 48);
        kernel<<<grid, block>>>(a, b, c, m, n, k); }""",
        # The runtime launches it.
        """void run(float *a, float *b, float *c, int m, int n, int k) {
        cudaLaunchConfig_t config = {0}; dim3 grid((n + 23) / 24, (m + 47) / 48);
        config.gridDim = grid; config.blockDim = dim3(32, 4); config.dynamicSmemBytes = 0;
        cudaLaunchKernelEx(&config, product, a, b, c, m, n, k); }""",
        # A caller gives the block.
        """template <int TX, int TY> void run(float *a, float *b, float *c, int m, int n, int k, int down) {
        dim3 block(TX, TY); product<<<dim3((n + 23) / 24, (m + down - 1) / down), block>>>(a, b, c, m, n, k); }
        int main() { run<32, 4>(pa, pb, pc, 512, 512, 512, 48); }""",
    ],
    ids=["members", "copy", "struct", "pointer", "runtime", "caller"],
)
def test_a_launch_is_read_in_the_forms_of_host_code(host: str) -> None:
    made = guessed(host)
    assert (made.block, made.grid) == LAUNCHED
    assert list(made.roles) == ["A", "B", "C", "M", "N", "K"]


def test_a_kernel_of_the_same_name_with_other_arguments_is_another_one() -> None:
    other = "void other() { product<<<7, 96>>>(x, y, z); }"
    mine = "void mine() { product<<<dim3((n + 23) / 24, (m + 47) / 48), dim3(32, 4)>>>(a, b, c, m, n, k); }"
    made = guessed("", Surroundings(others=(other, mine)))
    assert (made.block, made.grid) == LAUNCHED


def test_a_variable_outside_of_functions_gives_its_first_value() -> None:
    grid = "dim3((n + 23) / 24, (m + 47) / 48)"
    host = f"int rows = 4;\nvoid run() {{ product<<<{grid}, dim3(32, rows)>>>(a, b, c, m, n, k); }}"
    assert guessed("", Surroundings(others=(host,))).block == ("32", "4")


def test_a_grid_that_drops_a_remainder_requires_whole_tiles() -> None:
    host = "void run() { product<<<dim3(n / 24, m / 48), dim3(32, 4)>>>(a, b, c, m, n, k); }"
    assert {"N % 24 == 0", "M % 48 == 0"} <= set(guessed(host).requires)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(N - 1) / 16 + 1", "floor((N - 1) / 16) + 1"),
        ("((N + 15) / 16 + 3) / 4", "ceil(ceil(N / 16) / 4)"),
        ("(N / 16) / 4", "floor(floor(N / 16) / 4)"),
        ("ceil(N / 64)", "ceil(N / 64)"),
        ("M * N", "M * N"),
        ("what is it?", "what is it?"),
    ],
)
def test_quotients_of_c_are_rounded_in_front_matter(text: str, message: str) -> None:
    assert rounded_text(text) == message


def test_a_small_expression_has_the_value_that_c_gives_it() -> None:
    assert c_value(tokens_of("(7 - 1) / 2 * 2 + 7 % 4"), {}) == 9
    assert c_value(tokens_of("a > 3 && !(a == 5) ? 1 : 2"), {"a": 4}) == 1
    assert c_value(tokens_of("f(a)"), {"a": 4}) is None
    assert c_value(tokens_of("a / b"), {"a": 4, "b": 0}) is None
    assert not rounds_up(tokens_of("a / b + 1"), "a", "b")


HANDED_OVER = """__global__ void first(const float *A, const float *B, float *C, int n) { BODY }
__global__ void second(const float *A, const float *B, float *C, int n) { BODY }
void run(float *a, float *b, float *c, int n) {
    dim3 block_small(8, 8);
    dim3 grid_small(n / block_small.x, n / block_small.y);
    dim3 block_large(32, 16);
    dim3 grid_large(n / 32, n / 16);
    time_it(first, a, b, c, n, grid_small, block_small);
    time_it(second, a, b, c, n, block_large, grid_large);
}
""".replace(
    "BODY",
    "int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0;"
    "for (int k = 0; k < n; k++) sum += A[i * n + k] * B[k * n + j]; C[i * n + j] = sum;",
)


@pytest.mark.parametrize(
    ("kernel", "block", "grid"),
    [("first", ("8", "8"), ("floor(N / 8)",) * 2), ("second", ("32", "16"), ("floor(N / 32)", "floor(N / 16)"))],
)
def test_a_kernel_that_is_handed_over_has_the_grid_and_the_block_that_go_with_it(kernel, block, grid):
    made = guess(HANDED_OVER, Path("products.cu"), kernel)
    assert (made.block, made.grid) == (block, grid)


def test_a_number_of_threads_is_not_a_block_of_the_same_name_in_another_branch():
    text = (
        HANDED_OVER[: HANDED_OVER.index("void run")]
        + """
void run(int which, float *a, float *b, float *c, int n) {
    if (which == 1) { dim3 blocks(n / 8, n / 8); dim3 threads(8, 8); first<<<blocks, threads>>>(a, b, c, n); }
    else { dim3 blocks(n / 32, n / 8); int threads = 256; second<<<blocks, threads>>>(a, b, c, n); }
}
"""
    )
    assert guess(text, Path("products.cu"), "first").block == ("8", "8")
    assert guess(text, Path("products.cu"), "second").block == ("256",)


def test_a_launch_in_a_macro_of_any_number_of_arguments_is_read():
    text = (
        HANDED_OVER[: HANDED_OVER.index("void run")]
        + """
#define CALL(...) do { __VA_ARGS__; if (cudaGetLastError()) exit(1); } while (0)
void run(float *a, float *b, float *c, int n) {
    dim3 blocks(n / 32, n / 8), threads(32, 8);
    CALL(first<<<blocks, threads>>>(a, b, c, n));
}
"""
    )
    assert guess(text, Path("products.cu"), "first").block == ("32", "8")


@pytest.mark.parametrize(
    "size", ["MAX(STAGES * 64 * 8 * 2, 32 * 32 * 4)", "std::max(STAGES * 64 * 8 * 2, 32 * 32 * (int)sizeof(float))"]
)
def test_shared_memory_that_is_the_larger_of_two_is_computed(size):
    text = HANDED_OVER[: HANDED_OVER.index("void run")].replace("{ int i", "{ extern __shared__ float s[]; int i")
    text += f"""
#define MAX(a, b) (a) > (b) ? (a) : (b)
int STAGES = 3;
void run(float *a, float *b, float *c, int n) {{
    int smem = {size};
    first<<<dim3(n / 32, n / 8), dim3(32, 8), smem>>>(a, b, c, n);
}}
"""
    made = guess(text, Path("products.cu"), "first")
    assert (made.block, Expression(made.shared).evaluate({})) == (("32", "8"), 4096)


def test_each_version_of_a_launch_between_if_and_endif_is_offered():
    text = (
        HANDED_OVER[: HANDED_OVER.index("void run")]
        + """
void run(float *a, float *b, float *c, int n) {
#if VERSION == 1
    dim3 block(32, 4);
    dim3 grid(n / 32, n / 4);
#elif VERSION == 2
    dim3 block(16, 16);
    dim3 grid(n / 16, n / 16);
#else
    dim3 block(128);
    dim3 grid(32, 64);
#endif
    { dim3 block(1); dim3 grid(1); other<<<grid, block>>>(a); }
    first<<<grid, block>>>(a, b, c, n);
}
"""
    )
    made = guess(text, Path("products.cu"), "first")
    launches = [(one.block, one.grid) for one in (made, *made.others)]
    assert {(("32", "4"), ("floor(N / 32)", "floor(N / 4)")), (("16", "16"), ("floor(N / 16)",) * 2)} <= set(launches)
    assert ("1",) not in [block for block, _ in launches]


MADE_BY_A_MACRO = """template <int BM, int BN>
__global__ void tile_kernel(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * BM + threadIdx.x / BN, col = blockIdx.x * BN + threadIdx.x % BN;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
#define MAKE_RUN(name)                                                   \\
    void name(const float *a, const float *b, float *c, int M, int N, int K) { \\
        const int BM = 8, BN = 16;                                       \\
        const dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);           \\
        name##_kernel<8, 16><<<grid, 128>>>(a, b, c, M, N, K);           \\
    }
MAKE_RUN(tile)
"""


def test_a_macro_makes_the_function_that_launches_a_kernel() -> None:
    made = guess(MADE_BY_A_MACRO, Path("mine.cu"))
    assert (made.block, made.params) == (("128",), {"BM": (8,), "BN": (16,)})
    assert [side.replace("BN", "16").replace("BM", "8") for side in made.grid] == ["ceil(N / 16)", "ceil(M / 8)"]


@pytest.mark.parametrize(
    ("launch", "values"),
    [
        ("tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>", (16,)),
        ("tiled<8><<<dim3(n / 16, n / 16), dim3(16, 16)>>>", (8, 16, 32)),
    ],
)
def test_a_tile_that_block_and_grid_have_as_a_number_has_no_other_value(launch: str, values: tuple[int, ...]) -> None:
    """With the numbers of one tile and the value of another one, the stage showed a wrong C that was not the file's."""
    text = f"""
template <int TILE> __global__ void tiled(const float *A, const float *B, float *C, int n)
{{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {{
        a[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }}
    C[row * n + col] = sum;
}}
void host(float *A, float *B, float *C, int n) {{ {launch}(A, B, C, n); }}
"""
    found = guess(text, Path("tiled.cu"))
    assert found.block == ("16", "16") and found.params == {"TILE": values}
