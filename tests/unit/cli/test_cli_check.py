"""`gemmviz check` as a person and as a script would use it."""

import json
import re
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import KernelTimeout
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.plan import plan
from gemmviz.cli import run
from gemmviz.trace.recording.record import record


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_a_kernel_that_is_right_passes_and_its_waste_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "matmul_kernel_naive"]) == 0
    out = capsys.readouterr().out
    assert "no defect found; the above costs time only" in out
    assert "22_matmul_kernel_naive.cu:23: uncoalesced: a warp's read of A moves 32 sectors where 4 would do" in out


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


def test_a_parameter_that_no_size_suits_is_named_with_its_condition(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "gputiled", "--set", "TS=33"]) == 2
    output = capsys.readouterr().err
    assert "gputiled requires TS <= 32" in output
    assert "--size" not in output


def test_operands_that_are_paired_wrongly_are_named_with_the_store_and_their_last_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = find("gputiled", ladder()).text.replace("As[ty][k]", "As[ty][k ^ 1]")
    use = next(n for n, line in enumerate(text.splitlines(), 1) if "k ^ 1" in line)
    mutant = tmp_path / "mutant.cu"
    mutant.write_text(text)
    assert run(["check", str(mutant), "--size", "32", "--set", "TS=16"]) == 1
    assert f"; the last use of an operand is in line {use}\n" in capsys.readouterr().out


def test_by_default_each_offered_value_is_checked_and_a_defect_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiled = find("gputiled", ladder())
    mutant = tmp_path / "mutant.cu"
    mutant.write_text(tiled.text.replace("        __syncthreads();\n", "\n", 1))
    assert run(["check", str(mutant)]) == 1
    out = capsys.readouterr().out
    assert "gputiled<16> at 32 x 32 x 32" in out
    assert "gputiled<32> at 37 x 45 x 41: nothing but the above" in out
    assert out.count(": race: ") == 2
    assert "also with all others below" in out

    assert run(["check", str(mutant), "--set", "TS=8", "--m", "9", "--json", "-"]) == 1
    sizes = document(capsys)["sizes"]
    assert [(s["entry"], s["M"], s["N"], s["K"]) for s in sizes] == [("gputiled<8>", 9, 32, 32)]


def test_a_cost_of_narrow_blocks_is_not_said_of_wider_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "mm_bounds"]) == 0
    remarks = [line for line in capsys.readouterr().out.splitlines() if "only because blocks are" in line]
    texts = [re.search(r"blocks are (\d+) wide here(.*)", line) for line in remarks]
    assert {found[1] for found in texts if found} == {"2", "8", "16"}
    for found in texts:
        assert found and set(re.findall(r"BLOCK_SIZE=(\d+)", found[2])) <= {found[1]}


def test_a_value_that_only_goes_wrong_away_from_the_default_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mutant = tmp_path / "mutant.cu"
    mutant.write_text(find("gputiled", ladder()).text.replace("float sum = 0", "float sum = TS == 8"))
    assert run(["check", str(mutant)]) == 1
    out = capsys.readouterr().out
    assert "gputiled<8> at 37 x 45 x 41\nmutant.cu:37: wrong result: C[" in out
    assert "as line 37 stores it; 1\u202f665 elements of C are not A x B" in out


@pytest.mark.sweep
@pytest.mark.parametrize("rung", [k for k in ladder() if k.recordable and not k.exhibit], ids=lambda k: k.name)
def test_the_second_size_tells_m_n_and_k_apart(rung: Kernel) -> None:
    second = plan(rung, [], {}).launches[1][0]
    assert len({second.m, second.n, second.k}) == 3


def test_the_original_is_checked_where_its_declared_changes_show() -> None:
    rung = find("stream_k_tma", ladder())
    launches, cut = plan(rung, [], {}).launches, Problem(384, 64, 128)
    assert [params["BLOCKS"] for size, params in launches if size == cut] == [2]
    assert all(launches.count(case) == 1 for case in launches)
    # A value that a change needs is offered, too.
    launches = plan(find("simd_threads", ladder()), [], {}).launches
    assert all(launches.count(case) == 1 for case in launches)
    # With explicit sizes or parameters, only these are checked.
    assert cut not in [size for size, _ in plan(rung, [Problem.cube(64)], {}).launches]
    assert cut not in [size for size, _ in plan(rung, [], {"BN": 64}).launches]


def test_an_expression_that_fails_at_one_size_leaves_the_report_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mutant = tmp_path / "mutant.cu"
    mutant.write_text(find("gputiled", ladder()).text.replace("ceil(N / TS)", "N / TS"))
    assert run(["check", str(mutant), "--set", "TS=16"]) == 1
    out = capsys.readouterr().out
    assert "gputiled<16> at 32 x 32 x 32: no defect found" in out
    assert "mutant [TS=16] at 37 x 45 x 41\nmutant.cu:12: front matter: 'N / TS' is 2.8125" in out


def test_a_kernel_that_does_not_end_is_asked_about(tmp_path: Path) -> None:
    endless = find("gputiled", ladder()).text.replace(
        "float sum = 0;", "float sum = 0; for (;;) *(volatile float *)C = 1;"
    )
    job = launch(parse(endless, tmp_path / "k.cu"), Problem.cube(8))
    with pytest.raises(KernelTimeout, match="does it end"):
        record(job, deadline_s=0.4)  # 4 s by the clock, for a busy machine; in 1 s it makes too many accesses
