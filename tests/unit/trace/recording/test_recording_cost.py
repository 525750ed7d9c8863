"""The cost of a recording, estimated beforehand, and recordings of some blocks."""

import json
from pathlib import Path

import pytest

from gemmviz.catalogue.errors import ConstraintError, KernelTimeout
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run
from gemmviz.language.numbers import THIN
from gemmviz.trace import hazards
from gemmviz.trace.recording import recording_cost
from gemmviz.trace.recording.record import record

RUNGS = [k for k in ladder() if k.recordable]


@pytest.mark.parametrize(
    ("name", "problem", "params"),
    [
        ("hostmult0", Problem(30, 40, 20), {}),
        ("gpumult0", Problem(70, 40, 33), {"BX": 16, "BY": 8}),
        ("gputiled", Problem(65, 70, 66), {"TS": 16}),
        ("matmul_tc", Problem(64, 96, 32), {}),
        (
            "fused_panels",
            Problem(128, 128, 128),
            {"BM": 64, "BN": 64, "STAGES": 2, "BLOCKS": 2, "CLUSTER": 1, "GPUS": 2},
        ),
        ("cluster", Problem(256, 256, 128), {"BN": 128, "STAGES": 2, "BLOCKS": 4}),
    ],
)
def test_where_all_kinds_of_blocks_are_counted_the_recording_is_as_long_as_said(
    name: str, problem: Problem, params: dict[str, int]
) -> None:
    job = launch(find(name, RUNGS), problem, params)
    expected = recording_cost.expect(job)
    log = record(job).accesses
    assert expected.exact
    assert expected.accesses == len(log)
    columns = (
        log.site,
        log.array,
        log.write,
        log.bytes,
        log.element,
        log.value,
        log.block,
        log.thread,
        log.phase,
        log.turn,
    )
    assert expected.bytes == sum(column.nbytes for column in columns) + log.more.nbytes


def test_a_long_sum_is_estimated_from_shorter_ones() -> None:
    job = launch(find("gputiled", RUNGS), Problem(32, 48, 4000), {"TS": 16})
    expected = recording_cost.expect(job)
    assert not expected.exact
    assert expected.accesses == len(record(job).accesses)


def test_the_cost_of_a_launch_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_cost, "_DEADLINE_S", 60.0)  # on a busy machine a count takes longer
    expected = recording_cost.expect(launch(find("gputiled", RUNGS), Problem.cube(4096), {"TS": 16}))
    # A thread per element of C; per 16 of K it loads two elements, stores two tiles' worth, and reads 32; then C.
    assert expected.accesses == 4096**2 * (256 * 36 + 1)
    assert str(expected).startswith(f"about 155 billion accesses, 3{THIN}5")
    loop = recording_cost.expect(launch(find("hostmult1", RUNGS), Problem.cube(2048)))
    assert loop.accesses == pytest.approx(2 * 2048**3, rel=0.01)
    assert not loop.exact


def test_the_estimate_for_some_blocks_is_right() -> None:
    job = launch(find("gputiled", RUNGS), Problem(65, 70, 66), {"TS": 16})
    for blocks in ((0, 3), (3, 11), (24, 25)):
        assert recording_cost.expect(job, blocks).accesses == len(record(job, blocks=blocks).accesses)


def test_blocks_of_a_cluster_are_counted_once() -> None:
    job = launch(find("cluster", RUNGS), Problem(256, 256, 128), {"BN": 128, "STAGES": 2, "BLOCKS": 4})
    assert job.cluster[0] == 2
    for blocks in ((0, 1), (1, 3), (2, 4)):
        assert recording_cost.expect(job, blocks).accesses == len(record(job, blocks=blocks).accesses)
    of_a_cluster = recording_cost.expect(job, (0, 2)).accesses
    assert recording_cost.most_blocks(job, of_a_cluster - 1) == 0
    assert recording_cost.most_blocks(job, of_a_cluster) == 2
    assert recording_cost.most_blocks(job, 2 * of_a_cluster) == 4


def test_of_a_launch_that_is_too_large_the_largest_scope_is_named() -> None:
    job = launch(find("gputiled", RUNGS), Problem.cube(96), {"TS": 16})
    limit = 300_000
    size, blocks = recording_cost.largest_size(job, limit), recording_cost.most_blocks(job, limit)
    assert size == Problem.cube(48)  # with 49 there is a row and a column of tiles more
    assert len(record(launch(job.kernel, size, job.params)).accesses) <= limit
    assert len(record(job, blocks=(0, blocks), capacity=limit).accesses) <= limit
    with pytest.raises(ConstraintError, match=rf"M = N = K = 48 should fit.* first {blocks} of its 36 blocks"):
        record(job, blocks=(0, blocks + 1), capacity=limit)


@pytest.mark.parametrize(("size", "some"), [(512, ", and so should its first block"), (65_536, "")])
def test_the_largest_scope_is_named_even_where_the_matrices_alone_are_too_large(size: int, some: str) -> None:
    job = launch(find("gputiled", RUNGS), Problem.cube(size), {"TS": 16})
    with pytest.raises(ConstraintError, match=rf"A, B and C have .* elements: M = N = K = 48 should fit{some}"):
        record(job, capacity=300_000)


def test_an_endless_kernel_has_no_cost() -> None:
    front = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C", "N"]\n// block = ["8"]\n// grid = ["4"]\n// ---\n'
    text = "__global__ void k(float *A, float *B, volatile float *C, int N) { for (;;) C[0] = 1; }\n"
    job = launch(parse(front + text, Path("mine.cu")), Problem.cube(8))
    with pytest.raises(KernelTimeout, match="does it end"):
        recording_cost.expect(job)
    with pytest.raises(ConstraintError, match="does it end"):
        record(job, capacity=1000)


def test_elements_of_other_blocks_are_neither_wrong_nor_missing() -> None:
    job = launch(find("gputiled", RUNGS), Problem.cube(32), {"TS": 8})
    recording = record(job, blocks=(5, 7))
    assert recording.scope == (5, 7)
    assert set(recording.accesses.block) == {5, 6}
    assert recording.wrong == 0
    assert hazards.find(recording) == []
    # Their own writes still count.
    wrong = parse(job.kernel.text.replace("] = sum", "] = 7 + sum"), job.kernel.path)
    assert record(launch(wrong, job.problem, job.params), blocks=(5, 7)).wrong == 2 * 64


@pytest.mark.parametrize("blocks", [(0, 17), (16, 17), (3, 3)])
def test_blocks_that_the_grid_does_not_have_are_refused(blocks: tuple[int, int]) -> None:
    with pytest.raises(ConstraintError, match=r"has the blocks 0 to 15"):
        record(launch(find("gputiled", RUNGS), Problem.cube(32), {"TS": 8}), blocks=blocks)


def test_the_command_records_some_blocks_and_refuses_an_invalid_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "gputiled", "--size", "32", "--set", "TS=8", "--blocks", "1:3", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["recorded_blocks"] == [1, 3]
    # Two blocks of 64 threads: 4 tiles of 2 loads, 2 stores and 16 reads of shared memory, and C.
    assert document["accesses"] == 2 * 64 * (4 * 20 + 1)
    assert run(["record", "gputiled", "--size", "32", "--set", "TS=8", "--blocks", "1:30"]) == 2
    assert "has the blocks 0 to 15" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(["record", "gputiled", "--blocks", "3:1"])
    assert "is not a range of blocks" in capsys.readouterr().err
