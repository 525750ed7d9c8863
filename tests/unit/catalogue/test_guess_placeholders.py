"""Macros whose value a program has to put in: no compiler takes the kernel before, and the flaw says so."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle

KERNEL = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[SIDE][SIDE];
    int i = blockIdx.y * SIDE + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}
"""
FORMS = ["%%S", "%S%", "@SIDE@", "${SIDE}", "$SIDE", "{{ SIDE }}", "<%= side %>"]


@pytest.mark.parametrize("value", FORMS)
def test_a_placeholder_in_a_header_is_a_flaw(value: str, tmp_path: Path) -> None:
    header = f"#define SIDE {value} \r\n#define OTHER 4\r\n"
    (tmp_path / "params.h").write_text(header)
    text = '#include "params.h"\n' + KERNEL
    made = guess(text, tmp_path / "mine.cu", around=Surroundings(headers=(header,)))
    (flaw,) = made.flaws
    assert (flaw.kind, flaw.line) == ("not compiled", 4)
    assert f"SIDE is {value} in params.h" in flaw.text
    assert settle(made, lambda kernel, size: "wrong").settled == str(flaw)


@pytest.mark.parametrize("value", FORMS)
def test_so_it_is_in_the_file_itself(value: str) -> None:
    (flaw,) = guess(f"#define SIDE {value}\n{KERNEL}", Path("mine.cu")).flaws
    assert "in mine.cu" in flaw.text


@pytest.mark.parametrize(
    "top",
    [
        "#define SIDE 16\n",
        "#define SIDE (16 % 32)\n",
        "#ifndef SIDE\n#define SIDE @SIDE@\n#endif\n",
        "#if !defined(TEST) && !defined(SIDE)\n#define SIDE @SIDE@\n#endif\n",
        "#define SIDE @SIDE@\n#undef SIDE\n#define SIDE 16\n",
        "// #define SIDE @SIDE@\n#define SIDE 16\n",
        "#define UNUSED @SIDE@\n#define SIDE 16\n",
    ],
)
def test_no_flaw_where_the_kernel_may_have_a_number(top: str) -> None:
    assert not guess(top + KERNEL, Path("mine.cu")).flaws
