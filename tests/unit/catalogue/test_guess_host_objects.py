"""What host code says in objects and arguments: sizes in a structure, launches in lists of tasks, types of pointers."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess

KERNEL = """
{head}__global__ void gemm({kind} *A, {kind} *B, {kind} *C, int M, int N, int K)
{{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += float(A[row * K + k]) * float(B[k * N + col]);
    C[row * N + col] = sum;
}}
"""
OF_SIZES = """
struct Sizes { int M{1000}, N{1000}, K = 1000; };
void run(const Sizes s = {}, float *a = nullptr, float *b = nullptr, float *c = nullptr)
{
    const dim3 block(16, 16), grid((s.N + 15) / 16, (s.M + 15) / 16);
    std::vector<Task> tasks;
    tasks.push_back(Task{"gemm", [=]() { gemm<<<grid, block>>>(a, b, c, s.M, s.N, s.K); }});
    for (auto &one : tasks) one.launch();
}
int main() { run(Sizes{1000, 1000, 1000}); }
"""


def guessed(host: str, head: str = "", kind: str = "float") -> Guess:
    return guess(KERNEL.format(head=head, kind=kind) + host, Path("mine.cu"))


@pytest.mark.parametrize("task", ["", "struct Task { const char *name; std::function<void()> launch; };\n"])
def test_sizes_with_defaults_are_names_and_no_constants(task: str) -> None:
    made = guessed(task + OF_SIZES)
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)")
    assert made.block == ("16", "16")


@pytest.mark.parametrize(
    ("arguments", "declared"),
    [
        ("reinterpret_cast<half *>(a.data_ptr()), (half *)b, reinterpret_cast<half *>(c)", ""),
        ("d_A, d_B, d_C", "half *d_A, *d_B, *d_C;"),
        ("d_A, d_B, d_C", "half *d_A; half *d_B; half *d_C;"),
    ],
)
def test_a_template_s_type_is_that_of_the_pointers_that_a_launch_passes(arguments: str, declared: str) -> None:
    host = f"void run(int M, int N, int K) {{\n    {declared}\n"
    host += f"    gemm<<<dim3(N / 16, M / 16), dim3(16, 16)>>>({arguments}, M, N, K);\n}}\n"
    made = guessed(host, "#include <cuda_fp16.h>\ntemplate <typename T> ", "T")
    assert made.entry == "gemm<half>" and made.dtype == "float16"
    assert "elements" not in made.why


@pytest.mark.parametrize(("word", "dtype"), [("f16", "float16"), ("bf16", "bfloat16")])
def test_a_type_that_nobody_gives_is_that_of_the_products_in_ptx(word: str, dtype: str) -> None:
    head = f'#define MMA() asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.{word}.{word}.f32 {{%0}};" ::)\n'
    text = KERNEL.format(head=f"{head}template <typename T> ", kind="T").replace(
        "float sum = 0;", "float sum = 0; MMA();"
    )
    assert guess(text, Path("mine.cu")).dtype == dtype


def test_a_structure_of_a_namespace_is_named_with_it() -> None:
    head = "namespace mine { namespace {\ntemplate <int R> struct Tile { static constexpr int rows = R; };\n"
    head += "using Small = Tile<4>;\ntemplate <typename S> "
    host = "void run(float *a, float *b, float *c, int M, int N, int K) {\n"
    host += "    gemm<Small><<<dim3(N / 16, M / 16), dim3(16, 16)>>>(a, b, c, M, N, K);\n}\n} }\n"
    assert guessed(host, head).entry == "mine::gemm<mine::Tile<4>>"
