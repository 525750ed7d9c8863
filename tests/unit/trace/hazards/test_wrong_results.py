"""The reasons of a wrong C: foreign operands, wrong stores, missing elements, variables that were never set."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.trace import hazards
from gemmviz.trace.hazards import Finding
from gemmviz.trace.hazards.wrong_result import wrong_result
from gemmviz.trace.recording.record import record

GEMM = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[8][8], Bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0;
    for (int t = 0; t < K; t += 8) {
        As[y][x] = row < M && t + x < K ? A[row * K + t + x] : 0;
        Bs[y][x] = t + y < K && col < N ? B[(t + y) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
"""
FILL_A, FILL_B, USE, STORE = 13, 14, 17, 21


def explained(old: str, new: str) -> Finding:
    assert old in GEMM
    report = examine(parse(GEMM.replace(old, new), Path("k.cu")), Problem(19, 13, 17), {})
    return report.findings[0]


@pytest.mark.sweep("As?y??k? ?-*", "k < 8-*", "= sum;-*")
@pytest.mark.parametrize(
    ("old", "new", "lines", "says"),
    [
        (
            "As[y][k] *",
            "As[k][y] *",
            (USE, FILL_A),
            "uses A[1, 0] for C[0, 0] (it reads As[1][0], which line 13 filled)",
        ),
        ("Bs[y][x] =", "Bs[x][y] =", (USE, FILL_B), "uses B[0, 1] for C[0, 0] (it reads Bs[1][0]"),
        ("k < 8", "k < 7", (USE, FILL_A), "never uses A[0, 7] for C[0, 0], unlike the rest of its row"),
        ("t < K;", "t < K - 1;", (USE, FILL_A), "never uses A[0, 16] for C[0, 0]"),
        ("sum += As", "sum = As", (STORE, USE), "none of the products is in them"),
        ("= sum;", "= -sum;", (STORE, USE), "line 21 stores it"),
    ],
)
def test_a_wrong_c_is_explained_by_the_operand_that_does_not_belong_or_by_its_store(
    old: str, new: str, lines: tuple[int, int], says: str
) -> None:
    finding = explained(old, new)
    assert (finding.kind, finding.line, finding.other_line) == ("wrong result", *lines)
    assert says in finding.text


