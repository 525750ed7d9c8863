"""The search for a right launch: what is tried, in which order, and what is offered in the end."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.candidates import candidates
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.needed import needed_capability
from gemmviz.catalogue.guessing.settle import GRID_IS_TURNED, settle
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG
from gemmviz.catalogue.guessing.verdict import Reading, Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem

KERNEL = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float tiles[];
    step(A, B, C, M, N, K, tiles);
}
void run(float *a, float *b, float *c, int m, int n, int k) {
    product<<<dim3((n + 63) / 64, (m + 63) / 64), 128, bytes()>>>(a, b, c, m, n, k);
}
"""


def made() -> Guess:
    return guess(KERNEL, Path("product.cu"))


def test_no_launch_is_tried_twice() -> None:
    texts = [one.front_matter() for one in candidates(made())]
    assert len(texts) == len(set(texts)) > 20


def test_a_launch_that_is_said_is_tried_with_every_layout_before_other_roles_are() -> None:
    tried = [(one.roles, one.column_major) for one in candidates(made())]
    roles = tried[0][0]
    first_other = next(number for number, (given, _) in enumerate(tried) if given != roles)
    assert {frozenset("B"), frozenset("A"), frozenset("AB")} <= {layout for _, layout in tried[:first_other]}


def test_a_pipeline_gets_a_sum_of_several_steps_and_the_condition_is_dropped_where_it_is_not_needed() -> None:
    deep = [one for one in candidates(made()) if "K % 128 == 0" in one.requires]
    assert deep
    tried: list[Problem] = []

    def any_column(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return "" if "B" in kernel.column_major and size.k % 4 == 0 else "B is read by columns"

    found = settle(made(), any_column)
    assert found.right
    assert found.column_major == {"B"}
    assert "K % 128 == 0" not in found.requires
    assert max(size.k for size in tried) >= 128


def test_shared_memory_that_nobody_knows_is_as_small_as_is_right() -> None:
    def try_one(kernel: Kernel, size: Problem) -> str:
        return "" if kernel.shared.evaluate({}) >= 60_000 else "too little shared memory"

    found = settle(made(), try_one)
    assert (found.right, found.shared) == (True, "101376")


def test_a_kernel_for_square_matrices_is_found_and_only_what_has_to_be_equal_is_required() -> None:
    def stride_of_k(kernel: Kernel, size: Problem) -> str:
        return "" if size.k == size.n else "B is read with the stride K"

    found = settle(made(), stride_of_k)
    assert found.right
    assert "K == N" in found.requires
    assert "M == N" not in found.requires


def test_a_launch_that_is_right_at_its_first_sizes_only_gives_way_to_one_that_is_right_at_others_too() -> None:
    """A trial of the first conditions costs many recordings: a later launch is tried at its odd size before."""
    tried: list[Problem] = []

    def try_one(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        return "" if kernel.shared.evaluate({}) > 8 or size.k == 64 else "C is right for K = 64 only"

    first = settle(made(), try_one, alternatives=False)
    assert not first.right
    assert first.settled.startswith("recorded: C is right at ")
    alone = len(tried)
    found = settle(made(), try_one)
    assert found.right
    assert len(tried) < 2 * alone + 12


@pytest.mark.parametrize(
    ("text", "capability"),
    [
        ("C[0] = A[0] * B[0];", ""),
        ("wmma::mma_sync(c, a, b, c);", "7.0"),
        ('asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {}, [];");', "7.5"),
        ('asm("cp.async.cg.shared.global [%0], [%1], 16;");', "8.0"),
        ('asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {}, {}, {}, {};");', "8.0"),
        ('asm("cp.async.bulk.tensor.2d.shared::cluster.global.tile [%0], [%1];");', "9.0"),
        ('asm("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {};");', "9.0a"),
        ('#define COPY asm("cp.async.cg.shared.global [%0], [%1], 16;")\nwmma::mma_sync(c, a, b, c);', "7.0"),
        ('#define COPY asm("cp.async.cg.shared.global [%0], [%1], 16;")\nCOPY;', "8.0"),
    ],
)
def test_the_capability_follows_from_the_instructions(text: str, capability: str) -> None:
    assert needed_capability(text) == capability


def test_the_capability_stands_in_the_front_matter_of_the_kernel_that_needs_it() -> None:
    text = KERNEL.replace("step(", 'asm("cp.async.wait_all;"); step(')
    assert 'capability = "8.0"' in guess(text, Path("product.cu")).front_matter()
    beside = KERNEL + '__device__ void other() { asm("cp.async.wait_all;"); }\n'
    assert "capability" not in guess(beside, Path("product.cu")).front_matter()


@pytest.mark.parametrize(("kind", "value"), [("bool", "0"), ("int", "1")])
def test_a_flag_without_a_role_gets_the_value_with_which_c_is_right(kind: str, value: str) -> None:
    text = KERNEL.replace("int K)", f"int K, {kind} by_columns)").replace("m, n, k)", "m, n, k, flag)")

    def try_one(kernel: Kernel, size: Problem) -> str:
        return "" if kernel.args[-1] == value else "wrong"

    start = guess(text, Path("product.cu"))
    assert start.roles[-1] == ""
    found = settle(start, try_one)
    assert (found.right, found.roles[-1]) == (True, value)
    assert not settle(start, lambda kernel, size: "wrong").roles[-1]


def test_the_layout_that_a_recording_shows_is_tried_next() -> None:
    tried: list[tuple[frozenset[str], Problem]] = []

    def only_columns(kernel: Kernel, size: Problem) -> str:
        tried.append((kernel.column_major, size))
        if kernel.column_major == {"A", "C"}:
            return ""
        return Verdict.of("wrong", readings=(Reading(frozenset("AC")),), comparable=True)

    found = settle(made(), only_columns)
    assert (found.right, found.column_major) == (True, {"A", "C"})
    assert tried[1][0] == {"A", "C"}
    assert not size_is_square(found)


def size_is_square(found: Guess) -> bool:
    return "M == N" in found.requires or "K == N" in found.requires


def test_a_launch_that_no_layout_explains_at_one_size_for_all_is_not_tried_with_other_layouts() -> None:
    tried: list[Kernel] = []

    def hopeless(kernel: Kernel, size: Problem) -> str:
        tried.append(kernel)
        return Verdict.of("wrong", comparable=True)

    assert not settle(made(), hopeless).right
    text = tried[0]
    again = [one for one in tried if one.grid == text.grid and one.column_major != text.column_major]
    assert again == []


def test_a_launch_that_the_file_gives_and_that_only_reads_out_of_bounds_is_taken_and_says_so() -> None:
    def reads_behind(kernel: Kernel, size: Problem) -> str:
        if kernel.column_major:
            return Verdict.of("C is wrong", comparable=True)
        return Verdict.of("thread 0 reads A[8192], out of bounds", only_reads=True)

    found = settle(made(), reads_behind)
    assert found.right
    assert "reads A[8192], out of bounds" in found.settled
    writes = settle(made(), lambda kernel, size: Verdict("thread 0 writes C[8192], out of bounds"))
    assert not writes.right


COLUMNS_CALLED_K = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    step(A, B, C, M, N, K);
}
void run(float *a, float *b, float *c, int M, int N, int K) {
    product<<<dim3((K + 63) / 64, (M + 63) / 64), 128>>>(a, b, c, M, N, K);
}
"""


def test_a_size_that_blocks_divide_is_no_depth() -> None:
    first = next(candidates(guess(COLUMNS_CALLED_K, Path("product.cu"))))
    assert first.roles == ("A", "B", "C", "M", "K", "N")
    assert first.grid == ("ceil(N / 64)", "ceil(M / 64)")


def test_a_grid_that_one_block_cannot_tell_apart_is_turned_at_a_second_size() -> None:
    text = COLUMNS_CALLED_K.replace("(K + 63) / 64, (M + 63) / 64), 128", "M / 128, N / 128), 128")
    start = guess(text, Path("product.cu"))
    assert start.grid == ("floor(M / 128)", "floor(N / 128)")

    def rows_along_y(kernel: Kernel, size: Problem) -> str:
        turned = kernel.grid[1].text.startswith("floor(M")
        return "" if turned or max(size.m, size.n) == 128 else "C is wrong"

    found = settle(start, rows_along_y)
    assert (found.right, found.grid) == (True, ("floor(N / 128)", "floor(M / 128)"))
    assert found.settled.endswith(GRID_IS_TURNED)


def test_a_long_sum_leaves_one_block_and_the_grid_is_turned_at_a_size_with_two() -> None:
    """Here K is a multiple of 128, so that several steps and several blocks would take long in one recording."""
    text = COLUMNS_CALLED_K.replace("(K + 63) / 64, (M + 63) / 64), 128", "M / 64, N / 64), 128")
    start = guess(text, Path("product.cu"))
    assert start.grid == ("floor(M / 64)", "floor(N / 64)")
    start = replace(start, requires=("M % 64 == 0", "N % 64 == 0", "K % 128 == 0"))
    tried: list[Problem] = []

    def rows_along_y(kernel: Kernel, size: Problem) -> str:
        tried.append(size)
        turned = kernel.grid[1].text.startswith("floor(M")
        return "" if turned or size.m == size.n == 64 else "C is wrong"

    found = settle(start, rows_along_y, alternatives=False)
    assert (found.right, found.grid) == (True, ("floor(N / 64)", "floor(M / 64)"))
    assert any(size.m != size.n for size in tried)


def test_where_no_launch_is_right_the_file_s_own_that_ran_to_its_end_is_left() -> None:
    def racy(kernel: Kernel, size: Problem) -> str:
        if size.m % 64:
            return "thread 0 writes C[4096], out of bounds"
        return Verdict.of("12 of 4096 elements of C are wrong", comparable=True)

    found = settle(made(), racy)
    assert not found.right
    assert found.settled.endswith(OWN_LAUNCH_IS_WRONG)
    assert found.block == ("128",)
    assert "M % 64 == 0" in found.requires


def test_a_launch_that_is_right_for_whole_blocks_only_asks_for_them() -> None:
    host = PLAIN + "void run(int m, int n, int k) {"
    host += " plain<<<dim3((n + 31) / 32, (m + 15) / 16), dim3(32, 16)>>>(a, b, c, m, n, k); }"
    found = settle(
        guess(host, Path("plain.cu")),
        lambda _, size: "" if size.m % 16 == size.n % 32 == 0 and size.k >= 64 else "misaligned",
    )
    assert found.right
    assert {"M % 16 == 0", "N % 32 == 0"} <= {*found.requires}


@pytest.mark.parametrize(("limited", "each"), [("spent", 25), ("clock", 125)])
def test_a_search_that_takes_long_ends_with_what_was_found(limited: str, each: int) -> None:
    now = [0.0]
    tried = []

    def slow(kernel: Kernel, size: Problem) -> str:
        now[0] += each
        tried.append(size)
        return "C is wrong"

    clocks: dict[str, Callable[[], float]] = {"spent": lambda: 0.0, "clock": lambda: 0.0, limited: lambda: now[0]}
    found = settle(made(), slow, **clocks)
    assert len(tried) == 3
    assert "C is wrong; 2 other launches are wrong too" in found.settled


PLAIN = """__global__ void plain(const float *A, const float *B, float *C, int M, int N, int K)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[y * K + k] * B[k * N + x];
    if (y < M && x < N) C[y * N + x] = sum;
}
"""


def test_a_launch_that_is_right_only_where_k_is_large_gives_way_to_one_that_is_right_everywhere() -> None:
    def tall(kernel: Kernel, size: Problem) -> str:
        return "" if kernel.column_major or size.k >= size.m else "C is wrong"

    found = settle(guess(PLAIN, Path("plain.cu")), tall)
    assert found.right
    assert found.column_major


def test_a_launch_that_is_right_only_where_k_is_large_is_kept_if_no_other_is_better() -> None:
    def tall(kernel: Kernel, size: Problem) -> str:
        return "C is wrong" if kernel.column_major or size.k < size.m else ""

    found = settle(guess(PLAIN, Path("plain.cu")), tall)
    assert found.right
    assert not found.column_major


def test_a_constant_grid_comes_after_the_one_that_grows_with_c() -> None:
    host = PLAIN + "void run() { plain<<<dim3(16, 16), dim3(16, 16)>>>(a, b, c, 256, 256, 256); }"
    found = guess(host, Path("plain.cu"))
    assert all(size in side for side, size in zip(found.grid, "NM", strict=True))
    assert ("16", "16") in {one.grid for one in found.others}


ONE_FRAGMENT = """#include <mma.h>
using namespace nvcuda;
__global__ void product(const half *A, const half *B, float *C)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
void run(half *a, half *b, float *c) { product<<<1, 32>>>(a, b, c); }
"""


def test_a_kernel_for_one_fragment_is_tried_at_its_size_though_it_was_wrong_at_other_ones() -> None:
    def only_one_fragment(kernel: Kernel, size: Problem) -> str:
        return "" if size == Problem.cube(16) else Verdict.of("C is wrong", comparable=True)

    found = settle(guess(ONE_FRAGMENT, Path("product.cu")), only_one_fragment)
    assert found.right
    assert {"M == 16", "N == 16", "K == 16"} <= {*found.requires}


LITERAL_SIZE = """__global__ void product(float *a, float *b, float *c)
{
    int i = threadIdx.x, j = threadIdx.y;
    if (i >= 16 || j >= 16) return;
    float sum = c[i + j * 16];
    for (int k = 0; k < 16; k++) sum += a[j * 16 + k] * b[i + k * 16];
    c[i + j * 16] = sum;
}
void run(float *a, float *b, float *c) { product<<<1, dim3(16, 16)>>>(a, b, c); }
"""


def test_a_size_that_stands_in_the_code_as_a_number_is_tried() -> None:
    def only_16(kernel: Kernel, size: Problem) -> str:
        return "" if size == Problem.cube(16) and kernel.zeroed else "C is wrong"

    found = settle(guess(LITERAL_SIZE, Path("product.cu")), only_16)
    assert found.right and found.adds
    assert found.requires == ("M == 16", "N == 16", "K == 16")


def test_a_condition_that_is_needed_where_k_is_small_is_kept() -> None:
    """The rows of C are bounded by K: the kernel has one parameter for M and K."""
    text = (
        "__global__ void product(const float *A, const float *B, float *C, int n, int columns)\n{\n"
        "    step(A, B, C, n, columns);\n}\n"
    )

    def try_one(kernel: Kernel, size: Problem) -> str:
        return "" if size.m <= size.k else "rows of C are not written"

    plain = guess(text, Path("product.cu"))
    square = replace(plain, requires=("M == N", "K == N"))
    found = settle(square, try_one, alternatives=False)
    assert found.right
    assert {"M == N", "K == N"} & {*found.requires}


def test_a_kernel_that_is_right_in_its_first_column_of_blocks_only_is_called_wrong() -> None:
    def first_blocks(kernel: Kernel, size: Problem) -> str:
        return "C is wrong" if size.n > 64 else ""

    host = "void run(float *A, float *B, float *C, int M, int N, int K) {\n"
    host += "    plain<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);\n}\n"
    found = settle(guess(PLAIN + host, Path("plain.cu")), first_blocks)
    assert not found.right and found.wrong_itself
    assert "at 48 x 32 x 64, but at 128 x 192 x 64: C is wrong" in found.settled
    assert found.settled.endswith(OWN_LAUNCH_IS_WRONG)
    unknown = settle(guess(PLAIN, Path("plain.cu")), first_blocks)
    assert not unknown.right and not unknown.wrong_itself
