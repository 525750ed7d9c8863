"""A kernel is called wrong by its file's own launch only where the file gives every argument of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.certainty import has_whole_blocks, is_known
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import C_IS_ZERO_BEFORE, ONLY_WHERE_EQUAL, settle
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG, OWN_LAUNCH_MISSES
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.readings import readings
from gemmviz.trace.recording.record import record

BODY = """    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
"""
SIGNATURE = "const float *A, const float *B, float *C, int M, int N, int K"


def program(
    signature: str, store: str, arguments: str, body: str = BODY, grid: str = "(N + 7) / 8, (M + 7) / 8"
) -> str:
    """Return a kernel and the host function that launches it."""
    kernel = f"__global__ void gemm({signature})\n{{\n{body}    {store}\n}}\n"
    host = f"    dim3 block(8, 8), grid({grid});\n    gemm<<<grid, block>>>({arguments});\n"
    return kernel + f"void run(const float *A, const float *B, float *C, int M, int N, int K) {{\n{host}}}\n"


def tried(kernel: Kernel, size: Problem) -> Verdict:
    """Return the verdict on a launch, as the engine gives it."""
    recording = record(launch(kernel, size), deadline_s=10)
    if recording.notes:
        return Verdict.of(recording.notes[0], misses=True)
    if not recording.wrong:
        return Verdict()
    return Verdict.of("wrong", readings=readings(recording, kernel.column_major), comparable=not kernel.epilogue)


def settled(text: str) -> Guess:
    return settle(guess(text, Path("mine.cu")), tried)


def test_a_wrong_kernel_with_a_launch_of_known_arguments_is_called_wrong() -> None:
    made = settled(program(SIGNATURE, "C[row * N + col] = sum + 1;", "A, B, C, M, N, K"))
    assert made.settled.endswith(OWN_LAUNCH_IS_WRONG)
    assert {"M == N", "K == N"} <= {*made.requires}  # layouts make no difference there


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [(f"{SIGNATURE}, int shift", "A, B, C, M, N, K, 1"), (f"{SIGNATURE}, float gamma", "A, B, C, M, N, K, 2.0f")],
)
def test_a_kernel_with_an_argument_that_is_only_guessed_is_not(signature: str, arguments: str) -> None:
    last = signature.rpartition(" ")[2]
    made = settled(program(signature, f"C[row * N + col] = sum + 1 + {last};", arguments))
    assert not made.right and OWN_LAUNCH_IS_WRONG not in made.settled


@pytest.mark.parametrize(
    "product",
    [
        'asm("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%0}, {%0}, {%0}, {%0};" : "+r"(M));',
        "nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 8, 8, 32, nvcuda::wmma::experimental::precision::s4, int> a;",
    ],
)
def test_a_file_with_products_of_numbers_below_a_byte_is_not(product: str) -> None:
    other = f"\n__global__ void narrow(int M)\n{{\n    {product}\n}}\n"
    text = program(SIGNATURE, "C[row * N + col] = sum + 1;", "A, B, C, M, N, K")
    made = settled(text + other)
    assert not made.right and OWN_LAUNCH_IS_WRONG not in made.settled


def test_a_kernel_with_a_grid_of_a_constant_size_is_not() -> None:
    body = "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n    float sum = 0;\n"
    body += "    for (int k = 0; k < 3; k++) sum += A[row * 3 + k] * B[k * 5 + col];\n"
    text = program("const float *A, const float *B, float *C", "C[row * 5 + col] = sum + 1;", "A, B, C", body, "2, 3")
    made = settled(text)
    assert not made.right and OWN_LAUNCH_IS_WRONG not in made.settled and OWN_LAUNCH_MISSES not in made.settled


def test_a_kernel_that_adds_to_c_is_tried_with_zeros_in_it_and_the_note_says_so() -> None:
    made = settled(program(SIGNATURE, "C[row * N + col] += sum;", "A, B, C, M, N, K"))
    assert made.right and made.adds and C_IS_ZERO_BEFORE in made.settled


def test_whole_numbers_called_alpha_and_beta_are_the_scales_whatever_the_host_passes() -> None:
    signature = "const int *A, const int *B, int *C, int M, int N, int K, int alpha, int beta"
    store = "C[row * N + col] = alpha * sum + beta * C[row * N + col];"
    text = (
        program(signature, store, "A, B, C, M, N, K, 1, 0").replace("const float", "const int").replace("float", "int")
    )
    assert guess(text, Path("mine.cu")).roles[-2:] == ("alpha", "beta")


def test_a_kernel_that_is_right_for_equal_sizes_only_is_described_with_a_note() -> None:
    body = BODY.replace("A[row * K + k]", "A[row * N + k]")
    made = settled(program(SIGNATURE, "C[row * N + col] = sum;", "A, B, C, M, N, K", body))
    assert made.right and "K == N" in made.requires and ONLY_WHERE_EQUAL.format(conditions="K == N") in made.settled


def test_a_kernel_for_a_fixed_number_of_columns_is_found_by_its_right_part() -> None:
    body = "    int row = blockIdx.x * 32 + threadIdx.x;\n    float s[4] = {};\n"
    body += "    for (int k = 0; k < K; k++)\n"
    body += "        for (int j = 0; j < 4; j++) s[j] += A[k * lda + row] * B[j * ldb + k];\n"
    store = "for (int j = 0; j < 4; j++) C[j * ldc + row] = s[j];"
    signature = f"{SIGNATURE}, int lda, int ldb, int ldc"
    made = settled(program(signature, store, "A, B, C, M, N, K, M, K, M", body, "M / 32").replace("(8, 8)", "(32)"))
    assert made.right and "N == 4" in made.requires and made.column_major == {"A", "B", "C"}


def test_one_tile_of_a_warp_is_found_by_its_right_part() -> None:
    body = "    int lane = threadIdx.x;\n    for (int i = lane; i < 128; i += 32) {\n        float sum = 0;\n"
    body += "        for (int k = 0; k < 16; k++) sum += A[i / 8 * K + k] * B[k * N + i % 8];\n"
    text = program(SIGNATURE, "C[i / 8 * N + i % 8] = sum;\n    }", "A, B, C, M, N, K", body, "1").replace(
        "(8, 8)", "(32)"
    )
    made = settled(text)
    assert made.right and {"M == 16", "N == 8", "K == 16"} <= {*made.requires}


def test_a_result_that_is_cut_at_zero_is_described_with_its_epilogue() -> None:
    made = settled(program(SIGNATURE, "C[row * N + col] = fmaxf(sum, 0.0f);", "A, B, C, M, N, K"))
    assert made.right and made.epilogue == "relu"


@pytest.mark.parametrize(("given", "role", "epilogue"), [("false", "0", ""), ("true", "1", "relu")])
def test_a_flag_has_the_value_that_the_host_code_gives_it(given: str, role: str, epilogue: str) -> None:
    store = "C[row * N + col] = cut ? fmaxf(sum, 0.0f) : sum;"
    made = settled(program(f"{SIGNATURE}, bool cut", store, f"A, B, C, M, N, K, {given}"))
    assert made.right and made.roles[-1] == role and made.epilogue == epilogue


def test_a_part_of_c_that_is_right_shows_its_rows_columns_and_depth() -> None:
    text = program(SIGNATURE, "C[row * N + col] = sum;", "A, B, C, M, N, K", grid="1, 1")
    made = replace(guess(text, Path("mine.cu")), requires=())
    verdict = tried(guessed_kernel(made), Problem(16, 24, 8))
    assert [(one.rows, one.columns, one.depth) for one in verdict.readings if not one.column_major] == [(8, 8, 0)]


def test_no_part_is_read_from_a_c_that_nobody_wrote() -> None:
    text = program(SIGNATURE, "if (row < 0) C[row * N + col] = sum;", "A, B, C, M, N, K")
    verdict = tried(guessed_kernel(guess(text, Path("mine.cu"))), Problem(16, 24, 8))
    assert verdict and not verdict.readings


def test_the_part_that_one_block_computes_shows_the_grid() -> None:
    kernel = """__device__ int2 place(int number, int columns) { return make_int2(number / columns, number % columns); }
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int2 tile = place(blockIdx.x, (N + 7) / 8);
    int row = tile.x * 8 + threadIdx.y, col = tile.y * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
    made = replace(guess(kernel, Path("mine.cu")), grid=("1",), block=("8", "8"), requires=(), others=())
    found = settle(made, tried)
    assert found.right and found.grid == ("(M / 8) * (N / 8)",) and "M == 8" not in found.requires


