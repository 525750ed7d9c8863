"""The facts about each step: participants and copies in flight; and the way of recordings from the engine."""

from pathlib import Path

import numpy as np
import pytest
from recordings import rung

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hopper.async_copies import async_copies
from gemmviz.trace.order import timeline
from gemmviz.trace.order.participation import participation
from gemmviz.trace.order.timeline import Order
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

PIPELINED = Path(__file__).parents[2] / "styles" / "pipelined.cu"


@pytest.fixture(scope="module")
def pipelined() -> Recording:
    return record(launch(parse(PIPELINED.read_text(), PIPELINED), Problem(40, 33, 20)), deadline_s=10)


@pytest.mark.parametrize("name", ["gputiled", "matmul_tc_2d_warp_tiling", "hostmult_threads"])
def test_blocks_and_warps_of_each_step_are_counted(name: str) -> None:
    recording = rung(name, Problem(17, 20, 9))
    steps = timeline.build(recording)
    found, log = participation(recording, steps), recording.accesses
    for step in range(0, steps.steps, 3):
        rows = steps.rows(step)
        who = set(zip(log.block[rows].tolist(), (log.thread[rows] // 32).tolist(), strict=True))
        assert (found.blocks[step], found.warps[step]) == (len({block for block, _ in who}), len(who))


@pytest.mark.parametrize("order", ["grid", "block"])
def test_a_copy_is_under_way_from_its_read_to_its_write(pipelined: Recording, order: Order) -> None:
    steps = timeline.build(pipelined, order)
    found, log = async_copies(pipelined, steps), pipelined.accesses
    assert len(found.block) == len(log.copies) and (np.diff(found.block) >= 0).all()
    assert (found.arrived == steps.step_of_row[found.write]).all() and (found.issued < found.arrived).all()
    reads = found.read >= 0
    assert not reads.all() and (found.issued[reads] == steps.step_of_row[found.read[reads]]).all()
    # A copy that reads nothing is under way from the first step of the phase of its issue.
    issue = dict(zip(log.copies[:, 0].tolist(), log.copies[:, 2].tolist(), strict=True))
    phases = np.array([issue[write] for write in found.write.tolist()])
    assert (steps.phase[found.issued] == phases).all()
    middle = int(found.arrived[0]) - 1
    under_way = found.at(middle, int(found.block[0]))
    assert 0 in under_way and (found.block[under_way] == found.block[0]).all()
    assert set(found.at(middle)) >= set(under_way.tolist())
    assert 0 not in found.at(int(found.arrived[0]))
