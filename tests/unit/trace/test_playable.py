"""A recording that is ready to be played: the progress of its blocks, and the requests of its warps."""

import pytest
from recordings import small_tiled

from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin import staging
from gemmviz.trace.playable import Playable


@pytest.fixture
def playable() -> Playable:
    return small_tiled()


def test_blocks_progress_together_or_one_after_another(playable):
    last = playable.timeline.steps - 1
    assert (playable.progress(last) == 1).all()
    halfway = playable.progress(last // 2)
    assert len(set(halfway.tolist())) == 1 and 0 < halfway[0] < 1
    by_block = build(playable.recording, "block")
    alone = Playable(playable.recording, by_block, measure(playable.recording, by_block))
    first, *others = alone.progress(by_block.steps // 4 - 1)
    assert first == 1 and not any(others)


def test_the_units_of_all_requests_add_up_to_the_traffic(playable):
    timeline, log = playable.timeline, playable.recording.accesses
    added = [0.0] * len(playable.recording.arrays)
    for step in range(timeline.steps):
        # One warp per block: as many requests as blocks take part.
        requests = len(set(log.block[timeline.rows(step)].tolist()))
        added[int(timeline.array[step])] += playable.units_per_request(step) * requests
    assert added == [a.read_units + a.write_units for a in playable.traffic.arrays]


def test_each_element_of_c_knows_the_step_that_writes_it_first(playable):
    timeline, log = playable.timeline, playable.recording.accesses
    c = 2
    assert playable.first_write.shape == (playable.recording.arrays[c].size,)
    for element, step in enumerate(playable.first_write.tolist()):
        assert timeline.array[step] == c and timeline.write[step]
        assert element in log.element[timeline.rows(step)].tolist()
    assert playable.first_writes.tolist() == sorted(playable.first_write.tolist())


def test_the_request_of_a_warp_holds_its_lanes_only(playable):
    log = playable.recording.accesses
    rows = playable.warp_rows(0, block=3, warp=0)
    assert set(log.block[rows].tolist()) == {3} and len(rows) == 16
    assert not len(playable.warp_rows(0, block=3, warp=1))


@pytest.mark.parametrize("part", [1, 5, 1 << 20])
def test_tiles_know_the_matrices_that_feed_them(playable, monkeypatch, part):
    monkeypatch.setattr(staging, "ROWS_AT_ONCE", part)
    names = [array.name for array in playable.recording.arrays]
    found = staging.feeding(playable.recording, playable.staged)
    assert {names[matrix]: [names[i] for i in tiles] for matrix, tiles in found.items()} == {"A": ["As"], "B": ["Bs"]}


def test_each_row_has_the_step_that_executes_it(playable):
    timeline = playable.timeline
    for step in range(timeline.steps):
        assert (timeline.step_of_row[timeline.rows(step)] == step).all()
