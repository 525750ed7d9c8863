"""Copies of the copy engine without a map, and the shared memory of the other blocks of a cluster."""

from pathlib import Path

import numpy as np
import nvrtc_alone
import pytest

from gemmviz.catalogue.errors import ConstraintError, KernelFault
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.language.numbers import thousands
from gemmviz.proving.predicting import of
from gemmviz.trace.hazards import find
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

ROWS, HALVES = (Path(__file__).parents[1] / f"inline_ptx/{name}.cu" for name in ("bulk_rows", "cluster_halves"))
KINDS = {"stores": 0, "loads": 1, "copy": 2, "one for both": 3}


def rows(size: Problem) -> Launch:
    return launch(load(ROWS), size)


def halves(kind: int) -> Launch:
    return launch(load(HALVES), Problem(32, 32, 64), {"KIND": kind})


def of_array(recording: Recording, name: str) -> int:
    return next(n for n, array in enumerate(recording.arrays) if array.name == name)


def test_rows_come_and_go_as_boxes_of_one_row() -> None:
    recording = record(rows(Problem(32, 64, 64)), deadline_s=20)
    assert recording.wrong == 0 and not recording.notes
    boxes = recording.boxes
    assert set(zip(boxes.matrix.tolist(), boxes.rows.tolist(), boxes.columns.tolist(), strict=True)) == {
        (0, 1, 32),
        (1, 1, 32),
        (2, 1, 32),
    }
    steps, blocks = 2, 4
    assert np.bincount(boxes.matrix).tolist() == [16 * steps * blocks, 32 * steps * blocks, 16 * blocks]
    for matrix, (width, read) in enumerate(((64, True), (64, True), (64, False))):
        of_it = np.flatnonzero(boxes.matrix == matrix)
        first = (boxes.read if read else boxes.write)[of_it]
        element = recording.accesses.element[first]
        assert (element == boxes.row[of_it] * width + boxes.column[of_it]).all()
        assert (recording.accesses.array[first] == matrix).all()


def test_a_copy_of_whole_rows_is_one_box() -> None:
    recording = record(rows(Problem(16, 32, 64)), deadline_s=20)
    assert recording.wrong == 0 and not recording.notes
    boxes = recording.boxes
    mine = boxes.matrix == 1
    assert boxes.rows[mine].tolist() == [32, 32] and boxes.row[mine].tolist() == [0, 32]
    assert boxes.reads[mine].tolist() == boxes.writes[mine].tolist() == [256, 256]


def changed(old: str, new: str, size: Problem) -> Recording:
    text = ROWS.read_text()
    assert text.count(old) == 1
    return record(launch(parse(text.replace(old, new), Path("mine.cu")), size), deadline_s=20)


def test_a_copy_that_begins_within_a_row_is_divided_where_the_rows_end() -> None:
    old = "if (N == 32) bulk_load(shared_address(Bs), B + k * N, sizeof(Bs), bar);"
    parts = (
        "if (N == 32) { bulk_load(shared_address(Bs), B + k * N, 64, bar);"
        " bulk_load(shared_address(&Bs[0][16]), B + k * N + 16, sizeof(Bs) - 64, bar); }"
    )
    recording = changed(old, parts, Problem(16, 32, 32))
    assert recording.wrong == 0 and not recording.notes
    boxes = recording.boxes
    mine = boxes.matrix == 1
    found = sorted(zip(boxes.row[mine].tolist(), boxes.column[mine].tolist(), boxes.rows[mine].tolist(), strict=True))
    assert found == [(0, 0, 1), (0, 16, 1), (1, 0, 31)]
    log = recording.accesses
    for i in np.flatnonzero(mine):
        of_b, of_s = (log.element[first[i] : first[i] + boxes.reads[i]] for first in (boxes.read, boxes.write))
        assert (of_b == of_s).all() and of_b[0] == boxes.row[i] * 32 + boxes.column[i]


def test_without_a_wait_a_copy_has_not_arrived() -> None:
    assert changed("        wait(bar, phase);\n", "", Problem(16, 32, 32)).wrong > 0


def test_a_store_that_nobody_waits_for_may_come_too_late_for_the_tile() -> None:
    text = ROWS.read_text()
    late = text.replace("\\ncp.async.bulk.wait_group 0;", "").replace(
        '"memory");\n    }\n}', '"memory");\n        Cs[3][3] = -1;\n    }\n}'
    )
    assert late.count("Cs[3][3]") == 1 and "wait_group 0" not in late
    recording = record(launch(parse(late, Path("mine.cu")), Problem(16, 32, 32)), deadline_s=20)
    assert any("Cs[3][3]" in finding.text for finding in find(recording))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("sizeof(As[i]), bar)", "sizeof(As[i]) - 4, bar)", "cp.async.bulk"),
        ("A + (row + i) * K + k, sizeof", "A + (row + i) * K + k + 1, sizeof", "misaligned"),
    ],
)
def test_a_copy_that_the_copy_engine_cannot_make_is_refused(old: str, new: str, named: str) -> None:
    with pytest.raises((ConstraintError, KernelFault), match=named):
        changed(old, new, Problem(16, 32, 32))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_blocks_of_a_cluster_exchange_values(kind: int) -> None:
    recording = record(halves(kind), deadline_s=20)
    assert recording.wrong == 0 and not recording.notes
    assert not find(recording)
    log = recording.accesses
    written = (log.array == of_array(recording, "As")) & log.write
    # Each block has all 16 rows of each of the two tiles, each element once.
    for block in range(4):
        elements = [
            recording.covered(np.flatnonzero(written & (log.block == block)))[1],
        ]
        assert np.bincount(np.concatenate(elements), minlength=512).tolist() == [2] * 512


def test_accesses_to_another_block_are_not_among_the_counted_ones() -> None:
    recording = record(halves(KINDS["stores"]), deadline_s=20)
    remote = np.array([site.remote for site in recording.sites])[recording.accesses.site]
    assert remote.sum() == 8 * 32 * 2 * 4  # a half of each tile of A
    prediction = of(recording)
    # Stores of As and Bs to the own block, by 8 warps: half of As, and both halves of Bs.
    stores = sum(s.cost.requests for s in prediction.spots if (s.space, s.write) == ("shared", True))
    assert stores == 8 * 3 * 2 * 4
    (others,) = [one for one in prediction.unseen if one.kind == "other blocks"]
    assert others.bytes == 4 * remote.sum() and thousands(others.bytes) in others.words


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
@pytest.mark.parametrize("job", [rows(Problem(16, 32, 32)), *(halves(kind) for kind in KINDS.values())], ids=str)
def test_nvrtc_takes_the_same_text(job: Launch) -> None:
    assert nvrtc_alone.errors(job, "sm_90a") == ""
