"""The C rungs compiled for this CPU, and whole-number elements through the whole bench."""

import json
from pathlib import Path

import pytest

from gemmviz.backends.native import NativeBackend
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.cli import run

RUNGS = [kernel for kernel in ladder() if kernel.backend == "c"]
SIZES = [Problem.cube(32), Problem(13, 7, 5), Problem(1, 1, 1), Problem(3, 50, 2)]


def right(kernel: Kernel, problem: Problem, **params: int) -> bool:
    prepared = NativeBackend().prepare(launch(kernel, problem, params))
    a, b = small_integer_inputs(problem, kernel.dtype)
    prepared.load(a, b)
    prepared.poison()
    prepared.run()
    return bool((prepared.fetch() == a @ b).all()) and prepared.intact()


@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("problem", SIZES, ids=str)
def test_a_c_rung_is_right_at_every_size(kernel: Kernel, problem: Problem) -> None:
    assert right(kernel, problem)


@pytest.mark.parametrize("threads", [1, 2, 3, 256])
def test_rows_are_dealt_out_to_any_number_of_threads(threads: int) -> None:
    assert right(find("OpenMP CPU", RUNGS), Problem(37, 5, 9), THREADS=threads)


INTEGERS = """// ---gemmviz
// entry  = "mine"
// args   = ["A", "B", "C", "M", "N", "K"]
// dtype  = "int32"
// layout = { B = "column" }
// ---
void mine(const int *A, const int *B, int *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[i * K + k] * B[k + j * K];
            C[i * N + j] = sum;
        }
}
"""


@pytest.mark.parametrize(
    ("text", "status"), [(INTEGERS, "ok"), (INTEGERS.replace("int sum = 0", "int sum = i == 12 && j == 6"), "wrong")]
)
def test_whole_numbers_are_measured_and_must_be_exact(
    text: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.c"
    file.write_text(text)
    run(["bench", str(file), "--m", "13", "--n", "7", "--k", "5", "--quick", "--json", "-"])
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["status"] == status, row["message"]
    assert (row["gflops"] is not None) == (status == "ok")
    output = "on whole numbers: 1 of 91 elements of C are wrong; the worst is C[12, 6]"
    assert status == "ok" or row["message"].startswith(output)