@pytest.mark.parametrize(
    "kind",
    ["const float2 *A", "const unsigned short *A", "const uint32_t *A", "const half2 *A", "const float *A_packed"],
)
def test_a_matrix_whose_values_only_the_host_knows_is_no_ground_for_calling_a_kernel_wrong(kind: str) -> None:
    plain, other = (
        guess(program(one, "C[row * N + col] = sum;", "A, B, C, M, N, K"), Path("mine.cu"))
        for one in (SIGNATURE, SIGNATURE.replace("const float *A", kind))
    )
    assert is_known(plain) and not is_known(other)


def test_a_launch_at_a_place_inside_a_matrix_may_make_a_part_of_the_product() -> None:
    store = "C[row * N + col] = sum;"
    whole, part = (program(SIGNATURE, store, f"{a}, B, C, M, N, K") for a in ("A", "A + K / 2"))
    assert is_known(guess(whole, Path("mine.cu"))) and not is_known(guess(part, Path("mine.cu")))


@pytest.mark.parametrize("kind", ["float", "half", "__half", "double", "nv_bfloat16"])
def test_the_types_of_plain_values_are_known(kind: str) -> None:
    text = program(SIGNATURE.replace("float", kind), "C[row * N + col] = sum;", "A, B, C, M, N, K")
    assert is_known(guess(text, Path("mine.cu")))


