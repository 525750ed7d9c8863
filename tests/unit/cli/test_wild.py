"""The script that tries kernels of other repositories, on one that is right and one that is not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks/wild.py"
if not SCRIPT.is_file():
    pytest.skip("the benchmarks are not beside these tests", allow_module_level=True)

RIGHT = """#include <iostream>
__global__ void mm(const float *A, const float *B, float *C, int N) {
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    if (i < N && j < N) {
        for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
        C[i * N + j] = sum;
    }
}
int main() { std::cout << 1; }
"""


@pytest.mark.thorough
def test_a_table_says_what_became_of_each_kernel(tmp_path: Path) -> None:
    (tmp_path / "src/somebody+gemm").mkdir(parents=True)
    (tmp_path / "src/somebody+gemm/right.cu").write_text(RIGHT)
    (tmp_path / "src/somebody+gemm/wrong.cu").write_text(RIGHT.replace("float sum", "flaot sum"))
    (tmp_path / "list").write_text("somebody/gemm\tright.cu\tmm\nsomebody/gemm\twrong.cu\tmm\n")
    table = tmp_path / "table.json"
    command = [sys.executable, str(SCRIPT), str(tmp_path / "list"), str(tmp_path / "src"), "--json", str(table)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "2 kernels; described 1, right 1" in text
    right, wrong = json.loads(table.read_text())
    assert (right["described"], right["right"], right["findings"]) == (True, True, [])
    assert not wrong["described"] and "cannot be compiled" in wrong["why"]
    again = subprocess.run([*command, "--again"], capture_output=True, text=True, check=True).stdout
    assert "right.cu" not in again and "wrong.cu" in again
