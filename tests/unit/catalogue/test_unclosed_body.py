"""A body without its closing brace is named with its line, and even braces are left alone."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.undescribed import what_to_do
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.unclosed_body import unclosed_body

KERNEL = """__global__ void gemm(const float *A, const float *B, float *C, int n) {
    for (int k = 0; k < n; ++k) {
        C[0] += A[k] * B[k];
    }
}
"""


def found(text: str) -> tuple[int, int] | None:
    body = unclosed_body(text)
    return (body.line, body.following) if body else None


def test_the_first_line_of_the_body_and_the_next_function_are_named() -> None:
    open_ = KERNEL.replace("    }\n", "")
    assert found(open_ + "void run() {\n}\n") == (1, 5)
    assert found("namespace mine {\n" + open_ + "template <int N> void run() {\n}\n}\n") == (2, 6)
    assert "line 1 is not closed before line 5" in str(unclosed_body(open_ + "int main() {\n}\n"))


@pytest.mark.parametrize(
    "text",
    [
        KERNEL + "void run() {\n}\n",
        'extern "C" {\n' + KERNEL + "void run() {\n}\n}\n",
        KERNEL.replace("(int k", "(/* { */ int k").replace("C[0]", "char c = '{'; C[0]"),
        "#ifdef WIDE\nvoid run(int a) {\n#else\nvoid run() {\n#endif\n}\n" + KERNEL,
        "#if 0\nvoid run() {\n#else\nvoid run() {}\n#endif\n" + KERNEL,
        "#define BEGIN void run() { \\\n  if (1) {\n" + KERNEL,
        KERNEL + "}\n",
    ],
)
def test_even_braces_are_no_unclosed_body(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize("rung", ladder(), ids=lambda kernel: kernel.name)
def test_no_rung_has_one(rung) -> None:
    assert found(rung.text) is None


def test_a_kernel_inside_of_an_open_body_is_not_said_to_be_nowhere() -> None:
    made = guess("int check(int x) { if (x) { return 1; }\n" + KERNEL, Path("mine.cu"))
    assert made.doubts == [
        "mine.cu:1: a closing brace is missing: the body that begins in line 1 is not closed before line 2"
    ]


def test_a_file_that_is_opened_says_it_too() -> None:
    said = what_to_do("int check(int x) { if (x) { return 1; }\n" + KERNEL, Path("mine.cu"))
    assert said == "a closing brace is missing: the body that begins in line 1 is not closed before line 2"
