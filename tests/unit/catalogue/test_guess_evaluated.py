"""Host code is evaluated: whatever way a launch's values take to it, they are found."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.cxx import Surroundings, read_source
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.host.launched import evaluated
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

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
IN_A_STRUCTURE = """
struct Job { int rows; int columns; int depth; int many = 1; };
inline int parts(int a, int b) { return (a + b - 1) / b; }
void run(const float *a, const float *b, float *c, const Job &job)
{
    dim3 grid(parts(job.columns, 24), parts(job.rows, 48), job.many);
    product<<<grid, dim3(32, 4)>>>(a, b, c, job.rows, job.columns, job.depth);
}
"""
BY_A_HELPER = """
template <typename Kernel, typename... Args>
void start(Kernel *kernel, dim3 blocks, dim3 threads, int bytes, Args... args)
{
    if (bytes > 48000)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<blocks, threads, bytes>>>(args...);
}
void run(float *a, float *b, float *c, int m, int n, int k)
{
    auto chosen = product;
    start(chosen, dim3((n + 23) / 24, (m + 47) / 48), {32, 4}, 0, a, b, c, m, n, k);
}
"""
# A function of a benchmark is long: a macro checks each call.
CHECKED = '    { int failed = cudaGetLastError(); if (failed) { fprintf(stderr, "%d\\n", failed); exit(1); } }\n' * 20
BY_A_POINTER_OF_A_TEMPLATE = f"""
template <void (*KERNEL)(const float *, const float *, float *, int, int, int)>
void timed(const float *a, const float *b, float *c, int m, int n, int k, int x = 24, int y = 24)
{{
{CHECKED}    dim3 threads(x, y);
    KERNEL<<<dim3((n + 23) / 24, (m + 47) / 48), threads>>>(a, b, c, m, n, k);
}}
void run(float *a, float *b, float *c, int m, int n, int k) {{ timed<product>(a, b, c, m, n, k, 32, 4); }}
"""
BY_A_POINTER = (
    BY_A_POINTER_OF_A_TEMPLATE.replace(
        "template <void (*KERNEL)(const float *, const float *, float *, int, int, int)>\n", ""
    )
    .replace("timed(const", "timed(void (*KERNEL)(const float *, const float *, float *, int, int, int), const")
    .replace("timed<product>(", "timed(product, ")
)
MEMBER_BY_MEMBER = """
class Runner { dim3 grid; dim3 block; void run(float *a, float *b, float *c, int m, int n, int k); };
void Runner::run(float *a, float *b, float *c, int m, int n, int k)
{
    const int warps = 4;
    block.x = 32;
    block.y = warps;
    grid.x = (n + 23) / 24;
    grid.y = (m + 47) / 48;
    timed([&]() { product<<<grid, block>>>(a, b, c, m, n, k); });
}
"""
CHOSEN_BY_A_NUMBER = """
void other(float *a, float *b, float *c, int n) {}
void run(int which, float *a, float *b, float *c, int m, int n, int k)
{
    const int height = 48, wide = which > 2 ? 24 : 24;
    switch (which) {
    case 0: other(a, b, c, n); break;
    case 1: {
        dim3 grid(n / wide + (n % 24 != 0), (m + height - 1) / height);
        grid.x = (n + 23) / 24;
        product<<<grid, dim3(8 << 2, 4)>>>(a, b, c, m, n, k);
        break;
    }
    default: exit(1);
    }
}
"""
IN_A_MAIN = """
int main(int argc, char **argv)
{
    int m = 1024, n = 1024, k = 1024;
    if (argc > 3) { m = atoi(argv[1]); n = atoi(argv[2]); k = atoi(argv[3]); }
    float *a, *b, *c;
    cudaMalloc(&a, m * k * sizeof(float));
    auto grid_of = [](int rows, int columns) { return dim3((columns + 23) / 24, (rows + 47) / 48); };
    void (*kernel)(const float *, const float *, float *, int, int, int) = product;
    for (int repeat = 0; repeat < 10; repeat++)
        kernel<<<grid_of(m, n), dim3{32, 4}>>>(a, b, c, m, n, k);
}
"""
BY_AN_OBJECT = """
class Job {
public:
    Job(int m, int n, int k) : m(m), n(n), k(k) {}
    dim3 blocks() const { return dim3((n + 23) / 24, (m + 47) / 48); }
    void start(float *a, float *b, float *c) const
    {
        void *given[] = {&a, &b, &c, &m, &n, &k};
        cudaLaunchKernel((void *)product, blocks(), dim3(32, 4), given, 0, nullptr);
    }
private:
    int m, n, k;
};
"""
WITH_A_REMAINDER = """
void run(float *a, float *b, float *c, int m, int n, int k)
{
    cudaLaunchConfig_t config = {0};
    config.gridDim = dim3((n + 23) / 24, (m + 47) / 48);
    config.blockDim = {32, 4, 1};
    if (verbose) config.gridDim.x++;
    cudaLaunchKernelEx(&config, product, a, b, c, m, n, k);
}
"""
IN_BRACES = """
void run(float *a, float *b, float *c, int m, int n, int k)
{
    const unsigned wide{32}, high{4};
    int columns = {(n + 23) / 24};
    dim3 grid{(unsigned)columns, (unsigned)((m + 47) / 48)};
    product<<<grid, dim3{wide, high}>>>(a, b, c, m, n, k);
}
"""
FORMS = {
    "structure": IN_A_STRUCTURE,
    "helper": BY_A_HELPER,
    "pointer of a template": BY_A_POINTER_OF_A_TEMPLATE,
    "pointer": BY_A_POINTER,
    "members": MEMBER_BY_MEMBER,
    "switch": CHOSEN_BY_A_NUMBER,
    "main": IN_A_MAIN,
    "object": BY_AN_OBJECT,
    "option": WITH_A_REMAINDER,
    "braces": IN_BRACES,
}


def guessed(host: str, around: Surroundings | None = None, kernel: str = KERNEL) -> Guess:
    return guess(kernel + host, Path("product.cu"), None, around)


@pytest.mark.parametrize("host", FORMS.values(), ids=FORMS)
def test_a_launch_is_found_by_evaluation(host: str) -> None:
    made = guessed(host)
    assert (made.block, made.grid) == LAUNCHED
    assert made.roles == ("A", "B", "C", "M", "N", "K")


def test_a_launch_in_another_file_s_specialised_function_is_found() -> None:
    launcher = """
