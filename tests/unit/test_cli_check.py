"""`gemmviz check` as a person and as a script would use it."""

import json
from pathlib import Path

import pytest

from gemmviz.cli import run


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_a_kernel_that_is_right_passes_and_its_waste_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "matmul_kernel_naive"]) == 0
    out = capsys.readouterr().out
    assert "no defect found; the above costs time only" in out
    assert "22_matmul_kernel_naive.cu:21: uncoalesced: A is read in 32 sectors per request, 8 times as many" in out


def test_findings_make_the_exit_code_1_and_come_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "mm_printed", "--size", "8", "--set", "BLOCK_SIZE=8", "--json", "-"]) == 1
    size = document(capsys)["sizes"][0]
    assert (size["M"], [f["kind"] for f in size["findings"]]) == (8, ["read of memory nobody wrote"])


def test_a_crash_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "crash.cu"
    source.write_text(
        '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// block = [1]\n// grid = [1]\n// ---\n'
        "__global__ void k(const float *A, const float *B, float *C)\n{\n    *(volatile float *)0 = 1;\n}\n"
    )
    assert run(["check", str(source), "--size", "4"]) == 1
    assert "crash.cu:9: crash: Segmentation fault in thread (0, 0, 0)" in capsys.readouterr().out


def test_a_size_that_the_kernel_does_not_take_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "matmul_tc", "--size", "20"]) == 2
    assert "nearest size that works is 16 x 16 x 16" in capsys.readouterr().err
