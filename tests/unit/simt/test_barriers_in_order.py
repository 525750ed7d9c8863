"""Barriers that are used before everybody knows them, or that more arrive at than they count: what is found."""

from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import Finding, find
from gemmviz.trace.recording.record import record

RING = (Path(__file__).parents[1] / "styles/wgmma_ring.cu").read_text()
MEET = "if (CLUSTER > 1) cluster_meet();\n    else __syncthreads();"
WAIT_EMPTY = "barrier_wait(empty[stage], parity ^ 1);"


def found(old: str, new: str, cluster: int) -> tuple[list[Finding], list[str]]:
    """Return what is found where `old` is changed to `new`, and the lines of the kernel."""
    text = RING.replace(old, new, 1)
    assert text != RING
    params = {"CLUSTER": cluster, "BLOCKS": 1}
    recording = record(launch(parse(text, Path("ring.cu")), Problem(128, 128, 320), params), deadline_s=20)
    return find(recording), text.splitlines()


def test_a_block_has_to_meet_before_others_use_what_one_of_its_threads_initialises() -> None:
    findings, lines = found(MEET, ";", 1)
    early = [f for f in findings if "the threads of the block must synchronise in between" in f.text]
    assert [f.kind for f in early] == ["race"]
    assert "barrier_wait(full[stage]" in lines[early[0].line - 1]
    initialised = next(n for n, line in enumerate(lines, 1) if "barrier_init(full" in line)
    assert f"thread (128, 0, 0) of block (0, 0, 0) uses full[0], but does not wait until line {initialised} " in (
        early[0].text
    )


def test_a_meeting_of_the_block_does_not_do_for_the_barriers_of_another_block() -> None:
    findings, lines = found(MEET, "__syncthreads();", 2)
    early = [f for f in findings if "the blocks of the cluster must synchronise in between" in f.text]
    assert {f.kind for f in early} == {"race"} == {f.kind for f in findings}
    used = "\n".join(lines[f.line - 1] for f in early)
    assert "tma_load_multicast(to" in used and "barrier_arrive_at(empty" in used


def test_a_stage_that_two_blocks_fill_without_waiting_is_a_race() -> None:
    # Both announce bytes for a phase that lacks what the other has yet to send: a run that ended there would show less.
    findings, lines = found(WAIT_EMPTY, "", 2)
    raced = [lines[f.line - 1] for f in findings if f.kind == "race" and "before the copy is waited for" in f.text]
    assert any("tma_load(As" in line for line in raced)
    assert any("tma_load_multicast(to" in line for line in raced)


def test_a_block_that_leaves_while_others_still_arrive_at_its_barriers_is_a_race() -> None:
    last = RING.rindex("if (CLUSTER > 1) cluster_meet();")
    findings, lines = found(RING[last:], "}\n", 2)
    assert [f.kind for f in findings] == ["race"] and "that block may have left the kernel already" in findings[0].text
    assert "barrier_arrive_at(empty" in lines[findings[0].line - 1]


def test_a_barrier_is_initialised_by_one_thread() -> None:
    findings, lines = found("if (threadIdx.x == 0) {", "if (threadIdx.x < 2) {", 1)
    assert {f.kind for f in findings} == {"race"}
    assert {lines[f.line - 1].split("(")[0].split()[-1] for f in findings} == {"barrier_init"}
    assert findings[0].text.startswith(
        "thread (1, 0, 0) of block (0, 0, 0) initialises full[0], and thread (0, 0, 0) of block (0, 0, 0) does the same"
    )