PREFETCH = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N", "K"]
// block = [8, 8]
// grid = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N % 8 == 0", "K % 8 == 0"]
// ---
__global__ void k(const float *A, const float *B, float *C, int N, int K)
{
    __shared__ float As[8][8], Bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0;
    float a = A[row * K + x];
    float b = B[y * N + col];
    for (int t = 0; t < K; t += 8) {
        As[y][x] = a;
        Bs[y][x] = b;
        __syncthreads();
        if (t + 8 < K) {
            a = A[row * K + t + 8 + x];
            b = B[(t + 8 + y) * N + col];
        }
        for (int k = 0; k < 8; k++)
            sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""


@pytest.mark.sweep("k < 8-*", "Bs?y??x? = b-*", "As?y??k?-*")
@pytest.mark.parametrize(
    ("old", "new", "lines", "says"),
    [
        ("k < 8", "k < 7", (24, 16), "never uses A[0, 7] for C[0, 0], unlike the rest of its row (it reads As[0][6]"),
        ("(t + 8 + y)", "(t + 7 + y)", (24, 17), "which line 17 filled with a value that line 21 read)"),
        ("B[y * N", "B[x * N", (24, 17), "which line 17 filled with a value that line 14 read)"),
        ("Bs[y][x] = b", "Bs[x][y] = b", (24, 17), "uses B[0, 1] for C[0, 0] (it reads Bs[1][0]"),
        # Every operand is there and paired with another: only the store can be named.
        ("As[y][k]", "As[y][k ^ 1]", (27, 24), "as line 27 stores it"),
        ("As[y][x] =", "As[y][x ^ 1] =", (27, 24), "as line 27 stores it"),
        # The stored value was never in A: the operands are unknown.
        ("As[y][x] = a", "As[y][x] = 1.5f * a + y", (27, 24), "as line 27 stores it"),
    ],
)
def test_a_value_that_waits_in_a_register_is_no_use(old: str, new: str, lines: tuple[int, int], says: str) -> None:
    assert old in PREFETCH
    findings = examine(parse(PREFETCH.replace(old, new), Path("k.cu")), Problem(16, 24, 32), {}).findings
    assert {(f.kind, f.line, f.other_line) for f in findings} == {("wrong result", *lines)}
    assert says in findings[0].text


def test_a_kernel_behind_other_lines_is_recorded_as_it_is_written_too() -> None:
    # As compiled, only the last product is there: the reads before it would be missing.
    lines = "#include <cuda_fp16.h>\nusing namespace std;\nconstexpr int WIDTH = 8;\n__global__"
    text = GEMM.replace("__global__", lines).replace("sum += As", "sum = As")
    (one,) = examine(parse(text, Path("k.cu")), Problem(16, 16, 16), {}).findings
    assert (one.line, one.other_line) == (STORE + 3, USE + 3)
    assert one.text.endswith("the product for k = 15 alone is in them")


def test_elements_that_are_left_out_are_named_with_the_line_that_writes_the_others() -> None:
    finding = explained("if (row < M && col < N)", "if (row < M && col < N - 1)")
    assert (finding.kind, finding.line, finding.count) == ("element of C never written", STORE, 19)


@pytest.mark.parametrize(
    ("store", "named"),
    [
        ("C[row * N + col] = sum;", STORE),
        ("*(C + row * N + col) = sum;", STORE),
        ("atomicAdd(&C[row * N + col], sum);", STORE),
        ("put(C + row * N + col, sum);", STORE),
        ("{ float *to = C + row * N; to[col] = sum; }", STORE),
        ("{ float *to = C; to = &sum; *to = 1; } { float *to = &sum; to[0] = 1; }", 7),
        # What only reads C is not meant, nor is a pointer that can only read.
        ("{ prefetch(C); if (C[0] == 3) sum = C[1]; }", 7),
        ("{ const float *from = C; sum = 3 * from[col]; put(&sum, from[0]); }", 7),
    ],
)
def test_where_no_thread_stores_the_line_that_is_there_to_do_it_is_named(store: str, named: int) -> None:
    helpers = "__device__ void put(float *to, float sum) { *to = sum; } __device__ void prefetch(float *) {} __global__"
    text = (
        GEMM.replace("__global__", helpers)
        .replace("C[row * N + col] = sum;", store)
        .replace("row < M && col", "M < 0 && col")
    )
    (finding,) = examine(parse(text, Path("k.cu")), Problem(19, 13, 17), {}).findings
    assert (finding.kind, finding.line, finding.count) == ("element of C never written", named, 19 * 13)
    assert finding.text.endswith(f"C[0, 0]; line {named} is there to write them") == (named == STORE)


def test_no_line_of_another_function_is_named() -> None:
    """The function is declared first, and its body stands behind another one that has a C, too."""
    head = "void k(const float *A, const float *B, float *C, int M, int N, int K)"
    other = "__device__ void other(float *C) { C[0] = 1; }"
    text = GEMM.replace(f"__global__ {head}", f"__global__ {head}; {other} __global__ {head}")
    text = text.replace("row < M && col", "M < 0 && col")
    (finding,) = examine(parse(text, Path("k.cu")), Problem(19, 13, 17), {}).findings
    assert (finding.kind, finding.line) == ("element of C never written", 7)
    assert finding.text.endswith("C[0, 0]")


def test_a_kernel_that_stores_nothing_is_named_with_the_line_of_its_head() -> None:
    finding = explained("C[row * N + col] = sum;", ";")
    assert (finding.kind, finding.line, finding.count) == ("element of C never written", 7, 19 * 13)


def test_a_tile_whose_edge_is_not_filled_is_named_with_the_line_that_fills_the_rest() -> None:
    finding = explained(
        "As[y][x] = row < M && t + x < K ? A[row * K + t + x] : 0;", "if (row < M) As[y][x] = A[row * K];"
    )
    assert (finding.kind, finding.line, finding.other_line) == ("read of memory nobody wrote", USE, FILL_A)


@pytest.mark.sweep("float sum;", "int x0*")
@pytest.mark.parametrize(
    "declared",
    [
        "float sum;",
        "float x0 = 1, sum;",
        "float sum, unused[4];",
        "int x0; float sum;",
        "/* of C */ float sum /* float sum = 0; */;",
    ],
)
def test_a_local_variable_that_was_never_set_is_named(declared: str) -> None:
    finding = explained("float sum = 0;", declared)
    assert (finding.kind, finding.line, finding.other_line, finding.array) == (
        *("read of memory nobody wrote", 11, USE, "sum"),
    )
    assert "the local variable sum is not set before line 17 uses it" in finding.text


def test_a_declaration_over_several_lines_is_read_as_well() -> None:
    finding = explained("float sum = 0;", "float\n    sum;")
    assert (finding.line, finding.other_line, finding.array) == (12, USE + 1, "sum")


def test_of_some_blocks_only_their_own_writes_count() -> None:
    job = launch(parse(GEMM, Path("k.cu")), Problem(19, 13, 17))
    assert hazards.find(record(job, blocks=(1, 3))) == []
    broken = launch(parse(GEMM.replace("= sum;", "= -sum;"), Path("k.cu")), Problem(19, 13, 17))
    (finding,) = hazards.find(record(broken, blocks=(1, 3)))
    assert finding.kind == "wrong result"
    assert "C[0, 0]" not in finding.text


# Block 0 makes half of each sum and passes it on. LAST makes block 1 forget its own half.
TWO_BLOCKS = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N"]
// block = ["64"]
// grid = ["2"]
// ---
__device__ float passed[64];
__global__ void k(const float *A, const float *B, float *C, int N)
{
    int t = threadIdx.x, first = blockIdx.x * N / 2;
    float sum = 0;
    for (int k = first; k < first + N / 2; k++)
        sum += A[t / 8 * N + k] * B[k * N + t % 8];
    if (blockIdx.x == 0) {
        passed[t] = sum;
        return;
    }
    LAST
    C[t] = sum;
}
"""


@pytest.mark.parametrize(
    ("last", "says"),
    [
        ("sum = N == 8 ? passed[t] : sum;", "the products for k = 0 to 3 alone are in them"),
        ("sum = N == 8 ? sum : passed[t];", "the products for k = 4 to 7 alone are in them"),
    ],
)
def test_an_operand_that_another_block_uses_is_not_called_unused(last: str, says: str) -> None:
    raw = record(launch(parse(TWO_BLOCKS.replace("LAST", last), Path("k.cu")), Problem.cube(8)))
    (found,) = wrong_result(raw)
    assert says in found.text and found.line == 19


def test_an_operand_that_no_block_uses_is_called_unused() -> None:
    text = TWO_BLOCKS.replace("LAST", "sum += passed[t];").replace("k < first + N / 2", "k < first + N / 2 - 1")
    found = wrong_result(record(launch(parse(text, Path("k.cu")), Problem.cube(8))))
    assert any("never uses A[0, 7] for C[0, 0]" in one.text or "never uses A[0, 3]" in one.text for one in found)


def test_a_loop_through_barriers_that_does_not_end_is_a_finding_with_its_line() -> None:
    finding = explained("        __syncthreads();\n    }", "        __syncthreads();\n        t -= 8;\n    }")
    assert (finding.kind, finding.line) in {("crash", 15), ("crash", 18)}
    assert "does it end?" in finding.text
