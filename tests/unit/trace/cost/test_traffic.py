"""Warp requests, sectors and wavefronts: against a count by hand for every kernel, and a GPU's counters."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from recordings import EXCHANGED_SUMS, RUNGS, SIZES, own, rung
from sampled import FEW

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.memory_levels import levels
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.cost.wavefronts import of_request, schedule, wavefronts
from gemmviz.trace.order.timeline import build
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

LANES = np.arange(32)
# At the edge of the matrix the lanes of one warp leave out different turns of one loop.
UNEVEN = [(name, Problem(17, 20, 9)) for name in ("matmul_kernel_2d_thread_tiling", "narrow_tiles")]


def wavefronts_by_hand(places: dict[int, int], width: int, write: bool) -> int:
    """Count the wavefronts of a request, part by part; places are bytes, by lane."""
    together = {8: 16, 16: 8}.get(width, 32)
    if width > 4 and not write:
        agree = (all(places.get(i ^ bit, p) == p for i, p in places.items()) for bit in (1, 2))
        together *= 1 + any(agree)
    found = 0
    for first in range(0, 32, together):
        words = {
            p // 4 + w for i, p in places.items() if first <= i < first + together for w in range((width + 3) // 4)
        }
        found += max(Counter(word % 32 for word in words).values(), default=0)
    return found


def halves(recording: Recording) -> set[tuple[int, int]]:
    """Return the rows that read, and that write, each box of the copy engine: the first one, and how many."""
    found = recording.boxes
    both = ((found.read, found.reads), (found.write, found.writes))
    return {(int(f), int(n)) for first, length in both for f, n in zip(first, length, strict=True) if n}


def turn_ends(recording: Recording) -> set[tuple[int, ...]]:
    """Return which sites end a turn, each with (block, phase, turn, warp).

    All lanes execute them equally often, and none of such sites more often.
    """
    log = recording.accesses
    lanes: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    everyone: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for block, phase, turn, thread, site in zip(
        *(c.tolist() for c in (log.block, log.phase, log.turn, log.thread, log.site)), strict=True
    ):
        lanes[block, phase, turn, thread // 32, site][thread] += 1
        everyone[block, phase, turn, thread // 32].add(thread)
    alike = {
        key: max(made.values())
        for key, made in lanes.items()
        if made.keys() == everyone[key[:4]] and len({*made.values()}) == 1
    }
    best: Counter[tuple[int, ...]] = Counter()
    for key, count in alike.items():
        best[key[:4]] = max(best[key[:4]], count)
    return {key for key, count in alike.items() if count == best[key[:4]]}


def by_hand(recording: Recording, in_turns: bool = False) -> dict[tuple[int, str, bool], list[int]]:
    """Count accesses, requests and units per line, array and direction, one access at a time.

    An occurrence of an instruction is the same in two lanes by its number, or `in_turns` by its number in the turn.
    """
    log = recording.accesses
    done: Counter[tuple[int, ...]] = Counter()
    turns: Counter[tuple[int, ...]] = Counter()
    ends = turn_ends(recording) if in_turns else set()
    requests: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
    piece_of = {first + i: (first, i) for first, length in halves(recording) for i in range(length)}
    columns = (log.block, log.phase, log.turn, log.thread, log.site, log.array, log.write, log.bytes, log.element)
    for row, (block, phase, turn, thread, site, array, write, width, element) in enumerate(
        zip(*(c.tolist() for c in columns), strict=True)
    ):
        begun = turns[block, phase, turn, thread]
        nth = (begun, done[block, phase, turn, thread, begun, site])
        done[block, phase, turn, thread, begun, site] += 1
        turns[block, phase, turn, thread] += (block, phase, turn, thread // 32, site) in ends
        place = element * recording.arrays[array].itemsize
        if row in piece_of:  # pieces of a box count as lanes
            first, piece = piece_of[row]
            requests[block, thread // 32, first, piece // 32, site, -1, array, write, width][piece % 32] = place
            continue
        requests[block, thread // 32, phase, turn, site, nth, array, write, width][thread % 32] = place
    found: dict[tuple[int, str, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
    for (_, _, _, _, site, _, which, write, width), places in requests.items():
        array = recording.arrays[which]
        if array.space == "shared":
            units = wavefronts_by_hand(places, width, bool(write))
        else:
            units = len({(p + i) // 32 for p in places.values() for i in range(width)})
        entry = found[recording.sites[site].line, array.name, bool(write)]
        for index, figure in enumerate((len(places), 1, units)):
            entry[index] += figure
    return found


@pytest.mark.sweep(*(f"{name}-*" for name in FEW))
@pytest.mark.parametrize("problem", SIZES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_totals_are_those_of_a_count_by_hand_with_and_without_a_timeline(name: str, problem: Problem) -> None:
    recording = rung(name, problem)
    traffic, timeline = measure(recording), build(recording)
    stepwise = measure(recording, timeline)
    assert (stepwise.arrays, stepwise.sites, stepwise.tile_steps) == (
        traffic.arrays,
        traffic.sites,
        traffic.tile_steps,
    )
    last = stepwise.running[-1]
    for index, array in enumerate(traffic.arrays):
        assert last[index, 0].tolist() == [array.reads, array.read_bytes, array.read_units]
        assert last[index, 1].tolist() == [array.writes, array.write_bytes, array.write_units]
    if recording.backend == "c":  # no warps: each access is a separate request
        assert all(s.requests == s.accesses == s.units for s in traffic.sites)
        return
    found: dict[tuple[int, str, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
    for site in traffic.sites:
        entry = found[site.line, site.array, site.write]
        for index, figure in enumerate((site.accesses, site.requests, site.units)):
            entry[index] += figure
    assert found == by_hand(recording, in_turns=(name, problem) in UNEVEN)
    # A step holds whole requests, and at most one of each warp; or half a box.
    log = recording.accesses
    warp = log.block.astype(np.int64) * 64 + log.thread // 32
    more = 0
    for first, length in halves(recording):  # pieces of another width, at the edge, are a request of their own
        widths = log.bytes[first : first + length].tolist()
        more += len({(i // 32, width) for i, width in enumerate(widths)}) - len(set(widths))
    steps = len(np.unique(np.stack([timeline.step_of_row, warp]), axis=1)[0])
    assert steps + more == sum(s.requests for s in traffic.sites)


def test_the_edge_of_the_2d_thread_tiles_has_the_traffic_that_its_source_says() -> None:
    """One block of 8 x 8 threads, two warps of four columns of threads each; a thread has 8 x 8 places in each tile."""
    traffic = measure(rung("matmul_kernel_2d_thread_tiling", Problem(17, 20, 9)))
    assert {(s.array, s.write): (s.accesses, s.requests, s.units) for s in traffic.sites} == {
        # Every element of A, B and C once. The second warp is beyond them; lanes are at least 32 bytes apart.
        ("A", False): (17 * 9, 64, 17 * 9),
        ("B", False): (9 * 20, 64, 9 * 20),
        ("C", True): (17 * 20, 64, 17 * 20),
        # Each tile of 64 x 64 is filled, by 64 writes of both warps; eight lanes meet in one bank.
        ("As", True): (64 * 64, 64 * 2, 64 * 2 * 8),
        ("Bs", True): (64 * 64, 64 * 2, 64 * 2 * 8),
        # A value of A's tile for every product, eight rows in one bank; one of B's tile for eight products.
        ("As", False): (64**3, 64**3 // 32, 64**3 // 4),
        ("Bs", False): (64**3 // 8, 64**3 // 256, 64**3 // 256),
    }


@pytest.mark.parametrize(
    ("width", "lane_reads", "load", "store"),
    [
        (4, LANES, 1, 1),
        (4, LANES * 2, 2, 2),
        (4, LANES * 0, 1, 1),
        (8, LANES, 2, 2),
        (8, LANES * 0, 1, 2),
        (8, LANES // 2, 1, 2),
        (8, LANES % 2, 1, 2),
        (8, LANES % 4, 2, 2),
        (8, LANES * 2, 4, 4),
        (16, LANES, 4, 4),
        (16, LANES * 0, 2, 4),
        (16, LANES // 2, 2, 4),
        (16, LANES % 4, 4, 4),
    ],
)
def test_wavefronts_are_those_that_an_h200_counts(width: int, lane_reads: np.ndarray, load: int, store: int) -> None:
    places = lane_reads * width
    assert [of_request(places, width, write) for write in (False, True)] == [load, store]
    active = np.where(LANES % 16 < 8, places, -1)  # of 16-byte accesses every other part is idle
    idle = of_request(active, width, True)
    assert idle == wavefronts_by_hand({i: p for i, p in enumerate(active.tolist()) if p >= 0}, width, True)


@pytest.mark.sweep("16-False", "4-True")
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_wavefronts_of_many_requests_at_once(width: int, write: bool) -> None:
    rng = np.random.default_rng(width)
    asked = []
    for _ in range(200):
        lanes = np.flatnonzero(rng.random(32) < rng.choice([0.3, 1.0]))
        lanes = lanes if len(lanes) else np.array([5])
        group = int(rng.choice([1, 2, 4]))
        reach = int(rng.choice([2, 8, 40, 400]))
        asked.append((lanes, rng.integers(0, reach, 32)[lanes // group] * width))
    request = np.repeat(np.arange(len(asked)), [len(lanes) for lanes, _ in asked])
    lane, start = (np.concatenate(column) for column in zip(*asked, strict=True))
    alike = np.full(len(lane), width), np.full(len(lane), write)
    units, least = wavefronts(request, lane, start, *alike, len(asked))
    assert units.tolist() == [
        wavefronts_by_hand(dict(zip(lanes.tolist(), places.tolist(), strict=True)), width, write)
        for lanes, places in asked
    ]
    turns = [schedule(lanes, places, width, write)[2] for lanes, places in asked]
    assert [int(turn.max()) + 1 for turn in turns] == units.tolist()
    assert (least <= units).all()


def cost(body: str) -> dict[str, tuple[int, int, int]]:
    """Return requests, units and least units of a kernel's reads, by array."""
    sites = measure(own(body, Problem.cube(32))).sites
    found: dict[str, tuple[int, int, int]] = {}
    for s in sites:
        if not s.write:
            known = found.get(s.array, (0, 0, 0))
            found[s.array] = known[0] + s.requests, known[1] + s.units, known[2] + s.least_units
    return found


