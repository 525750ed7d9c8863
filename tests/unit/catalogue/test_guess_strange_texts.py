"""Texts that are damaged, cut off or made to take long are looked at all the same."""

from pathlib import Path

import pytest
from guessed_texts import FRONT, RUNGS
from hypothesis import given, settings
from hypothesis import strategies as st

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
