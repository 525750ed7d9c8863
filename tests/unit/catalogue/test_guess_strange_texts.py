"""Texts that are damaged, cut off or made to take long are looked at all the same."""

import json
from pathlib import Path

import pytest
from guessed_texts import FRONT, RUNGS
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing import polynomial
from gemmviz.catalogue.guessing.asked_definitions import asked_definitions
from gemmviz.catalogue.guessing.build_definitions import build_definitions
from gemmviz.catalogue.guessing.guess import guess

PIECES = [
    *("__global__ ", "void k(", "float *A, ", "const float *B", ") {", "}", "[", "]", "(", ")", "<", ">", "<<<", ">>>"),
    *(";", ",", "/*", "//", "'", '"', "\\\n", "\0", "é", "X", "T", "Y(Y(X))", "dim3 g(", "blockDim.x", "threadIdx.x"),
    *("#define X X Y\n", "#define Y(a) a a X\n", "#define T (T + 1)\n", "template <int N = 3, class Q>"),
    *("int i = i + i * i;", "for (int i = 0; i < n; i += i) ", "A[i / 0 % i]", "constexpr int a = b, b = a;"),
    *('static_assert(1 / 0, "");', "extern __shared__ float s[];", "x << 9999999999"),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40), st.sampled_from([".cu", ".c"]))
def test_no_text_is_too_strange(pieces: list[str], suffix: str) -> None:
    made = guess("".join(pieces), Path("mine" + suffix))
    assert made.front_matter().startswith("// ---gemmviz\n")
    assert all(isinstance(doubt, str) for doubt in made.doubts)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_kernel_is_looked_at_all_the_same(data: st.DataObject) -> None:
    look_at_a_damaged_kernel(data)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_few_damaged_kernels_are_looked_at_all_the_same(data: st.DataObject) -> None:
    look_at_a_damaged_kernel(data)


def look_at_a_damaged_kernel(data: st.DataObject) -> None:
    text = FRONT.sub("", data.draw(st.sampled_from(RUNGS)).text)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 200, len(text))))
    guess(text[:start] + data.draw(st.sampled_from(["", "(", "}", "<", "0", "#"])) + text[stop:], Path("mine.cu"))


@pytest.mark.parametrize(
    "declared", ["__shared__(float (*As)[8] = (float (*)[8])t;", "__shared__ )[8];", "__shared__ ([4];"]
)
def test_a_declaration_of_shared_memory_without_a_name_is_looked_at(declared: str) -> None:
    text = "template <int T> __global__ void k(float *A, float *B, float *C, int n) { extern " + declared
    made = guess(text + " t[threadIdx.x] = A[n]; C[n] = B[n] * t[0]; }", Path("mine.cu"))
    assert made.entry.startswith("k")


@pytest.mark.parametrize("end", ["C[i] = A[i", "C[i]", "{ C[i]", ""])
def test_a_kernel_that_ends_within_a_loop_is_looked_at(end: str) -> None:
    text = "__global__ void k(float *A, float *B, float *C, int n) { int i = 0; for (int i = 0; i < n; i++) "
    for last in ("}", ""):
        assert guess(text + end + last, Path("mine.cu")).path == Path("mine.cu")


def test_a_text_made_to_blow_up_is_cut_short() -> None:
    doubling = "".join(f"#define M{i} M{i - 1} + M{i - 1} . a\n" for i in range(1, 60))
    sums = "".join(f"int a{i} = a{i - 1} * (a{i - 1} + b{i});\n" for i in range(1, 200))
    head = "__global__ void k(float *A, float *B, float *C, int M0, int a0) {\n"
    made = guess(doubling + head + sums + "C[a199] = A[M59] * B[a150];" + "(" * 5000 + "}", Path("mine.cu"))
    assert made.path == Path("mine.cu")


TILED = """template <int BS> __global__ void plain(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * BS + threadIdx.y, col = blockIdx.x * BS + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
"""
NAMES_IT = "plain<16><<<grid, block>>>(A, B, C, M, N, K);"


@pytest.mark.parametrize(
    "notebook",
    [
        f'{{"a": "\\"cells\\"", "b": "{NAMES_IT}", "c": {{"cells": 1}}}}',
        f'{{"cells": [1, "{NAMES_IT}"]}}',
        f'{{"cells": 5, "x": "{NAMES_IT}"}}',
        f'{{"cells": [{{"source": [1, "{NAMES_IT}"]}}]}}',
        '{"cells": ' + "[" * 100_000 + f' "{NAMES_IT}"',
        f'{{"cells": [{{"source": "{NAMES_IT}"',
    ],
)
def test_a_damaged_notebook_beside_a_kernel_says_nothing(notebook: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    (tmp_path / "run.ipynb").write_text(notebook, encoding="utf-8")
    assert surroundings(file, TILED).others == ()


@pytest.mark.parametrize("source", [NAMES_IT, [NAMES_IT, "\n"]])
def test_a_notebook_beside_a_kernel_shows_its_launch(source: str | list[str], tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": source, "outputs": []}, {"cell_type": "code"}]
    (tmp_path / "run.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    assert [one.strip() for one in surroundings(tmp_path / "mine.cu", TILED).others] == [NAMES_IT]


LONG = "9" * 5000


def test_a_number_that_no_integer_holds_is_no_value() -> None:
    scripts = (f"nvcc -DTILE={LONG}", f"add_compile_definitions(SIDE={LONG})", f"DEEP = {LONG}\nnvcc -DDEEP=${{DEEP}}")
    assert build_definitions((*scripts, "nvcc -DWIDE=64"), ("TILE", "SIDE", "DEEP", "WIDE")) == {"WIDE": (64,)}
    text = "#if TILE == {}\n__global__ void k(float *C) {{}}\n#endif\n"
    assert asked_definitions([text.format(LONG)], "k") == {}
    assert asked_definitions([text.format(32)], "k") == {"TILE": 32}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of tokens of each expression that is read."""
    found: list[int] = []

    def counted(reader: polynomial._Parser, tokens: list[str], *others: object) -> None:
        found.append(len(tokens))
        begin(reader, tokens, *others)

    begin = polynomial._Parser.__init__
    monkeypatch.setattr(polynomial._Parser, "__init__", counted)
    return found


def chained(count: int, rule: str) -> str:
    names = "".join(f"constexpr long x{i} = {rule.replace('x', f'x{i - 1}')};\n" for i in range(1, count))
    return "constexpr long x0 = 16;\n" + names + TILED.replace("BS +", f"x{count - 1} +")


@pytest.mark.parametrize(("rule", "tokens"), [("x + x", 3), ("x * x * x", 5), ("x / 3 + x % 5", 7)])
def test_a_constant_that_is_made_of_others_is_read_a_few_times_only(rule: str, tokens: int, read: list[int]) -> None:
    guess(chained(200, rule), Path("mine.cu"))
    assert 200 * tokens < sum(read) < 10 * 200 * tokens


def test_products_of_products_stay_short() -> None:
    value = polynomial.Polynomial.name("a") + polynomial.Polynomial.number(3)
    for _ in range(40):
        value = value * value
    assert value.degree <= 64 and value.largest < 1 << 64
    squares = "".join(f"int a{i} = a{i - 1} * a{i - 1};\n" for i in range(1, 40))
    made = guess(
        TILED.replace("float sum", "int a0 = row;\n" + squares + "float sum").replace("A[row", "A[a39"), Path("mine.cu")
    )
    assert made.entry == "plain<BS>"