def test_vectors_of_shared_memory_take_more_wavefronts_without_being_conflicts() -> None:
    found = cost(
        "__shared__ float4 tile[32]; __shared__ float2 pairs[64];\n"
        "int t = threadIdx.x;\n"
        "tile[t] = ((const float4 *)A)[t]; pairs[t] = pairs[t + 32] = ((const float2 *)B)[t];\n"
        "__syncthreads();\n"
        "float4 x = tile[31 - t]; float2 y = pairs[2 * t];\n"
        "C[t] = x.x + x.y + x.z + x.w + y.x + y.y;"
    )
    assert found["tile"] == (1, 4, 4)
    assert found["pairs"] == (1, 4, 2)  # a stride of two: twice as many as without conflicts
    assert (found["A"], found["B"]) == ((1, 16, 16), (1, 8, 8))


def test_lanes_that_leave_a_loop_early_are_missing_from_its_last_requests() -> None:
    found = cost("float x = 0;\nfor (int k = 0; k < threadIdx.x; k++) x += A[k];\nC[threadIdx.x] = x;")
    assert found["A"] == (31, 31, 31)


def test_lanes_that_miss_a_round_meet_again_at_a_syncwarp() -> None:
    loop = (
        "float x = 0;\nfor (int i = 0; i < 2; i++) {{ if (threadIdx.x % 2 == i) x += A[threadIdx.x]; {} }}\n"
        "C[threadIdx.x] = x;"
    )
    assert cost(loop.format("__syncwarp();"))["A"] == (2, 8, 4)
    assert cost(loop.format(""))["A"] == (1, 4, 4)


