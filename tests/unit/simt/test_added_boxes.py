"""Blocks that hand a sum on: a flag says that one part is stored, and the copy engine adds the other one."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.errors import KernelFault, KernelTimeout
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find as rung
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.hazards import find
from gemmviz.trace.hopper.tma_activity import tma_activity
from gemmviz.trace.order.story import KINDS
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.thread_state import products
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ADDED, STORED

PARTS = (Path(__file__).parents[1] / "hopper/two_parts.cu").read_text()
ODD = Problem(20, 24, 12)
SMALL = {"BN": 64, "STAGES": 2, "CLUSTER": 1}
SECOND = "stored[tile] = 0;\n        __threadfence();\n        global_read();\n        tma_add(C, left, top, c);"
WAIT, WRITTEN, SET = "while (!stored[tile]) {}", "tma_store_wait_written();", "stored[tile] = 1;"
PLAIN = """
    if (second && !(threadIdx.y || threadIdx.x)) {
        while (!stored[tile]) {}
        stored[tile] = 0;
        __threadfence();
    }
    __syncthreads();
    if (i < M && j < N) C[i * N + j] = second ? C[i * N + j] + sum : sum;
    __threadfence();
    __syncthreads();
    if (!second && !(threadIdx.y || threadIdx.x)) stored[tile] = 1;
}
"""


def changed(*edits: tuple[str, str]) -> str:
    text = PARTS
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def recorded(text: str, problem: Problem = ODD) -> Recording:
    return record(launch(parse(text, Path("parts.cu")), problem), deadline_s=20)


def played(recording: Recording) -> Playable:
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


@pytest.fixture(scope="module")
def parts() -> Recording:
    return recorded(PARTS)


@pytest.fixture(scope="module")
def shares() -> Recording:
    """Three tiles for two blocks: the one in the middle is cut."""
    return record(launch(rung("stream_k_tma", ladder()), Problem(384, 64, 136), SMALL | {"BLOCKS": 2}))


def test_a_tile_that_nothing_wrote_can_be_stored() -> None:
    """Its owner is the thread that starts the copy: no other one wrote a value."""
    recording = recorded(changed(("c[threadIdx.y][threadIdx.x] = sum;", "")))
    assert recording.wrong > 0
    assert {part.shape for part in recording.owners} == {(ODD.m, ODD.n)}


def test_sums_are_added_to_what_is_there_and_nothing_is_found(parts: Recording) -> None:
    assert parts.wrong == 0 and find(parts) == []
    boxes, log = parts.boxes, parts.accesses
    assert sorted(set(boxes.store)) == [STORED, ADDED]
    for i in np.flatnonzero(boxes.store == ADDED):
        count = boxes.writes[i]
        (old, new), (_, _, mine) = (
            [parts.covered(np.arange(first, first + count)) for first in (boxes.old[i], boxes.write[i])],
            parts.covered(np.arange(boxes.read[i], boxes.read[i] + boxes.reads[i])),
        )
        assert (old[1] == new[1]).all() and set(log.array[boxes.old[i] : boxes.write[i]]) == {2}
        assert (old[2] + mine == new[2]).all() and (mine != 0).any()


def test_a_box_that_is_added_is_read_there_in_one_step_and_written_in_the_next(parts: Recording) -> None:
    playable = played(parts)
    step, boxes = playable.timeline.step_of_row, parts.boxes
    for i in np.flatnonzero(boxes.store == ADDED):
        for first in (boxes.old[i], boxes.write[i]):
            rows = np.arange(first, first + boxes.writes[i])
            width = parts.accesses.bytes[rows]
            assert all(len(set(step[rows[width == size]])) == 1 for size in set(width.tolist()))
        block, old, new = int(boxes.block[i]), int(step[boxes.old[i]]), int(step[boxes.write[i]])
        assert [(box.write, box.added) for box in tma_activity(playable, old, block)] == [(True, old)]
        assert [(box.write, box.arrived) for box in tma_activity(playable, new, block)] == [(True, new)]
        assert [KINDS[playable.story.kinds[at]] for at in (old, new)] == ["reload", "store"]


# The change of the text, the kind of the finding, a part of its line, and a part of its text.
MISTAKES = {
    "no wait": ([(WAIT, "")], "race", "tma_store(C", "there is no happens-before order between two blocks"),
    "no wait for the matrix": ([(WRITTEN, "tma_store_wait<0>();")], "race", "tma_store(C", WRITTEN[:-3]),
    "set too early": ([(SET, ""), (WRITTEN, SET + WRITTEN)], "race", "tma_store(C", WRITTEN[:-3]),
    "no fence before": ([("__threadfence();\n        stored", "stored")], "race", "tma_store(C", "no __threadfence()"),
    "no fence behind": ([(SECOND, SECOND.replace("__threadfence();", ""))], "race", "tma_store(C", "after line"),
    "no fence for the engine": ([("global_read();", "")], "race", "tma_store(C", "no global_read()"),
    "waited too late": (
        [(WAIT, ""), (SECOND, SECOND.replace("stored[tile] = 0;", "") + WAIT)],
        "race",
        "tma_store(C",
        "is not waited for before this",
    ),
    "stored twice": ([("tma_add", "tma_store")], "element of C written by two threads", "tma_store(C", "by thread"),
    "added twice": ([("tma_store(C", "tma_add(C")], "read of memory nobody wrote", "tma_add(C", "is uninitialised"),
}


@pytest.mark.sweep("no wait", "set too early", "no fence before", "stored twice")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_handing_a_sum_on_is_named(name: str) -> None:
    edits, kind, needle, text = MISTAKES[name]
    recording = recorded(changed(*edits))
    lines = recording.text.splitlines()
    findings = find(recording)
    assert [f.kind for f in findings] == [kind]
    assert needle in lines[findings[0].line - 1] and text in findings[0].text, findings[0]


def test_a_flag_that_nobody_sets_is_named_at_once() -> None:
    with pytest.raises(KernelTimeout, match=r"parts\.cu:\d+: thread \(0, 0, 0\) of block \(1, 0, 0\) waits for a flag"):
        recorded(changed((SET, "")))


def test_of_a_part_of_the_grid_what_is_handed_on_is_not_called_wrong() -> None:
    job = launch(parse(PARTS, Path("parts.cu")), ODD)
    for blocks in ((0, 1), (0, 3)):
        recording = record(job, blocks=blocks)
        assert recording.wrong == 0 and find(recording) == []
    with pytest.raises(KernelTimeout, match=r"waits for an action of an earlier block: record from the first block on"):
        record(job, blocks=(1, 2))
    broken = launch(parse(changed((" B[k * N + j] : 0", " B[k * N + i] : 0")), Path("parts.cu")), ODD)
    assert record(broken, blocks=(0, 3)).wrong > 0


def test_a_box_of_halves_is_not_added() -> None:
    half = changed(
        ("// capability", '// dtype = "float16"\n// accumulate = "float16"\n// capability'),
        ("#include <gemmviz", "#include <cuda_fp16.h>\n#include <gemmviz"),
        ("const float *", "const half *"),
        ("float c[16][16]", "half c[16][16]"),
        ("N % 4", "N % 8"),
        ("? A[i * K + k] * B[k * N + j] : 0", "? (float)A[i * K + k] * (float)B[k * N + j] : 0"),
    )
    with pytest.raises(KernelFault, match="tma_add adds floats, and C has elements of another type"):
        recorded(half)


def test_a_flag_may_be_set_and_read_by_atomic_operations() -> None:
    atomic = [("volatile int", "int"), (SET, "atomicExch(&stored[tile], 1);"), ("stored[tile] = 0;", "")]
    recording = recorded(changed(*atomic, (WAIT, "while (!atomicExch(&stored[tile], 0)) {}")))
    assert recording.wrong == 0 and find(recording) == []
    assert [f.kind for f in find(recorded(changed(*atomic, (WAIT, ""))))] == ["race"]


def test_threads_that_add_to_what_another_block_has_stored_wait_for_its_flag() -> None:
    start = PARTS.index("    c[threadIdx.y]")
    plain = PARTS[:start] + PLAIN.lstrip("\n")
    plain = plain.replace('"C.map"', '"C"').replace("const __grid_constant__ tensor_map C", "float *C")
    plain = "\n".join(line for line in plain.splitlines() if "// maps" not in line)
    recording = recorded(plain)
    assert recording.wrong == 0 and find(recording) == []
    for gone in ("while (!stored[tile]) {}", "__threadfence();\n    __syncthreads();\n    if (!second"):
        assert gone in plain
        findings = find(recorded(plain.replace(gone, gone[gone.index(";") + 1 :] if ";" in gone else "")))
        assert {f.kind for f in findings} == {"race"}


def test_a_tile_that_is_cut_is_right_and_nothing_is_found(shares: Recording) -> None:
    assert shares.wrong == 0 and find(shares) == []
    boxes = shares.boxes
    assert set(boxes.row[boxes.store == ADDED]) == {128, 192}
    # In the order of the steps, too, C ends as it is: what is added to was stored before.
    playable = played(shares)
    assert (playable.history.values(2, playable.timeline.steps - 1).reshape(shares.c.shape) == shares.c).all()


@pytest.mark.sweep("(64*-2-False-stream_k_tma", "(200*-stream_k_tma")
@pytest.mark.parametrize("name", ["stream_k_tma", "stream_k_tma_bf16"])
@pytest.mark.parametrize(
    ("size", "blocks", "cluster", "cut"),
    [
        ((520, 72, 72), 4, 1, True),
        ((600, 128, 136), 4, 2, True),
        ((200, 64, 72), 2, 1, False),
        ((64, 8, 8), 4, 2, False),
    ],
    ids=str,
)
def test_stream_k_tma_is_right_cut_or_not(
    name: str, size: tuple[int, int, int], blocks: int, cluster: int, cut: bool
) -> None:
    params = {"BN": 64 * cluster, "STAGES": 2, "BLOCKS": blocks, "CLUSTER": cluster}
    recording = record(launch(rung(name, ladder()), Problem(*size), params))
    assert recording.wrong == 0 and find(recording) == []
    assert (recording.boxes.store == ADDED).any() == cut


def test_an_element_that_was_added_to_was_fed_by_both_blocks(shares: Recording) -> None:
    playable = played(shares)
    for row, column in ((130, 10), (200, 63), (3, 5), (383, 40)):
        fed = playable.provenance.operand_paths(row, column)
        assert fed.covered(0) == fed.covered(1) == shares.k and fed.gives_stored and not fed.rest
        both = set(shares.accesses.block[fed.use].tolist())
        assert both == ({0, 1} if 128 <= row < 256 else {row // 256})
        owner = playable.provenance.owner(row, column)
        assert owner is not None and owner.block == max(both)
        assert not products(playable, owner.block, owner.thread).stored_otherwise(shares).any()
