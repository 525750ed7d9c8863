"""The figures of the lenses on coalescing and banks, against counts over the recorded accesses one by one."""

from collections import defaultdict

import numpy as np
import pytest
from lens_recordings import playable, rows_of

from gemmviz.trace.lenses.bank_use import bank_use
from gemmviz.trace.lenses.sector_use import lane_distance, sector_use
from gemmviz.trace.lenses.warp_requests import warp_requests

GLOBAL = [("matmul_kernel_naive", 20, 17, 5), ("gpumult1", 17, 40, 4), ("vectorised", 64, 64, 32), ("mm", 8, 8, 4)]
SHARED = [("RR", 20, 17, 9), ("CC", 20, 17, 9), ("conflict_free", 64, 64, 32), ("mma_swizzle", 64, 64, 64)]


def requests(shown, space, most=60):
    """Yield (step, block, warp, request), spread over a recording."""
    recording, timeline = shown.recording, shown.timeline
    kind = np.array([a.space == space for a in recording.arrays])
    steps = np.flatnonzero(kind[timeline.array])
    for step in steps[:: max(len(steps) // most, 1)].tolist():
        log = recording.accesses
        row = int(timeline.rows(step)[-1])
        block, warp = int(log.block[row]), int(log.thread[row]) // 32
        found = warp_requests(shown).shown(shown, step, block, warp, space)
        assert found is not None and found.step == step
        yield step, block, warp, found


@pytest.mark.parametrize("which", GLOBAL)
def test_sectors_and_used_bytes_are_those_of_the_accesses(which):
    shown = playable(*which)
    log = shown.recording.accesses
    for step, block, warp, asked in requests(shown, "global"):
        itemsize = shown.recording.arrays[asked.array].itemsize
        use = sector_use(asked, itemsize)
        touched = defaultdict(set)
        for row in rows_of(shown, step, block, warp):
            first = int(log.element[row]) * itemsize
            for byte in range(first, first + int(log.bytes[row])):
                touched[byte // 32].add(byte % 32)
        assert use.sectors.tolist() == sorted(touched) and len(touched) == asked.units
        assert use.used_bytes == sum(map(len, touched.values())) and use.moved_bytes == 32 * len(touched)
        for place, sector in enumerate(use.sectors.tolist()):
            assert set(np.flatnonzero(use.asked[place]).tolist()) == touched[sector]
        # Each lane's line ends above the sector that it asks for.
        at = use.sectors[use.middle.astype(int)] * 32 + use.middle % 1 * 32
        assert (at == use.start + asked.width / 2).all()


@pytest.mark.parametrize("which", SHARED)
def test_each_bank_delivers_one_word_per_wavefront(which):
    shown = playable(*which)
    log = shown.recording.accesses
    for step, block, warp, asked in requests(shown, "shared"):
        itemsize = shown.recording.arrays[asked.array].itemsize
        use = bank_use(asked, itemsize)
        wanted = set()
        for row in rows_of(shown, step, block, warp):
            first, lane = int(log.element[row]) * itemsize, int(log.thread[row]) % 32
            wanted |= {(lane, byte // 4) for byte in range(first, first + int(log.bytes[row]))}
        pairs = list(zip(use.bank.tolist(), use.served.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)
        assert set(use.word.tolist()) == {word for _, word in wanted}
        assert len(use.late) == asked.units == use.served.max() + 1
        assert use.late.sum() == asked.units - asked.least
        assert use.lanes.sum() == len(wanted)
        assert {lane for w in range(asked.units) for lane in use.lanes_of(w)} == {lane for lane, _ in wanted}
        if asked.width <= 4:
            in_bank = defaultdict(set)
            for _, word in wanted:
                in_bank[word % 32].add(word)
            assert asked.units == use.ways == max(map(len, in_bank.values()))


def test_the_columns_of_a_tile_meet_in_two_banks():
    shown = playable("RR", 32, 32, 32)
    tile = shown.recording.params["BLOCK"]
    step = next(
        s for s in range(shown.timeline.steps) if "sum +=" in shown.recording.text.splitlines()[shown.line(s) - 1]
    )
    use = bank_use(warp_requests(shown).shown(shown, step, 0, 0, "shared"), 4)
    assert use.ways == tile // 2 and len(set(use.bank.tolist())) == 2 and use.late.tolist() == [False] + [True] * 7


def test_a_step_without_a_request_shows_the_last_one_or_the_next_one():
    shown = playable("gputiled", 32, 32, 32)
    found, timeline = warp_requests(shown), shown.timeline
    spaces = {"global": [], "shared": []}
    for step in range(timeline.steps):
        if rows_of(shown, step, 1, 0):
            spaces[shown.recording.arrays[timeline.array[step]].space].append(step)
    for space, steps in spaces.items():
        for step in range(timeline.steps):
            before = [s for s in steps if s <= step]
            asked = found.shown(shown, step, 1, 0, space)
            assert asked.step == (before[-1] if before else steps[0])
            assert asked.space == space and (asked.block, asked.warp) == (1, 0)
    c = [s for s in spaces["global"] if timeline.write[s]]
    assert found.shown(shown, 0, 1, 0, "global", 2).step == c[0]
    assert found.shown(shown, 0, 1, 0, "shared", 2) is None


def test_boxes_and_products_are_no_requests_of_a_warp():
    shown = playable("wgmma", 128, 128, 128)
    found = warp_requests(shown)
    assert found.any("global") and not found.any("shared")  # C alone is written by threads
    steps = range(0, shown.timeline.steps, 7)
    assert {found.shown(shown, step, 0, 0, "global").write for step in steps} == {True}


def test_a_cpu_has_no_requests():
    found = warp_requests(playable("blocked", 8, 8, 8))
    assert not found.any("global") and not found.any("shared")


def test_the_distance_is_that_of_most_neighbouring_lanes():
    lanes = np.arange(32)
    assert lane_distance(lanes, lanes * 12) == 12
    assert lane_distance(lanes, lanes % 16 * 64 + lanes // 16) == 64  # one pair of 31 differs
    assert lane_distance(lanes, lanes % 2 * 100 + lanes) is None
    assert lane_distance(np.array([0, 2, 4]), np.array([0, 8, 16])) is None
    assert lane_distance(np.array([3]), np.array([5])) is None
