"""A source that ends inside of a round bracket is known; even brackets and those of macros are left alone."""

import pytest

from gemmviz.catalogue.cut_text import cut_text
from gemmviz.catalogue.ladder import ladder

KERNEL = """__global__ void gemm(const float *A, const float *B, float *C, int n) {
    for (int k = 0; k < n; ++k) {
        C[0] += A[k] * B[k];
    }
}
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (KERNEL + "void run(float *A,\n", 6),
        (KERNEL + "namespace mine {\nint run(int a,\n  int b\n", 7),
        (KERNEL + "void run() {\n  gemm<<<1, 1>>>(a, f(b), c,\n", 7),
        (KERNEL + "#ifdef WIDE\nvoid run(int a)\n#else\nvoid run(int b)\n#endif\n{\n  go(a,", 12),
    ],
)
def test_the_line_of_the_first_open_bracket_is_returned(text: str, line: int) -> None:
    assert cut_text(text) == line


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        KERNEL + "void run() {\n",
        KERNEL + "// and (\n/* ( */ char c = '(';\n" + 'const char *s = "(";\n',
        KERNEL + "#if 0\nvoid run(int a\n#endif\n",
        KERNEL + "#define END )\nvoid run(int a END { }\n",
        KERNEL + "void run(int a } \nvoid more(",
        KERNEL + ")\nvoid run(int a",
    ],
)
def test_other_texts_have_none(text: str) -> None:
    assert cut_text(text) == 0


def test_a_macro_of_a_header_may_close_a_bracket() -> None:
    text = KERNEL + "void run(int a END { }\n"
    assert cut_text(text) == 6 and cut_text(text, ["#define END \\\n  )\n"]) == 0


@pytest.mark.parametrize("rung", ladder(), ids=lambda kernel: kernel.name)
def test_no_rung_has_one(rung) -> None:
    assert cut_text(rung.text) == 0
