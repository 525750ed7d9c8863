"""``gemmviz compare`` of two kernels, as typed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from listings import HAS_TOOLS, needs_tools

from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.cli import guessed, run
from gemmviz.control import version_course
from gemmviz.engine.messages import Request
from gemmviz.versions.version import Version

TILED = """#include <stdio.h>
#define TILE 8
__global__ void tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads(); // before the next tile
    }
    C[row * n + col] = sum;
}
"""
LOST = TILED.replace("        __syncthreads(); // before the next tile\n", "        // no barrier\n")
MATTER = """// ---gemmviz
// entry    = "tiled"
// args     = ["A", "B", "C", "N"]
// block    = [8, 8]
// grid     = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N == K", "N % 8 == 0"]
// ---
"""


@pytest.fixture
def no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the machine code, which takes longer than the other figures together."""

    def coded(version: Version, wanted: version_course.Wanted) -> Iterator[Request]:
        yield from ()
        return replace(version, no_code="not compiled")

    monkeypatch.setattr(version_course, "_coded", coded)


def files(folder: Path, before: str, after: str) -> list[str]:
    paths = [folder / "a.cu", folder / "b.cu"]
    for path, text in zip(paths, (before, after), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def document(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> dict[str, Any]:
    assert run(["compare", *args, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def figures(found: dict[str, Any], group: str) -> dict[str, tuple[float | None, float | None]]:
    (chosen,) = (one for one in found["groups"] if one["id"] == group)
    return {figure["id"]: (figure["before"], figure["after"]) for figure in chosen["figures"]}


@pytest.mark.usefixtures("no_machine_code")
def test_two_rungs_are_recorded_at_one_size(capsys):
    found = document(capsys, "matmul_kernel_naive", "gputiled", "--set", "TS=8", "--size", "16")
    assert (found["M"], found["N"], found["K"]) == (16, 16, 16)
    assert figures(found, "array.A")["reads"] == (4096, 512)
    assert figures(found, "work")["barriers"] == (0, 4)
    assert found["checked"] and not [change for change in found["findings"] if change["defect"]]


@pytest.mark.usefixtures("no_machine_code")
def test_files_without_front_matter_are_guessed_and_a_wrong_one_is_launched_as_the_other(tmp_path, capsys):
    before, after = files(tmp_path, TILED, LOST)
    assert run(["compare", before, after]) == 1
    output = capsys.readouterr()
    assert f"{before} has no front matter; guessed: tiled" in output.err
    assert f"no guess is right for {after}" in output.err and f"launched like {before}" in output.err
    assert f"+ {after}:9: race" in output.out and "As[0][0]" in output.out
    assert "a.cu and b.cu at" in output.out and f"{before}: tiled" in output.out  # a head has no folders
    row = next(line for line in output.out.splitlines() if "barriers that a thread passes" in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[0] == "*" and cells[-1] == "0.5"
    row = next(line for line in output.out.splitlines() if "│ C " in line)
    assert "right" in row and "WRONG in" in row


@pytest.mark.usefixtures("no_machine_code")
def test_a_defect_that_is_mended_is_gone_and_is_no_regression(tmp_path, capsys):
    before, after = files(tmp_path, MATTER + LOST, MATTER + TILED)
    found = document(capsys, before, after, "--size", "16")
    states = {change["state"] for change in found["findings"] if change["defect"]}
    assert states == {"gone"}


def test_the_same_text_twice_differs_in_nothing(tmp_path, capsys):
    before, after = files(tmp_path, MATTER + TILED, MATTER + TILED)
    found = document(capsys, before, after, "--size", "16")
    assert not any(figure["differs"] for group in found["groups"] for figure in group["figures"])
    assert found["findings"] == []


@pytest.mark.usefixtures("no_machine_code")
def test_a_folder_may_have_a_tilde_in_its_name(tmp_path, capsys):
    folder = tmp_path / "old~1"
    folder.mkdir()
    before, after = files(folder, MATTER + TILED, MATTER + TILED.replace("sum = 0", "sum = 0.0f"))
    assert document(capsys, before, after, "--size", "16")["before"]["name"] == before


@pytest.mark.usefixtures("no_machine_code")
def test_a_kernel_in_a_header_is_compared(tmp_path, capsys):
    before, after = tmp_path / "a.cuh", tmp_path / "b.cu"
    before.write_text(MATTER + TILED)
    after.write_text(MATTER + TILED.replace("[TILE][TILE]", "[TILE][TILE + 1]"))
    found = document(capsys, str(before), str(after), "--size", "16")
    assert figures(found, "array.As")["writes"] == (512, 512)


def test_files_that_nobody_can_launch_are_refused(tmp_path, monkeypatch, capsys):
    def judged(made: Guess) -> Guess:
        return replace(made, right="sum += As" in made.text, settled="judged without recordings")

    monkeypatch.setattr(guessed, "tried", judged)
    wrong = TILED.replace("sum += As", "sum -= As")
    assert run(["compare", *files(tmp_path, wrong, wrong)]) == 1
    assert "no guess is right" in capsys.readouterr().err
    other = wrong.replace("tiled(const float *A", "other(const float *A")
    assert run(["compare", *files(tmp_path, TILED, other)]) == 1
    assert "b.cu has no front matter, and no guess is right" in capsys.readouterr().err


@pytest.mark.usefixtures("no_machine_code")
def test_a_broken_rung_is_compared_with_its_rung(capsys):
    found = document(capsys, "gputiled", "gputiled~no-second-barrier", "--set", "TS=8", code=1)
    assert any(c["state"] == "new" and c["after"]["kind"] == "race" for c in found["findings"])


@pytest.mark.usefixtures("no_machine_code")
def test_a_kernel_that_crashes_leaves_the_rest_of_the_page(tmp_path, capsys):
    crash = TILED.replace("    C[row * n + col] = sum;", "    *(volatile float *)0 = sum;")
    before, after = files(tmp_path, MATTER + TILED, MATTER + crash)
    found = document(capsys, before, after, "--size", "16", code=1)
    assert "work" in found["after"]["missing"] and figures(found, "work")["wrong"] == (0, None)
    assert [c["after"]["kind"] for c in found["findings"] if c["state"] == "new"] == ["crash"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gputiled", "last"], "gputiled is a kernel and last is not: compare two kernels, or two runs"),
        (["gputiled", "run.json"], "gputiled is a kernel and run.json is not"),
        (["gputiled", "none.cu"], "no file none.cu"),
        (["gputiled", "gputiled~nothing"], "nothing"),
        (["gputiled", "cublas"], "cublas is a library call: there is no source to compare"),
        (["gputiled", "gpumult0", "--set", "QX=4"], "none of these kernels has a parameter 'QX'"),
        (["gputiled", "gpumult0", "--m", "32"], "give --m, --n and --k together, or add --size"),
        (["gputiled", "no-such-kernel"], "no-such-kernel is not"),
        (["gputild", "gputled"], "and no kernel has this name: see `gemmviz list`"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_error(arguments, says, capsys):
    assert run(["compare", *arguments]) == 2
    assert says in capsys.readouterr().err


@needs_tools
def test_machine_code_stands_on_the_page(capsys):
    arguments = ["gputiled", "gputiled", "--set", "TS=8", "--size", "16", "--arch", "sm_80"]
    assert run(["compare", *arguments]) == 0
    output = capsys.readouterr().out
    assert "compiled for sm_80" in output and "registers per thread" in output and "LDS per FFMA" in output


@pytest.mark.skipif(HAS_TOOLS, reason="NVRTC and nvdisasm are here")
def test_without_the_tools_a_line_installs_them(capsys):
    assert run(["compare", "gputiled", "gputiled", "--set", "TS=8", "--size", "16"]) == 0
    assert "pip install 'gemmviz[assembly]'" in capsys.readouterr().out


@pytest.mark.usefixtures("no_machine_code")
def test_the_figures_that_differ_are_printed_alone(capsys):
    arguments = ["gputiled", "gputiled~no-second-barrier", "--set", "TS=8", "--size", "16", "--changed"]
    assert run(["compare", *arguments]) == 1
    output = capsys.readouterr().out
    assert "│ * │ barriers that a thread passes" in output and "threads per block" not in output
    assert "A, global memory" not in output


@pytest.mark.usefixtures("no_machine_code")
def test_nothing_is_measured_unless_it_is_asked_for(monkeypatch, capsys):
    def refuse(*_: object) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(version_course, "_measured", refuse)
    assert run(["compare", "hostmult0", "hostmult1~j-i-k", "--size", "4"]) == 0
    assert "speed: not measured; --measure does so on this machine" in capsys.readouterr().out


@pytest.mark.usefixtures("no_machine_code")
def test_a_measurement_is_made_and_kept(capsys):
    found = document(capsys, "hostmult0", "hostmult1", "--size", "4", "--measure-size", "16", "--quick")
    (speed,) = (group for group in found["groups"] if group["id"] == "speed")
    assert speed["origin"] == "measured" and all(value > 0 for value in figures(found, "speed")["gflops"])
    assert run(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["kernels"] == 2
