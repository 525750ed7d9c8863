"""A single warp request agrees with the counts of traffic for it."""

import numpy as np
import pytest
from recordings import own, rung

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import costs, measure
from gemmviz.trace.cost.warp_request import touched_words, warp_request
from gemmviz.trace.order.requests import batches
from gemmviz.trace.order.stepping_units import stations
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import WARP, Recording


def playable(recording: Recording) -> Playable:
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


def variant(name: str, change: str, size: int, **params: int) -> Recording:
    return record(launch(broken(find(name, ladder()), [change]), Problem.cube(size), params))


def small(name: str, size: int, **params: int) -> Recording:
    return record(launch(find(name, ladder()), Problem.cube(size), params))


def request_steps(shown: Playable, warp: int = 0) -> list[int]:
    found = stations(shown, "request", 0, warp)
    assert found is not None
    return [int(step) for step in found]


VECTORS = """
    __shared__ float4 tile[32];
    int t = threadIdx.x;
    tile[t] = ((const float4 *)A)[t];
    __syncthreads();
    float4 v = tile[t * 4 % 32], w = tile[t / 4];
    C[t] = v.x + w.y;
"""
CASES = {
    "naive": lambda: rung("gpumult0", Problem.cube(16)),
    "coalesced": lambda: rung("gpumult1", Problem.cube(16)),
    "tiled": lambda: small("gputiled", 32, TS=32),
    "by columns": lambda: variant("gputiled", "row-by-x", 32, TS=32),
    "padded": lambda: variant("gputiled", "pad-a", 32, TS=32),
    "vectors": lambda: own(VECTORS, Problem.cube(16)),
    "tensor cores": lambda: rung("matmul_tc_2d_warp_tiling", Problem.cube(64)),
}


@pytest.mark.sweep("coalesced", "by columns", "vectors", "tensor cores")
@pytest.mark.parametrize("case", CASES)
def test_the_cost_of_every_request_agrees_with_traffic(case: str) -> None:
    shown = playable(CASES[case]())
    recording, log = shown.recording, shown.recording.accesses
    tried, most = 0, 400
    for requests in batches(recording):
        units, least = costs(recording, requests)
        every = max(len(requests) // most, 1)
        for i in range(0, len(requests), every):
            row = int(requests.row[i])
            step, block = int(shown.timeline.step_of_row[row]), int(log.block[row])
            asked = warp_request(shown, step, block, int(log.thread[row]) // WARP)
            assert asked is not None
            assert (asked.units, asked.least) == (units[i], least[i])
            assert len(asked.lane) == requests.lanes[i]
            # The drawn units add up to the counted ones.
            if asked.is_shared:
                assert asked.served.max() + 1 == asked.units
            else:
                assert len(np.unique(asked.place)) == asked.units
            tried += 1
    assert tried >= 5


def test_a_wavefront_serves_one_word_of_each_bank() -> None:
    shown = playable(variant("gputiled", "row-by-x", 32, TS=32))
    tile = [i for i, a in enumerate(shown.recording.arrays) if a.space == "shared"]
    conflicts = 0
    for step in request_steps(shown):
        asked = warp_request(shown, step, 0, 0)
        assert asked is not None
        if asked.array not in tile:
            continue
        pieces = np.unique(np.stack([asked.served, asked.bank, asked.place]), axis=1)
        assert len(np.unique(pieces[:2], axis=1).T) == len(pieces.T), "two words of one bank in one wavefront"
        assert (asked.last_served() < asked.units).all()
        conflicts = max(conflicts, asked.units)
    assert conflicts == 32


def test_lanes_that_the_block_lacks_are_not_called_inactive() -> None:
    shown = playable(small("gputiled", 8, TS=4))
    asked = warp_request(shown, request_steps(shown)[0], 0, 0)
    assert asked is not None
    assert (asked.missing, asked.inactive, asked.asked_bytes) == (16, 0, 64)
    shown = playable(own("if (threadIdx.x < 5) C[threadIdx.x] = A[threadIdx.x];", Problem.cube(8)))
    asked = warp_request(shown, 0, 0, 0)
    assert asked is not None
    assert (asked.missing, asked.inactive) == (0, 27)
    assert touched_words(asked, 4, 0).tolist() == [True] * 5 + [False] * 3


def test_a_cpu_has_no_requests_and_a_warp_none_at_the_steps_of_others() -> None:
    loop = playable(rung("hostmult1", Problem.cube(16)))
    assert warp_request(loop, 0, 0, 0) is None
    tiled = playable(small("gputiled", 32, TS=32))
    mine = set(request_steps(tiled, 3))
    for step in range(tiled.timeline.steps):
        assert (warp_request(tiled, step, 0, 3) is not None) == (step in mine)