def test_blocks_are_whole_where_sizes_are_multiples_of_what_the_grid_divides_them_by() -> None:
    text = program(SIGNATURE, "C[row * N + col] = sum;", "A, B, C, M, N, K", grid="(N + 255) / 256, M / 8")
    made = guess(text, Path("mine.cu"))
    assert has_whole_blocks(made, Problem(8, 256, 3)) and not has_whole_blocks(made, Problem(8, 128, 3))
    assert not has_whole_blocks(made, Problem(12, 256, 3))


def test_a_pipeline_is_tried_with_a_sum_of_many_steps() -> None:
    def long_enough(kernel: Kernel, size: Problem) -> Verdict:
        return Verdict() if size.k >= 512 else Verdict.of("wrong", comparable=True)

    body = BODY.replace("float sum = 0;", "float sum = 0; __pipeline_commit();")
    made = guess(program(SIGNATURE, "C[row * N + col] = sum;", "A, B, C, M, N, K", body), Path("mine.cu"))
    found = settle(made, long_enough)
    assert found.right and "K % 512 == 0" in found.requires


def test_a_c_that_is_right_in_its_first_rows_only_is_wrong_with_a_grid_that_covers_it() -> None:
    made = settled(program(SIGNATURE, "C[row * N + col] = row < 8 ? sum : sum + 1;", "A, B, C, M, N, K"))
    assert made.settled.endswith(OWN_LAUNCH_IS_WRONG)


def test_few_launches_are_tried_after_the_file_s_own_that_no_layout_makes_right() -> None:
    count: list[Problem] = []

    def counted(kernel: Kernel, size: Problem) -> Verdict:
        count.append(size)
        return tried(kernel, size)

    text = program(SIGNATURE, "C[row * N + col] = sum + 1;", "A, B, C, M, N, K")
    settle(guess(text, Path("mine.cu")), counted)
    cube = next(at for at, size in enumerate(count) if size.m == size.n == size.k)
    assert len(count) <= cube + 1 + 6


@pytest.mark.parametrize(
    ("condition", "otherwise", "newer"),
    [
        ("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1000)", "", "10.0"),
        ("#if __CUDA_ARCH__ > 900", "", "9.1"),
        ("#if __CUDA_ARCH__ >= 1000", "#else\nC[row * N + col] = sum + 1;", ""),
        ("#if __CUDA_ARCH__ < 1000", "", ""),
    ],
)
def test_code_for_a_newer_gpu_is_not_called_wrong(condition: str, otherwise: str, newer: str) -> None:
    body = f"{condition}\n{BODY}    C[row * N + col] = sum + 1;\n"
    body += f"#else\n{BODY}{otherwise.removeprefix('#else')}\n" if otherwise else ""
    made = settled(program(SIGNATURE, "\n#endif\n", "A, B, C, M, N, K", body))
    assert made.wrong_itself == (not newer)
    assert (f"compute capability {newer} and later" in made.settled) == bool(newer)


def test_a_template_argument_that_no_file_gives_is_not_called_wrong() -> None:
    # With groups of one row of blocks it is right; the file does not say how many rows it uses.
    text = program(SIGNATURE, "C[row * N + col] = sum + (ROWS > 1);", "A, B, C, M, N, K")
    text = "template <int ROWS>\n" + text.replace("void run", "template <int ROWS> void run")
    made = settled(text.replace("gemm<<<", "gemm<ROWS><<<"))
    assert not made.wrong_itself and not made.settled.endswith(OWN_LAUNCH_IS_WRONG)
    given = settled(text.replace("gemm<<<", "gemm<2><<<"))
    assert given.wrong_itself and given.settled.endswith(OWN_LAUNCH_IS_WRONG)


@pytest.mark.parametrize("filled", [True, False])
def test_a_table_that_the_host_fills_is_no_fault_of_the_kernel(filled: bool) -> None:
    text = program(SIGNATURE, "C[row * N + col] = sum * factors[0];", "A, B, C, M, N, K")
    text = "__device__ float factors[4];\n" + text
    if filled:
        text = text.replace("    dim3 block", "    cudaMemcpyToSymbol(factors, host, sizeof(factors));\n    dim3 block")
    made = settled(text)
    assert not made.right and made.wrong_itself == (not filled)
    assert ("reads factors, which the host fills" in made.settled) == filled


WIDE = """__global__ void gemm(const float *A, const float *B, float *C, int N)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = (blockIdx.x * 16 + threadIdx.x) * 4;
    float sums[4] = {};
    for (int k = 0; k < N; ++k)
        for (int t = 0; t < 4; ++t) sums[t] += A[row * N + k] * B[k * N + col + t];
    for (int t = 0; t < 4; ++t) C[row * N + col + t] = sums[t];
}
void run(const float *A, const float *B, float *C, int N) { gemm<<<dim3(N / 64, N / 16), dim3(16, 16)>>>(A, B, C, N); }
"""


def test_both_sides_of_a_grid_that_divide_one_size_are_conditions_of_it() -> None:
    made = settled(WIDE)
    # At 80 such a grid leaves out the last columns.
    assert made.right and "N % 64 == 0" in made.requires