def test_lanes_in_different_orders_are_together_when_they_have_done_as_much() -> None:
    body = (
        "float x = 0;\n"
        "for (int i = 0; i < 4; i++)\n"
        "    if ((threadIdx.x + i) % 2) x += A[threadIdx.x];\n"
        "    else x += B[threadIdx.x];\n"
        "C[threadIdx.x] = x;"
    )
    recording = own(body, Problem.cube(32))
    reads = {s.array: s.requests for s in measure(recording).sites if not s.write}
    assert reads == {"A": 4, "B": 4}
    step, thread = build(recording).step_of_row, recording.accesses.thread
    for lane in range(32):
        assert (np.diff(step[thread == lane]) > 0).all()


def test_warps_in_different_orders_never_go_back() -> None:
    body = (
        "int warp = threadIdx.x / 32;\nfloat x = 0;\n"
        "for (int i = 0; i < 2; i++)\n"
        "    if ((warp + i) % 2) x += A[threadIdx.x];\n"
        "    else x += B[threadIdx.x];\n"
        "C[threadIdx.x] = x;"
    )
    recording = own(body, Problem.cube(32), block="[64]", grid="[2]")
    assert {s.array: s.requests for s in measure(recording).sites} == {"A": 4, "B": 4, "C": 4}
    log = recording.accesses
    for order in ("grid", "block"):
        step = build(recording, order).step_of_row
        same = (log.thread[1:] == log.thread[:-1]) & (log.block[1:] == log.block[:-1])
        assert (np.diff(step)[same] > 0).all()