template <int W> void launch_it(float *a, float *b, float *c, int m, int n, int k, dim3 grid, dim3 block)
{
    product<<<grid, block>>>(a, b, c, m, n, k);
}
"""
    main = """
template <int Version> float bench(float *a, float *b, float *c, int m, int n, int k);
template <> float bench<3>(float *a, float *b, float *c, int m, int n, int k)
{
    launch_it<7>(a, b, c, m, n, k, dim3((n + 23) / 24, (m + 47) / 48), dim3(32, 4));
    return 0;
}
"""
    made = guessed(launcher, Surroundings(others=(main,)))
    assert (made.block, made.grid) == LAUNCHED


def test_constants_of_a_namespace_may_have_a_choice_in_them() -> None:
    text = """
namespace tiled {
const int threads = 256;
const int warps = threads / 32;
const int across = warps == 1 ? 1 : 2;
const int SIDE = 8 * across;
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
}
"""
    made = guess(text, Path("product.cu"))
    assert (made.block, made.grid, made.params) == (("16", "16"), ("N / 16", "M / 16"), {})


SIZES = """
template <int M, int N, int K, int TILE> __global__ void product(const float *A, const float *B, float *C)
{
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
int main()
{
    constexpr int m = 512, n = 256, k = 128;
    product<m, n, k, 8><<<dim3(n / 8, m / 8), dim3(8, 8)>>>(a, b, c);
}
"""


def test_a_template_s_parameters_may_be_sizes() -> None:
    made = guess(SIZES, Path("product.cu"))
    assert (made.entry, made.grid) == ("product<M, N, K, TILE>", ("floor(N / 8)", "floor(M / 8)"))
    filled = launch(guessed_kernel(made), Problem(24, 16, 8))
    recording = record(filled)
    assert (filled.entry, recording.wrong, recording.notes) == ("product<24, 16, 8, 8>", 0, ())


def test_a_template_s_parameter_that_gets_a_size_again_is_that_size() -> None:
    kernel = KERNEL.replace("__global__", "template <int DEEP> __global__")
    made = guessed(IN_A_MAIN.replace("= product;", "= product<k>;"), kernel=kernel)
    assert made.entry == "product<K>"


def test_a_kernel_that_nobody_launches_is_launched_like_another_one_with_the_same_parameters() -> None:
    made = guess(KERNEL + KERNEL.replace("product", "second") + IN_A_MAIN, Path("product.cu"), "second")
    assert (made.block, made.grid) == LAUNCHED
    assert made.why["block"].confidence < guessed(IN_A_MAIN).why["block"].confidence


TILED = (
    KERNEL.replace("__global__", "template <int WIDE, int HIGH> __global__").replace("24", "WIDE").replace("48", "HIGH")
)
IN_A_TABLE = """
template <int Choice> struct Tile;
template <> struct Tile<1> { static constexpr int wide = 24, high = 48; };
template <> struct Tile<2> { static constexpr int wide = 12, high = 6; };
template <int Choice> void launch(float *a, float *b, float *c, int m, int n, int k)
{
    using T = Tile<Choice>;
    dim3 grid((n + T::wide - 1) / T::wide, (m + T::high - 1) / T::high);
    product<T::wide, T::high><<<grid, dim3(32, 4)>>>(a, b, c, m, n, k);
}
struct Entry { const char *name; void (*start)(float *, float *, float *, int, int, int); };
static const Entry table[] = {{"small", launch<2>}, {"large", launch<1>}};
int main()
{
    for (const auto &one : table)
        one.start(a, b, c, 512, 512, 512);
}
"""


def test_a_table_of_functions_and_structures_for_some_arguments_give_the_values() -> None:
    made = guessed(IN_A_TABLE, kernel=TILED)
    assert made.params == {"WIDE": (12,), "HIGH": (6,)}
    assert (made.block, made.grid) == (("32", "4"), ("ceil(N / 12)", "ceil(M / 6)"))


@pytest.mark.parametrize(
    "host",
    [
        "void run(int n) { run(n); product<<<n, n>>>(a, b, c, n, n, n); }",
        "void a(int n) { b(n); } void b(int n) { a(n); product<<<n, 1>>>(x, y, z, n, n, n); }",
        "int main() { for (;;) { if (x < ) product<<<(), {>>>(; } } ]) int y = ((((;",
        "struct S { S *next; }; int main() { S s; while (s.next->next) product<<<s.next->n, 1>>>(s, s, s, 1, 1, 1); }",
        "constexpr int N = N; int main() { product<<<N, N>>>(a, b, c, N, N, N); }",
    ],
    ids=["itself", "each other", "broken", "endless structure", "constant of itself"],
)
def test_an_evaluation_ends_whatever_the_text(host: str) -> None:
    source = read_source(KERNEL + host)
    evaluated(source.kernels[0], source.files, source.structs, source.fields)


def test_a_template_s_parameters_may_be_sizes_beside_the_distances_of_rows() -> None:
    text = """
template <int M, int N>
__global__ void tall(const float *A, const float *B, float *C, int K, int lda, int ldb, int ldc)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= K) return;
    for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int m = 0; m < M; m++) sum += A[row * lda + m] * B[m * ldb + n];
        C[row * ldc + n] = sum;
    }
}
void run(const float *a, const float *b, float *c, int k, int lda, int ldb, int ldc)
{
     tall<8, 4><<<k / 128, 128>>>(a, b, c, k, lda, ldb, ldc);
}
"""
    made = guess(text, Path("tall.cu"))
    assert made.entry in ("tall<M, N>", "tall<K, N>") and not made.params
    assert {*made.roles} >= {"lda", "ldb", "ldc"} and guessed_kernel(made).args[:3] == ("A", "B", "C")


TIMED_TILES = """
template <int BM, int BN>
__global__ void tiled(const float *A, const float *B, float *C, int m)
{
    for (int i = threadIdx.y; i < BM; i += blockDim.y)
        for (int j = threadIdx.x; j < BN; j += blockDim.x) {
            int row = blockIdx.y * BM + i, col = blockIdx.x * BN + j;
            float sum = 0;
            for (int k = 0; k < m; k++) sum += A[row * m + k] * B[k * m + col];
            C[row * m + col] = sum;
        }
}
template <int BM, int BN> void launch(float *a, float *b, float *c, int m)
{
    dim3 block(BN / 4, BM / 8), grid(cuda::ceil_div(m, BN), cuda::ceil_div(m, BM));
    timed<Times>([&]() { tiled<BM, BN><<<grid, block>>>(a, b, c, m); }, 3);
}
static const Config configs[] = {{128, 64, launch<128, 64>}};
int main() { float *a, *b, *c; configs[0].run(a, b, c, 1024); }
"""
# A long function that launches nothing itself is not evaluated.
REPEATED = (
    "template <typename Result, typename Work> Result timed(Work &&work, int times)\n{\n"
    + "    if (record(start) != 0) { report(__FILE__, __LINE__); }\n" * 30
    + "    for (int i = 0; i < times; i++) work();\n    return {};\n}\n"
)


@pytest.mark.parametrize("timed", ["", REPEATED], ids=["unknown", "long"])
def test_a_launch_in_a_lambda_with_quotients_that_a_library_rounds_up_is_found(timed: str) -> None:
    """A table of configurations names the template that has the lambda."""
    made = guess(timed + TIMED_TILES, Path("tiled.cu"))
    assert made.block == ("floor(BN / 4)", "floor(BM / 8)")
    assert made.grid == ("ceil(N / BN)", "ceil(N / BM)")
    assert made.params == {"BM": (128,), "BN": (64,)}
