"""A command without a size takes one that the kernel takes, and says so; a size that the user names is kept."""

import json

import pytest
from listings import needs_tools

from gemmviz.bench import results
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run
from gemmviz.session.values.picture_size import picture_problem

FIXED = """// ---gemmviz
// title    = "A product of one size"
// entry    = "fixed"
// args     = ["A", "B", "C"]
// block    = ["32", "8"]
// grid     = ["3", "8"]
// requires = ["M == 64", "N == 96", "K == 48"]
// ---
__global__ void fixed(const float *A, const float *B, float *C)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 48; k++) sum += A[row * 48 + k] * B[k * 96 + col];
    C[row * 96 + col] = sum;
}
"""
ON_CPU = """// ---gemmviz
// title    = "A product of one size"
// entry    = "fixed"
// args     = ["A", "B", "C"]
// requires = ["M == 6", "N == 9", "K == 4"]
// ---
void fixed(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 9; j++) {
            float sum = 0;
            for (int k = 0; k < 4; k++) sum += A[i * 4 + k] * B[k * 9 + j];
            C[i * 9 + j] = sum;
        }
}
"""
SIZE = Problem(64, 96, 48)


@pytest.fixture
def fixed(tmp_path):
    path = tmp_path / "fixed.cu"
    path.write_text(FIXED)
    return path


def test_a_recording_takes_the_nearest_size_that_works_and_says_so(fixed, capsys):
    assert run(["record", str(fixed), "--json", "-"]) == 0
    output = capsys.readouterr()
    found = json.loads(output.out)
    assert (found["M"], found["N"], found["K"], found["c_wrong_elements"]) == (64, 96, 48, 0)
    assert "does not take 8 x 8 x 8; using the nearest size that works, 64 x 96 x 48" in output.err


@pytest.mark.parametrize("command", ["record", pytest.param("assembly", marks=needs_tools)])
def test_a_size_that_was_named_is_kept_and_refused(command, fixed, capsys):
    assert run([command, str(fixed), "--size", "64"]) == 2
    assert "the nearest size that works is 64 x 96 x 48" in capsys.readouterr().err


def test_a_kernel_that_takes_the_usual_size_has_it_without_a_word(capsys):
    assert run(["record", "matmul_kernel_naive", "--json", "-"]) == 0
    assert "nearest size" not in capsys.readouterr().err


@needs_tools
def test_machine_code_is_shown_at_a_size_far_below_the_usual_one(fixed, capsys):
    assert run(["assembly", str(fixed), "--counts"]) == 0
    output = capsys.readouterr()
    assert "fixed for" in output.out and "does not take 4096 x 4096 x 4096" in output.err and str(SIZE) in output.err


@pytest.mark.thorough
def test_each_measured_kernel_has_a_size_that_it_takes(tmp_path, capsys):
    path, target = tmp_path / "fixed.c", tmp_path / "rows.json"
    path.write_text(ON_CPU)
    assert run(["bench", str(path), "numpy", "--quick", "--json", str(target)]) == 0
    rows = [(r["kernel"], r["M"], r["N"], r["K"], r["status"]) for r in results.read_results(target)["results"]]
    assert sorted(rows) == [("fixed", 6, 9, 4, "ok"), ("numpy", 512, 512, 512, "ok")]
    assert "does not take 512 x 512 x 512" in capsys.readouterr().err
    assert run(["bench", str(path), "--size", "32", "--quick", "--json", str(target)]) == 0
    assert results.read_results(target)["results"][0]["status"] == "unsupported"


def test_the_window_opens_a_kernel_at_a_size_that_it_takes(fixed):
    kernel = parse(FIXED, fixed)
    assert picture_problem(kernel) == SIZE
    assert picture_problem(kernel, Problem.cube(8)) == Problem.cube(8)


@pytest.mark.parametrize("size", [1, 96, 1024, 2048, 4096])
@pytest.mark.parametrize("usual", [8, 512, 4096])
def test_a_fixed_size_is_found_from_near_and_far(size, usual, fixed):
    kernel = parse(FIXED.replace('"M == 64"', f'"M == {size}"'), fixed)
    assert nearest_size(kernel, Problem.cube(usual), {}) == Problem(size, 96, 48)