def test_one_load_from_two_arrays_is_separated() -> None:
    found = cost("const float *p = threadIdx.x < 16 ? A : B;\nC[threadIdx.x] = p[threadIdx.x];")
    assert (found["A"], found["B"]) == ((1, 2, 2), (1, 2, 2))


def test_long_recordings_are_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = rung("gputiled", SIZES[1])
    whole = measure(recording)
    monkeypatch.setattr("gemmviz.trace.order.requests._CHUNK_ROWS", 100)
    pieces = measure(recording)
    assert (pieces.arrays, pieces.sites, pieces.tile_steps) == (whole.arrays, whole.sites, whole.tile_steps)


def test_tile_steps_are_loads_of_tiles_and_not_sums_that_are_staged() -> None:
    def steps(name: str, problem: Problem, **params: int) -> int:
        return measure(record(launch(find(name, ladder()), problem, params), deadline_s=20)).tile_steps

    # Of one tile, K is a single step; a block that computes two tiles has the steps of both.
    for name in ("tma_store", "cluster", "stream_k_tma"):
        assert steps(name, Problem.cube(8)) == 1, name
    assert steps("cluster", Problem.cube(256), BN=128, BLOCKS=2) == 2 * 4
    # A stage is filled with zeros behind K: that is a load.
    assert steps("mma_pipeline", Problem.cube(8)) == 2


def test_sums_that_threads_hand_each_other_are_no_tile_steps() -> None:
    assert measure(own(EXCHANGED_SUMS, Problem(1, 1, 256))).tile_steps == 0
    tiled = EXCHANGED_SUMS.replace("A[k]", "row[k]").replace(
        "float sum = 0;",
        """__shared__ float row[256];
        for (int k = threadIdx.x; k < K; k += 32) row[k] = A[k];
        __syncthreads();
        float sum = 0;""",
        1,
    )
    assert measure(own(tiled, Problem(1, 1, 256))).tile_steps == 1


def test_intensity_and_reuse_of_tiles() -> None:
    recording = rung("gputiled", Problem.cube(32))  # tiles of 16
    found = levels(recording, measure(recording))
    assert found.flops == 2 * 32**3
    bytes_of = {level.name: level.bytes for level in found.levels}
    # Each element of A and B is loaded by two blocks, and read 16 times from each of the tiles that hold it.
    assert bytes_of == {
        "compulsory": 3 * 32 * 32 * 4,
        "global, asked": 5 * 32 * 32 * 4,
        "global, moved": 5 * 32 * 32 * 4,
        "shared, asked": 2 * 2 * 17 * 32 * 32 * 4,
        "shared, moved": 2 * 2 * 17 * 32 * 32 * 4,
    }
    assert [level.intensity for level in found.levels] == [found.flops / b for b in bytes_of.values()]
    reuse = {a.name: (a.reuse, a.reads_per_element) for a in found.arrays}
    assert reuse == {"A": (2, 2), "B": (2, 2), "C": (1, 0), "As": (17, 16), "Bs": (17, 16)}


def test_a_processor_has_no_sectors() -> None:
    recording = rung("hostmult1", Problem.cube(16))
    found = levels(recording, measure(recording))
    assert [level.name for level in found.levels] == ["compulsory", "memory, asked"]
    assert {a.name: a.reuse for a in found.arrays} == {"A": 16, "B": 16, "C": 2}


def test_lanes_that_leave_out_different_turns_of_a_loop_are_together_in_the_others() -> None:
    body = """
    __shared__ float s[4][4];
    for (int t = 0; t < 4; t++)
        s[t][threadIdx.x] = threadIdx.x == t ? 0 : A[4 * t + threadIdx.x];
    __syncthreads();
    C[threadIdx.x] = s[3 - threadIdx.x][threadIdx.x];"""
    found = {(s.array, s.write): s for s in measure(own(body, Problem.cube(4), block="[4]")).sites}
    # Three of the four lanes read in each turn, and all of them write.
    assert (found["A", False].accesses, found["A", False].requests) == (12, 4)
    assert (found["s", True].accesses, found["s", True].requests) == (16, 4)
