"""A small CUDA kernel that describes itself, whose front matter a test changes line by line."""

from pathlib import Path

from gemmviz.catalogue.kernel import Kernel, parse

MATTER = {
    "entry": '"k<TS>"',
    "args": '["A", "B", "C", "N"]',
    "params": "{ TS = [8, 16] }",
    "block": '["TS", "TS"]',
    "grid": '["ceil(N / TS)", "ceil(M / TS)"]',
}
CODE = "template <int TS> __global__ void k(float *A, float *B, float *C, int N)\n{\n    C[0] = A[0] * B[0];\n}\n"


def source(code: str = CODE, behind: str = "", **changes: str | None) -> str:
    """Return the file's text with some keys of its front matter added, changed or (None) left out."""
    lines = [f"// {key} = {value}" for key, value in (MATTER | changes).items() if value is not None]
    return "\n".join(["// ---gemmviz", *lines, "// ---", code]) + behind


def kernel(code: str = CODE, behind: str = "", **changes: str | None) -> Kernel:
    """Return the kernel that `source` describes."""
    return parse(source(code, behind, **changes), Path("07_mine.cu"))
